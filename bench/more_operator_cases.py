"""Models of single operators at three sizes: what operator_cases.py lacks, and those of the domains ai.onnx.ml and com.microsoft."""

import numpy as np
from onnx import TensorProto, helper
from operator_cases import IMAGES, RNG, ROWS, binary, floats, image, integers, logical, model, one, rows_of

MS, ML = "com.microsoft", "ai.onnx.ml"
TOKENS = [(16,), (128,), (512,)]


def bytes_of(*shape, low=0, high=255, dtype="u1"):
    return RNG.integers(low, high, shape).astype(dtype)


def scale(value=0.02):
    return np.float32(value)


def contrib(op_type, constants=None, **attributes):
    """Of rows, with constants by the rows' length."""
    return lambda rows, length: one(op_type, {"x": floats(rows, length)}, constants(length) if constants else None, domain=MS, **attributes)


def classical(op_type, outputs=1, of=floats, **attributes):
    return lambda rows, length: one(
        op_type, {"x": of(rows, length)}, outputs=outputs, domain=ML, **{k: v(length) for k, v in attributes.items()}
    )


def bits(op_type, *other):
    return lambda rows, length: one(
        op_type,
        {"x": bytes_of(rows, length, dtype="u4"), **{f"z{i}": bytes_of(rows, length, high=31, dtype="u4") for i in range(len(other))}},
        **dict(*other),
    )


# Products of integers.


def matmul_integer(rows, inner, columns):
    feeds = {"x": bytes_of(rows, inner)}
    return one("MatMulInteger", feeds, {"w": bytes_of(inner, columns, dtype="i1", low=-127, high=127), "z": np.uint8(128)})


def matmul_integer_of_two(rows, inner, columns):
    feeds = {"x": bytes_of(rows, inner), "w": bytes_of(inner, columns, dtype="i1", low=-127, high=127)}
    return one("MatMulInteger", feeds, {"z": np.uint8(128)})


def dynamic_quantize_matmul(rows, inner, columns):
    weights = {"w": bytes_of(inner, columns, dtype="i1", low=-127, high=127), "s": scale()}
    return one("DynamicQuantizeMatMul", {"x": floats(rows, inner)}, weights, domain=MS)


def matmul_integer_to_float(rows, inner, columns):
    weights = {"w": bytes_of(inner, columns, dtype="i1", low=-127, high=127), "sx": scale(), "sw": scale(), "z": np.uint8(128)}
    return one("MatMulIntegerToFloat", {"x": bytes_of(rows, inner)}, weights, order=["x", "w", "sx", "sw", "z"], domain=MS)


def qlinear_matmul(rows, inner, columns):
    c = {
        "sx": scale(),
        "zx": np.uint8(128),
        "w": bytes_of(inner, columns, dtype="i1", low=-127, high=127),
        "sw": scale(),
        "zw": np.int8(0),
        "sy": scale(1),
    }
    return one("QLinearMatMul", {"x": bytes_of(rows, inner)}, c | {"zy": np.uint8(128)})


def qgemm(rows, inner, columns):
    c = {"sx": scale(), "zx": np.uint8(128), "w": bytes_of(columns, inner, dtype="i1", low=-127, high=127), "sw": scale(), "zw": np.int8(0)}
    c |= {"b": np.zeros(columns, "i4"), "sy": scale(1), "zy": np.uint8(128)}
    return one("QGemm", {"x": bytes_of(rows, inner)}, c, domain=MS, transB=1)


def qlinear_conv(channels, size):
    weight = bytes_of(channels, channels, 3, 3, dtype="i1", low=-127, high=127)
    c = {"sx": scale(), "zx": np.uint8(128), "w": weight, "sw": scale(), "zw": np.int8(0), "sy": scale(1), "zy": np.uint8(128)}
    return one("QLinearConv", {"x": bytes_of(1, channels, size, size)}, c, pads=[1, 1, 1, 1])


def conv_integer(channels, size):
    c = {"w": bytes_of(channels, channels, 3, 3), "zx": np.uint8(128), "zw": np.uint8(120)}
    return one("ConvInteger", {"x": bytes_of(1, channels, size, size)}, c, pads=[1, 1, 1, 1])


def matmul_nbits(width, **level):
    """`accuracy_level` 4 lets the left operand be rounded to 8 bits; without it only OpenVINO does."""

    def build(rows, inner, columns):
        weights = {"w": bytes_of(columns, inner // 32, 4 * width), "s": floats(columns * inner // 32, low=0.001, high=0.01)}
        return one("MatMulNBits", {"x": floats(rows, inner)}, weights, domain=MS, K=inner, N=columns, bits=width, block_size=32, **level)

    return build


def matmul_bnb4(rows, inner, columns):
    weights = {"w": bytes_of(columns * inner // 2), "s": floats(columns * inner // 64, low=0.001, high=0.01)}
    return one("MatMulBnb4", {"x": floats(rows, inner)}, weights, domain=MS, K=inner, N=columns, block_size=64, quant_type=1)


def gather_block_quantized(rows, length):
    feeds = {"at": RNG.integers(0, rows, rows).astype("i8")}
    weights = {"w": bytes_of(rows, length // 2), "s": floats(rows, length // 32, low=0.001, high=0.01)}
    return one("GatherBlockQuantized", feeds, weights, order=["w", "at", "s"], domain=MS, bits=4, block_size=32, quantize_axis=1)


# Quantised element by element.


def qlinear_binary(op_type):
    def build(rows, length):
        feeds = {"x": bytes_of(rows, length), "z": bytes_of(rows, length)}
        c = {"sx": scale(), "zx": np.uint8(128), "sz": scale(0.03), "zz": np.uint8(120), "sy": scale(0.05), "zy": np.uint8(128)}
        return one(op_type, feeds, c, order=["x", "sx", "zx", "z", "sz", "zz", "sy", "zy"], domain=MS)

    return build


def qlinear_unary(op_type, **attributes):
    def build(rows, length):
        c = {"sx": scale(), "zx": np.uint8(128), "sy": scale(0.01), "zy": np.uint8(0)}
        return one(op_type, {"x": bytes_of(rows, length)}, c, domain=MS, **attributes)

    return build


def qlinear_softmax(rows, length):
    feeds, c = {"x": bytes_of(rows, length)}, {"sx": scale(), "zx": np.uint8(128), "sy": scale(1 / 256), "zy": np.uint8(0)}
    node = helper.make_node("QLinearSoftmax", [*feeds, *c], ["y0"], domain=MS, opset=13, axis=-1)
    return model([node], feeds, c, ["y0"], domains={MS: 1}), feeds


def qlinear_pool(op_type, **attributes):
    def build(channels, size):
        c = {"sx": scale(), "zx": np.uint8(128), "sy": scale(), "zy": np.uint8(128)}
        return one(op_type, {"x": bytes_of(1, channels, size, size)}, c, domain=MS, **attributes)

    return build


def qlinear_concat(rows, length):
    c = {"sy": scale(0.05), "zy": np.uint8(128), "sx": scale(), "zx": np.uint8(128), "sz": scale(0.03), "zz": np.uint8(120)}
    feeds = {"x": bytes_of(rows, length), "z": bytes_of(rows, length)}
    return one("QLinearConcat", feeds, c, order=["sy", "zy", "x", "sx", "zx", "z", "sz", "zz"], domain=MS, axis=1)


# Transformers.


def embed_layer_normalization(length):
    feeds = {"at": RNG.integers(0, 1000, (1, length)).astype("i4"), "segment": np.zeros((1, length), "i4")}
    c = {"words": floats(1000, 768), "places": floats(512, 768), "segments": floats(2, 768), "gamma": floats(768), "beta": floats(768)}
    return one("EmbedLayerNormalization", feeds, c, outputs=2, domain=MS)


def skip_simplified(rows, length):
    feeds = {"x": floats(1, rows, length), "skip": floats(1, rows, length)}
    return one("SkipSimplifiedLayerNormalization", feeds, {"gamma": floats(length)}, domain=MS)


def experts(tokens, size):
    feeds = {"x": floats(tokens, size), "gates": floats(tokens, 8)}
    c = {"first": floats(8, 2 * size, size, low=-0.05, high=0.05), "second": floats(8, size, 2 * size, low=-0.05, high=0.05)}
    return one(
        "MoE", feeds, c, order=["x", "gates", "first", "", "second"], domain=MS, k=2, activation_type="silu", normalize_routing_weights=1
    )


def quantized_experts(tokens, size):
    feeds = {"x": floats(tokens, size), "gates": floats(tokens, 8)}
    c = {"first": bytes_of(8, 2 * size, size // 2), "s1": floats(8, 2 * size, low=0.001, high=0.01)}
    c |= {"second": bytes_of(8, size, size), "s2": floats(8, size, low=0.001, high=0.01)}
    order = ["x", "gates", "first", "s1", "", "second", "s2"]
    return one("QMoE", feeds, c, order=order, domain=MS, k=2, activation_type="silu", expert_weight_bits=4, normalize_routing_weights=1)


def fused_matmul(rows, inner, columns):
    return one("FusedMatMul", {"x": floats(rows, inner)}, {"w": floats(columns, inner)}, domain=MS, transB=1, alpha=0.5)


def repeats(rows, length):
    feeds = {"at": RNG.integers(0, 50, (rows, length)).astype("i8"), "scores": floats(rows, 1000)}
    return one("NGramRepeatBlock", feeds, domain=MS, ngram_size=3)


# Signals and images.


def stft(rows, length):
    return one("STFT", {"x": floats(rows, length, 1)}, {"step": np.array(128, "i8"), "window": floats(512)}, opset=17)


def pad_and_crop(rows, length):
    return one("CenterCropPad", {"x": floats(rows, length)}, {"shape": np.array([rows + 8, length - 8], "i8")})


def columns_to_image(channels, size):
    c = {"image": np.array([size, size], "i8"), "block": np.array([3, 3], "i8")}
    return one("Col2Im", {"x": floats(1, 9 * channels, size * size)}, c, pads=[1, 1, 1, 1])


def unpool(channels, size):
    at = np.arange(channels * size * size).reshape(1, channels, size, size) * 4
    return one("MaxUnpool", {"x": floats(1, channels, size, size), "at": at.astype("i8")}, kernel_shape=[2, 2], strides=[2, 2])


def affine_grid(channels, size):
    return one("AffineGrid", {"x": floats(1, 2, 3)}, {"size": np.array([1, channels, 4 * size, 4 * size], "i8")})


def roi_pool(channels, rois):
    corners = floats(rois, 2, low=0, high=20)
    feeds = {"x": floats(1, channels, 50, 50), "rois": np.concatenate([np.zeros((rois, 1), "f4"), corners, corners + 20], 1)}
    return one("MaxRoiPool", feeds, pooled_shape=[7, 7])


def crops(channels, rois):
    corners = floats(rois, 2, low=0, high=0.5)
    feeds = {"x": floats(1, channels, 50, 50), "rois": np.concatenate([corners, corners + 0.4], 1)}
    return one("CropAndResize", feeds, {"at": np.zeros(rois, "i4"), "size": np.array([7, 7], "i4")}, domain=MS)


def mel_weights(bins, length):
    c = {"bins": np.int64(bins), "length": np.int64(length), "rate": np.int64(16000), "low": np.float32(0), "high": np.float32(8000)}
    return one("MelWeightMatrix", {}, {k: np.array(v) for k, v in c.items()}, opset=17)


# Text, sequences, control flow, random numbers.


def words(count, per=1):
    return np.array([" ".join(f"Word{(i * 7 + k) % 97}" for k in range(per)) for i in range(count)], object)


def tf_idf(rows, length):
    pool = list(range(1000))
    counts, places = [0, 500], list(range(750))
    feeds = {"x": RNG.integers(0, 1000, (rows, length)).astype("i8")}
    return one(
        "TfIdfVectorizer",
        feeds,
        mode="TF",
        min_gram_length=1,
        max_gram_length=2,
        max_skip_count=0,
        ngram_counts=counts,
        ngram_indexes=places,
        pool_int64s=pool,
    )


def loss(rows, classes):
    return one(
        "SoftmaxCrossEntropyLoss", {"x": floats(rows, classes), "labels": RNG.integers(0, classes, rows).astype("i8")}, reduction="mean"
    )


def sequence(rows, length):
    nodes = [
        helper.make_node("SplitToSequence", ["x"], ["s"], axis=0, keepdims=1),
        helper.make_node("ConcatFromSequence", ["s"], ["y0"], axis=1),
    ]
    feeds = {"x": floats(rows, length)}
    return model(nodes, feeds, {}, ["y0"]), feeds


def loop(count, length):
    """Sums that go on from iteration to iteration."""
    value = helper.make_tensor_value_info
    kinds = [value("i", TensorProto.INT64, []), value("go", TensorProto.BOOL, []), value("v", TensorProto.FLOAT, [length])]
    nodes = [helper.make_node("Identity", ["go"], ["on"]), helper.make_node("Add", ["v", "x"], ["w"])]
    body = helper.make_graph(nodes, "body", kinds, [value("on", TensorProto.BOOL, []), value("w", TensorProto.FLOAT, [length])])
    feeds = {"x": floats(length)}
    node = helper.make_node("Loop", ["count", "true", "x"], ["y0"], body=body)
    return model([node], feeds, {"count": np.array(count, "i8"), "true": np.array(True)}, ["y0"]), feeds


def scan(count, length):
    value = helper.make_tensor_value_info
    nodes = [helper.make_node("Add", ["v", "e"], ["w"]), helper.make_node("Relu", ["w"], ["o"])]
    ins = [value("v", TensorProto.FLOAT, [length]), value("e", TensorProto.FLOAT, [length])]
    outs = [value("w", TensorProto.FLOAT, [length]), value("o", TensorProto.FLOAT, [length])]
    feeds = {"first": floats(length), "x": floats(count, length)}
    node = helper.make_node("Scan", ["first", "x"], ["y0", "y1"], body=helper.make_graph(nodes, "body", ins, outs), num_scan_inputs=1)
    return model([node], feeds, {}, ["y0", "y1"]), feeds


def random_like(op_type):
    return lambda rows, length: one(op_type, {"x": floats(rows, length, low=0)})


# Classical models.


def labels(rows, length):
    return one(
        "LabelEncoder",
        {"x": bytes_of(rows, length, dtype="i8")},
        domain=ML,
        version=2,
        keys_int64s=list(range(200)),
        values_int64s=list(range(200, 0, -1)),
    )


def support_vector_regression(rows, vectors):
    attributes = {
        "n_supports": vectors,
        "support_vectors": floats(20 * vectors).tolist(),
        "coefficients": floats(vectors).tolist(),
        "rho": [0.1],
    }
    return one("SVMRegressor", {"x": floats(rows, 20)}, domain=ML, kernel_type="RBF", kernel_params=[0.05, 0.0, 3.0], **attributes)


PRODUCTS = [(1, 512, 512), (64, 512, 512), (256, 1024, 1024)]
SMALL_IMAGES = [(16, 14), (64, 28), (128, 28)]

MORE_CASES = [
    *((u, rows_of(u), ROWS) for u in "Tan Asin Acos Asinh Acosh Atanh Cosh Shrink IsInf".split()),
    *((f"{b}, same shape", binary(b, "r", "l"), ROWS) for b in ("GreaterOrEqual", "LessOrEqual")),
    *((b, logical(b), ROWS) for b in ("Or", "Xor")),
    *((b, bits(b, {}), ROWS) for b in ("BitwiseAnd", "BitwiseOr", "BitwiseXor")),
    ("BitwiseNot", bits("BitwiseNot"), ROWS),
    ("BitShift", bits("BitShift", {"direction": "LEFT"}), ROWS),
    ("Mul of int64", integers("Mul", lambda r, n: (r, n)), ROWS),
    ("Sub of int64 and a number", integers("Sub", lambda r, n: (1,)), ROWS),
    ("Equal of int64", integers("Equal", lambda r, n: (r, n)), ROWS),
    ("ArgMin, last axis", rows_of("ArgMin", axis=-1), ROWS),
    ("Dropout", rows_of("Dropout"), ROWS),
    ("GlobalLpPool", image("GlobalLpPool"), IMAGES),
    ("Det", lambda count, size: one("Det", {"x": floats(count, size, size)}), [(1, 4), (64, 16), (16, 100)]),
    ("Col2Im", columns_to_image, [(4, 14), (16, 56), (32, 56)]),
    ("CenterCropPad", pad_and_crop, ROWS),
    ("MaxUnpool", unpool, [(16, 14), (64, 28), (96, 56)]),
    ("AffineGrid", affine_grid, [(1, 4), (1, 32), (1, 128)]),
    ("MaxRoiPool", roi_pool, [(16, 4), (64, 50), (256, 100)]),
    ("CropAndResize (com.microsoft)", crops, [(16, 4), (64, 50), (256, 100)]),
    ("STFT", stft, [(1, 2048), (1, 16000), (1, 160000)]),
    ("MelWeightMatrix", mel_weights, [(20, 256), (40, 512), (128, 2048)]),
    (
        "Range",
        lambda count: one("Range", {"n": np.array(count, "i8")}, {"a": np.array(0, "i8"), "b": np.array(1, "i8")}, order=["a", "n", "b"]),
        [(100,), (10000,), (1000000,)],
    ),
    ("EyeLike", rows_of("EyeLike"), [(16, 16), (128, 128), (1024, 1024)]),
    ("RandomNormalLike", random_like("RandomNormalLike"), ROWS),
    ("RandomUniformLike", random_like("RandomUniformLike"), ROWS),
    ("Bernoulli", random_like("Bernoulli"), ROWS),
    (
        "Multinomial",
        lambda rows, classes: one("Multinomial", {"x": floats(rows, classes)}, sample_size=10),
        [(1, 100), (16, 1000), (64, 10000)],
    ),
    ("SoftmaxCrossEntropyLoss", loss, [(1, 100), (64, 1000), (512, 1000)]),
    ("SplitToSequence, ConcatFromSequence", sequence, [(4, 64), (32, 512), (128, 4096)]),
    ("Loop", loop, [(10, 16), (100, 64), (1000, 1024)]),
    ("Scan", scan, [(10, 16), (100, 64), (1000, 1024)]),
    (
        "StringNormalizer",
        lambda count: one("StringNormalizer", {"x": words(count)}, case_change_action="LOWER", is_case_sensitive=1, locale="C"),
        [(10,), (1000,), (10000,)],
    ),
    ("StringConcat", lambda count: one("StringConcat", {"x": words(count), "z": words(count)}), [(10,), (1000,), (10000,)]),
    ("StringSplit", lambda count: one("StringSplit", {"x": words(count, 4)}, outputs=2, delimiter=" "), [(10,), (1000,), (10000,)]),
    ("RegexFullMatch", lambda count: one("RegexFullMatch", {"x": words(count)}, pattern="Word[0-9]+"), [(10,), (1000,), (10000,)]),
    ("TfIdfVectorizer", tf_idf, [(1, 100), (16, 100), (100, 1000)]),
    ("MatMulInteger", matmul_integer, PRODUCTS),
    ("MatMulInteger of two", matmul_integer_of_two, [(1, 1024, 1024), (8, 512, 512), (256, 1024, 1024)]),
    ("DynamicQuantizeMatMul (com.microsoft)", dynamic_quantize_matmul, PRODUCTS),
    ("MatMulIntegerToFloat (com.microsoft)", matmul_integer_to_float, PRODUCTS),
    ("QLinearMatMul", qlinear_matmul, PRODUCTS),
    ("QGemm (com.microsoft)", qgemm, PRODUCTS),
    ("ConvInteger", conv_integer, SMALL_IMAGES),
    ("QLinearConv", qlinear_conv, SMALL_IMAGES),
    ("MatMulNBits, 4 bits (com.microsoft)", matmul_nbits(4), PRODUCTS),
    ("MatMulNBits, 4 bits, accuracy_level 4 (com.microsoft)", matmul_nbits(4, accuracy_level=4), PRODUCTS),
    ("MatMulNBits, 8 bits (com.microsoft)", matmul_nbits(8), PRODUCTS),
    ("MatMulNBits, 8 bits, accuracy_level 4 (com.microsoft)", matmul_nbits(8, accuracy_level=4), PRODUCTS),
    ("MatMulBnb4 (com.microsoft)", matmul_bnb4, PRODUCTS),
    ("GatherBlockQuantized (com.microsoft)", gather_block_quantized, [(16, 64), (512, 256), (4096, 512)]),
    ("FusedMatMul (com.microsoft)", fused_matmul, PRODUCTS),
    *((f"{b} (com.microsoft)", qlinear_binary(b), ROWS) for b in ("QLinearAdd", "QLinearMul")),
    *((f"{u} (com.microsoft)", qlinear_unary(u), ROWS) for u in ("QLinearSigmoid", "QLinearLeakyRelu")),
    ("QLinearSoftmax (com.microsoft)", qlinear_softmax, ROWS),
    ("QLinearConcat (com.microsoft)", qlinear_concat, ROWS),
    ("QLinearAveragePool (com.microsoft)", qlinear_pool("QLinearAveragePool", kernel_shape=[2, 2], strides=[2, 2]), IMAGES),
    ("QLinearGlobalAveragePool (com.microsoft)", qlinear_pool("QLinearGlobalAveragePool"), IMAGES),
    ("BiasGelu (com.microsoft)", contrib("BiasGelu", lambda n: {"b": floats(n)}), ROWS),
    ("FastGelu (com.microsoft)", contrib("FastGelu", lambda n: {"b": floats(n)}), ROWS),
    ("QuickGelu (com.microsoft)", contrib("QuickGelu"), ROWS),
    ("SkipSimplifiedLayerNormalization (com.microsoft)", skip_simplified, ROWS),
    ("EmbedLayerNormalization (com.microsoft)", embed_layer_normalization, TOKENS),
    ("MoE (com.microsoft)", experts, [(1, 64), (16, 256), (64, 512)]),
    ("QMoE (com.microsoft)", quantized_experts, [(1, 64), (16, 256), (64, 512)]),
    ("NGramRepeatBlock (com.microsoft)", repeats, [(1, 16), (4, 128), (16, 1024)]),
    (
        "CDist (com.microsoft)",
        lambda m, n: one("CDist", {"x": floats(m, n), "z": floats(m, n)}, domain=MS, metric="sqeuclidean"),
        [(4, 16), (64, 64), (512, 256)],
    ),
    (
        "Inverse (com.microsoft)",
        lambda count, size: one("Inverse", {"x": floats(count, size, size)}, domain=MS),
        [(1, 4), (64, 16), (16, 100)],
    ),
    ("MurmurHash3 (com.microsoft)", lambda r, n: one("MurmurHash3", {"x": bytes_of(r, n, dtype="i4")}, domain=MS), ROWS),
    ("Binarizer", classical("Binarizer", threshold=lambda n: 0.1), ROWS),
    ("Imputer", classical("Imputer", imputed_value_floats=lambda n: [1.0] * n, replaced_value_float=lambda n: 0.5), ROWS),
    ("LabelEncoder", labels, ROWS),
    ("Normalizer", classical("Normalizer", norm=lambda n: "L2"), ROWS),
    (
        "OneHotEncoder",
        classical("OneHotEncoder", of=lambda r, n: bytes_of(r, n, high=8, dtype="i8"), cats_int64s=lambda n: list(range(8))),
        [(1, 16), (64, 64), (512, 256)],
    ),
    ("Scaler", classical("Scaler", offset=lambda n: [0.1] * n, scale=lambda n: [2.0] * n), ROWS),
    (
        "ArrayFeatureExtractor",
        lambda r, n: one("ArrayFeatureExtractor", {"x": floats(r, n), "at": RNG.integers(0, n, n // 2).astype("i8")}, domain=ML),
        ROWS,
    ),
    (
        "LinearRegressor",
        lambda r, n: one(
            "LinearRegressor",
            {"x": floats(r, 20)},
            domain=ML,
            coefficients=floats(20 * n).tolist(),
            intercepts=floats(n).tolist(),
            targets=n,
        ),
        [(1, 1), (100, 3), (1000, 3)],
    ),
    ("SVMRegressor", support_vector_regression, [(1, 100), (100, 100), (1000, 100)]),
]
