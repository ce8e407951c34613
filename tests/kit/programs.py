"""Programs in C and C++, built as those for ONNX Runtime are, against our headers and library."""

import pathlib
import subprocess

from hosts import LIBRARIES

ROOT = pathlib.Path(__file__).resolve().parents[2]


def program_of(source, folder):
    """The program that is made of a source of tests/vendors."""
    made, library = folder / "program", LIBRARIES.resolve()
    compiler = ["c++", "-std=c++17"] if source.endswith(".cc") else ["cc", "-std=c11"]
    command = [*compiler, str(ROOT / "tests/vendors" / source), f"-I{ROOT / 'include/roundhouse'}", f"-L{library}"]
    subprocess.run([*command, "-lroundhouse", f"-Wl,-rpath,{library}", "-o", str(made)], check=True)
    return made


def said_by(command):
    """What each line of the program's output says of its first word."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True)
    return dict(line.split(" ", 1) for line in done.stdout.splitlines())
