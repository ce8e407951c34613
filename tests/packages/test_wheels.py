"""The wheels roundhouse and onnxruntime in an environment that has nothing else but numpy, as a user installs them.

ROUNDHOUSE_WHEELS is the folder that scripts/wheel fills; without it the tests are skipped.
"""

import os
import pathlib
import subprocess
import sys
import zipfile

import pytest

WHEELS = os.environ.get("ROUNDHOUSE_WHEELS")
pytestmark = pytest.mark.skipif(not WHEELS, reason="ROUNDHOUSE_WHEELS does not name a folder of wheels")


def run(command, folder=None, ok=True):
    clean = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "ROUNDHOUSE_LIBRARY_DIR")}
    done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True, timeout=600, env=clean)
    assert not ok or done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done


def environment(folder, *packages):
    run([sys.executable, "-m", "venv", folder])
    python = folder / "bin/python"
    run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--find-links", WHEELS, *packages])
    return python


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """Of an environment into which the wheel of the name onnxruntime alone was asked for."""
    return environment(tmp_path_factory.mktemp("environment") / "venv", "onnxruntime==1.32.0+roundhouse.0.1.0")


def test_it_brings_in_roundhouse_and_satisfies_what_applications_require(python):
    listed = run([python, "-m", "pip", "list", "--disable-pip-version-check", "--format=freeze"]).stdout
    assert "roundhouse==0.1.0" in listed and "onnxruntime==1.32.0+roundhouse.0.1.0" in listed
    run([python, "-m", "pip", "check", "--disable-pip-version-check"])


def test_programs_get_roundhouse(python, tmp_path):
    program = """
import onnxruntime as ort
from onnxruntime.capi.onnxruntime_pybind11_state import InvalidArgument
assert ort.__file__.endswith("roundhouse/__init__.py"), ort.__file__
assert ort.InferenceSession.__module__.startswith("roundhouse")
print(ort.get_available_providers())
"""
    assert run([python, "-c", program], tmp_path).stdout.endswith("'CPUExecutionProvider']\n")


def test_children_get_roundhouse(python, tmp_path):
    (tmp_path / "program.py").write_text(
        "import multiprocessing as mp\n"
        "def f(_):\n    import onnxruntime\n    return onnxruntime.__file__.endswith('roundhouse/__init__.py')\n"
        "if __name__ == '__main__':\n    print(mp.get_context('spawn').Pool(1).map(f, [0]))\n"
    )
    assert run([python, "program.py"], tmp_path).stdout == "[True]\n"


def test_programs_that_look_for_the_library(python, tmp_path):
    """One runtime in the process: the library that has ONNX Runtime's file name gives the table that roundhouse gives."""
    program = """
import ctypes, pathlib, sysconfig
capi = pathlib.Path(sysconfig.get_paths()["purelib"], "onnxruntime", "capi")
if not capi.is_dir(): capi = pathlib.Path(sysconfig.get_paths()["platlib"], "onnxruntime", "capi")
def base(path):
    function = ctypes.CDLL(str(path)).OrtGetApiBase
    function.restype = ctypes.c_void_p
    return function()
[library] = capi.glob("libonnxruntime.so.*")
found = base(library)
import roundhouse
assert found == base(pathlib.Path(roundhouse.__file__).parent / "libroundhouse.so.1")
ctypes.CDLL(str(capi / "libonnxruntime_providers_shared.so"))
maps = {line.split()[-1] for line in open("/proc/self/maps") if "libroundhouse" in line}
print(len(maps), library.name)
"""
    assert run([python, "-c", program], tmp_path).stdout == "1 libonnxruntime.so.1.32.0\n"


@pytest.mark.parametrize("name", ["quantization", "tools", "transformers", "backend", "datasets"])
def test_what_is_not_ours_says_what_to_do(python, tmp_path, name):
    said = run([python, "-c", f"import onnxruntime.{name}"], tmp_path, ok=False)
    assert said.returncode == 1
    assert said.stderr.splitlines()[-1].startswith(f"ModuleNotFoundError: onnxruntime.{name} belongs to ONNX Runtime's package")


def test_the_wheels_have_no_file_in_common():
    files = [set(zipfile.ZipFile(path).namelist()) for path in sorted(pathlib.Path(WHEELS).glob("*.whl"))]
    assert len(files) == 2 and not files[0] & files[1]


def test_sizes():
    """The bound of a wheel with every provider of its system."""
    for path in pathlib.Path(WHEELS).glob("*.whl"):
        assert path.stat().st_size <= 14 << 20, path.name


def test_types_are_there():
    [wheel] = pathlib.Path(WHEELS).glob("roundhouse-*.whl")
    assert {"roundhouse/py.typed", "roundhouse/_native.pyi"} <= set(zipfile.ZipFile(wheel).namelist())
