"""Sessions on both runtimes, inputs from a model's metadata, and the comparison of outputs."""

import functools
import json
import pathlib

import numpy as np
import onnx
import onnxruntime
from materialize import STRIPPED, SUFFIX, materialize

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


def declared_inputs(model):
    """Inputs of floats as sample_inputs metadata would describe them; dimensions without a size are 1."""
    weights = {i.name for i in model.graph.initializer}
    described = []
    for i in model.graph.input:
        if i.name in weights:
            continue
        tensor = i.type.tensor_type
        dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        assert dtype.kind == "f", f"input {i.name} is {dtype}: what values it takes is not known"
        described.append({"name": i.name, "dtype": dtype.str, "shape": [d.dim_value or 1 for d in tensor.shape.dim]})
    return described


def sample_inputs(path, seed=0, sizes=None):
    """Random inputs as the model's sample_inputs metadata describes them, or, without that, normal floats of the declared sizes.

    `sizes` replaces dimensions: {128: 37}.
    """
    model = onnx.load(path, load_external_data=False)
    described = {p.key: p.value for p in model.metadata_props}.get("sample_inputs")
    described = json.loads(described) if described else declared_inputs(model)
    rng = np.random.default_rng(seed)
    feeds = {}
    for i in described:
        shape = [(sizes or {}).get(d, d) for d in i["shape"]]
        if np.dtype(i["dtype"]).kind != "f":
            values = rng.integers(i["low"], i["high"], shape)
        elif "low" in i:
            values = rng.uniform(i["low"], i["high"], shape)
        else:
            values = rng.standard_normal(shape)
        feeds[i["name"]] = values.astype(i["dtype"])
    return feeds


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
