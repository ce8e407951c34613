"""coremltools behind the provider: `scripts/stand coreml -- python -m pytest tests/vendors/test_coreml.py`."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from hosts import COREML, HOSTS, branches, dense, floats, registered, session

import roundhouse

STAND = pathlib.Path(__file__).resolve().parents[1] / "stands" / "coreml"
sys.path.append(str(STAND))

CPU = "CPUExecutionProvider"
EVALUATOR = os.environ.get("RH_COREML_EVALUATOR", "")
hosts = pytest.mark.parametrize("host", HOSTS, ids=lambda h: h.__name__)

pytestmark = pytest.mark.skipif("coremltools" not in EVALUATOR, reason="there is no coremltools here: scripts/stand coreml -- ...")


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """NAME.mlpackage of each model of the plants, with an input and what the CPU makes of it."""
    import plants
    from hosts import model_of, tensor

    folder = tmp_path_factory.mktemp("plants")
    with registered(roundhouse, COREML):
        for name, (nodes, shape, constants) in plants.models().items():
            os.environ["RH_COREML_KEEP"] = str(folder / name)
            (folder / name).mkdir()
            model = model_of(nodes, [tensor("x", shape)], [tensor("y", None)], constants)
            made = session(roundhouse, COREML, model)
            assert {row["provider"] for row in made.placement()} == {COREML}, made.placement()
            x = floats(*shape, seed=11)
            y = roundhouse.InferenceSession(model, providers=[CPU]).run(None, {"x": x})[0]
            np.testing.assert_allclose(made.run(None, {"x": x})[0], y, rtol=1e-4, atol=1e-5)
            np.savez(folder / f"{name}.npz", x=x, y=y)
            del made
            [kept] = (folder / name).iterdir()
            kept.rename(folder / f"{name}.mlpackage")
    del os.environ["RH_COREML_KEEP"]
    return folder


def in_coremltools(script, *arguments):
    """What a program prints that runs with the stand's packages."""
    command = EVALUATOR[: EVALUATOR.index(str(STAND))].split()
    done = subprocess.run([*command, *script, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


def test_planted_arguments_are_found(packages):
    lines = in_coremltools([STAND / "plants.py"], "coremltools", packages)
    assert len(lines) >= 20 and [line for line in lines if "found" not in line] == []


#: (what is changed of the first conv, what coremltools' loader says)
FAULTS = [
    ('operation.type = "no_such_operator"', "not registered"),
    ('operation.inputs["nonsense"].CopyFrom(operation.inputs["x"])', "KeyError"),
    ("operation.outputs[0].type.tensorType.dimensions[1].constant.size = 77", "AssertionError"),
    ('operation.inputs["x"].arguments[0].name = "nothing"', "KeyError"),
]


@pytest.mark.parametrize(("change", "message"), FAULTS, ids=["operator", "argument", "sizes", "value"])
def test_the_loader_refuses_what_is_wrong(packages, change, message, tmp_path):
    program = f"""
import pathlib, sys
sys.path.append({str(STAND)!r})
import coremltools_model
data = pathlib.Path(sys.argv[2]) / "Data" / "com.apple.CoreML"
data.mkdir(parents=True)
spec, _ = coremltools_model.loaded(sys.argv[1])
(data / "weights").symlink_to(pathlib.Path(sys.argv[1]) / "Data" / "com.apple.CoreML" / "weights")
operation = next(o for o in spec.mlProgram.functions["main"].block_specializations["CoreML5"].operations if o.type == "conv")
{change}
(data / "model.mlmodel").write_bytes(spec.SerializeToString())
try:
    coremltools_model.loaded(sys.argv[2])
    print("accepted")
except Exception as error:
    print(type(error).__name__, error)
"""
    said = " ".join(in_coremltools(["-c", program], packages / "convolution.mlpackage", tmp_path / "changed"))
    assert message in said


@hosts
def test_open_sizes_are_right(host):
    reference = host.InferenceSession(dense(), providers=[CPU])
    with registered(host, COREML):
        made = session(host, COREML, dense())
        for n in (1, 5, 2):
            feed = {"x": floats(n, 4, seed=n), "x2": floats(n, 3, seed=n + 1)}
            np.testing.assert_allclose(made.run(None, feed)[0], reference.run(None, feed)[0], rtol=1e-5, atol=1e-5)
        del made


@hosts
def test_branches_are_right(host):
    with registered(host, COREML):
        made, reference = session(host, COREML, branches()), host.InferenceSession(branches(), providers=[CPU])
        for n, c in ((1, True), (3, False)):
            feed = {"x": floats(n, 4, seed=n), "c": np.array(c)}
            np.testing.assert_allclose(made.run(None, feed)[0], reference.run(None, feed)[0], rtol=1e-5, atol=1e-5)
        del made
