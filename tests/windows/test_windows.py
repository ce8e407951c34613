"""What roundhouse.dll of the preset windows is made of, and models in it, under Wine, beside the library for Linux."""

import os
import re
import subprocess

import pytest
from conftest import LIBRARIES, ROOT, SETTINGS, wine

#: Of every Windows from 10 on; the C library is the system's.
SYSTEM = re.compile(r"(kernel32|advapi32|shell32|psapi|ntdll|api-ms-win-crt-[a-z0-9-]+)\.dll", re.IGNORECASE)
OURS = {"roundhouse.dll", "onnxruntime.dll"}
#: Of the compiler's own libraries, which a plugin shows beside its interface, since no file of definitions names that.
COMPILERS = {"_CRT_INIT", "__mingw_module_is_dll", "__unw_getcontext", "atexit", "unw_getcontext"}
SHOWN = {
    "roundhouse": (ROOT / "src/capi/exports.map").read_text(),
    "onnxruntime": (ROOT / "src/capi/exports.map").read_text(),
}
PROVIDERS = ["sample", "fake_device", "example", "openvino", "cuda"]
MODELS = os.environ.get("RH_WINDOWS_MODELS", "mobilenetv3_large_100 lstm_tagger distilbert bert_base_int8_dynamic convnext_tiny").split()


def tables(file):
    return subprocess.run(["objdump", "-p", file], capture_output=True, text=True, check=True).stdout


def exported(file):
    table = tables(file).partition("[Ordinal/Name Pointer] Table")[2].partition("\n\n")[0]
    return sorted(line.split()[-1] for line in table.splitlines() if line.startswith("\t["))


BUILT = ["roundhouse.dll", "onnxruntime.dll", "roundhouse.exe", *(f"roundhouse_provider_{name}.dll" for name in PROVIDERS)]


@pytest.mark.parametrize("name", BUILT)
def test_nothing_of_mingw_is_needed(name):
    needed = re.findall(r"DLL Name: (\S+)", tables(LIBRARIES / name))
    assert needed and [library for library in needed if not SYSTEM.fullmatch(library) and library not in OURS] == []


@pytest.mark.parametrize("name", SHOWN)
def test_it_shows_what_the_library_for_linux_shows(name):
    assert exported(LIBRARIES / f"{name}.dll") == sorted(re.findall(r"^ +(\w+);", SHOWN[name], re.MULTILINE))


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_provider_shows_the_interface_of_plugins(name):
    shown = exported(LIBRARIES / f"roundhouse_provider_{name}.dll")
    assert {"CreateEpFactories", "ReleaseEpFactory"} <= set(shown)
    others = [symbol for symbol in shown if not re.fullmatch(r"CreateEpFactories|ReleaseEpFactory|RhEp\w+", symbol)]
    assert set(others) <= COMPILERS


@pytest.fixture(scope="session")
def checksum(programs):
    """How the program that prints checksums of a model's outputs is run on each system."""
    return {"linux": [programs.linux("checksum.c")], "windows": ["wine", programs.windows("checksum.c", "roundhouse")]}


def checksums(command, path):
    environment = {**os.environ, **SETTINGS}
    return subprocess.run([*command, path], capture_output=True, text=True, env=environment, timeout=300)


@pytest.mark.parametrize("name", MODELS)
def test_models_give_the_bits_that_they_give_on_linux(checksum, name):
    from materialize import materialize

    path = materialize(name, ROOT / "build/models")
    linux, windows = checksums(checksum["linux"], path), checksums(checksum["windows"], path)
    assert (linux.returncode, windows.returncode, windows.stderr) == (0, 0, "")
    assert windows.stdout.splitlines() == linux.stdout.splitlines() != []


def test_a_file_that_is_not_there(checksum):
    done = checksums(checksum["windows"], "none.onnx")
    assert done.returncode == 1 and "error 3: cannot open 'none.onnx': File doesn't exist" in done.stderr


def test_a_program_in_cxx_that_asks_for_cuda(programs, model):
    """It compiles and runs up to the driver that is not here."""
    done = wine(programs.windows("cuda_options.cc", "onnxruntime"), cwd=model.parent)
    assert done.returncode == 1 and "NVIDIA's driver is not installed: there is no file nvcuda.dll" in done.stderr, done
    assert "CUDA execution provider is not enabled in this build" in done.stderr
