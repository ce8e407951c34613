"""Models of single operators, and of short chains of them, at three sizes: the cases of compare_operators.py that are of the standard."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 20
RNG = np.random.default_rng(0)


def floats(*shape, low=-1.0, high=1.0):
    return RNG.uniform(low, high, shape).astype("f4")


def model(nodes, feeds, constants, outputs, opset=OPSET, domains=None):
    """A model of the nodes: `feeds` are its inputs, `constants` its initializers, `domains` other domains with their versions."""
    inputs = [helper.make_tensor_value_info(k, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for k, v in feeds.items()]
    initializers = [numpy_helper.from_array(v, k) for k, v in constants.items()]
    graph = helper.make_graph(nodes, "g", inputs, [onnx.ValueInfoProto(name=o) for o in outputs], initializers)
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(*d) for d in (domains or {}).items())]
    return helper.make_model(graph, opset_imports=imports, ir_version=10).SerializeToString()


def one(op_type, feeds, constants=None, outputs=1, opset=OPSET, domain="", version=1, order=None, **attributes):
    """A model of one operator, whose inputs are the feeds and constants in turn, or as `order` names them."""
    constants = constants or {}
    names = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(op_type, order or [*feeds, *constants], names, domain=domain, **attributes)
    return model([node], feeds, constants, names, opset, {domain: version} if domain else {}), feeds


def rows_of(op_type, **attributes):
    return lambda rows, length: one(op_type, {"x": floats(rows, length)}, **attributes)


def normalization(op_type, inputs, **attributes):
    def build(rows, length):
        weights = {name: floats(length) for name in inputs}
        return one(op_type, {"x": floats(rows, length)}, weights, **attributes)

    return build


def reduction(op_type, axis, opset=18):
    return lambda rows, length: one(op_type, {"x": floats(rows, length)}, {"axes": np.array([axis], "i8")}, opset=opset)


def image(op_type, constants=None, channels_axis=None, **attributes):
    def build(channels, size):
        return one(op_type, {"x": floats(1, channels, size, size)}, constants(channels) if constants else None, **attributes)

    return build


def resize(mode, scale, **attributes):
    def build(channels, size):
        scales = {"scales": np.array([1, 1, scale, scale], "f4")}
        return one("Resize", {"x": floats(1, channels, size, size)}, scales, order=["x", "", "scales"], mode=mode, **attributes)

    return build


def transpose(permutation):
    return lambda *shape: one("Transpose", {"x": floats(*shape)}, perm=permutation)


def recurrent(op_type, gates):
    def build(steps, size):
        weights = {"w": floats(1, gates * size, size, low=-0.1, high=0.1), "r": floats(1, gates * size, size, low=-0.1, high=0.1)}
        return one(op_type, {"x": floats(steps, 1, size)}, weights, hidden_size=size)

    return build


def grid_sample(mode):
    def build(channels, size):
        feeds = {"x": floats(1, channels, size, size), "grid": floats(1, size, size, 2)}
        return one("GridSample", feeds, mode=mode)

    return build


def roi_align(channels, rois):
    corners = floats(rois, 2, low=0, high=100)
    feeds = {"x": floats(1, channels, 50, 50), "rois": np.concatenate([corners, corners + floats(rois, 2, low=10, high=90)], 1)}
    indices = {"batch": np.zeros(rois, "i8")}
    return one("RoiAlign", feeds, indices, opset=16, output_height=7, output_width=7, sampling_ratio=2, spatial_scale=0.25)


def non_max_suppression(boxes, classes):
    corners = floats(1, boxes, 2, low=0, high=100)
    feeds = {
        "boxes": np.concatenate([corners, corners + floats(1, boxes, 2, low=1, high=20)], 2),
        "scores": floats(1, classes, boxes, low=0),
    }
    limits = {"most": np.array([100], "i8"), "overlap": np.array([0.5], "f4"), "score": np.array([0.1], "f4")}
    return one("NonMaxSuppression", feeds, limits)


def trees(rows, count, classes=0):
    """A forest of full trees of depth 6 over 20 features: a regressor, or a classifier whose trees vote for one class each."""
    inner = 2**6 - 1
    keys = {k: [] for k in ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids")}
    targets = {k: [] for k in ("treeids", "nodeids", "ids", "weights")}
    for tree in range(count):
        for node in range(2 * inner + 1):
            leaf = node >= inner
            row = (
                tree,
                node,
                0 if leaf else int(RNG.integers(20)),
                0.0 if leaf else float(RNG.uniform(-1, 1)),
                "LEAF" if leaf else "BRANCH_LEQ",
            )
            for key, value in zip(keys, (*row, 0 if leaf else 2 * node + 1, 0 if leaf else 2 * node + 2), strict=True):
                keys[key].append(value)
            if leaf:
                for key, value in zip(targets, (tree, node, tree % max(classes, 1), float(RNG.uniform(-1, 1))), strict=True):
                    targets[key].append(value)
    x, attributes = {"x": floats(rows, 20)}, {f"nodes_{k}": v for k, v in keys.items()}
    attributes |= {f"{'class' if classes else 'target'}_{k}": v for k, v in targets.items()}
    if not classes:
        return one("TreeEnsembleRegressor", x, domain="ai.onnx.ml", n_targets=1, **attributes)
    labels = list(range(classes))
    return one(
        "TreeEnsembleClassifier", x, outputs=2, domain="ai.onnx.ml", classlabels_int64s=labels, post_transform="SOFTMAX", **attributes
    )


def support_vectors(rows, vectors):
    """Three classes over 20 features, radial kernel."""
    attributes = {"vectors_per_class": [vectors] * 3, "support_vectors": floats(60 * vectors).tolist(), "rho": [0.1, 0.2, -0.1]}
    attributes |= {"coefficients": floats(6 * vectors).tolist(), "kernel_type": "RBF", "kernel_params": [0.05, 0.0, 3.0]}
    attributes |= {"classlabels_ints": [0, 1, 2], "prob_a": [-1.0, -1.1, -0.9], "prob_b": [0.1, 0.0, -0.1]}
    return one("SVMClassifier", {"x": floats(rows, 20)}, outputs=2, domain="ai.onnx.ml", **attributes)


def linear_classes(rows, classes):
    attributes = {"coefficients": floats(20 * classes).tolist(), "intercepts": floats(classes).tolist(), "post_transform": "SOFTMAX"}
    return one(
        "LinearClassifier", {"x": floats(rows, 20)}, outputs=2, domain="ai.onnx.ml", classlabels_ints=list(range(classes)), **attributes
    )


def scatter_nd(rows, length):
    indices = RNG.permutation(rows)[: rows // 2].reshape(-1, 1).astype("i8")
    return one("ScatterND", {"x": floats(rows, length)}, {"indices": indices, "updates": floats(rows // 2, length)})


def element_places(rows, length):
    return np.stack(np.unravel_index(RNG.permutation(rows * length), (rows, length)), -1).astype("i8")


def scatter_elements_nd(rows, length):
    constants = {"indices": element_places(rows, length), "updates": floats(rows * length)}
    return one("ScatterND", {"x": floats(rows, length)}, constants)


def gather_elements_nd(rows, length):
    return one("GatherND", {"x": floats(rows, length), "at": element_places(rows, length)})


def gather(axis):
    def build(rows, length):
        count = (rows, length)[axis]
        return one("Gather", {"x": floats(rows, length), "at": RNG.integers(0, count, count).astype("i8")}, axis=axis)

    return build


def elements(op_type):
    def build(rows, length):
        at = RNG.integers(0, rows, (rows, length)).astype("i8")
        feeds = {"x": floats(rows, length), "at": at}
        if op_type == "ScatterElements":
            feeds["updates"] = floats(rows, length)
        return one(op_type, feeds, axis=0)

    return build


def top_k(count):
    return lambda rows, length: one("TopK", {"x": floats(rows, length)}, {"k": np.array([count], "i8")}, outputs=2)


def unique(rows, length):
    return one("Unique", {"x": RNG.integers(0, 1000, rows * length).astype("i8")}, outputs=4)


def binary(op_type, *other):
    """Of x and a second operand of the last so many dimensions."""
    return lambda rows, length: one(op_type, {"x": floats(rows, length), "z": floats(*[{"r": rows, "l": length, 1: 1}[o] for o in other])})


def chain(kind):
    def build(rows, length):
        feeds = {"x": floats(rows, length)}
        constants = {
            "bias": floats(length),
            "scale": floats(length),
            "three": np.float32(3),
            "six": np.float32(6),
            "zero": np.float32(0),
            "one": np.float32(1),
        }
        node = helper.make_node
        nodes = {
            "x * scale + bias, Relu": [node("Mul", ["x", "scale"], ["a"]), node("Add", ["a", "bias"], ["b"]), node("Relu", ["b"], ["y0"])],
            "x * sigmoid(x + bias)": [node("Add", ["x", "bias"], ["a"]), node("Sigmoid", ["a"], ["b"]), node("Mul", ["x", "b"], ["y0"])],
            "(x - bias)^2 / scale": [
                node("Sub", ["x", "bias"], ["a"]),
                node("Mul", ["a", "a"], ["b"]),
                node("Div", ["b", "scale"], ["y0"]),
            ],
            "tanh, Mul, Add, Exp, Neg": [
                node("Tanh", ["x"], ["a"]),
                node("Mul", ["a", "scale"], ["b"]),
                node("Add", ["b", "x"], ["c"]),
                node("Exp", ["c"], ["d"]),
                node("Neg", ["d"], ["y0"]),
            ],
            "log(1 + exp(x)) * scale": [
                node("Exp", ["x"], ["a"]),
                node("Add", ["a", "one"], ["b"]),
                node("Log", ["b"], ["c"]),
                node("Mul", ["c", "scale"], ["y0"]),
            ],
            "x > bias ? x * three : scale": [
                node("Greater", ["x", "bias"], ["a"]),
                node("Mul", ["x", "three"], ["b"]),
                node("Where", ["a", "b", "scale"], ["y0"]),
            ],
            "(x + three) / six, between 0 and 1, squared": [
                node("Add", ["x", "three"], ["a"]),
                node("Div", ["a", "six"], ["b"]),
                node("Clip", ["b", "zero", "one"], ["c"]),
                node("Mul", ["c", "c"], ["y0"]),
            ],
        }[kind]
        used = {name for n in nodes for name in n.input}
        return model(nodes, feeds, {k: v for k, v in constants.items() if k in used}, ["y0"]), feeds

    return build


def einsum(equation, *shapes):
    def build(scale):
        operands = [floats(*(d * scale if d > 4 else d for d in shape)) for shape in shapes]
        return one("Einsum", {f"x{i}": v for i, v in enumerate(operands)}, equation=equation)

    return build


def written_out_rotary(length):
    """x cos + [-x2, x1] sin, as transformers' models are exported."""
    heads, depth = 8, 64
    feeds = {"x": floats(1, heads, length, depth), "cos": floats(1, 1, length, depth), "sin": floats(1, 1, length, depth)}
    ints = {name: np.array([value]) for name, value in (("zero", 0), ("half", depth // 2), ("end", depth), ("last", -1))}
    nodes = [
        helper.make_node("Slice", ["x", "zero", "half", "last"], ["first"]),
        helper.make_node("Slice", ["x", "half", "end", "last"], ["second"]),
        helper.make_node("Neg", ["second"], ["negated"]),
        helper.make_node("Concat", ["negated", "first"], ["turned"], axis=-1),
        helper.make_node("Mul", ["x", "cos"], ["a"]),
        helper.make_node("Mul", ["turned", "sin"], ["b"]),
        helper.make_node("Add", ["a", "b"], ["y0"]),
    ]
    return model(nodes, feeds, ints, ["y0"]), feeds


def box_decoding(boxes):
    """Corners of boxes from offsets and anchors, as detectors write them."""
    feeds = {"d": floats(boxes, 4), "centre": floats(boxes, 2), "size": floats(boxes, 2, low=0.1)}
    constants = {"weights": np.array([0.1, 0.1, 0.2, 0.2], "f4"), "half": np.float32(0.5), "most": np.float32(4)}
    nodes = [
        helper.make_node("Mul", ["d", "weights"], ["w"]),
        helper.make_node("Split", ["w"], ["shift", "stretch"], axis=1, num_outputs=2),
        helper.make_node("Mul", ["shift", "size"], ["a"]),
        helper.make_node("Add", ["a", "centre"], ["middle"]),
        helper.make_node("Min", ["stretch", "most"], ["b"]),
        helper.make_node("Exp", ["b"], ["c"]),
        helper.make_node("Mul", ["c", "size"], ["e"]),
        helper.make_node("Mul", ["e", "half"], ["f"]),
        helper.make_node("Sub", ["middle", "f"], ["low"]),
        helper.make_node("Add", ["middle", "f"], ["high"]),
        helper.make_node("Concat", ["low", "high"], ["y0"], axis=1),
    ]
    return model(nodes, feeds, constants, ["y0"]), feeds


def deform_conv(channels, size):
    feeds = {"x": floats(1, channels, size, size)}
    offsets = {"w": floats(channels, channels, 3, 3), "offset": floats(1, 18, size, size, low=-2, high=2)}
    return one("DeformConv", feeds, offsets, opset=19, kernel_shape=[3, 3], pads=[1, 1, 1, 1])


def dft(rows, length):
    return one("DFT", {"x": floats(rows, length, 1)}, opset=17, axis=1)


def dequantize(rows, length):
    feeds = {"x": RNG.integers(0, 255, (rows, length)).astype("u1")}
    return one("DequantizeLinear", feeds, {"s": np.float32(0.01), "z": np.uint8(128)})


def one_hot(rows, length):
    feeds = {"x": RNG.integers(0, length, rows).astype("i8")}
    return one("OneHot", feeds, {"d": np.array(length, "i8"), "v": np.array([0, 1], "f4")})


def strings(count):
    return one("Identity", {"x": np.array([f"word {i}" for i in range(count)], object)})


def concat(rows, length):
    return one("Concat", {"x": floats(rows, length), "z": floats(rows, length)}, axis=1)


def split(rows, length):
    return one("Split", {"x": floats(rows, length)}, outputs=3, axis=1, num_outputs=3)


def matmul(rows, inner, columns):
    return one("MatMul", {"x": floats(rows, inner)}, {"w": floats(inner, columns)})


def matmul_of_two(rows, inner, columns):
    return one("MatMul", {"x": floats(rows, inner), "z": floats(inner, columns)})


def batched_matmul(batch, rows, inner):
    return one("MatMul", {"x": floats(batch, rows, inner), "z": floats(batch, inner, rows)})


def gemm(rows, inner, columns):
    return one("Gemm", {"x": floats(rows, inner)}, {"w": floats(columns, inner), "b": floats(columns)}, transB=1)


def conv(op_type, kernel, groups=None, axes=2, padded=True, **attributes):
    """Over `axes` spatial axes of one size each; keeps the size where the stride is 1."""

    def build(channels, size):
        count = groups(channels) if groups else 1
        weights = {"w": floats(channels, channels // count, *[kernel] * axes), "b": floats(channels)}
        pads = [kernel // 2 * attributes.get("dilations", [1])[0] if padded else 0] * (2 * axes)
        return one(op_type, {"x": floats(1, channels, *[size] * axes)}, weights, group=count, pads=pads, **attributes)

    return build


def sliced(starts, ends, axes, steps):
    def build(rows, length):
        feeds = {"x": floats(rows, length)}
        bounds = {k: np.array(v, "i8") for k, v in (("starts", starts), ("ends", ends), ("axes", axes), ("steps", steps))}
        return one("Slice", feeds, bounds)

    return build


def logical(op_type):
    return lambda rows, length: one(op_type, {n: RNG.random((rows, length)) < 0.5 for n in ("x", "z")[: 1 if op_type == "Not" else 2]})


def integers(op_type, other=None):
    def build(rows, length):
        feeds = {"x": RNG.integers(-1000, 1000, (rows, length)).astype("i8")}
        if other:
            feeds["z"] = RNG.integers(1, 9, other(rows, length)).astype("i8")
        return one(op_type, feeds)

    return build


def skip_layer_normalization(rows, length):
    feeds = {"x": floats(1, rows, length), "skip": floats(1, rows, length)}
    return one("SkipLayerNormalization", feeds, {n: floats(length) for n in ("gamma", "beta")}, domain="com.microsoft")


def reverse_sequence(rows, length):
    feeds = {"x": floats(rows, length), "lengths": np.full(length, max(rows // 2, 1), "i8")}
    return one("ReverseSequence", feeds, batch_axis=1, time_axis=0)


def compress(rows, length):
    return one("Compress", {"x": floats(rows, length), "c": RNG.random(rows) < 0.5}, axis=0)


def spatial_mean(channels, size):
    return one("ReduceMean", {"x": floats(1, channels, size, size)}, {"axes": np.array([2, 3], "i8")}, opset=18)


def pad(mode):
    return lambda channels, size: one(
        "Pad", {"x": floats(1, channels, size, size)}, {"pads": np.array([0, 0, 2, 2, 0, 0, 2, 2], "i8")}, mode=mode
    )


def cast(to):
    return lambda rows, length: one("Cast", {"x": floats(rows, length)}, to=to)


ROWS = [(1, 512), (64, 1024), (512, 4096)]
IMAGES = [(16, 14), (64, 56), (96, 112)]
ODD_ROWS = [(3, 77), (61, 333), (511, 1999)]
FEW_COLUMNS = [(1000, 64, 4), (256, 1024, 8), (4096, 512, 1)]
UNARY = (
    "Exp Log Sqrt Tanh Sigmoid Erf Gelu HardSwish Softplus Elu LeakyRelu Relu Sin Cos Abs Neg Reciprocal Round Floor Softsign Mish Selu "
    "Ceil Sign Celu HardSigmoid ThresholdedRelu Atan Sinh"
).split()

CHAINS = (
    "x * scale + bias, Relu",
    "x * sigmoid(x + bias)",
    "(x - bias)^2 / scale",
    "tanh, Mul, Add, Exp, Neg",
    "log(1 + exp(x)) * scale",
    "x > bias ? x * three : scale",
    "(x + three) / six, between 0 and 1, squared",
)
REDUCTIONS = "ReduceSum ReduceMean ReduceMax ReduceL2 ReduceLogSumExp ReduceProd".split()

# name, builder, arguments of the three sizes
CASES = [
    *((u, rows_of(u), ROWS) for u in UNARY),
    *((f"{b}, same shape", binary(b, "r", "l"), ROWS) for b in ("Add", "Mul", "Div", "Pow", "Max", "Equal", "Less", "PRelu")),
    *((f"{b}, a row", binary(b, "l"), ROWS) for b in ("Add", "Mul")),
    *((f"{b}, a column", binary(b, "r", 1), ROWS) for b in ("Add", "Mul", "Sub")),
    *((f"chain: {k}", chain(k), ROWS) for k in CHAINS),
    ("chain: rotary embedding", written_out_rotary, [(16,), (128,), (1024,)]),
    ("chain: box decoding", box_decoding, [(100,), (3000,), (100000,)]),
    ("Softmax, last", rows_of("Softmax"), ROWS),
    ("Softmax, first", rows_of("Softmax", axis=0), ROWS),
    ("LogSoftmax", rows_of("LogSoftmax"), ROWS),
    ("LayerNormalization", normalization("LayerNormalization", ["scale", "bias"]), ROWS),
    ("RMSNormalization", normalization("RMSNormalization", ["scale"], opset=23), ROWS),
    ("BatchNormalization", image("BatchNormalization", lambda c: {n: floats(c, low=0.1) for n in ("s", "b", "m", "v")}), IMAGES),
    ("InstanceNormalization", image("InstanceNormalization", lambda c: {n: floats(c) for n in ("s", "b")}), IMAGES),
    ("GroupNormalization", image("GroupNormalization", lambda c: {n: floats(c) for n in ("s", "b")}, opset=21, num_groups=8), IMAGES),
    ("LpNormalization", rows_of("LpNormalization", axis=-1, p=2), ROWS),
    ("LRN", image("LRN", size=5), IMAGES),
    *((f"{r}, last axis", reduction(r, -1), ROWS) for r in REDUCTIONS),
    *((f"{r}, first axis", reduction(r, 0), ROWS) for r in ("ReduceSum", "ReduceMean", "ReduceMax")),
    ("ArgMax, last axis", rows_of("ArgMax", axis=-1), ROWS),
    ("ArgMax, first axis", rows_of("ArgMax", axis=0), ROWS),
    ("CumSum", lambda r, n: one("CumSum", {"x": floats(r, n)}, {"axis": np.array(1, "i8")}), ROWS),
    ("MaxPool 3x3 / 2", image("MaxPool", kernel_shape=[3, 3], strides=[2, 2]), IMAGES),
    ("AveragePool 2x2 / 2", image("AveragePool", kernel_shape=[2, 2], strides=[2, 2]), IMAGES),
    ("AveragePool 3x3", image("AveragePool", kernel_shape=[3, 3], pads=[1, 1, 1, 1]), IMAGES),
    ("LpPool 3x3", image("LpPool", kernel_shape=[3, 3]), IMAGES),
    ("GlobalAveragePool", image("GlobalAveragePool"), IMAGES),
    ("GlobalMaxPool", image("GlobalMaxPool"), IMAGES),
    ("Resize nearest x2", resize("nearest", 2, coordinate_transformation_mode="asymmetric", nearest_mode="floor"), IMAGES),
    ("Resize linear x2", resize("linear", 2), IMAGES),
    ("Resize linear x2, small planes", resize("linear", 2), [(64, 7), (256, 7), (1024, 7)]),
    ("Resize linear x1/2", resize("linear", 0.5), IMAGES),
    ("Resize cubic x2", resize("cubic", 2), IMAGES),
    ("GridSample linear", grid_sample("linear"), IMAGES),
    ("GridSample nearest", grid_sample("nearest"), IMAGES),
    ("GridSample cubic", grid_sample("cubic"), IMAGES),
    ("RoiAlign", roi_align, [(16, 4), (64, 50), (256, 100)]),
    ("NonMaxSuppression", non_max_suppression, [(100, 1), (1000, 10), (3000, 80)]),
    ("DeformConv", deform_conv, [(16, 14), (32, 28), (64, 56)]),
    ("Pad constant", pad("constant"), IMAGES),
    ("Pad reflect", pad("reflect"), IMAGES),
    ("Pad edge", pad("edge"), IMAGES),
    ("DepthToSpace", image("DepthToSpace", blocksize=2), [(16, 14), (64, 56), (96, 112)]),
    ("SpaceToDepth", image("SpaceToDepth", blocksize=2), IMAGES),
    ("Transpose to channels last", transpose([0, 2, 3, 1]), [(1, 16, 14, 14), (1, 64, 56, 56), (1, 96, 112, 112)]),
    ("Transpose to channels first", transpose([0, 3, 1, 2]), [(1, 14, 14, 16), (1, 56, 56, 64), (1, 112, 112, 96)]),
    ("Transpose of heads", transpose([0, 2, 1, 3]), [(1, 16, 4, 64), (1, 128, 12, 64), (1, 1024, 16, 64)]),
    ("Transpose, reversed", transpose([3, 2, 1, 0]), [(4, 8, 8, 4), (16, 16, 32, 16), (32, 32, 64, 32)]),
    ("Concat, last axis", concat, ROWS),
    ("Split in 3, last axis", split, [(1, 768), (64, 2304), (512, 4608)]),
    ("Gather rows", gather(0), [(16, 64), (512, 256), (4096, 512)]),
    ("Gather columns", gather(1), [(16, 64), (512, 256), (1024, 1024)]),
    ("GatherElements", elements("GatherElements"), ROWS),
    ("ScatterElements", elements("ScatterElements"), ROWS),
    ("ScatterND", scatter_nd, [(16, 64), (512, 256), (4096, 512)]),
    ("ScatterND of elements", scatter_elements_nd, [(1, 512), (64, 512), (512, 512)]),
    ("Expand", lambda r, n: one("Expand", {"x": floats(1, n)}, {"shape": np.array([r, n], "i8")}), ROWS),
    ("Tile", lambda r, n: one("Tile", {"x": floats(r, n)}, {"repeats": np.array([2, 2], "i8")}), ROWS),
    ("Where", lambda r, n: one("Where", {"c": RNG.random((r, n)) < 0.5, "x": floats(r, n), "z": floats(r, n)}), ROWS),
    ("Clip", lambda r, n: one("Clip", {"x": floats(r, n)}, {"low": np.float32(-0.5), "high": np.float32(0.5)}), ROWS),
    ("Cast to float16", cast(TensorProto.FLOAT16), ROWS),
    ("Cast to int64", cast(TensorProto.INT64), ROWS),
    ("QuantizeLinear", lambda r, n: one("QuantizeLinear", {"x": floats(r, n)}, {"s": np.float32(0.01), "z": np.uint8(128)}), ROWS),
    ("DequantizeLinear", dequantize, ROWS),
    ("DynamicQuantizeLinear", rows_of("DynamicQuantizeLinear", outputs=3), ROWS),
    ("NonZero", lambda r, n: one("NonZero", {"x": (RNG.random((r, n)) < 0.5).astype("f4")}), ROWS),
    ("OneHot", one_hot, ROWS),
    ("TopK 1", top_k(1), ROWS),
    ("TopK 10", top_k(10), ROWS),
    ("TopK 200", top_k(200), ROWS),
    ("Unique", unique, ROWS),
    ("LSTM", recurrent("LSTM", 4), [(10, 64), (50, 128), (100, 512)]),
    ("GRU", recurrent("GRU", 3), [(10, 64), (50, 128), (100, 512)]),
    ("RNN", recurrent("RNN", 1), [(10, 64), (50, 128), (100, 512)]),
    ("TreeEnsembleRegressor", trees, [(1, 100), (1000, 100), (5000, 300)]),
    ("TreeEnsembleClassifier", trees, [(1, 100, 5), (1000, 100, 5), (1000, 300, 5)]),
    ("SVMClassifier", support_vectors, [(1, 100), (100, 100), (1000, 100)]),
    ("LinearClassifier", linear_classes, [(1, 3), (100, 3), (1000, 3)]),
    ("DFT", dft, [(1, 256), (16, 1024), (64, 4096)]),
    ("Einsum bij,bjk->bik", einsum("bij,bjk->bik", (4, 16, 16), (4, 16, 16)), [(1,), (4,), (16,)]),
    ("Einsum bhid,bhjd->bhij", einsum("bhid,bhjd->bhij", (1, 4, 16, 16), (1, 4, 16, 16)), [(1,), (4,), (16,)]),
    ("Einsum ij->ji", einsum("ij->ji", (32, 32)), [(1,), (8,), (32,)]),
    ("Einsum bid,bd->bi", einsum("bid,bd->bi", (4, 32, 32), (4, 32)), [(1,), (4,), (16,)]),
    ("Einsum i,j->ij", einsum("i,j->ij", (32,), (32,)), [(1,), (8,), (64,)]),
    ("Softmax, last, odd sizes", rows_of("Softmax"), ODD_ROWS),
    ("LayerNormalization, odd sizes", normalization("LayerNormalization", ["scale", "bias"]), ODD_ROWS),
    ("ReduceMean, last axis, odd sizes", reduction("ReduceMean", -1), ODD_ROWS),
    ("Transpose of a matrix, odd sizes", transpose([1, 0]), ODD_ROWS),
    *((f"{b}, same shape", binary(b, "r", "l"), ROWS) for b in ("Sub", "Min", "Greater", "Sum", "Mean")),
    *((f"{b}, a number", binary(b, 1), ROWS) for b in ("Mul", "Pow")),
    *((f"{r}, last axis", reduction(r, -1), ROWS) for r in ("ReduceMin", "ReduceL1", "ReduceSumSquare", "ReduceLogSum")),
    *((f"{r}, first axis", reduction(r, 0), ROWS) for r in ("ReduceL2", "ReduceLogSumExp", "ReduceProd")),
    ("ReduceMean of planes", spatial_mean, IMAGES),
    ("Hardmax", rows_of("Hardmax"), ROWS),
    ("MeanVarianceNormalization", image("MeanVarianceNormalization"), IMAGES),
    ("SkipLayerNormalization (com.microsoft)", skip_layer_normalization, ROWS),
    ("MaxPool 2x2 / 2", image("MaxPool", kernel_shape=[2, 2], strides=[2, 2]), IMAGES),
    ("MaxPool 5x5", image("MaxPool", kernel_shape=[5, 5], pads=[2, 2, 2, 2]), IMAGES),
    ("MatMul by a constant", matmul, [(1, 512, 512), (64, 512, 512), (512, 1024, 1024)]),
    ("MatMul by a constant of few columns", matmul, FEW_COLUMNS),
    ("MatMul, few columns", matmul_of_two, FEW_COLUMNS),
    ("MatMul of a batch", batched_matmul, [(1, 16, 64), (12, 64, 64), (12, 256, 64)]),
    ("Gemm", gemm, [(1, 512, 512), (64, 512, 512), (512, 1024, 1024)]),
    ("Conv 3x3", conv("Conv", 3), [(16, 14), (64, 28), (64, 56)]),
    ("Conv 1x1", conv("Conv", 1), [(16, 14), (64, 28), (128, 56)]),
    ("Conv 3x3, depthwise", conv("Conv", 3, lambda c: c), IMAGES),
    ("Conv 3x3 / 2", conv("Conv", 3, strides=[2, 2]), [(16, 28), (64, 56), (256, 28)]),
    ("Conv 1x1 / 2", conv("Conv", 1, strides=[2, 2]), [(16, 28), (64, 56), (256, 28)]),
    ("Conv 5x5", conv("Conv", 5), [(16, 14), (32, 28), (64, 56)]),
    ("Conv 3x3, dilated", conv("Conv", 3, dilations=[2, 2]), [(16, 14), (64, 28), (128, 28)]),
    ("Conv 3x3, 4 groups", conv("Conv", 3, lambda c: 4), [(16, 14), (64, 28), (256, 28)]),
    ("Conv 3x3, groups of 4", conv("Conv", 3, lambda c: c // 4), [(16, 14), (64, 28), (256, 28)]),
    ("Conv 3", conv("Conv", 3, axes=1), [(32, 100), (128, 400), (384, 1500)]),
    ("Conv 7, dilated", conv("Conv", 7, axes=1, dilations=[3]), [(32, 100), (128, 400), (256, 1500)]),
    ("Conv 8 / 4", conv("Conv", 8, axes=1, strides=[4]), [(16, 400), (64, 1600), (256, 1600)]),
    ("Conv 31, depthwise", conv("Conv", 31, lambda c: c, axes=1), [(32, 100), (128, 400), (512, 400)]),
    ("Conv 3x3x3", conv("Conv", 3, axes=3), [(8, 8), (16, 16), (32, 32)]),
    ("Conv 3x3x3 / 2", conv("Conv", 3, axes=3, strides=[2, 2, 2]), [(8, 8), (16, 16), (64, 16)]),
    ("Conv 3x3x3, depthwise", conv("Conv", 3, lambda c: c, axes=3), [(8, 8), (16, 16), (64, 16)]),
    ("ConvTranspose 2x2 / 2", conv("ConvTranspose", 2, padded=False, strides=[2, 2]), [(16, 14), (64, 28), (64, 64)]),
    ("ConvTranspose 3x3", conv("ConvTranspose", 3), [(16, 14), (32, 28), (64, 56)]),
    ("ConvTranspose 3x3 / 2", conv("ConvTranspose", 3, strides=[2, 2]), [(16, 14), (32, 28), (64, 28)]),
    ("ConvTranspose 4x4 / 2, depthwise", conv("ConvTranspose", 4, lambda c: c, strides=[2, 2]), [(16, 14), (64, 28), (128, 56)]),
    ("ConvTranspose 16 / 8", conv("ConvTranspose", 16, axes=1, strides=[8]), [(16, 50), (64, 100), (128, 400)]),
    ("ConvTranspose 2x2x2 / 2", conv("ConvTranspose", 2, axes=3, padded=False, strides=[2, 2, 2]), [(8, 8), (16, 16), (32, 16)]),
    ("Slice of rows", sliced([0], [1 << 60], [0], [2]), ROWS),
    ("Slice of columns", sliced([7], [-9], [1], [1]), ROWS),
    ("Slice of every second column", sliced([0], [1 << 60], [1], [2]), ROWS),
    ("Slice, reversed", sliced([-1], [-(1 << 60)], [1], [-1]), ROWS),
    ("GatherND", lambda r, n: one("GatherND", {"x": floats(r, n), "at": RNG.integers(0, r, (r, 1)).astype("i8")}), ROWS),
    ("GatherND of elements", gather_elements_nd, [(1, 512), (64, 512), (512, 512)]),
    ("Trilu", lambda r, n: one("Trilu", {"x": floats(r, n)}), ROWS),
    ("ReverseSequence", reverse_sequence, ROWS),
    ("Compress", compress, ROWS),
    ("And", logical("And"), ROWS),
    ("Not", logical("Not"), ROWS),
    ("IsNaN", rows_of("IsNaN"), ROWS),
    ("Cast from int64", lambda r, n: one("Cast", {"x": RNG.integers(-1000, 1000, (r, n)).astype("i8")}, to=TensorProto.FLOAT), ROWS),
    ("Cast from float16", lambda r, n: one("Cast", {"x": floats(r, n).astype("f2")}, to=TensorProto.FLOAT), ROWS),
    ("Add of int64", integers("Add", lambda r, n: (r, n)), ROWS),
    ("Div of int64 by a number", integers("Div", lambda r, n: (1,)), ROWS),
    ("Mod of int64 by a number", integers("Mod", lambda r, n: (1,)), ROWS),
    ("strings through Identity", strings, [(100,), (1200,), (12000,)]),
]  # fmt: skip
