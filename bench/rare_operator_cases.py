"""Models of the operators of the standard that other tables lack: views, sequences and optionals, windows, training, rare operators."""

import struct
import zlib

import numpy as np
from onnx import TensorProto, TypeProto, helper
from operator_cases import IMAGES, RNG, ROWS, floats, model, one, rows_of

ML = "ai.onnx.ml"


def ints(*values):
    return np.array(values, "i8")


# Views and what is known of a value without its elements.


def reshaped(rows, length):
    return one("Reshape", {"x": floats(rows, length)}, {"shape": ints(length, rows)})


def unsqueezed(rows, length):
    return one("Unsqueeze", {"x": floats(rows, length)}, {"axes": ints(0, 3)})


def squeezed(rows, length):
    return one("Squeeze", {"x": floats(1, rows, 1, length)}, {"axes": ints(0, 2)})


def constant_of_shape(rows, length):
    return one("ConstantOfShape", {"shape": ints(rows, length)}, value=helper.make_tensor("v", TensorProto.FLOAT, [1], [2.5]))


def cast_like(rows, length):
    return one("CastLike", {"x": floats(rows, length), "like": np.zeros(1, "i4")})


def bit_cast(rows, length):
    return one("BitCast", {"x": floats(rows, length)}, opset=26, to=TensorProto.INT32)


# Elements.


def scatter(rows, length):
    feeds = {"x": floats(rows, length), "at": RNG.integers(0, rows, (rows, length)).astype("i8"), "updates": floats(rows, length)}
    return one("Scatter", feeds, opset=10, axis=0)


def tensor_scatter(length, step):
    feeds = {"x": floats(1, 8, length, 64), "update": floats(1, 8, step, 64), "at": ints(length // 2)}
    return one("TensorScatter", feeds, opset=24, axis=2)


def cumulated_product(rows, length):
    return one("CumProd", {"x": floats(rows, length, low=0.9, high=1.1)}, {"axis": np.array(1, "i8")}, opset=26)


def swiglu(rows, length):
    return one("SwiGLU", {"x": floats(rows, length), "z": floats(rows, length)}, opset=28)


def likelihood_loss(rows, classes):
    return one("NegativeLogLikelihoodLoss", {"x": floats(rows, classes), "labels": RNG.integers(0, classes, rows).astype("i8")}, opset=22)


def upsample(mode):
    def build(channels, size):
        feeds = {"x": floats(1, channels, size, size)}
        return one("Upsample", feeds, {"scales": np.array([1, 1, 2, 2], "f4")}, opset=9, mode=mode)

    return build


def window(op_type):
    return lambda size: one(op_type, {"size": np.array(size, "i8")})


def random_values(op_type):
    return lambda rows, length: one(op_type, {}, shape=[rows, length])


def image_decoder(size):
    """A PNG of smooth colours, every row filtered by the one above."""
    across, down = np.meshgrid(np.arange(size), np.arange(size))
    pixels = np.stack([across, down, across + down], -1).astype("u1").reshape(size, 3 * size)
    rows = np.concatenate([np.full((size, 1), 2, "u1"), pixels - np.concatenate([np.zeros((1, 3 * size), "u1"), pixels[:-1]])], 1)
    head = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    parts = [(b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes())), (b"IEND", b"")]
    data = b"".join(struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d)) for k, d in parts)
    return one("ImageDecoder", {"x": np.frombuffer(b"\x89PNG\r\n\x1a\n" + data, "u1")}, pixel_format="RGB")


# Attention and its relatives.


def flex_attention(length):
    feeds = {name: floats(1, 8, length, 64) for name in ("q", "k", "v")}
    return one("FlexAttention", feeds, opset=24, domain="ai.onnx.preview")


def linear_attention(domain, version, **attributes):
    def build(length):
        feeds = {"q": floats(1, length, 512), "k": floats(1, length, 512, low=-0.1, high=0.1), "v": floats(1, length, 512)}
        feeds |= {"past": floats(1, 8, 64, 64), "decay": floats(1, length, 8, low=-1, high=0), "beta": floats(1, length, 8, low=0)}
        opset = 20 if domain else version
        return one("LinearAttention", feeds, outputs=2, opset=opset, domain=domain, q_num_heads=8, kv_num_heads=8, **attributes)

    return build


def causal_conv(domain, opset):
    def build(channels, length):
        feeds, order = {"x": floats(1, channels, length), "past": floats(1, channels, 3)}, ["x", "w", "b", "past"]
        weights = {"w": floats(channels, 1, 4), "b": floats(channels)}
        return one("CausalConvWithState", feeds, weights, outputs=2, opset=opset, domain=domain, order=order, activation="silu")

    return build


# Sequences, optionals, branches.


def over_parts(nodes, outputs=("y0",), constants=None):
    """Nodes that take s, the rows of x as a sequence."""

    def build(rows, length):
        feeds, first = {"x": floats(rows, length)}, helper.make_node("SplitToSequence", ["x"], ["s"], axis=0, keepdims=1)
        return model([first, *nodes], feeds, constants or {}, list(outputs)), feeds

    return build


def joined(name):
    return helper.make_node("ConcatFromSequence", [name], ["y0"], axis=0)


def sequence_map(rows, length):
    value = helper.make_tensor_value_info
    body = helper.make_graph(
        [helper.make_node("Relu", ["e"], ["o"])],
        "body",
        [value("e", TensorProto.FLOAT, [1, length])],
        [value("o", TensorProto.FLOAT, [1, length])],
    )
    return over_parts([helper.make_node("SequenceMap", ["s"], ["t"], body=body), joined("t")])(rows, length)


def sequence_construct(rows, length):
    feeds = {"x": floats(rows, length), "z": floats(rows, length)}
    nodes = [helper.make_node("SequenceConstruct", ["x", "z"], ["s"]), joined("s")]
    return model(nodes, feeds, {}, ["y0"]), feeds


def sequence_empty(rows, length):
    feeds = {"x": floats(rows, length)}
    nodes = [helper.make_node("SequenceEmpty", [], ["e"]), helper.make_node("SequenceInsert", ["e", "x"], ["s"]), joined("s")]
    return model(nodes, feeds, {}, ["y0"]), feeds


def optional(op_type):
    def build(rows, length):
        feeds = {"x": floats(rows, length)}
        nodes = [helper.make_node("Optional", ["x"], ["o"]), helper.make_node(op_type, ["o"], ["y0"])]
        return model(nodes, feeds, {}, ["y0"]), feeds

    return build


def branch(rows, length):
    """Of two operators on a value from outside."""
    kind = helper.make_tensor_value_info("y", TensorProto.FLOAT, [rows, length])
    branches = {
        name: helper.make_graph([helper.make_node(op_type, ["x"], ["y"])], name, [], [kind])
        for name, op_type in (("then_branch", "Relu"), ("else_branch", "Neg"))
    }
    feeds = {"c": np.array(True), "x": floats(rows, length)}
    return model([helper.make_node("If", ["c"], ["y0"], **branches)], feeds, {}, ["y0"]), feeds


# Training.


def optimizer(op_type, states, **attributes):
    def build(rows, length):
        feeds = {"rate": np.float32(0.01), "step": np.array(1, "i8"), "x": floats(rows, length), "gradient": floats(rows, length)}
        feeds = {k: np.asarray(v) for k, v in feeds.items()} | {f"state{i}": floats(rows, length, low=0) for i in range(states)}
        return one(op_type, feeds, outputs=1 + states, opset=17, domain="ai.onnx.preview.training", **attributes)

    return build


# Classical models.


def of_map(op_type, key, **attributes):
    """Of a dictionary from ints to floats: the one feed is no array."""

    def build(count):
        kind = TypeProto()
        kind.map_type.key_type = key
        kind.map_type.value_type.tensor_type.elem_type = TensorProto.FLOAT
        node = helper.make_node(op_type, ["x"], ["y0"], domain=ML, **{k: v(count) for k, v in attributes.items()})
        inputs = [helper.make_value_info("x", kind)]
        graph = helper.make_graph([node], "g", inputs, [helper.make_empty_tensor_value_info("y0")])
        imports = [helper.make_opsetid("", 20), helper.make_opsetid(ML, 1)]
        feeds = {"x": {i: float(i) for i in range(0, count, 2)}}
        return helper.make_model(graph, opset_imports=imports, ir_version=10).SerializeToString(), feeds

    return build


def category_mapper(to_strings):
    def build(count):
        names = [f"word {i}" for i in range(200)]
        codes = RNG.integers(0, 250, count)
        x = codes.astype("i8") if to_strings else np.array([f"word {i}" for i in codes], object)
        return one("CategoryMapper", {"x": x}, domain=ML, cats_int64s=list(range(200)), cats_strings=names)

    return build


def feature_vectorizer(rows, length):
    return one("FeatureVectorizer", {"x": floats(rows, length), "z": floats(rows, length)}, domain=ML, inputdimensions=[length, length])


def zip_map(rows, classes):
    return one("ZipMap", {"x": floats(rows, classes)}, domain=ML, classlabels_int64s=list(range(classes)))


def tree_ensemble(rows, count):
    """Full trees of depth 6 over 20 features, nodes before leaves."""
    inner, leaves = 2**6 - 1, 2**6
    on, off, leaf_on, leaf_off = [], [], [], []
    for tree in range(count):
        for node in range(inner):
            for child, to, leaf in ((2 * node + 1, on, leaf_on), (2 * node + 2, off, leaf_off)):
                leaf.append(int(child >= inner))
                to.append(tree * leaves + child - inner if child >= inner else tree * inner + child)
    nodes, values = inner * count, leaves * count
    tensor = helper.make_tensor
    attributes = {
        "nodes_modes": tensor("m", TensorProto.UINT8, [nodes], [0] * nodes),
        "nodes_splits": tensor("s", TensorProto.FLOAT, [nodes], floats(nodes)),
        "leaf_weights": tensor("w", TensorProto.FLOAT, [values], floats(values)),
        "nodes_featureids": RNG.integers(0, 20, nodes).tolist(),
        "tree_roots": [inner * t for t in range(count)],
        "leaf_targetids": [0] * values,
        "n_targets": 1,
    }
    attributes |= {"nodes_truenodeids": on, "nodes_falsenodeids": off, "nodes_trueleafs": leaf_on, "nodes_falseleafs": leaf_off}
    return one("TreeEnsemble", {"x": floats(rows, 20)}, domain=ML, version=5, **attributes)


COUNTS = [(10,), (1000,), (10000,)]
PARTS = [(4, 64), (32, 512), (128, 4096)]
MOMENTUM = {"alpha": 0.9, "beta": 0.9, "mode": "standard", "norm_coefficient": 0.0}

RARE_CASES = [
    ("Reshape", reshaped, ROWS),
    ("Flatten", rows_of("Flatten", axis=0), ROWS),
    ("Squeeze", squeezed, ROWS),
    ("Unsqueeze", unsqueezed, ROWS),
    ("Shape", rows_of("Shape"), ROWS),
    ("Size", rows_of("Size"), ROWS),
    ("ConstantOfShape", constant_of_shape, ROWS),
    ("CastLike", cast_like, ROWS),
    ("BitCast", bit_cast, ROWS),
    ("Identity", rows_of("Identity"), ROWS),
    ("Swish", rows_of("Swish", opset=24), ROWS),
    ("SwiGLU", swiglu, ROWS),
    ("CumProd", cumulated_product, ROWS),
    ("Scatter", scatter, ROWS),
    ("TensorScatter", tensor_scatter, [(128, 1), (1024, 1), (4096, 128)]),
    ("NegativeLogLikelihoodLoss", likelihood_loss, [(1, 100), (64, 1000), (512, 1000)]),
    *((f"Upsample {m}", upsample(m), IMAGES) for m in ("nearest", "linear")),
    *((w, window(w), [(64,), (1024,), (65536,)]) for w in ("BlackmanWindow", "HammingWindow", "HannWindow")),
    *((r, random_values(r), ROWS) for r in ("RandomNormal", "RandomUniform")),
    ("ImageDecoder", image_decoder, [(16,), (128,), (1024,)]),
    ("FlexAttention", flex_attention, [(16,), (128,), (512,)]),
    ("LinearAttention", linear_attention("", 27, update_rule="gated_delta"), [(1,), (16,), (256,)]),
    ("CausalConvWithState", causal_conv("", 27), [(64, 1), (512, 16), (1024, 512)]),
    ("If", branch, ROWS),
    ("SequenceConstruct, ConcatFromSequence", sequence_construct, PARTS),
    ("SequenceEmpty, SequenceInsert", sequence_empty, PARTS),
    ("SplitToSequence, SequenceAt", over_parts([helper.make_node("SequenceAt", ["s", "i"], ["y0"])], constants={"i": np.array(1)}), PARTS),
    ("SplitToSequence, SequenceLength", over_parts([helper.make_node("SequenceLength", ["s"], ["y0"])]), PARTS),
    (
        "SplitToSequence, SequenceErase",
        over_parts([helper.make_node("SequenceErase", ["s", "i"], ["t"]), joined("t")], constants={"i": np.array(1)}),
        PARTS,
    ),
    ("SplitToSequence, SequenceInsert", over_parts([helper.make_node("SequenceInsert", ["s", "x"], ["t"]), joined("t")]), PARTS),
    ("SequenceMap", sequence_map, PARTS),
    ("Optional, OptionalGetElement", optional("OptionalGetElement"), ROWS),
    ("Optional, OptionalHasElement", optional("OptionalHasElement"), ROWS),
    ("Adagrad", optimizer("Adagrad", 1, decay_factor=0.1), ROWS),
    ("Adam", optimizer("Adam", 2), ROWS),
    ("Momentum", optimizer("Momentum", 1, **MOMENTUM), ROWS),
    ("CastMap", of_map("CastMap", TensorProto.INT64, map_form=lambda n: "SPARSE", max_map=lambda n: n), [(10,), (100,), (1000,)]),
    ("DictVectorizer", of_map("DictVectorizer", TensorProto.INT64, int64_vocabulary=lambda n: list(range(n))), [(10,), (100,), (1000,)]),
    ("CategoryMapper to strings", category_mapper(True), COUNTS),
    ("CategoryMapper to integers", category_mapper(False), COUNTS),
    ("FeatureVectorizer", feature_vectorizer, ROWS),
    ("TreeEnsemble", tree_ensemble, [(1, 100), (1000, 100), (5000, 300)]),
    ("ZipMap", zip_map, [(1, 10), (100, 10), (1000, 100)]),
]
