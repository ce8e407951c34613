"""What roundhouse.dll of the preset windows is made of, and models in it, under Wine, beside the library for Linux."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARY = ROOT / "build/windows/lib/roundhouse.dll"
#: Of every Windows from 10 on; the C library is the system's.
SYSTEM = re.compile(r"(kernel32|advapi32|shell32|psapi|api-ms-win-crt-[a-z0-9-]+)\.dll", re.IGNORECASE)
SETTINGS = {"WINEPREFIX": str(ROOT / "build/windows/wine"), "WINEDEBUG": "-all", "ROUNDHOUSE_ISA": "avx2"}
SOURCE = ["-I", ROOT / "include/roundhouse", ROOT / "tests/windows/checksum.c"]
#: As cmake/windows.cmake has them, so that zig need not compile its own libraries anew.
FLAGS = "-target x86_64-windows-gnu -g0 -fomit-frame-pointer -fno-sanitize=undefined -O2 -DNDEBUG".split()


def tables():
    return subprocess.run(["objdump", "-p", LIBRARY], capture_output=True, text=True, check=True).stdout


def test_nothing_of_mingw_is_needed():
    needed = re.findall(r"DLL Name: (\S+)", tables())
    assert needed and [name for name in needed if not SYSTEM.fullmatch(name)] == []


def test_it_shows_what_the_library_for_linux_shows():
    table = tables().partition("[Ordinal/Name Pointer] Table")[2].partition("\n\n")[0]
    shown = sorted(line.split()[-1] for line in table.splitlines() if line.startswith("\t["))
    assert shown == sorted(re.findall(r"^ +(\w+);", (ROOT / "src/capi/exports.map").read_text(), re.MULTILINE))


@pytest.fixture(scope="session")
def programs(tmp_path_factory):
    """How the program that prints checksums of a model's outputs is run on each system."""
    folder, release = tmp_path_factory.mktemp("checksum"), ROOT / "build/release/lib"
    zig = os.environ.get("ZIG") or shutil.which("zig") or pytest.skip("ZIG does not name zig")
    compile_for_windows = [zig, "cc", *FLAGS, "-c", *SOURCE, "-o", "checksum.o"]
    link_for_windows = [zig, "c++", *FLAGS, "-static", "checksum.o", LIBRARY.with_suffix(".lib"), "-o", "checksum.exe"]
    for_linux = ["gcc", *SOURCE, "-o", "checksum", "-L", release, "-lroundhouse", f"-Wl,-rpath,{release}"]
    for command in (compile_for_windows, link_for_windows, for_linux):
        subprocess.run(command, cwd=folder, check=True)
    shutil.copy(LIBRARY, folder)
    return {"linux": [folder / "checksum"], "windows": ["wine", folder / "checksum.exe"]}


def checksums(command, path):
    environment = {**SETTINGS, **os.environ}
    return subprocess.run([*command, path], capture_output=True, text=True, env=environment, timeout=300)


@pytest.mark.parametrize("name", ["mobilenetv3_large_100", "lstm_tagger", "distilbert"])
def test_models_give_the_bits_that_they_give_on_linux(programs, name):
    sys.path.append(str(ROOT / "tests/models"))
    from materialize import materialize

    path = materialize(name, ROOT / "build/models")
    linux, windows = checksums(programs["linux"], path), checksums(programs["windows"], path)
    assert (linux.returncode, windows.returncode, windows.stderr) == (0, 0, "")
    assert windows.stdout.splitlines() == linux.stdout.splitlines() != []


def test_a_file_that_is_not_there(programs):
    done = checksums(programs["windows"], "none.onnx")
    assert done.returncode == 1 and "error 3: cannot open 'none.onnx': File doesn't exist" in done.stderr
