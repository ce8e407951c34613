"""Programs that import onnxruntime and get Roundhouse."""

import os
import pathlib
import subprocess
import sys

import pytest

import roundhouse

PACKAGE = pathlib.Path(roundhouse.__file__).resolve().parent
PROGRAM = """
import sys
import onnxruntime as ort
import onnxruntime.capi.onnxruntime_pybind11_state as state
from onnxruntime import InferenceSession, SessionOptions
from onnxruntime.capi.onnxruntime_inference_collection import OrtValue
from onnxruntime.capi.onnxruntime_pybind11_state import InvalidArgument
assert ort.__file__.replace("\\\\", "/").endswith("roundhouse/__init__.py"), ort.__file__
assert state.InvalidArgument is InvalidArgument
assert ort.capi.onnxruntime_pybind11_state is state
session = InferenceSession(sys.argv[1], SessionOptions(), providers=["CPUExecutionProvider"])
print(session.run(None, {"x": [1.0, 2.0]})[0].tolist(), sys.argv[2:])
"""


def run(arguments, **environment):
    paths = [environment.pop("path", None), str(PACKAGE.parent), os.environ.get("PYTHONPATH")]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))} | environment
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=env, timeout=120)


@pytest.fixture
def program(tmp_path):
    import models

    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "identity.onnx").write_bytes(models.identity())
    return tmp_path


def test_import_says_nothing():
    done = run(["-c", "import roundhouse"])
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def check(done):
    assert (done.returncode, done.stdout, done.stderr) == (0, "[1.0, 2.0] ['--more']\n", "")


def test_install(program):
    prefix = "import roundhouse\nroundhouse.install_as_onnxruntime()\n"
    (program / "installs.py").write_text(prefix + PROGRAM)
    check(run([str(program / "installs.py"), str(program / "identity.onnx"), "--more"]))


def test_script(program):
    check(run(["-m", "roundhouse.as_onnxruntime", str(program / "program.py"), str(program / "identity.onnx"), "--more"]))


def test_module(program):
    check(run(["-m", "roundhouse.as_onnxruntime", "-m", "program", str(program / "identity.onnx"), "--more"], path=str(program)))


def test_shim(program):
    check(run([str(program / "program.py"), str(program / "identity.onnx"), "--more"], path=str(PACKAGE / "shim")))


TOOL = """
import sys
import onnxruntime
from onnxruntime.capi import helper
from onnxruntime.capi._pybind_state import quantize_matmul_4bits
session = onnxruntime.InferenceSession(sys.argv[1])
print(onnxruntime.__name__, helper.WORD, quantize_matmul_4bits(), session.run(None, {"x": [1.0, 2.0]})[0].tolist())
try:
    from onnxruntime.capi._pybind_state import get_all_operator_schema
except ImportError as error:
    print(type(error).__name__)
"""


@pytest.mark.parametrize("way", ["module", "shim"])
def test_tools_of_an_installed_onnxruntime_run_on_roundhouse(program, way):
    folder = program / "installed" / "onnxruntime"
    (folder / "capi").mkdir(parents=True)
    (folder / "quantization").mkdir()
    (folder / "__init__.py").write_text("raise ImportError('the runtime itself is not to be loaded')")
    (folder / "capi" / "__init__.py").write_text("raise ImportError('the runtime itself is not to be loaded')")
    (folder / "capi" / "helper.py").write_text("WORD = 'helps'")
    native = "def quantize_matmul_4bits(): return 'packed'\ndef get_all_operator_schema(): return []\n"
    (folder / "capi" / "onnxruntime_pybind11_state.py").write_text(native)
    (folder / "quantization" / "__init__.py").write_text("")
    (folder / "quantization" / "tool.py").write_text(TOOL)
    (program / "uses.py").write_text("import onnxruntime.quantization.tool")
    arguments = [str(program / "uses.py"), str(program / "identity.onnx")]
    paths = [str(program / "installed")]
    if way == "module":
        arguments = ["-m", "roundhouse.as_onnxruntime", *arguments]
    else:
        paths.insert(0, str(PACKAGE / "shim"))
    done = run(arguments, path=os.pathsep.join(paths))
    assert (done.returncode, done.stdout, done.stderr) == (0, "roundhouse helps packed [1.0, 2.0]\nImportError\n", "")
