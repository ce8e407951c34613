"""Sessions on both runtimes, and the comparison of outputs."""

import functools
import pathlib

import numpy as np
import onnxruntime
from materialize import STRIPPED, SUFFIX, materialize
from model_inputs import sample_inputs  # noqa: F401 (of those who import this)

import roundhouse

BUILD = pathlib.Path(__file__).resolve().parent.parent.parent / "build"
TOLERANCE = 1e-4  # of the largest magnitude in an output
#: All that can be made from the tests' data, and whatever else lies in the folder of models.
MODELS = sorted({p.name.removesuffix(SUFFIX) for p in STRIPPED.glob(f"*{SUFFIX}")} | {p.stem for p in (BUILD / "models").glob("*.onnx")})
HALF_TOLERANCE = 2e-2  # where a model computes in float16 or bfloat16


@functools.cache
def model_path(name):
    return str(materialize(name, BUILD / "models"))


def session(module, path, threads):
    options = module.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return module.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def assert_close(actual, expected, name, tolerance=TOLERANCE):
    """Shapes and types equal, and no element further off than `tolerance` times the largest expected magnitude."""
    assert actual.dtype == expected.dtype, name
    assert actual.shape == expected.shape, name
    if not expected.size:
        return
    assert np.isfinite(expected).all(), f"{name}: the reference itself is not finite"
    scale = float(np.abs(expected).max())
    error = float(np.abs(actual.astype("f8") - expected.astype("f8")).max())
    assert error <= tolerance * scale, f"{name}: off by {error:.3g} where the largest magnitude is {scale:.3g}"


def assert_outputs_close(names, actual, expected, tolerance=TOLERANCE):
    assert len(actual) == len(expected) == len(names)
    for name, a, e in zip(names, actual, expected):
        assert_close(a, e, name, tolerance)


def compare_model(path, threads, feeds_list, tolerance=TOLERANCE):
    """One session of each runtime, every feed through both."""
    ours, reference = session(roundhouse, path, threads), session(onnxruntime, path, threads)
    names = [o.name for o in reference.get_outputs()]
    assert [o.name for o in ours.get_outputs()] == names
    assert [i.name for i in ours.get_inputs()] == [i.name for i in reference.get_inputs()]
    for feeds in feeds_list:
        assert_outputs_close(names, ours.run(None, feeds), reference.run(None, feeds), tolerance)
