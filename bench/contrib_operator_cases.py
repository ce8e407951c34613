"""Models of the operators of com.microsoft that other tables lack."""

import numpy as np
from more_operator_cases import MS, PRODUCTS, bytes_of, scale, words
from operator_cases import IMAGES, RNG, ROWS, floats, one
from rare_operator_cases import causal_conv, ints, linear_attention


def contrib(op_type, feeds, constants=None, **attributes):
    return one(op_type, feeds, constants, domain=MS, **attributes)


# Names of com.microsoft for what the standard has as well.


def quantize(rows, length):
    return contrib("QuantizeLinear", {"x": floats(rows, length)}, {"s": np.float32(0.01), "z": np.uint8(128)})


def dequantize(rows, length):
    return contrib("DequantizeLinear", {"x": bytes_of(rows, length)}, {"s": np.float32(0.01), "z": np.uint8(128)})


def unique(rows, length):
    return contrib("Unique", {"x": RNG.integers(0, 1000, rows * length).astype("f4")}, outputs=3)


def range_of(count):
    return contrib("Range", {"n": np.array(count, "i8")}, {"a": np.array(0, "i8"), "b": np.array(1, "i8")}, order=["a", "n", "b"])


def pad(channels, size):
    return contrib("Pad", {"x": floats(1, channels, size, size)}, {"pads": ints(0, 0, 2, 2, 0, 0, 2, 2)})


def grid_sample(channels, size):
    return contrib("GridSample", {"x": floats(1, channels, size, size), "grid": floats(1, size, size, 2)})


def gather_rows_nd(rows, length):
    return contrib("GatherND", {"x": floats(rows, length), "at": RNG.integers(0, rows, (rows, 1)).astype("i8")})


def expand_dims(rows, length):
    return contrib("ExpandDims", {"x": floats(rows, length)}, {"axis": np.array(1, "i4")})


# Products and convolutions.


def products(op_type, **attributes):
    return lambda rows, inner, columns: contrib(op_type, {"x": floats(rows, inner)}, {"w": floats(inner, columns)}, **attributes)


def fused_gemm(rows, inner, columns):
    weights = {"w": floats(inner, columns), "b": floats(columns)}
    return contrib("FusedGemm", {"x": floats(rows, inner)}, weights, activation="Relu")


def product_of_int16(rows, inner, columns):
    feeds = {"x": bytes_of(rows, inner, low=-300, high=300, dtype="i2"), "z": bytes_of(inner, columns, low=-300, high=300, dtype="i2")}
    return contrib("MatMulInteger16", feeds)


def float_blocks(rows, inner, columns):
    """Codes of 4 bits behind a scale, 32 a block."""
    count = columns * inner // 32
    codes = np.concatenate([floats(count, 1, low=0.001, high=0.01).view("u1"), bytes_of(count, 16)], 1)
    return contrib("MatMulFpQ4", {"x": floats(rows, inner)}, {"w": codes.reshape(-1), "shape": ints(inner, columns)}, blk_quant_type=0)


def fused_conv(channels, size):
    weights = {"w": floats(channels, channels, 3, 3), "b": floats(channels)}
    return contrib("FusedConv", {"x": floats(1, channels, size, size)}, weights, pads=[1, 1, 1, 1], activation="Relu")


def conv_transpose(channels, size):
    constants = {"w": floats(channels, channels, 2, 2), "pads": ints(0, 0, 0, 0)}
    return contrib("ConvTransposeWithDynamicPads", {"x": floats(1, channels, size, size)}, constants, strides=[2, 2])


def qlinear_conv(channels, size):
    weight = bytes_of(channels, channels, 3, 3, dtype="i1", low=-127, high=127)
    c = {"sx": scale(), "zx": np.uint8(128), "w": weight, "sw": scale(), "zw": np.int8(0), "sy": scale(1), "zy": np.uint8(128)}
    return contrib("QLinearConv", {"x": bytes_of(1, size, size, channels)}, c, pads=[1, 1, 1, 1], channels_last=1)


def masked_pool(channels, size):
    feeds = {"x": floats(1, channels, size, size), "mask": bytes_of(1, 1, size, size, high=2, dtype="i4")}
    return contrib("MaxpoolWithMask", feeds, kernel_shape=[3, 3], strides=[2, 2])


def nhwc_pool(channels, size):
    return contrib("NhwcMaxPool", {"x": bytes_of(1, size, size, channels)}, kernel_shape=[3, 3], strides=[2, 2])


# Quantised.


def qlinear_where(rows, length):
    feeds = {"c": RNG.random((rows, length)) < 0.5, "x": bytes_of(rows, length), "z": bytes_of(rows, length)}
    c = {"sx": scale(), "zx": np.uint8(128), "sz": scale(0.03), "zz": np.uint8(120), "sy": scale(0.05), "zy": np.uint8(128)}
    return contrib("QLinearWhere", feeds, c, order=["c", "x", "sx", "zx", "z", "sz", "zz", "sy", "zy"])


def quantized_attention(length):
    c = {"w": bytes_of(512, 1536, dtype="i1", low=-127, high=127), "b": floats(1536), "sx": scale(), "sw": scale(0.001)}
    order = ["x", "w", "b", "sx", "sw", "", "zx", "zw"]
    return contrib("QAttention", {"x": bytes_of(1, length, 512)}, c | {"zx": np.uint8(128), "zw": np.int8(0)}, order=order, num_heads=8)


def quantized_embeddings(length):
    feeds = {"at": RNG.integers(0, 1000, (1, length)).astype("i4"), "segment": np.zeros((1, length), "i4")}
    tables = {"words": bytes_of(1000, 768), "places": bytes_of(512, 768), "segments": bytes_of(2, 768), "gamma": bytes_of(768)}
    tables["beta"] = bytes_of(768)
    c = tables | {f"s_{k}": scale() for k in tables} | {f"z_{k}": np.uint8(128) for k in tables}
    order = ["at", "segment", *tables, "", *(f"s_{k}" for k in tables), *(f"z_{k}" for k in tables)]
    return contrib("QEmbedLayerNormalization", feeds, c, outputs=2, order=order)


def quantized_lstm(steps, size):
    c = {"w": bytes_of(1, size, 4 * size, high=120), "r": bytes_of(1, size, 4 * size, high=120)}
    c |= {"sw": np.array([0.01], "f4"), "zw": np.array([60], "u1"), "sr": np.array([0.01], "f4"), "zr": np.array([60], "u1")}
    order = ["x", "w", "r", "", "", "", "", "", "sw", "zw", "sr", "zr"]
    return contrib("DynamicQuantizeLSTM", {"x": floats(steps, 1, size)}, c, order=order, hidden_size=size)


# Transformers and other networks.


def sparse_attention(past, length):
    """Blocks of 64 keys: the first one, and those near the query."""
    block, heads, depth = 64, 8, 64
    capacity = (past + length + block - 1) // block * block
    blocks = capacity // block
    layout = [sorted({0, *range(max(0, i - 3), i + 1)}) for i in range(blocks)]
    ends, columns = np.cumsum([0, *map(len, layout)]), [j for row in layout for j in row]
    feeds = {name: floats(1, length, heads * depth) for name in ("q", "k", "v")}
    feeds |= {name: floats(1, heads, capacity, depth) for name in ("pk", "pv")}
    c = {"rows": np.array([ends], "i4"), "columns": np.array([columns], "i4"), "total": np.array([past + length], "i4")}
    c["lengths"] = np.array([past + length], "i4")
    return contrib("SparseAttention", feeds, c, outputs=3, num_heads=heads, kv_num_heads=heads, sparse_block_size=block, do_rotary=0)


def multimodal_rotary(length):
    feeds = {"x": floats(1, 16, length, 128), "at": RNG.integers(0, 1024, (3, 1, length)).astype("i8")}
    return contrib("MRotaryEmbedding", feeds, {"cos": floats(1024, 64), "sin": floats(1024, 64)}, mrope_section=[24, 20, 20])


def gated_norm(rows, length):
    return contrib(
        "GatedRMSNorm", {"x": floats(1, rows, length), "gate": floats(1, rows, length)}, {"w": floats(length)}, order=["x", "w", "gate"]
    )


def gated_add(rows, length):
    return contrib("GatedAdd", {"x": floats(1, rows, length), "z": floats(1, rows, length), "gate": floats(1, rows, 1)})


def packed_delta_net(length):
    shapes = {"q": (length, 4, 64), "k": (length, 4, 64), "v": (length, 8, 64)}
    feeds = {name: floats(*shape) for name, shape in shapes.items()}
    feeds |= {"c": np.array([0, length], "i4"), "d": -np.abs(floats(length, 8)), "b": np.abs(floats(length, 8))}
    return contrib("GatedDeltaNet", feeds, outputs=2, qk_l2_norm=1)


def packed_conv(length, channels):
    feeds = {"x": floats(length, channels), "c": np.array([0, length], "i4"), "s": floats(1, channels, 3)}
    weights = {"w": floats(channels, 1, 4), "b": floats(channels)}
    return contrib("VarlenCausalConvWithState", feeds, weights, order=["x", "w", "c", "b", "s"], outputs=2, activation="silu")


def expert_groups(rows, experts):
    return contrib("MoEGroupRouter", {"x": floats(rows, experts)}, {"b": floats(experts)}, top_k=8, n_group=8, topk_group=4)


def packed_rows(number, block, size):
    def build(rows, length):
        table = RNG.integers(0, 256, (512, length // block, size)).astype("u1")
        table[..., 1] = 0x3C
        feeds = {"at": RNG.integers(0, 512, rows).astype("i8")}
        order, attributes = ["w", "at"], {"packed_type": number, "K": length, "output_dtype": 1}
        return contrib("GatherPacked", feeds, {"w": table.reshape(512, -1)}, order=order, **attributes)

    return build


def attention_gate(length, heads):
    feeds, c = {"a": floats(1, length, heads), "b": floats(1, length, heads)}, {"bias": floats(heads), "scale": floats(heads)}
    return contrib("LinearAttentionGate", feeds, c, outputs=2, order=["a", "bias", "scale", "b"])


def attention_lstm(steps, size):
    """With a memory as long as the sequence."""
    c = {"w": floats(1, 4 * size, 2 * size, low=-0.1, high=0.1), "r": floats(1, 4 * size, size, low=-0.1, high=0.1)}
    c |= {"qw": floats(1, size, size, low=-0.1, high=0.1), "mw": floats(1, size, size, low=-0.1, high=0.1), "v": floats(1, size)}
    c["aw"] = floats(1, 2 * size, size, low=-0.1, high=0.1)
    order = ["x", "w", "r", "", "", "", "", "", "qw", "mw", "v", "memory", "", "aw"]
    return contrib("AttnLSTM", {"x": floats(steps, 1, size), "memory": floats(1, steps, size)}, c, order=order, hidden_size=size)


def word_convolution(count):
    c = {"w": floats(64, 1, 3, 16), "b": floats(64), "letters": floats(100, 16)}
    x = RNG.integers(1, 100, (count, 16)).astype("i4")
    return contrib("WordConvEmbedding", {"x": x}, c, embedding_size=64, conv_window_size=3, char_embedding_size=16)


def bifurcation(length):
    feeds = {"source": RNG.integers(0, 50, length).astype("i8"), "now": RNG.integers(0, 50, length).astype("i8"), "at": np.array(0, "i8")}
    feeds["predicted"] = np.append(feeds["source"], 1)
    return contrib("BifurcationDetector", feeds, outputs=2, min_ngram_size=1, max_ngram_size=3)


def tokenizer(separators):
    def build(count):
        attributes = {"separators": [" "]} if separators else {"tokenexp": "[a-zA-Z0-9]+"}
        return contrib("Tokenizer", {"x": words(count, 4)}, mark=0, mincharnum=1, pad_value="#", **attributes)

    return build


# Signals.


def spectrum(rows, length):
    return contrib("Rfft", {"x": floats(rows, length)}, signal_ndim=1, normalized=0, onesided=1)


def signal(rows, length):
    return contrib("Irfft", {"x": floats(rows, length // 2 + 1, 2)}, signal_ndim=1, normalized=0, onesided=1)


def unfold(rows, length):
    return contrib("UnfoldTensor", {"x": floats(rows, length)}, dim=1, size=16, step=4)


TOKENS = [(16,), (128,), (512,)]
COUNTS = [(10,), (1000,), (10000,)]
SIGNALS = [(1, 256), (16, 1024), (64, 4096)]
SMALL_IMAGES = [(16, 14), (64, 28), (128, 28)]
LAYERS = [(10, 64), (50, 128), (100, 512)]

CONTRIB_CASES = [
    (f"{name} (com.microsoft)", build, sizes)
    for name, build, sizes in [
        ("QuantizeLinear", quantize, ROWS),
        ("DequantizeLinear", dequantize, ROWS),
        ("Unique", unique, ROWS),
        ("Range", range_of, [(100,), (10000,), (1000000,)]),
        ("Pad", pad, IMAGES),
        ("GridSample", grid_sample, IMAGES),
        ("GatherND", gather_rows_nd, ROWS),
        ("ExpandDims", expand_dims, ROWS),
        ("Trilu", lambda rows, length: contrib("Trilu", {"x": floats(rows, length)}), ROWS),
        ("Gelu", lambda rows, length: contrib("Gelu", {"x": floats(rows, length)}), ROWS),
        ("TransposeMatMul", products("TransposeMatMul", alpha=0.5), PRODUCTS),
        ("FusedMatMulActivation", products("FusedMatMulActivation", activation="Relu"), PRODUCTS),
        ("FusedGemm", fused_gemm, PRODUCTS),
        ("MatMulInteger16", product_of_int16, PRODUCTS),
        ("MatMulFpQ4", float_blocks, PRODUCTS),
        ("FusedConv", fused_conv, SMALL_IMAGES),
        ("ConvTransposeWithDynamicPads", conv_transpose, SMALL_IMAGES),
        ("QLinearConv, channels last", qlinear_conv, SMALL_IMAGES),
        ("MaxpoolWithMask", masked_pool, IMAGES),
        ("NhwcMaxPool", nhwc_pool, IMAGES),
        ("QLinearWhere", qlinear_where, ROWS),
        ("QAttention", quantized_attention, TOKENS),
        ("QEmbedLayerNormalization", quantized_embeddings, TOKENS),
        ("DynamicQuantizeLSTM", quantized_lstm, LAYERS),
        ("SparseAttention", sparse_attention, [(1023, 1), (0, 128), (0, 512)]),
        ("MRotaryEmbedding", multimodal_rotary, TOKENS),
        ("GatedRMSNorm", gated_norm, ROWS),
        ("GatedAdd", gated_add, ROWS),
        ("LinearAttention, delta", linear_attention(MS, 1, update_rule="gated_delta"), [(1,), (16,), (256,)]),
        ("GatedDeltaNet", packed_delta_net, [(1,), (16,), (256,)]),
        ("VarlenCausalConvWithState", packed_conv, [(1, 64), (16, 512), (512, 1024)]),
        ("MoEGroupRouter", expert_groups, [(1, 256), (16, 256), (256, 256)]),
        ("GatherPacked, 4 bits", packed_rows(2, 32, 18), [(1, 2048), (16, 2048), (256, 2048)]),
        ("GatherPacked, codebook", packed_rows(16, 256, 66), [(1, 2048), (16, 2048), (256, 2048)]),
        ("LinearAttentionGate", attention_gate, [(1, 16), (128, 16), (1024, 32)]),
        ("CausalConvWithState", causal_conv(MS, 20), [(64, 1), (512, 16), (1024, 512)]),
        ("AttnLSTM", attention_lstm, LAYERS),
        ("WordConvEmbedding", word_convolution, [(1,), (32,), (512,)]),
        ("BifurcationDetector", bifurcation, [(16,), (256,), (4096,)]),
        ("Tokenizer, separators", tokenizer(True), COUNTS),
        ("Tokenizer, expression", tokenizer(False), COUNTS),
        (
            "DynamicTimeWarping",
            lambda rows, length: contrib("DynamicTimeWarping", {"x": floats(rows, length)}),
            [(10, 50), (50, 200), (200, 1500)],
        ),
        ("Rfft", spectrum, SIGNALS),
        ("Irfft", signal, SIGNALS),
        ("UnfoldTensor", unfold, ROWS),
        ("SampleOp", lambda rows, length: contrib("SampleOp", {"x": floats(rows, length)}), ROWS),
    ]
]
