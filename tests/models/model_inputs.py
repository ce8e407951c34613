"""Inputs for a model, from its metadata."""

import json

import numpy as np
import onnx


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
