"""Small models, of which each option of the interface should change something: what it does, what it refuses, or what it writes."""

import pathlib

import numpy as np
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper as nh

F32 = np.float32


def _model(nodes, inputs, outputs, constants=None, opset=17, functions=(), domains=(), graph_name="g"):
    graph = h.make_graph(
        nodes,
        graph_name,
        [h.make_tensor_value_info(*i) for i in inputs],
        [h.make_tensor_value_info(*o) for o in outputs],
        [nh.from_array(np.asarray(a), name) for name, a in (constants or {}).items()],
    )
    imports = [h.make_opsetid("", opset)] + [h.make_opsetid(domain, version) for domain, version in domains]
    made = h.make_model(graph, opset_imports=imports, functions=list(functions))
    made.ir_version = 10
    return made


def _random(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(F32)


def dense():
    """Two branches of constant products that meet."""
    nodes = [
        h.make_node("MatMul", ["x", "w"], ["a"], name="left"),
        h.make_node("Softmax", ["a"], ["b"], name="left_soft"),
        h.make_node("MatMul", ["x", "v"], ["c"], name="right"),
        h.make_node("Tanh", ["c"], ["d"], name="right_tanh"),
        h.make_node("Exp", ["d"], ["e"], name="right_exp"),
        h.make_node("Add", ["b", "e"], ["y"], name="sum"),
    ]
    for node in nodes:
        node.metadata_props.add(key="layer_ann", value=node.name.partition("_")[0])
    constants = {"w": _random(64, 64), "v": _random(64, 64)}
    return _model(nodes, [("x", T.FLOAT, ["n", 64])], [("y", T.FLOAT, ["n", 64])], constants), {"x": _random(3, 64)}


def images():
    nodes = [
        h.make_node("Conv", ["x", "w"], ["a"], pads=[1, 1, 1, 1], name="conv"),
        h.make_node("Relu", ["a"], ["b"], name="relu"),
        h.make_node("Conv", ["b", "v"], ["c"], name="pixels"),
        h.make_node("GlobalAveragePool", ["c"], ["y"], name="pool"),
    ]
    constants = {"w": _random(16, 8, 3, 3), "v": _random(256, 16, 1, 1)}
    return _model(nodes, [("x", T.FLOAT, [1, 8, 9, 9])], [("y", T.FLOAT, None)], constants), {"x": _random(1, 8, 9, 9)}


def gelu():
    node = h.make_node("Gelu", ["x"], ["y"], domain="com.microsoft")
    made = _model([node], [("x", T.FLOAT, [8])], [("y", T.FLOAT, [8])], domains=[("com.microsoft", 1)])
    return made, {"x": np.linspace(-3, 3, 8, dtype=F32)}


def casts():
    """A number that the type in the middle of the chain does not hold."""
    nodes = [
        h.make_node("Cast", ["x"], ["a"], to=T.FLOAT16),
        h.make_node("Cast", ["a"], ["b"], to=T.FLOAT),
        h.make_node("Neg", ["b"], ["y"]),
    ]
    return _model(nodes, [("x", T.FLOAT, [2])], [("y", T.FLOAT, [2])]), {"x": np.array([1.0001, 3e-6], F32)}


def quantised():
    """A pair between float operators, two pairs with other scales in a row, and a convolution between pairs."""
    nodes = [
        h.make_node("QuantizeLinear", ["x", "s", "o"], ["q"]),
        h.make_node("DequantizeLinear", ["q", "s", "o"], ["d"]),
        h.make_node("DequantizeLinear", ["v", "t", "p"], ["w"]),
        h.make_node("Conv", ["d", "w"], ["c"]),
        h.make_node("QuantizeLinear", ["c", "s", "o"], ["r"]),
        h.make_node("DequantizeLinear", ["r", "s", "o"], ["y"]),
        h.make_node("Exp", ["x"], ["e"]),
        h.make_node("QuantizeLinear", ["e", "s", "o"], ["e1"]),
        h.make_node("DequantizeLinear", ["e1", "s", "o"], ["e2"]),
        h.make_node("QuantizeLinear", ["e2", "t2", "o"], ["e3"]),
        h.make_node("DequantizeLinear", ["e3", "t2", "o"], ["e4"]),
        h.make_node("Neg", ["e4"], ["z"]),
        h.make_node("DequantizeLinear", ["v", "t", "p"], ["k"]),
        h.make_node("Abs", ["k"], ["u"]),
    ]
    constants = {"s": F32(0.03125), "o": np.uint8(128), "t": F32(0.015625), "p": np.int8(0), "t2": F32(0.05)}
    constants["v"] = np.array([100, -20, 30, 40, -50, 60, 70, 80], np.int8).reshape(2, 2, 2)
    outputs = [("y", T.FLOAT, None), ("z", T.FLOAT, None), ("u", T.FLOAT, None)]
    return _model(nodes, [("x", T.FLOAT, [1, 2, 6])], outputs, constants), {"x": np.linspace(-1, 1, 12, dtype=F32).reshape(1, 2, 6)}


def weights_of_4_bits():
    nodes = [h.make_node("DequantizeLinear", ["q", "s"], ["w"], axis=0, block_size=32), h.make_node("MatMul", ["x", "w"], ["y"])]
    made = _model(nodes, [("x", T.FLOAT, [2, 128])], [("y", T.FLOAT, [2, 64])], {"s": np.abs(_random(4, 64)) / 8}, opset=21)
    packed = np.random.default_rng(0).integers(0, 256, 128 * 64 // 2, dtype=np.uint8).tobytes()
    made.graph.initializer.append(h.make_tensor("q", T.INT4, [128, 64], packed, raw=True))
    return made, {"x": _random(2, 128)}


def weights_of_2_bits():
    packed = np.random.default_rng(1).integers(0, 256, (128, 4, 8), dtype=np.uint8)
    node = h.make_node("MatMulNBits", ["x", "q", "s"], ["y"], domain="com.microsoft", K=128, N=128, bits=2, block_size=32)
    constants = {"q": packed, "s": np.abs(_random(128, 4))}
    made = _model([node], [("x", T.FLOAT, [2, 128])], [("y", T.FLOAT, [2, 128])], constants, domains=[("com.microsoft", 1)])
    return made, {"x": _random(2, 128)}


def function():
    body = h.make_function("own", "Twice", ["a"], ["b"], [h.make_node("Add", ["a", "a"], ["b"])], [h.make_opsetid("", 17)])
    node = h.make_node("Twice", ["x"], ["y"], domain="own", name="call")
    return _model([node], [("x", T.FLOAT, [3])], [("y", T.FLOAT, [3])], functions=[body], domains=[("own", 1)]), {"x": _random(3)}


def foldable():
    """A megabyte that no input has a part in."""
    nodes = [h.make_node("Expand", ["c", "shape"], ["big"], name="expand"), h.make_node("Add", ["big", "x"], ["y"], name="add")]
    constants = {"c": F32(2.5), "shape": np.array([512, 512])}
    return _model(nodes, [("x", T.FLOAT, [1])], [("y", T.FLOAT, [512, 512])], constants), {"x": _random(1)}


def newer_opset():
    return _model([h.make_node("Neg", ["x"], ["y"])], [("x", T.FLOAT, [3])], [("y", T.FLOAT, [3])], opset=29), {"x": _random(3)}


def denormal():
    node = h.make_node("Mul", ["x", "c"], ["y"])
    return _model([node], [("x", T.FLOAT, [64])], [("y", T.FLOAT, [64])], {"c": F32(0.25)}), {"x": np.full(64, 1.5e-38, F32)}


def contradictory():
    node = h.make_node("Relu", ["x"], ["y"])
    return _model([node], [("x", T.FLOAT, [2, 3])], [("y", T.FLOAT, [2, 4])]), {"x": _random(2, 3)}


def attention():
    """GroupQueryAttention with a cache."""
    names = ["q", "k", "v", "past_k", "past_v", "lens", "total"]
    node = h.make_node("GroupQueryAttention", names, ["y", "now_k", "now_v"], domain="com.microsoft", num_heads=2, kv_num_heads=2)
    inputs = [(n, T.FLOAT, [1, 1, 32]) for n in names[:3]] + [(n, T.FLOAT, [1, 2, 4, 16]) for n in names[3:5]]
    inputs += [("lens", T.INT32, [1]), ("total", T.INT32, [1])]
    made = _model([node], inputs, [(n, T.FLOAT, None) for n in ("y", "now_k", "now_v")], domains=[("com.microsoft", 1)])
    feed = {n: _random(1, 1, 32 + i)[:, :, :32].copy() for i, n in enumerate(names[:3])}
    feed |= {"past_k": _random(1, 2, 4, 16), "past_v": _random(1, 2, 4, 16) / 2}
    return made, feed | {"lens": np.array([2], np.int32), "total": np.array([3], np.int32)}


def configured():
    """A model that brings options with it."""
    made, feed = dense()
    made.metadata_props.add(key="ort_config", value='{"session_options": {"intra_op_num_threads": 1, "graph_optimization_level": 0}}')
    return made, feed


def apart():
    """A model whose weights lie in a file of another folder."""
    made, feed = dense()
    tensor = made.graph.initializer[0]
    pathlib.Path("folder").mkdir(exist_ok=True)
    pathlib.Path("folder/w.bin").write_bytes(tensor.raw_data)
    tensor.ClearField("raw_data")
    tensor.data_location = T.EXTERNAL
    tensor.external_data.add(key="location", value="w.bin")
    return made, feed


CASES = {
    made.__name__: made
    for made in (
        dense,
        images,
        gelu,
        casts,
        quantised,
        weights_of_4_bits,
        weights_of_2_bits,
        function,
        foldable,
        newer_opset,
        denormal,
        contradictory,
        attention,
        configured,
        apart,
    )
}
