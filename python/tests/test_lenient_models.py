"""Models that ONNX Runtime takes against the standard's letter: the same results here. And those that fail in both at the same step."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import roundhouse

onnxruntime = pytest.importorskip("onnxruntime")
if not hasattr(onnxruntime, "__file__") or "roundhouse" in onnxruntime.__file__:
    pytest.skip("the stock library is not there", allow_module_level=True)

X = np.arange(6, dtype=np.float32).reshape(2, 3)
ONES = np.ones(3, np.float32)


def tensor(name, shape=("n", 3), kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def model_of(nodes, weights=(), inputs=None, outputs=None, opsets=(("", 17),), ir=8):
    initializers = [numpy_helper.from_array(np.asarray(value), name) for name, value in weights]
    graph = helper.make_graph(nodes, "graph", inputs or [tensor("x")], outputs or [tensor("y")], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid(*opset) for opset in opsets], ir_version=ir)


def constant(name, **attribute):
    return helper.make_node("Constant", [], [name], **attribute)


def value(name, content):
    return constant(name, value=numpy_helper.from_array(np.asarray(content, np.float32)))


def sparse():
    return helper.make_sparse_tensor(
        numpy_helper.from_array(np.array([1, 2], np.float32), "v"), numpy_helper.from_array(np.array([[0, 1], [1, 2]], np.int64)), [2, 3]
    )


def sparse_constant(name, attribute):
    node = constant(name)
    node.attribute.append(onnx.AttributeProto(name=attribute, type=onnx.AttributeProto.SPARSE_TENSOR, sparse_tensor=sparse()))
    return node


def sparse_output(name):
    info = onnx.ValueInfoProto(name=name)
    info.type.sparse_tensor_type.elem_type = TensorProto.FLOAT
    for size in (2, 3):
        info.type.sparse_tensor_type.shape.dim.add().dim_value = size
    return info


ADD = helper.make_node("Add", ["x", "c"], ["y"])
RELU = helper.make_node("Relu", ["x"], ["y"])
ML = (("", 17), ("ai.onnx.ml", 1))


def linear(op, count, **attributes):
    outputs = ["y"] if op == "LinearRegressor" else ["label", "y"]
    coefficients = [i / 10 for i in range(count)]
    return helper.make_node(op, ["x"], outputs, domain="ai.onnx.ml", coefficients=coefficients, **attributes)


MODELS = {
    "an attribute that LayerNormalization lacks": model_of(
        [helper.make_node("LayerNormalization", ["x", "w"], ["y"], epsion=1e-5)], [("w", ONES)]
    ),
    "two Constants of a name": model_of([value("c", ONES), value("c", 2 * ONES), ADD]),
    "two initializers of a name": model_of([ADD], [("c", ONES), ("c", 5 * ONES)]),
    "a Constant beside an initializer": model_of([value("c", ONES), ADD], [("c", 5 * ONES)]),
    "a Constant beside an input": model_of([value("c", ONES), ADD], inputs=[tensor("x"), tensor("c", (3,))]),
    "a domain that is not imported": model_of([helper.make_node("Normalizer", ["x"], ["y"], domain="ai.onnx.ml", norm="MAX")]),
    "coefficients to spare, classes": model_of(
        [linear("LinearClassifier", 12, intercepts=[0.1, 0.2, 0.3], classlabels_ints=[0, 1, 2])],
        inputs=[tensor("x", ("n", 3))],
        opsets=ML,
    ),
    "coefficients to spare, one target": model_of(
        [linear("LinearRegressor", 5, intercepts=[0.1])], outputs=[tensor("y", ("n", 1))], opsets=ML
    ),
    "coefficients to spare, two targets": model_of(
        [linear("LinearRegressor", 8, intercepts=[0.1, 0.2], targets=2)], outputs=[tensor("y", ("n", 2))], opsets=ML
    ),
    "a sparse tensor as value": model_of([sparse_constant("c", "value"), ADD]),
    "a float as value": model_of([constant("c", value=2.5), ADD]),
    "floats as value": model_of([constant("c", value=[1.0, 2.0, 3.0]), ADD]),
    "an integer as value": model_of(
        [constant("c", value=3), helper.make_node("Cast", ["c"], ["d"], to=1), helper.make_node("Add", ["x", "d"], ["y"])]
    ),
    "a tensor as value_float": model_of([constant("c", value_float=numpy_helper.from_array(np.float32(2))), ADD]),
    "a float of another name than a Constant's": model_of([constant("c", foo=2.5), ADD]),
    "a tensor of another name than a Constant's": model_of([constant("c", foo=numpy_helper.from_array(ONES)), ADD]),
    "a name before that of a Constant's value": model_of([constant("c", foo=2.5, value_float=4.0), ADD]),
    "version 0 of a domain that no node is of": model_of([RELU], opsets=(("", 17), ("a.domain", 0))),
    "an empty node": model_of([helper.make_node("", [], [], "n"), RELU]),
    "a node of nothing": model_of([RELU, helper.make_node("Relu", [], [])]),
    "a node of nothing and of no domain": model_of([RELU, helper.make_node("", [], [], domain="com.none")]),
    "version 0 of the file's format": model_of([RELU], ir=0),
    "a version below 0 of the file's format, and an initializer among the inputs": model_of(
        [ADD], [("c", ONES)], [tensor("x"), tensor("c", (3,))], ir=-1
    ),
    "version 0 before the right one": model_of([RELU], opsets=(("", 0), ("", 17))),
    "intercepts to spare": model_of(
        [linear("LinearRegressor", 6, intercepts=[0.1, 0.2, 0.3], targets=2)], outputs=[tensor("y", ("n", 2))], opsets=ML
    ),
    "labels to spare": model_of([linear("LinearClassifier", 9, intercepts=[0.1, 0.2, 0.3], classlabels_ints=[0, 1, 2, 7])], opsets=ML),
}


def session_of(host, model):
    options = host.SessionOptions()
    options.log_severity_level = 4
    return host.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


@pytest.mark.parametrize("name", MODELS)
def test_runs_as_in_onnxruntime(name):
    expected, given = (session_of(host, MODELS[name]).run(["y"], {"x": X})[0] for host in (onnxruntime, roundhouse))
    np.testing.assert_allclose(given, expected, rtol=1e-6, atol=1e-6)


def test_a_file_without_a_version_of_its_format():
    model = model_of([RELU])
    model.ClearField("ir_version")
    for host in (onnxruntime, roundhouse):
        with pytest.raises(Exception, match="Missing model IR version"):
            session_of(host, model)


AXES = ([0, 2, 3], [2, 3], [0, 0], [1, 5], [-1, 1], [-7], [7])


@pytest.mark.parametrize("shape", [(4,), (2, 4), (3, 4, 5), (2, 3, 4, 5), (2, 3, 2, 4, 2), (2, 3, 2, 4, 2, 2)])
@pytest.mark.parametrize("opset", [8, 9, 13])
def test_axes_beyond_the_rank_of_a_normalisation(opset, shape):
    variants = [{"across_channels": a, "normalize_variance": v} for a in (0, 1) for v in (0, 1)]
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    for attributes in variants if opset < 9 else [{}, *({"axes": axes} for axes in AXES)]:
        node = helper.make_node("MeanVarianceNormalization", ["x"], ["y"], **attributes)
        for declared in (shape, None):
            model = model_of([node], inputs=[tensor("x", declared)], outputs=[tensor("y", None)], opsets=(("", opset),))
            results = []
            for host in (onnxruntime, roundhouse):
                try:
                    results.append(session_of(host, model).run(None, {"x": x})[0])
                except Exception:
                    results.append(None)
            expected, given = results
            assert (given is None) == (expected is None), attributes
            if expected is not None:
                np.testing.assert_allclose(given, expected, rtol=1e-4, atol=1e-5, err_msg=str(attributes))


@pytest.mark.parametrize("attribute", ["value", "sparse_value"])
def test_a_sparse_constant_as_output(attribute):
    model = model_of([sparse_constant("y", attribute)], outputs=[sparse_output("y")])
    for host in (onnxruntime, roundhouse):
        result = session_of(host, model).run_with_ort_values(["y"], {"x": host.OrtValue.ortvalue_from_numpy(X)})[0]
        assert result.is_sparse_tensor()
        given = result.as_sparse_tensor()
        assert list(given.dense_shape()) == [2, 3]
        np.testing.assert_array_equal(given.values(), [1, 2])


def reshaped(sizes, rank):
    node = helper.make_node("Reshape", ["x", "s"], ["y"])
    return model_of([node], [("s", np.array(sizes, np.int64))], [tensor("x", (2, 3))], [tensor("y", [None] * rank)])


def normalized(opset):
    node = helper.make_node("BatchNormalization", ["x", "w", "w", "w", "w"], ["y"])
    return model_of([node], [("w", np.ones(2, np.float32))], [tensor("x", (2, 3))], [tensor("y", [None] * 2)], (("", opset),))


def convolved(**attributes):
    node = helper.make_node("Conv", ["x", "w"], ["y"], **attributes)
    weights = [("w", np.ones((2, 3, 1, 1), np.float32))]
    return model_of([node], weights, [tensor("x", (1, 2, 5, 5))], [tensor("y", [None] * 4)])


#: Element types of operators whose result has another one than the input.
RESULTS = {"NonMaxSuppression": TensorProto.INT64, "QuantizeLinear": TensorProto.INT8, "DequantizeLinear": TensorProto.FLOAT}


def node_of(op, x, *weights, opset=17, outputs=1, domain="", **attributes):
    """A node of `x` and weights, with `x` itself for its run."""
    names = [f"w{i}" if weight is not None else "" for i, weight in enumerate(weights)]
    given = [(name, weight) for name, weight in zip(names, weights) if weight is not None]
    results = ["y", *(f"y{i}" for i in range(1, outputs))]
    node = helper.make_node(op, ["x", *names], results, domain=domain, **attributes)
    inputs = [tensor("x", x.shape, helper.np_dtype_to_tensor_dtype(x.dtype))]
    output = onnx.ValueInfoProto(name="y")
    output.type.tensor_type.elem_type = RESULTS.get(op, inputs[0].type.tensor_type.elem_type)
    opsets = (("", opset), ("com.microsoft", 1)) if domain else (("", opset),)
    return model_of([node], given, inputs, [output], opsets, ir=10), x


def scores(op, count, **attributes):
    return model_of([linear(op, count, **attributes)], inputs=[tensor("x", (2, 3))], outputs=[tensor("y", None)], opsets=ML)


def f(*shape):
    return np.ones(shape, np.float32)


def i(*values):
    return np.array(values, np.int64)


ROWS = np.ones((2, 1, 3), np.float32)
IMAGE = np.ones((1, 2, 5, 5), np.float32)
CODES = np.ones((2, 3), np.int8)
MICROSOFT = {"domain": "com.microsoft"}

#: Nodes that cannot run as their shapes are, which ONNX Runtime finds when they do.
IMPOSSIBLE = {
    "CumSum": node_of("CumSum", X, np.int64(7)),
    "Einsum": node_of("Einsum", X, f(4, 5), equation="ij,jk->ik"),
    "Transpose": node_of("Transpose", X, perm=[0]),
    "Sum 6": node_of("Sum", X, f(2, 4), opset=6),
    "Max 7": node_of("Max", X, f(2, 4), opset=7),
    "GatherElements": node_of("GatherElements", X, np.zeros((2, 3), np.int64), axis=5),
    "an axis of 33 bits": node_of("Concat", X, f(2, 3), axis=2**32),
    "ScatterElements": node_of("ScatterElements", X, np.zeros((2, 3), np.int64), f(2, 3), axis=5, opset=18),
    "ScatterND": node_of("ScatterND", X, np.zeros((1, 3), np.int64), f(1), opset=18),
    "Conv, groups": node_of("Conv", IMAGE, f(3, 1, 1, 1), group=2),
    "Conv, ranks": node_of("Conv", IMAGE, f(2, 2, 3), kernel_shape=[3, 3]),
    "TopK": node_of("TopK", X, i(-3), outputs=2),
    "LSTM": node_of("LSTM", ROWS, f(1, 16), f(1, 16, 4), hidden_size=4, outputs=3),
    "GRU": node_of("GRU", ROWS, f(1, 12, 3, 1), f(1, 12, 4), hidden_size=4),
    "NonMaxSuppression": node_of("NonMaxSuppression", f(2, 3), f(1, 1, 2), i(1)),
    "Attention": node_of("Attention", f(1, 2, 3, 4), f(1, 2, 3, 8), f(1, 2, 3, 8), opset=23),
    "RMSNormalization": node_of("RMSNormalization", X, f(3), axis=7, opset=23),
    "GroupNormalization": node_of("GroupNormalization", IMAGE, f(2), f(2), num_groups=3, opset=21),
    "SkipLayerNormalization": node_of("SkipLayerNormalization", ROWS, ROWS, f(5), f(5), **MICROSOFT),
    "BiasGelu": node_of("BiasGelu", X, f(5), **MICROSOFT),
    "RotaryEmbedding": node_of("RotaryEmbedding", X, np.zeros((1, 1), np.int64), f(4, 2), f(4, 2), **MICROSOFT),
    "QuantizeLinear": node_of("QuantizeLinear", X, f(5), np.ones(5, np.int8), axis=1),
    "QuantizeLinear, rank": node_of("QuantizeLinear", X, f(1, 3), np.ones((1, 3), np.int8)),
    "QuantizeLinear, axis": node_of("QuantizeLinear", X, f(3), np.ones(3, np.int8), axis=4),
    "QuantizeLinear, blocks": node_of("QuantizeLinear", X, f(2, 3), np.ones((2, 3), np.int8), opset=21, block_size=2),
    "DequantizeLinear": node_of("DequantizeLinear", CODES, f(5), np.ones(5, np.int8), axis=1),
    "DequantizeLinear, zero point": node_of("DequantizeLinear", CODES, f(3), np.ones((1, 3), np.int8)),
    "DequantizeLinear, blocks": node_of("DequantizeLinear", CODES, f(3), opset=21, block_size=2),
    "LinearRegressor": (scores("LinearRegressor", 5, targets=2), X),
    "LinearRegressor, fewer than targets": (scores("LinearRegressor", 1, targets=2), X),
    "LinearClassifier": (scores("LinearClassifier", 4, intercepts=[0.1, 0.2], classlabels_ints=[0, 1]), X),
    "Reshape": (reshaped([4, 2], 2), X),
    "Reshape to one dimension": (reshaped([5], 1), X),
    "BatchNormalization 9": (normalized(9), X),
    "Conv": (convolved(), np.ones((1, 2, 5, 5), np.float32)),
}


@pytest.mark.parametrize("host", [onnxruntime, roundhouse], ids=lambda host: host.__name__)
def test_inputs_of_one_name_are_refused(host):
    with pytest.raises(Exception, match="Duplicate definition-site for \\(x\\)") as caught:
        session_of(host, model_of([RELU], inputs=[tensor("x"), tensor("x")]))
    assert type(caught.value).__name__ == "Fail"


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_what_cannot_run_fails_when_it_does(name):
    model, x = IMPOSSIBLE[name]
    errors = []
    for host in (onnxruntime, roundhouse):
        session = session_of(host, model)
        with pytest.raises(Exception) as error:  # noqa: PT011 - each host has its own
            session.run(None, {"x": x})
        errors.append(type(error.value).__name__)
    assert errors[0] == errors[1]


def test_what_nothing_needs_does_not_run():
    """A branch that is not taken may have what cannot run."""
    bad = helper.make_graph([helper.make_node("Reshape", ["x", "s"], ["a"])], "bad", [], [tensor("a", None)])
    good = helper.make_graph([helper.make_node("Relu", ["x"], ["b"])], "good", [], [tensor("b", None)])
    node = helper.make_node("If", ["c"], ["y"], then_branch=good, else_branch=bad)
    inputs = [tensor("x", (2, 3)), tensor("c", (), TensorProto.BOOL)]
    model = model_of([node], [("s", np.array([4, 2], np.int64))], inputs, [tensor("y", None)])
    for host in (onnxruntime, roundhouse):
        np.testing.assert_array_equal(session_of(host, model).run(None, {"x": X, "c": np.array(True)})[0], X)


@pytest.mark.parametrize("name", ["CumSum", "LSTM", "Conv, groups"])
def test_the_saved_model_has_the_node_as_it_was(name, tmp_path):
    """A node that cannot run is written as the model has it."""
    model, _ = IMPOSSIBLE[name]
    options = roundhouse.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = roundhouse.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(tmp_path / "saved.onnx")
    roundhouse.InferenceSession(model.SerializeToString(), options)
    saved, was = onnx.load(tmp_path / "saved.onnx").graph.node[0], model.graph.node[0]
    assert (saved.op_type, saved.domain, list(saved.output)) == (was.op_type, was.domain, list(was.output))
    assert {a.name for a in saved.attribute} >= {a.name for a in was.attribute}
    assert not any("roundhouse" in a.name for a in saved.attribute)


@pytest.mark.parametrize("module", [onnxruntime, roundhouse], ids=["onnxruntime", "roundhouse"])
def test_a_range_by_zero_is_refused_only_where_it_runs(module):
    numbers = [numpy_helper.from_array(np.array(value, np.float32), name) for name, value in (("p", 0), ("q", 4), ("r", 0))]
    out = [helper.make_empty_tensor_value_info("b")], [helper.make_empty_tensor_value_info("e")]
    then_branch = helper.make_graph([helper.make_node("Range", ["p", "q", "r"], ["b"])], "then", [], out[0], numbers)
    else_branch = helper.make_graph([helper.make_node("Relu", ["x"], ["e"])], "else", [], out[1])
    node = helper.make_node("If", ["c"], ["y"], then_branch=then_branch, else_branch=else_branch)
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N"]),
        helper.make_tensor_value_info("c", TensorProto.BOOL, []),
    ]
    graph = helper.make_graph([node], "g", inputs, [helper.make_empty_tensor_value_info("y")])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
    session = module.InferenceSession(made, providers=["CPUExecutionProvider"])
    x = np.array([-1, 2], np.float32)
    np.testing.assert_array_equal(session.run(None, {"x": x, "c": np.array(False)})[0], [0, 2])
    with pytest.raises(Exception, match="delta") as caught:
        session.run(None, {"x": x, "c": np.array(True)})
    assert type(caught.value).__name__ == "InvalidArgument"
