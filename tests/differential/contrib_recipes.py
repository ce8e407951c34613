"""Operators of com.microsoft generated from rules, which only ONNX Runtime can be asked about: the types are those that it runs on CPU."""

from types import SimpleNamespace

import numpy as np
from onnx import TensorProto
from recipe import MICROSOFT, Row
from terms import Terms
from transformer_recipes import (
    attention,
    decoder_attention,
    embeddings,
    experts,
    gated,
    grouped_attention,
    layer_norm,
    linear_attention,
    linear_gate,
    multimodal_rotary,
    packed_linear_attention,
    projected_attention,
    quantized_embeddings,
    quantized_experts,
    rotary,
    scale,
    search,
    sparse_attention,
    whole,
    zero,
)
from values import Sparse

FLOAT, DOUBLE, HALF = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16
INT8, UINT8, INT16, INT32, INT64 = TensorProto.INT8, TensorProto.UINT8, TensorProto.INT16, TensorProto.INT32, TensorProto.INT64
BYTES = [INT8, UINT8]
NUMBERS = [FLOAT, DOUBLE, INT32, INT64, INT8, UINT8]


def unary(r):
    r.give(r.value(r.shape()))


def quick_gelu(r):
    unary(r)
    r.maybe(alpha=r.random.choice([1.0, 0.5, -1.0]))


def biased(r):
    shape = r.shape(1, 4)
    r.give(r.plain(shape), r.plain(shape[-1:]) if r.op == "BiasGelu" or r.chance(0.8) else None)


def distances(r):
    m, n, k = r.few(9), r.few(9), r.few(9)
    r.give(r.plain([m, k]), r.plain([n, k]))
    r.maybe(metric=r.random.choice(["euclidean", "sqeuclidean"]))


def products(r):
    """FusedMatMul and TransposeMatMul."""
    m, k, n = r.few(9), r.few(9), r.few(9)
    r.maybe(transA=1, transB=1, alpha=r.random.choice([0.5, -2.0]))
    batch = [r.few(3) for _ in range(r.random.randint(0, 2))]
    a = [k, m] if r.attributes.get("transA") else [m, k]
    b = [n, k] if r.attributes.get("transB") else [k, n]
    if batch and r.op == "FusedMatMul" and r.chance(0.3):
        r.attributes["transBatchA"] = r.attributes["transBatchB"] = 1  # the batch stands before the columns
        r.give(r.plain([a[0], *batch, a[1]]), r.plain([b[0], *batch, b[1]]))
        return
    r.give(r.plain([*batch, *a]), r.plain([*(batch if r.chance() else []), *b]))


def sparse_product(r):
    m, k, n = r.few(9), r.few(9), r.few(9)
    r.maybe(transA=1, transB=1)
    if r.number == FLOAT:
        r.maybe(alpha=-2.0)
    whole_numbers = r.number not in (FLOAT, DOUBLE)
    a = r.plain([k, m] if r.attributes.get("transA") else [m, k], None, *((0, 4) if whole_numbers else (-2, 2)))
    a[r.rng.random(a.shape) < r.random.choice([0.2, 0.7, 1])] = 0
    layout = r.random.choice(["coo", "csr"]) if a.any() else "coo"  # of rows without values ONNX Runtime dies
    r.give(Sparse(a, layout), r.plain([n, k] if r.attributes.get("transB") else [k, n], None, 0, 4))


ACTIVATIONS = ["Relu", "Tanh", "Sigmoid", "LeakyRelu", "Clip", "HardSigmoid"]


def fused_gemm(r):
    m, k, n = r.few(9), r.few(9), r.few(9)
    r.maybe(transA=1, transB=1, alpha=0.5, beta=2.0)
    r.give(r.plain([k, m] if r.attributes.get("transA") else [m, k]), r.plain([n, k] if r.attributes.get("transB") else [k, n]))
    if r.chance(0.7):
        r.give(r.plain(r.random.choice([[n], [1, n], [m, 1], [m, n], [1]])))
    r.attributes["activation"] = r.random.choice(["Relu", "Tanh", "Sigmoid", "LeakyRelu"])
    if r.attributes["activation"] == "LeakyRelu":
        r.attributes["activation_alpha"] = 0.1


def fused_conv(r):
    dims, group = r.random.randint(1, 2), r.random.choice([1, 1, 2, 4])
    kernel, inner, outer = [r.few(3) for _ in range(dims)], group * r.few(4), group * r.few(4)
    size = [r.random.randint(5, 9) for _ in range(dims)]
    r.give(r.plain([r.few(2), inner, *size]), r.plain([outer, inner // group, *kernel]))
    r.give(r.plain([outer]) if r.chance(0.7) else None)
    r.attributes |= {"group": group, "kernel_shape": kernel, "activation": r.random.choice(ACTIVATIONS)}
    parameters = {"LeakyRelu": [0.1], "Clip": [-0.5, 0.75], "HardSigmoid": [0.2, 0.5]}
    if r.attributes["activation"] in parameters:
        r.attributes["activation_params"] = parameters[r.attributes["activation"]]
    if r.chance(0.3):
        r.give(r.plain([r.inputs[0].shape[0], outer, *(s - k + 1 for s, k in zip(size, kernel))]))


def dynamic_pads(r):
    dims = 2
    kernel, inner, outer = [r.few(3) for _ in range(dims)], r.few(3), r.few(3)
    r.give(r.plain([r.few(2), inner, 4, 5]), r.plain([inner, outer, *kernel]), r.integers([r.random.randint(0, k - 1) for k in kernel * 2]))
    if r.chance():
        r.give(r.plain([outer]))
    r.maybe(strides=[2, 1])


def causal_conv(r):
    batch, channels, length, taps = r.few(2), r.few(5), r.few(9), r.few(4)
    r.give(r.plain([batch, channels, length]), r.plain([channels, 1, taps]))
    r.give(r.plain([channels]) if r.chance() else None, r.plain([batch, channels, taps - 1]) if r.chance() else None)
    r.maybe(activation=r.random.choice(["silu", "swish", "none"]))
    r.outputs = 2


def begins(r, requests, total):
    """Where requests of a packed batch begin, each with a token at least."""
    cuts = sorted(r.random.sample(range(1, total), requests - 1)) if total > requests else list(range(1, requests))
    return np.array([0, *cuts, total], np.int32)


def packed_conv(r):
    requests, channels, taps = r.few(3), r.few(5), r.few(4)
    total = requests + r.few(6)
    r.give(r.plain([total, channels]), r.plain([channels, 1, taps]), begins(r, requests, total))
    r.give(r.plain([channels]) if r.chance() else None, r.plain([requests, channels, taps - 1]))
    r.maybe(activation=r.random.choice(["silu", "swish", "none"]))
    r.outputs = 2


def packed_rows(r):
    """Rows of a packed table: codes of 4 or 8 bits, the halves that scale them near 1."""
    number, block, size = r.random.choice([(2, 32, 18), (8, 32, 34), (20, 32, 18), (42, 64, 18)])
    rows, blocks = r.few(7), r.few(3)
    table = r.rng.integers(0, 256, [rows, blocks, size]).astype(np.uint8)
    table[..., 1] = 0x3C
    r.give(table.reshape(rows, -1), r.whole(r.shape(0, 2), -2, rows, r.random.choice([INT32, INT64])))
    r.attributes |= {"packed_type": number, "K": blocks * block, "output_dtype": FLOAT}
    r.output_types = {0: FLOAT}


def routes(r):
    groups, size = r.few(4), r.few(5)
    chosen = r.random.randint(1, groups)
    r.give(r.plain([r.few(5), groups * size], None, -4, 4), r.plain([groups * size], FLOAT))
    r.attributes |= {"n_group": groups, "topk_group": chosen, "top_k": r.random.randint(1, chosen * size)}
    r.maybe(group_topk=r.few(4), router_sentinel=-5.0)


def crops(r):
    boxes, images = r.few(4), r.few(3)
    r.give(r.plain([images, r.few(3), 6, 7]), r.plain([boxes, 4], None, -0.2, 1.2))
    r.give(r.whole([boxes], 0, images - 1, INT32), np.array([r.few(), r.few()], np.int32))
    r.maybe(mode=r.random.choice(["bilinear", "nearest"]), extrapolation_value=1.5)


def grid_sample(r):
    batch = r.few(2)
    r.give(r.plain([batch, r.few(3), 5, 6]), r.plain([batch, r.few(), r.few(), 2], None, -1.3, 1.3))
    r.output_types = {0: FLOAT}
    r.maybe(align_corners=1, mode=r.random.choice(["bilinear", "nearest", "bicubic"]))
    r.maybe(padding_mode=r.random.choice(["zeros", "border", "reflection"]))


def time_warping(r):
    r.give(r.plain([*([1] if r.chance() else []), r.few(9), r.few(9)]))


def expand_dims(r):
    shape = r.shape(0, 3)
    r.give(r.value(shape), r.scalar(r.random.randint(-len(shape) - 1, len(shape)), INT32))


def gather_nd(r):
    shape = [r.few() for _ in range(r.random.randint(1, 4))]
    depth = r.random.randint(1, len(shape))
    indices = [r.random.randint(-d, d - 1) for _ in range(12) for d in shape[:depth]]
    count = r.few(4)
    kind = r.random.choice([np.int32, np.int64])
    r.give(r.value(shape), np.array(indices[: count * depth], kind).reshape(count, depth))


def inverse(r):
    n = r.few(6)
    batch = [r.few(3) for _ in range(r.random.randint(0, 2))]
    x = r.plain([*batch, n, n], FLOAT, -1, 1).astype(np.float64) + 4 * np.eye(n)
    r.give(x.astype({FLOAT: np.float32, DOUBLE: np.float64, HALF: np.float16}[r.number]))


def pads(r):
    shape = [r.few() + 1 for _ in range(r.random.randint(1, 4))]
    mode = r.random.choice(["constant", "edge", "reflect"])
    most = [3 if mode == "constant" else d - 1 for d in shape]
    r.give(r.plain(shape), r.integers([r.random.randint(0, m) for m in most * 2]), r.plain([1]) if r.chance() else None)
    r.maybe(mode=mode) if mode == "constant" else r.attributes.update(mode=mode)


def ranges(r):
    start, delta = r.random.randint(-5, 5), r.random.choice([1, 2, 3, -1, -2])
    r.give(r.scalar(start, r.number), r.scalar(start + delta * r.random.randint(-1, 6), r.number))
    if r.chance():
        r.give(r.scalar(delta, r.number))


def trilu(r):
    r.give(r.value(r.shape(2, 4)))
    if r.chance():
        r.give(r.scalar(r.random.randint(-6, 6), INT64))
    r.maybe(upper=r.random.randint(0, 1))


def unfold(r):
    shape = [r.few(4) for _ in range(r.random.randint(1, 4))]
    axis = r.axis(len(shape))
    shape[axis] = r.random.randint(3, 9)
    r.give(r.value(shape))
    r.attributes |= {"dim": axis, "size": r.random.randint(1, shape[axis])}
    r.maybe(step=r.few(3))


def unique(r):
    r.give(r.whole([r.random.randint(1, 20)], -3, 3, r.number))
    r.outputs = 3


def hashes(r):
    r.give(r.value(r.shape()))
    positive = r.random.randint(0, 1)
    r.attributes |= {"positive": positive, "seed": r.random.randint(0, 1000)}
    r.output_types = {0: TensorProto.UINT32 if positive else INT32}


def repeats(r):
    batch, length, words = r.few(3), r.random.randint(1, 12), r.random.randint(2, 6)
    r.give(r.whole([batch, length], 0, words - 1), r.plain([batch, words], FLOAT))
    r.attributes["ngram_size"] = r.random.randint(1, 4)


def bifurcation(r):
    length, predicted = r.random.randint(1, 9), None
    begin = r.random.randint(0, length - 1)
    if r.chance(0.7):
        predicted = r.whole([length + 1 - begin], 0, 3)
    r.give(r.whole([length], 0, 3), r.whole([r.few(6)], 0, 3), r.scalar(begin, INT64), predicted)
    r.maybe(min_ngram_size=1, max_ngram_size=r.random.randint(1, 4))
    r.outputs = 2


def word_convolution(r):
    words, letters, width, embedding, characters, filters = r.few(3), 8, r.few(3), r.few(4), 10, r.few(5)
    texts = r.whole([words, letters], 0, characters - 1, INT32)
    texts[:, 0] = np.maximum(texts[:, 0], 1)  # of words without a letter ONNX Runtime gives what was in the memory
    r.give(texts, r.plain([filters, 1, width, embedding], FLOAT))
    r.give(r.plain([filters], FLOAT), r.plain([characters, embedding], FLOAT))
    r.attributes |= {"embedding_size": filters, "conv_window_size": width, "char_embedding_size": embedding}


def tokens(r):
    texts = ["", "a b", "one,two three", "日本 語", "x", ", ,", "aaaa", "The  end."]
    shape = [r.few(3)] if r.chance() else [r.few(2), r.few(3)]
    r.give(np.array([r.random.choice(texts) for _ in range(int(np.prod(shape)))], object).reshape(shape))
    r.attributes |= {"mark": r.random.randint(0, 1), "mincharnum": r.random.randint(1, 3), "pad_value": "#"}
    if r.chance(0.7):
        r.attributes["separators"] = r.random.choice([[" "], [",", " "], [""], ["a"], [", "]])
        if r.attributes["separators"] == [""]:  # characters
            r.attributes["mincharnum"] = 1
    else:
        r.attributes["tokenexp"] = r.random.choice(["[a-z]+", "\\w+", "[^ ]"])


def masked_pool(r):
    kernel = [r.few(3), r.few(3)]
    r.give(r.plain([r.few(2), r.few(3), 6, 7]), r.whole([1, 1, 6, 7], 0, 1, INT32))
    r.attributes["kernel_shape"] = kernel
    r.maybe(strides=[2, 1], pads=[r.random.randint(0, k - 1) for k in kernel * 2])


# Quantised operators.


def weights_for(r) -> int:
    """The type of 8-bit weights: ONNX Runtime has no kernel for signed inputs and unsigned weights."""
    return INT8 if r.number == INT8 else r.random.choice(BYTES)


def quantize(r):
    """QuantizeLinear and DequantizeLinear."""
    to_bytes, shape = r.op == "QuantizeLinear", [r.few() for _ in range(r.random.randint(1, 4))]
    number = r.random.choice([INT8, UINT8, INT16, TensorProto.UINT16]) if to_bytes else r.number
    axis = r.axis(len(shape))
    each = [shape[axis]] if r.chance() else []
    if each:
        r.attributes["axis"] = axis
    point = r.whole(each, 0, 0, number) if number == INT32 else r.whole(each, 0, 20, number)
    r.give(r.plain(shape, FLOAT, -9, 9) if to_bytes else r.whole(shape, -100, 100, number), r.plain(each, FLOAT, 0.05, 0.2), point)
    r.output_types = {0: number if to_bytes else FLOAT}


def matrix_to_float(r):
    """DynamicQuantizeMatMul and MatMulIntegerToFloat."""
    m, k, n, number = r.few(6), r.few(8), r.few(6), weights_for(r)
    batch, each = [r.few(3)] if r.chance(0.3) else [], [n] if r.chance() else []
    weights, point = whole(r, [k, n], number), zero(r, number, each) if r.chance(0.7) else None
    bias = r.plain([n], FLOAT) if r.chance() else None
    if r.op == "DynamicQuantizeMatMul":
        r.give(r.plain([*batch, m, k], FLOAT), weights, scale(r, each), point, bias)
        return
    r.give(whole(r, [*batch, m, k], r.number), weights, scale(r), scale(r, each), zero(r, r.number) if r.chance() else None, point, bias)
    r.output_types = {0: FLOAT}


def wide_integers(r):
    m, k, n = r.few(6), r.few(8), r.few(6)
    r.give(r.whole([m, k], -300, 300, INT16), r.whole([k, n], -300, 300, INT16))
    r.output_types = {0: INT32}


def matmul_bits(r):
    m, block, bits, n = r.few(4), r.random.choice([16, 32, 64]), r.random.choice([4, 4, 8]), r.few(7)
    k = block * r.few(3) - r.random.choice([0, 0, 5])
    blocks = -(-k // block)
    packed = r.whole([n, blocks, block * bits // 8], 0, 255, UINT8)
    r.give(r.plain([m, k]), packed, r.plain([n * blocks] if r.chance() else [n, blocks], None, 0.01, 0.1))
    r.give(r.whole([n * -(-blocks * bits // 8)], 0, 255, UINT8) if r.chance() else None)
    r.give(None, r.plain([n]) if r.chance(0.3) else None)
    r.attributes |= {"K": k, "N": n, "bits": bits, "block_size": block}


def gather_blocks(r):
    block, rows, blocks = r.random.choice([16, 32]), r.few(6), r.few(3)
    number = r.random.choice([TensorProto.INT4, TensorProto.UINT4])
    limits = (-8, 7) if number == TensorProto.INT4 else (0, 15)
    indices = r.whole([r.few(4)], -rows, rows - 1, r.random.choice([INT32, INT64]))
    r.give(r.whole([rows, blocks * block], *limits, number), indices, r.plain([rows, blocks], FLOAT, 0.01, 0.1))
    if r.chance():
        r.give(r.whole([rows, blocks], *limits, number))
    r.attributes |= {"block_size": block, "gather_axis": 0, "quantize_axis": 1}
    r.output_types = {0: FLOAT}


def matmul_normal_float(r):
    m, n, block = r.few(4), r.few(6), r.random.choice([16, 32])
    k = block * r.few(3)
    r.give(r.plain([m, k], FLOAT), r.whole([(n * k + 1) // 2], 0, 255, UINT8), r.plain([-(-n * k // block)], FLOAT, 0.1, 1))
    r.attributes |= {"K": k, "N": n, "block_size": block, "quant_type": r.random.randint(0, 1)}


def quantized_gemm(r):
    m, k, n, weights = r.few(6), r.few(8), r.few(6), weights_for(r)
    r.maybe(transA=1, transB=1, alpha=0.5)
    each = [n] if r.chance() else []
    r.give(whole(r, [k, m] if r.attributes.get("transA") else [m, k], r.number), scale(r), zero(r, r.number))
    r.give(whole(r, [n, k] if r.attributes.get("transB") else [k, n], weights), scale(r, each), zero(r, weights, each))
    r.give(r.whole(r.random.choice([[n], [1, n], [m, n]]), -500, 500, INT32) if r.chance() else None)
    if r.chance(0.7):
        r.give(r.plain([], FLOAT, 0.2, 1), zero(r, r.number))
    r.output_types = {0: r.number if len(r.inputs) > 7 else FLOAT}


def quantized_binary(r):
    a, b = r.broadcast(2)
    r.give(whole(r, a, r.number), scale(r), zero(r, r.number), whole(r, b, r.number), scale(r), zero(r, r.number))
    r.give(scale(r), zero(r, r.number))


def quantized_unary(r):
    r.give(whole(r, r.shape(1, 4), r.number), scale(r), zero(r, r.number) if r.chance(0.7) else None)
    r.give(scale(r), zero(r, r.number) if r.chance(0.7) else None)
    if r.op == "QLinearLeakyRelu":
        r.maybe(alpha=0.2)


def quantized_softmax(r):
    shape = [r.few() for _ in range(r.random.randint(1, 4))]
    opset = r.random.choice([11, 13])
    r.give(whole(r, shape, r.number), scale(r), zero(r, r.number), r.scalar(1 / 128), r.scalar(0 if r.number == UINT8 else -128, r.number))
    r.attributes |= {"opset": opset, "axis": r.axis(len(shape))}


def quantized_where(r):
    c, a, b = r.broadcast(3)
    r.give(r.value(c, TensorProto.BOOL), whole(r, a, r.number), scale(r), zero(r, r.number))
    r.give(whole(r, b, r.number), scale(r), zero(r, r.number), scale(r), zero(r, r.number))
    r.output_types = {0: r.number}


def quantized_concat(r):
    shape, axis = [r.few() for _ in range(3)], r.axis(3)
    number = r.random.choice(BYTES)
    r.give(scale(r), zero(r, number))
    for _ in range(r.few(3)):
        shape[axis] = r.few()
        r.give(whole(r, shape, number), scale(r), zero(r, number))
    r.attributes["axis"] = axis
    r.output_types = {0: number}


def quantized_pool(r):
    last = r.random.randint(0, 1)
    channels, size = r.few(4), [6, 7]
    shape = [r.few(2), *size, channels] if last else [r.few(2), channels, *size]
    r.give(whole(r, shape, r.number), scale(r), zero(r, r.number), scale(r), zero(r, r.number))
    r.attributes["channels_last"] = last
    if r.op == "QLinearAveragePool":
        kernel = [r.few(3), r.few(3)]
        r.attributes["kernel_shape"] = kernel
        r.maybe(strides=[2, 1], pads=[r.random.randint(0, k - 1) for k in kernel * 2], count_include_pad=1)


def quantized_conv(r):
    group, weights = r.random.choice([1, 1, 2]), weights_for(r)
    inner, outer, kernel = group * r.few(3), group * r.few(4), [r.few(3), r.few(3)]
    each, last = [outer] if r.chance() else [], r.random.randint(0, 1)
    x = [r.few(2), inner, 6, 7]
    r.give(whole(r, [x[0], 6, 7, inner] if last else x, r.number), scale(r), zero(r, r.number))
    r.give(whole(r, [outer, inner // group, *kernel], weights), scale(r, each), r.whole(each, 0, 0, weights) if each else zero(r, weights))
    r.give(r.plain([], FLOAT, 0.2, 1), zero(r, r.number))
    if r.chance():
        r.give(r.whole([outer], -500, 500, INT32))
    r.attributes |= {"channels_last": last, "group": group, "kernel_shape": kernel}
    r.maybe(strides=[2, 1], pads=[r.random.randint(0, k - 1) for k in kernel * 2])
    r.output_types = {0: r.number}


def quantized_max_pool(r):
    kernel = [r.few(3), r.few(3)]
    r.give(whole(r, [r.few(2), 6, 7, r.few(4)], r.number))
    r.attributes["kernel_shape"] = kernel
    r.maybe(strides=[2, 1], pads=[r.random.randint(0, k - 1) for k in kernel * 2])


def recurrent(r, width):
    """Sizes, and the inputs 3 to 7 and attributes that LSTM layers share."""
    steps, batch, hidden = r.few(5), r.few(3), r.few(7)
    direction = r.random.choice(["forward", "reverse", "bidirectional"])
    d = 2 if direction == "bidirectional" else 1
    r.attributes |= {"hidden_size": hidden, "direction": direction}
    r.maybe(input_forget=1)
    if r.chance(0.3):
        r.attributes["clip"] = 0.5
    if r.chance(0.3):
        r.attributes["activations"] = ["HardSigmoid", "Softsign", "Tanh"] * d
    state = [
        r.plain([d, 8 * hidden], FLOAT) if r.chance() else None,
        r.whole([batch], 1, steps, INT32) if r.chance(0.3) else None,
        *(r.plain([d, batch, hidden], FLOAT) if r.chance(0.3) else None for _ in range(2)),
        r.plain([d, 3 * hidden], FLOAT) if r.chance(0.3) else None,
    ]
    r.outputs, r.output_types = 3, {0: FLOAT, 1: FLOAT, 2: FLOAT}
    return SimpleNamespace(x=r.plain([steps, batch, width], FLOAT), d=d, steps=steps, batch=batch, hidden=hidden, state=state)


def attention_lstm(r):
    width, depth, size, memory, columns = r.few(5), r.few(6), r.few(4), r.few(5), r.few(3)
    layer, has_layer = recurrent(r, width), r.chance(0.7)
    d, hidden, batch = layer.d, layer.hidden, layer.batch
    columns = columns if has_layer else depth
    r.give(layer.x, r.plain([d, 4 * hidden, width + columns]), r.plain([d, 4 * hidden, hidden]), *layer.state)
    r.give(r.plain([d, hidden, size]), r.plain([d, depth, size]), r.plain([d, size]), r.plain([batch, memory, depth]))
    r.give(r.whole([batch], 1, memory, INT32) if r.chance() else None)
    r.give(r.plain([d, hidden + depth, columns]) if has_layer else None)


def quantized_lstm(r):
    width, number = r.few(9), r.random.choice(BYTES)
    layer = recurrent(r, width)
    d, hidden, lengths = layer.d, layer.hidden, layer.state[1]
    if lengths is not None and lengths.min() < layer.steps:
        # ONNX Runtime runs on over the padding, whose states widen the range in which all are rounded to 8 bits.
        r.terms = Terms(bound=5e-2)
    weights = lambda rows: r.whole([d, rows, 4 * hidden], 0, 120, number)  # noqa: E731
    r.give(layer.x, weights(width), weights(hidden), *layer.state)
    each = [d, 4 * hidden] if r.chance(0.4) else [d]
    point = 60 if len(each) == 1 else 0  # ONNX Runtime takes one zero point a direction, and of int8 columns none
    for _ in range(2):
        r.give(r.plain(each, FLOAT, 0.002, 0.01), r.whole(each, point, point, number))


def float_blocks(r):
    """MatMulFpQ4: blocks of 32 codes behind a scale and, but for type 0, a zero point."""
    n, k, kind = r.few(7), r.few(70), r.random.randint(0, 1)
    shape = [*([r.few(3)] if r.chance(0.3) else []), r.few(6), k]
    count = n * -(-k // 32)
    parts = [r.plain([count, 1], FLOAT, 0.01, 0.1).view(np.uint8)]
    if kind:
        parts.append(r.whole([count, 1], 0, 15, UINT8))
    codes = np.concatenate([*parts, r.whole([count, 16], 0, 255, UINT8)], 1)
    r.give(r.plain(shape), codes.reshape(-1), r.integers([k, n]))
    r.attributes["blk_quant_type"] = kind


FLOATS = [FLOAT]
BOTH = [FLOAT, DOUBLE]
HALVES = [FLOAT, HALF]

CONTRIB_RECIPES = [
    Row(*row[:2], domain=MICROSOFT, types=row[2], first=row[3] if len(row) > 3 else 1)
    for row in [
        ("Attention", projected_attention, FLOATS),
        ("AttnLSTM", attention_lstm, FLOATS),
        ("BeamSearch", search, [INT32], 15),
        ("BiasGelu", biased, FLOATS),
        ("BifurcationDetector", bifurcation, [INT64]),
        ("CDist", distances, BOTH),
        ("CausalConvWithState", causal_conv, FLOATS),
        ("ConvTransposeWithDynamicPads", dynamic_pads, FLOATS),
        ("CropAndResize", crops, FLOATS),
        ("DecoderMaskedMultiHeadAttention", decoder_attention, FLOATS),
        ("DequantizeLinear", quantize, [INT8, UINT8, INT16, TensorProto.UINT16, INT32]),
        ("DynamicQuantizeLSTM", quantized_lstm, FLOATS),
        ("DynamicQuantizeMatMul", matrix_to_float, FLOATS),
        ("DynamicTimeWarping", time_warping, FLOATS),
        ("EmbedLayerNormalization", embeddings, [INT32]),
        ("ExpandDims", expand_dims, NUMBERS),
        ("FastGelu", biased, FLOATS),
        ("FusedConv", fused_conv, FLOATS),
        ("FusedGemm", fused_gemm, FLOATS),
        ("FusedMatMul", products, BOTH),
        ("GatedAdd", gated, HALVES),
        ("GatedDeltaNet", packed_linear_attention, HALVES),
        ("GatedRMSNorm", gated, HALVES),
        ("GatherBlockQuantized", gather_blocks, [TensorProto.UINT4]),
        ("GatherND", gather_nd, NUMBERS),
        ("GatherPacked", packed_rows, [UINT8]),
        ("Gelu", unary, FLOATS),
        ("GreedySearch", search, [INT32], 15),
        ("GridSample", grid_sample, FLOATS),
        ("GroupQueryAttention", grouped_attention, HALVES),
        ("Inverse", inverse, [FLOAT, DOUBLE, HALF]),
        ("LinearAttention", linear_attention, FLOATS),
        ("LinearAttentionGate", linear_gate, HALVES),
        ("MRotaryEmbedding", multimodal_rotary, HALVES),
        ("MatMulBnb4", matmul_normal_float, FLOATS),
        ("MatMulFpQ4", float_blocks, FLOATS),
        ("MatMulInteger16", wide_integers, [INT16]),
        ("MatMulIntegerToFloat", matrix_to_float, BYTES),
        ("MatMulNBits", matmul_bits, HALVES),
        ("MaxpoolWithMask", masked_pool, FLOATS),
        ("MoE", experts, FLOATS),
        ("MoEGroupRouter", routes, FLOATS),
        ("MultiHeadAttention", attention, FLOATS),
        ("MurmurHash3", hashes, [FLOAT, DOUBLE, INT32, INT64, TensorProto.UINT32, TensorProto.UINT64, TensorProto.STRING]),
        ("NGramRepeatBlock", repeats, [INT64]),
        ("NhwcMaxPool", quantized_max_pool, BYTES),
        ("Pad", pads, FLOATS),
        ("QAttention", projected_attention, [UINT8]),
        ("QEmbedLayerNormalization", quantized_embeddings, [INT32]),
        ("QGemm", quantized_gemm, BYTES),
        ("QLinearAdd", quantized_binary, BYTES),
        ("QLinearAveragePool", quantized_pool, BYTES),
        ("QLinearConcat", quantized_concat, FLOATS),
        ("QLinearConv", quantized_conv, BYTES),
        ("QLinearGlobalAveragePool", quantized_pool, BYTES),
        ("QLinearLeakyRelu", quantized_unary, BYTES),
        ("QLinearMul", quantized_binary, BYTES),
        ("QLinearSigmoid", quantized_unary, BYTES),
        ("QLinearSoftmax", quantized_softmax, BYTES),
        ("QLinearWhere", quantized_where, BYTES),
        ("QMoE", quantized_experts, HALVES),
        ("QuantizeLinear", quantize, FLOATS),
        ("QuickGelu", quick_gelu, FLOATS),
        ("Range", ranges, [FLOAT, DOUBLE, INT16, INT32, INT64]),
        ("RotaryEmbedding", rotary, HALVES),
        ("SampleOp", unary, FLOATS),
        ("Sampling", search, [INT32], 15),
        ("SkipLayerNormalization", layer_norm, HALVES),
        ("SkipSimplifiedLayerNormalization", layer_norm, HALVES),
        ("SparseAttention", sparse_attention, HALVES),
        ("SparseToDenseMatMul", sparse_product, [FLOAT, DOUBLE, INT32, INT64, TensorProto.UINT32, TensorProto.UINT64]),
        ("Tokenizer", tokens, [TensorProto.STRING]),
        ("TransposeMatMul", products, FLOATS),
        ("Trilu", trilu, [FLOAT, DOUBLE, INT64]),
        ("UnfoldTensor", unfold, [FLOAT, DOUBLE, INT32, INT64]),
        ("Unique", unique, FLOATS),
        ("VarlenCausalConvWithState", packed_conv, FLOATS),
        ("WhisperBeamSearch", search, FLOATS, 15),
        ("WordConvEmbedding", word_convolution, [INT32]),
    ]
]
