"""The C++ interface whole: a program that uses its names, compiled as C++17 and C++20, with exceptions and without, and run on this library
and on ONNX Runtime's."""

import os
import pathlib
import re
import shutil
import subprocess

import onnxruntime
import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
HEADERS = ROOT / "include" / "roundhouse"
LIBRARIES = pathlib.Path(os.environ.get("ROUNDHOUSE_LIBRARY_DIR", ROOT / "build" / "release" / "lib"))
COMPILER = os.environ.get("CXX", "c++")

pytestmark = pytest.mark.skipif(not shutil.which(COMPILER), reason="there is no compiler")


def compiled(folder, standard, exceptions, source="every_name"):
    program = folder / f"{source}_{standard}_{exceptions}"
    if not program.exists():
        flags = [f"-std=c++{standard}", "-O0", "-Wall", "-Wextra", "-Werror", *([] if exceptions else ["-fno-exceptions"])]
        command = [COMPILER, *flags, f"-I{HEADERS}", "-o", str(program), str(HERE / f"{source}.cc"), f"-L{LIBRARIES}", "-lonnxruntime"]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-3000:]
    return program


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("wrapper")


@pytest.fixture(scope="module")
def stock(folder):
    """A folder where ONNX Runtime's library has the name that programs are linked with."""
    (library,) = (pathlib.Path(onnxruntime.__file__).parent / "capi").glob("libonnxruntime.so.*")
    (folder / "stock").mkdir()
    (folder / "stock" / "libonnxruntime.so.1").symlink_to(library)
    return folder / "stock"


@pytest.mark.parametrize("exceptions", [True, False], ids=["exceptions", "no_exceptions"])
@pytest.mark.parametrize("standard", [17, 20])
def test_every_name_works(standard, exceptions, folder, stock):
    program = compiled(folder, standard, exceptions)
    for libraries in (LIBRARIES, stock):
        done = subprocess.run([program], env=dict(os.environ, LD_LIBRARY_PATH=str(libraries)), capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, "every name works\n"), (libraries, done.stderr)


@pytest.mark.parametrize("exceptions", [True, False], ids=["exceptions", "no_exceptions"])
def test_functions_are_found_by_name(exceptions, folder, stock):
    program = compiled(folder, 17, exceptions, "experimental")
    for libraries in (LIBRARIES, stock):
        done = subprocess.run([program], env=dict(os.environ, LD_LIBRARY_PATH=str(libraries)), capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, "functions are found by name\n"), (libraries, done.stderr)


def listed():
    """The names of names.txt with what is said of those that the program leaves out."""
    names = {}
    for line in (HERE / "names.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, _, reason = line.partition(": ")
            names[name] = reason
    return names


def test_the_list_is_that_of_the_program():
    program = (HERE / "every_name.cc").read_text()
    headers = "".join(path.read_text() for path in sorted((HEADERS / "cxx").glob("*.h")))
    for name, reason in listed().items():
        word = re.compile(rf"\b{re.escape(name.split('::')[-1])}\b")
        assert word.search(headers), f"{name} is in no header"
        assert bool(word.search(program)) != bool(reason), f"{name}: {'the program uses it' if reason else 'the program does not use it'}"
