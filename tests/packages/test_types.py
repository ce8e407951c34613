"""What type checkers and readers see of the Python package."""

import inspect
import pathlib
import subprocess
import sys

import pytest

import roundhouse

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = pathlib.Path(roundhouse.__file__).resolve().parent

PROGRAM = """
from typing import Any

import numpy as np
import roundhouse as ort

options = ort.SessionOptions()
options.intra_op_num_threads = 2
options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
options.add_session_config_entry("session.intra_op.allow_spinning", "0")
try:
    session = ort.InferenceSession("model.onnx", options, providers=["CPUExecutionProvider", ("CUDAExecutionProvider", {"device_id": 0})])
except ort.NoSuchFile as error:
    print(error)
names: list[str] = [node.name for node in session.get_inputs()]
value: ort.OrtValue = ort.OrtValue.ortvalue_from_numpy(np.zeros((2, 3), np.float32))
results: list[Any] = session.run(None, {names[0]: value}, ort.RunOptions())
binding: ort.IOBinding = session.io_binding()
binding.bind_ortvalue_input(names[0], value)
binding.bind_output("y", "cpu")
session.run_with_iobinding(binding)
print(value.numpy().sum(), results[0].shape, session.placement_summary()["CPUExecutionProvider"])
"""


def mypy(folder, *files):
    """Of programs, as mypy finds a package that is installed: errors inside of the package are not theirs."""
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--no-incremental", *map(str, files)]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=300, env={"MYPYPATH": str(PACKAGE.parent), "PATH": ""}
    )


def test_the_stub_is_of_this_module():
    done = subprocess.run([sys.executable, ROOT / "scripts/generate_stubs.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_programs_are_checked(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = mypy(tmp_path, "program.py", ROOT / "examples/python/classify.py")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "line",
    [
        "session.run(None, 3)",
        "options.intra_op_num_threads = 'two'",
        "session.get_inputs()[0].nmae",
        "binding.bind_output(3)",
        "value.data_typ()",
        "text: int = session.get_providers()",
    ],
)
def test_faults_are_found(tmp_path, line):
    (tmp_path / "program.py").write_text(PROGRAM + line + "\n")
    done = mypy(tmp_path, "program.py")
    last = len((PROGRAM + line).splitlines())
    assert done.returncode == 1 and f"program.py:{last}: error" in done.stdout, done.stdout + done.stderr


def public_items():
    for name in roundhouse.__all__:
        item = getattr(roundhouse, name)
        yield name, item
        for owner in item.__mro__[:-1] if inspect.isclass(item) else ():
            if owner.__module__.startswith("roundhouse"):
                yield from ((f"{name}.{key}", value) for key, value in vars(owner).items() if not key.startswith("_"))


def test_every_public_name_says_what_it_is():
    silent = [name for name, item in public_items() if (callable(item) or isinstance(item, property)) and not item.__doc__]
    assert silent == []


def test_every_function_has_types():
    untyped = []
    for name, item in public_items():
        function = item.fget if isinstance(item, property) else item
        if inspect.isfunction(function):
            signature = inspect.signature(function)
            arguments = [p for key, p in signature.parameters.items() if key not in ("self", "cls")]
            if inspect.Signature.empty in (signature.return_annotation, *(p.annotation for p in arguments)):
                untyped.append(name)
    assert untyped == []
