#!/usr/bin/env python3
"""Wrong arguments, planted into packages that the provider wrote: each has to be refused by the evaluator, or to give other results.

plants.py numpy|coremltools FOLDER   holds NAME.mlpackage with the plants' inputs and results as NAME.npz, by the names of MODELS;
                                     prints a line for each plant: found or missed
"""

import pathlib
import sys

import numpy as np

#: (model, operator, argument, planted). A name of another argument: the two are exchanged.
PLANTS = [
    ("convolution", "conv", "strides", [1, 2]),
    ("convolution", "conv", "pad", [1, 0, 2, 1]),
    ("convolution", "conv", "pad", [0, 1, 1, 2]),
    ("convolution", "conv", "dilations", [2, 1]),
    ("convolution", "conv", "groups", 1),
    ("pool", "avg_pool", "kernel_sizes", [2, 3]),
    ("pool", "avg_pool", "pad", [1, 0, 0, 1]),
    ("pool", "avg_pool", "exclude_padding_from_average", False),
    ("square", "transpose", "perm", [1, 2, 0]),
    ("square", "softmax", "axis", 1),
    ("square", "reduce_sum", "axes", [1]),
    ("square", "cumsum", "axis", 0),
    ("square", "cumsum", "exclusive", False),
    ("square", "cumsum", "reverse", False),
    ("square", "gather", "axis", 1),
    ("square", "sub", "x", "y"),
    ("square", "select", "a", "b"),
    ("cuts", "slice_by_index", "begin", [0, 1]),
    ("cuts", "slice_by_index", "stride", [1, 2]),
    ("cuts", "pad", "pad", [2, 1, 0, 1]),
    ("cuts", "pad", "constant_val", 0.0),
    ("cuts", "split", "split_sizes", [2, 1]),
    ("cuts", "concat", "axis", 1),
    ("layers", "matmul", "transpose_y", True),
    ("layers", "layer_norm", "epsilon", 1.0),
    ("layers", "clip", "alpha", -2.0),
    ("layers", "leaky_relu", "alpha", 0.5),
    ("image", "resize_bilinear", "sampling_mode", "STRICT_ALIGN_CORNERS"),
]


def models():
    """By name: nodes, the shape of the input `x`, constants. Sizes are alike wherever a wrong order would show in them."""
    from onnx import helper

    def node(op, inputs, outputs, **attributes):
        return helper.make_node(op, inputs.split(), outputs.split(), **attributes)

    rng = np.random.default_rng(5)
    floats = lambda *shape: rng.standard_normal(shape, dtype="f4")  # noqa: E731
    return {
        "convolution": (
            [node("Conv", "x w b", "y", strides=[2, 1], pads=[1, 0, 2, 1], dilations=[1, 2], group=2)],
            (1, 4, 9, 9),
            {"w": floats(6, 2, 3, 3), "b": floats(6)},
        ),
        "pool": ([node("AveragePool", "x", "y", kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1])], (1, 2, 9, 9), {}),
        "square": (
            [
                node("Transpose", "x", "t", perm=[2, 0, 1]),
                node("Softmax", "t", "s", axis=2),
                node("CumSum", "s axis", "c", exclusive=1, reverse=1),
                node("Gather", "c at", "g", axis=0),
                node("Sub", "g t", "d"),
                node("Greater", "d s", "more"),
                node("Where", "more d s", "w"),
                node("ReduceSum", "w axes", "y", keepdims=1),
            ],
            (3, 3, 3),
            {"axis": np.array(1), "at": np.array([2, 0, 1]), "axes": np.array([2])},
        ),
        "cuts": (
            [
                node("Slice", "x from to axes steps", "s"),
                node("Pad", "s pads value", "p"),
                node("Split", "p sizes", "a b", axis=0),
                node("Concat", "b a", "y", axis=0),
            ],
            (5, 5),
            {
                "from": np.array([1, 0]),
                "to": np.array([5, 4]),
                "axes": np.array([0, 1]),
                "steps": np.array([2, 1]),
                "pads": np.array([0, 2, 1, 0]),
                "value": np.float32(3),
                "sizes": np.array([1, 2]),
            },
        ),
        "layers": (
            [
                node("MatMul", "x w", "m"),
                node("LayerNormalization", "m scale bias", "n"),
                node("Clip", "n low high", "c"),
                node("LeakyRelu", "c", "y", alpha=0.125),
            ],
            (4, 4),
            {"w": floats(4, 4), "scale": floats(4), "bias": floats(4), "low": np.float32(-0.5), "high": np.float32(0.75)},
        ),
        "image": (
            [node("Resize", "x none scales", "y", mode="linear", coordinate_transformation_mode="half_pixel")],
            (1, 2, 4, 5),
            {"none": np.zeros(0, "f4"), "scales": np.array([1, 1, 2, 2], "f4")},
        ),
    }


def numpy_results(package, feeds, operator, argument, planted):
    import evaluate
    import mil_reader

    model = evaluate.NumpyModel(package)
    operations = model.program.operations
    place = next(i for i, o in enumerate(operations) if o.type == operator)
    operation = operations[place]
    if planted in operation.inputs:
        inputs = operation.inputs
        inputs[argument], inputs[planted] = inputs[planted], inputs[argument]
    else:
        constant = next(o for o in operations if o.outputs[0].name == operation.inputs[argument][0])
        value = planted if isinstance(planted, str) else np.asarray(planted, constant.value.dtype)
        operation.inputs[argument] = ["planted"]
        [given] = constant.outputs
        operations.insert(place, mil_reader.Operation("const", {}, [mil_reader.Named("planted", given.dtype, given.shape)], value))
    model.done = [[] for _ in operations]
    return model.predict(feeds)["output_0"]


def coremltools_results(package, feeds, operator, argument, planted):
    import copy
    import tempfile

    import coremltools_model

    spec, _ = coremltools_model.loaded(package)
    block = spec.mlProgram.functions["main"].block_specializations["CoreML5"]
    place = next(i for i, o in enumerate(block.operations) if o.type == operator)
    operation = block.operations[place]
    if planted in operation.inputs:
        one, other = operation.inputs[argument].arguments[0], operation.inputs[planted].arguments[0]
        one.name, other.name = other.name, one.name
    else:
        constant = copy.deepcopy(next(o for o in block.operations if o.outputs[0].name == operation.inputs[argument].arguments[0].name))
        constant.outputs[0].name = "planted"
        operation.inputs[argument].arguments[0].name = "planted"
        constant.attributes["name"].immediateValue.tensor.strings.values[:] = ["planted"]
        tensor = constant.attributes["val"].immediateValue.tensor
        getattr(tensor, tensor.WhichOneof("value")).values[:] = planted if isinstance(planted, list) else [planted]
        block.operations.insert(place, constant)
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder) / "Data" / "com.apple.CoreML"
        data.mkdir(parents=True)
        (data / "model.mlmodel").write_bytes(spec.SerializeToString())
        weights = pathlib.Path(package).resolve() / "Data" / "com.apple.CoreML" / "weights"
        if weights.exists():
            (data / "weights").symlink_to(weights)
        return np.asarray(coremltools_model.CoremltoolsModel(folder).predict(feeds)["output_0"])


def differs(found, expected):
    return found.shape != expected.shape or not np.allclose(found, expected, rtol=1e-3, atol=1e-4)


def verdict(results, package, feeds, expected, plant):
    try:
        found = results(package, feeds, *plant)
    except Exception as error:
        return f"found: {type(error).__name__}: {' '.join(str(error).split())[:120]}"
    if differs(found, expected):
        return "found: other results"
    return "missed"


def check_plain(kind, package, feeds, expected):
    """Without a plant the package is right: else all plants would be found."""
    import evaluate

    found = np.asarray(evaluate.model_of(kind, package).predict(feeds)["output_0"])
    if differs(found, expected):
        sys.exit(f"{package} is wrong without a plant")


def main():
    kind, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    results = {"numpy": numpy_results, "coremltools": coremltools_results}[kind]
    for name, *plant in PLANTS:
        data = np.load(folder / f"{name}.npz")
        check_plain(kind, folder / f"{name}.mlpackage", {"input_0": data["x"]}, data["y"])
        print(name, *plant[:2], verdict(results, folder / f"{name}.mlpackage", {"input_0": data["x"]}, data["y"], plant), flush=True)


if __name__ == "__main__":
    main()
