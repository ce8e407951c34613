"""Operators of com.microsoft that transformers are made of, generated from rules."""

import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto
from terms import Terms

sys.path.append(str(Path(__file__).resolve().parents[1] / "models"))
import generation  # noqa: E402
from searches import Search  # noqa: E402

FLOAT, INT8, UINT8, INT32, INT64 = TensorProto.FLOAT, TensorProto.INT8, TensorProto.UINT8, TensorProto.INT32, TensorProto.INT64
BYTES = [INT8, UINT8]


def whole(r, shape, number):
    """Over the whole range of an 8-bit type."""
    return r.whole(shape, *((0, 255) if number == UINT8 else (-128, 127)), number)


def scale(r, shape=()):
    return r.plain(list(shape), FLOAT, 0.01, 0.1)


def zero(r, number, shape=()):
    return r.whole(list(shape), *((100, 150) if number == UINT8 else (-20, 20)), number)


def layer_norm(r):
    width, lead = r.few(9), [r.few(2), r.few(4)]
    shape = [*lead, width]
    skip = shape if r.chance(0.7) else r.random.choice([[1, *shape[1:]], shape[1:]])
    r.give(r.plain(shape), r.plain(skip), r.plain([width]))
    if r.op == "SkipLayerNormalization":
        r.give(r.plain([width]) if r.chance() else None)
    r.give(r.plain([width]) if r.chance() else None)
    r.maybe(epsilon=1e-3)
    r.outputs = ["y0", "", "", "y3"] if r.chance() else 1


def embeddings(r):
    batch, length, width = r.few(3), r.few(5), r.few(8)
    table = lambda rows: r.plain([rows, width], FLOAT)  # noqa: E731
    segments = r.chance()
    r.give(r.whole([batch, length], 0, 6, INT32), r.whole([batch, length], 0, 1, INT32) if segments else None)
    r.give(table(7), table(8), table(2) if segments else None, r.plain([width], FLOAT), r.plain([width], FLOAT))
    r.give(r.whole([batch, length], 0, 1, INT32) if r.chance() else None)
    r.give(r.whole([r.random.choice([1, batch]), length], 0, 7, INT32) if r.chance() else None)
    r.outputs = ["y0", "y1", "y2"] if r.chance() else ["y0", "y1"]
    r.output_types = {0: FLOAT, 1: INT32, 2: FLOAT}
    r.maybe(epsilon=1e-3)


def rotary(r):
    batch, length, heads, size, positions = r.few(2), r.few(5), r.few(3), 2 * r.few(4), 12
    r.give(r.plain([batch, heads, length, size] if r.chance() else [batch, length, heads * size]))
    r.give(r.whole([batch, length], 0, positions - 1) if r.chance() else r.integers([r.random.randint(0, positions - length)]))
    r.give(r.plain([positions, size // 2], None, -1, 1), r.plain([positions, size // 2], None, -1, 1))
    r.maybe(interleaved=1)


def scores_bias(r, batch, heads, queries, keys):
    return r.plain([r.random.choice([1, batch]), r.random.choice([1, heads]), queries, keys], FLOAT)


def projected_attention(r):
    """Attention and QAttention of com.microsoft."""
    batch, length, width, heads, size = r.few(2), r.few(5), r.few(6), r.few(3), r.few(4)
    past = r.random.randint(1, 3) if r.chance(0.3) else 0
    hidden, total = heads * size, past + length
    masks = [None, [batch], [batch, total]] + ([[batch, length, total]] if r.op == "Attention" else [])
    shape = r.random.choice(masks)
    mask = None if shape is None else r.whole(shape, *((1, total) if len(shape) == 1 else (0, 1)), INT32)
    if mask is not None and mask.ndim > 1:
        mask[..., 0] = 1
    if mask is not None and mask.ndim == 1 and past:
        mask = None
    states = r.plain([2, batch, heads, past, size], FLOAT) if past else None
    r.attributes["num_heads"] = heads
    r.maybe(unidirectional=1, scale=0.5)
    r.outputs = 2 if past or r.chance(0.3) else 1
    r.output_types = {0: FLOAT, 1: FLOAT}
    if r.op == "Attention":
        r.give(r.plain([batch, length, width]), r.plain([width, 3 * hidden]), r.plain([3 * hidden]), mask, states)
        if r.chance(0.3) and not past:
            r.give(scores_bias(r, batch, heads, length, total))
        return
    weights = r.random.choice(BYTES)
    r.give(r.whole([batch, length, width], 0, 255, UINT8), r.whole([width, 3 * hidden], -128, 255, weights), r.plain([3 * hidden], FLOAT))
    r.give(scale(r), scale(r), mask, zero(r, UINT8), zero(r, weights), states)


def attention(r):
    """MultiHeadAttention in the forms that run on CPU."""
    batch, queries, keys, heads, size, value = r.few(2), r.few(5), r.few(6), r.few(3), r.few(5), r.few(5)
    past = r.random.randint(1, 3) if r.chance(0.3) else 0
    value = size if past else value
    if past or r.chance(0.7):
        k, v = [batch, keys, heads * size], [batch, keys, heads * value]
    else:
        k = v = [batch, heads, keys, size]
        value = size
    bias = r.plain([heads * (2 * size + value)]) if len(k) == 3 and not past and r.chance(0.3) else None
    total = past + keys
    padding = None
    if r.chance(0.3):
        padding = r.whole([batch, total], 0, 1, INT32)
        padding[:, 0] = 1
    r.give(r.plain([batch, queries, heads * size]), r.plain(k), r.plain(v), bias, padding)
    r.give(scores_bias(r, batch, heads, queries, total) if r.chance(0.3) else None)
    if past:
        r.give(r.plain([batch, heads, past, size]), r.plain([batch, heads, past, value]))
    r.outputs = 3 if past else 1
    r.attributes["num_heads"] = heads
    r.maybe(scale=0.7)
    if keys == queries:  # else ONNX Runtime shows all keys to the last query
        r.maybe(unidirectional=1)


def grouped_attention(r):
    batch, groups, heads_each, size = r.few(2), r.few(2), r.few(3), 16 * r.few(2)
    heads, past = groups * heads_each, r.random.randint(1, 4) if r.chance() else 0
    length = 1 if past else r.few(5)
    total = past + length
    packed = r.chance(0.3)
    if packed:
        r.give(r.plain([batch, length, (heads + 2 * groups) * size]), None, None)
    else:
        r.give(r.plain([batch, length, heads * size]), r.plain([batch, length, groups * size]), r.plain([batch, length, groups * size]))
    cache = [batch, groups, past, size]
    r.give(*((r.plain(cache), r.plain(cache)) if past else (None, None)))
    r.give(np.full([batch], total - 1, np.int32), r.scalar(total, INT32))
    r.attributes |= {"num_heads": heads, "kv_num_heads": groups}
    if r.chance(0.4):
        r.attributes["do_rotary"] = 1
        r.give(r.plain([16, size // 2], None, -1, 1), r.plain([16, size // 2], None, -1, 1))
        r.maybe(rotary_interleaved=1)
    r.maybe(scale=0.5, softcap=r.random.choice([2.0, 20.0]))
    if r.chance(0.3):
        r.attributes["local_window_size"] = r.few(4)
    r.outputs, r.output_types = 3, {1: r.number, 2: r.number}


def gated(r):
    """GatedAdd, GatedRMSNorm."""
    width, lead = r.few(9), [r.few(2), r.few(4)]
    if r.op == "GatedAdd":
        r.give(r.plain([*lead, width]), r.plain([*lead, width]), r.plain([*lead, r.random.choice([1, width])]))
        return
    r.give(r.plain([*lead, width]), r.plain([width]), r.plain([*lead, width]))
    r.maybe(epsilon=1e-3)


def experts(r):
    rows, width, inner, count = r.few(4), r.few(6), r.few(5), r.random.randint(1, 4)
    r.give(r.plain([rows, width]), r.plain([rows, count]))
    r.give(r.plain([count, inner, width]), r.plain([count, inner]) if r.chance() else None)
    r.give(r.plain([count, width, inner]), r.plain([count, width]) if r.chance() else None)
    r.attributes |= {"k": r.random.randint(1, count), "activation_type": r.random.choice(["relu", "gelu", "silu", "identity"])}
    r.maybe(normalize_routing_weights=1)


def multimodal_rotary(r):
    batch, length, heads, positions = r.few(2), r.few(5), r.few(3), 12
    sizes = [r.random.randint(0, 3) for _ in range(2)]
    sizes.insert(0, max(sizes) + r.random.randint(1, 2))  # turns of three begin with the first section
    angles = sum(sizes)
    depth = 2 * angles + (2 * r.random.randint(0, 2))
    flat = r.chance()
    r.give(r.plain([batch, length, heads * depth] if flat else [batch, heads, length, depth]))
    r.give(
        r.whole([3, batch, length], 0, positions - 1), r.plain([positions, angles], None, -1, 1), r.plain([positions, angles], None, -1, 1)
    )
    r.attributes["mrope_section"] = sizes
    if flat or depth > 2 * angles:
        r.attributes |= {"num_heads": heads, "rotary_embedding_dim": 2 * angles}
    r.maybe(mrope_layout=1, interleaved=1, scale=0.5)


def quantized_embeddings(r):
    batch, length, width, rows = r.few(3), r.few(5), r.few(8), 7
    number, has_segments = r.random.choice(BYTES), r.chance()
    codes = lambda *shape: whole(r, shape, number)  # noqa: E731
    segment = lambda value: value if has_segments else None  # noqa: E731
    r.give(r.whole([batch, length], 0, rows - 1, INT32), segment(r.whole([batch, length], 0, 1, INT32)))
    r.give(codes(rows, width), codes(8, width), segment(codes(2, width)), codes(width), codes(width))
    r.give(r.whole([batch, length], 0, 1, INT32) if r.chance() else None)
    r.give(scale(r), scale(r), segment(scale(r)), scale(r), scale(r))
    r.give(zero(r, number), zero(r, number), segment(zero(r, number)), zero(r, number), zero(r, number))
    r.outputs, r.output_types = 2, {0: FLOAT, 1: INT32}
    r.maybe(epsilon=1e-3)


def decoder_attention(r):
    """DecoderMaskedMultiHeadAttention: one query a sequence, over the keys of an encoder or with a cache of its own."""
    beams = r.few(3)
    batch, heads, depth = beams * r.few(2), r.few(3), r.few(5)
    hidden, capacity = heads * depth, r.random.randint(2, 7)
    past = r.random.randint(1, capacity - 1)
    r.attributes["num_heads"] = heads
    r.maybe(scale=0.5, mask_filter_value=-1.5)
    r.give(r.plain([batch, 1, hidden]))
    own = r.chance(0.7)
    total = past + 1 if own else capacity
    row = [batch, 1, hidden] if own else [batch, heads, capacity, depth]
    r.give(r.plain(row), r.plain(row))
    mask = None
    if r.chance(0.4):
        mask = r.whole([batch, total], 0, 1, INT32)
        mask[:, 0] = 1
    r.give(mask, r.plain([1, heads, 1, total], FLOAT) if own and r.chance(0.3) else None)
    if own:
        cache = [batch, heads, capacity, depth]
        r.attributes["past_present_share_buffer"] = 1
        r.give(r.plain(cache), r.plain(cache), np.array([past], np.int32))
        if r.chance():
            r.give(np.array([beams], np.int32), r.whole([batch // beams, beams, capacity], 0, beams - 1, INT32))
        else:
            r.give(None, None)
        r.give(r.plain([3 * hidden]) if r.chance(0.4) else None)
    r.outputs = 3 if own else 1
    if own and r.chance(0.3):
        r.attributes["output_qk"] = 1
        r.outputs, r.output_types = 4, {3: FLOAT}


def sparse_attention(r):
    """Past and present are one buffer: ONNX Runtime wants it so."""
    groups, heads_each, depth, block, blocks = r.few(2), r.few(2), 16 * r.few(2), 16, r.few(4)
    heads, capacity, batch = groups * heads_each, block * blocks, r.few(2)
    length = r.random.randint(1, capacity) if r.chance() else 1
    total = length if r.chance() else r.random.randint(length, capacity)
    batch = 1 if total > length > 1 else batch
    if r.chance(0.3):
        r.give(r.plain([batch, length, (heads + 2 * groups) * depth]), None, None)
    else:
        r.give(r.plain([batch, length, heads * depth]), r.plain([batch, length, groups * depth]), r.plain([batch, length, groups * depth]))
    cache = [batch, groups, capacity, depth]
    layouts = [[sorted({i, *(j for j in range(i) if r.chance())}) for i in range(blocks)] for _ in range(r.random.choice([1, heads]))]
    columns = [[j for row in layout for j in row] for layout in layouts]
    most = min(max(len(c) for c in columns) + r.random.randint(0, 2), blocks * blocks)
    ends = [np.cumsum([0, *(len(row) for row in layout)]) for layout in layouts]
    r.give(r.plain(cache), r.plain(cache), np.array(ends, np.int32), np.array([c + [-1] * (most - len(c)) for c in columns], np.int32))
    r.give(np.array([total], np.int32), np.full([batch], total, np.int32))
    r.attributes |= {"num_heads": heads, "kv_num_heads": groups, "sparse_block_size": block}
    if r.chance(0.3):
        r.attributes["do_rotary"] = 1
        r.give(r.plain([capacity, depth // 2], None, -1, 1), r.plain([capacity, depth // 2], None, -1, 1))
        r.maybe(rotary_interleaved=1)
    r.maybe(scale=0.5)
    r.outputs = 3
    r.terms = Terms(buffers={"x3": "y1", "x4": "y2"})


def linear_attention(r):
    batch, length, groups, depth, value = r.few(2), r.few(6), r.few(2), r.few(5), r.few(4)
    heads, rule = groups * r.few(2), r.random.choice(["linear", "gated", "delta", "gated_delta"])
    r.give(r.plain([batch, length, heads * depth]), r.plain([batch, length, groups * depth], None, -0.5, 0.5))
    r.give(r.plain([batch, length, groups * value]), r.plain([batch, groups, depth, value]) if r.chance() else None)
    r.give(r.plain([batch, length, groups * (depth if r.chance() else 1)], None, -1, 0) if "gated" in rule else None)
    r.give(r.plain([batch, length, groups], None, 0, 1) if "delta" in rule else None)
    r.attributes |= {"q_num_heads": heads, "kv_num_heads": groups, "update_rule": rule}
    r.maybe(scale=0.5, chunk_size=r.random.choice([1, 2, 64]))
    r.outputs, r.output_types = 2, {1: FLOAT}


def packed_linear_attention(r):
    requests, length, heads, depth, value = r.few(3), r.few(5), r.few(2), r.few(5), r.few(4)
    tokens, values, rule = requests * length, heads * r.few(2), r.random.choice(["linear", "gated", "delta", "gated_delta"])
    r.give(r.plain([tokens, heads, depth]), r.plain([tokens, heads, depth], None, -0.5, 0.5), r.plain([tokens, values, value]))
    state = r.plain([requests, values, value, depth], FLOAT) if r.chance() else None
    r.give(np.arange(0, tokens + 1, length, dtype=np.int32) if state is None or r.chance() else None)
    decay = [tokens, values] + ([depth] if r.chance() else [])
    r.give(r.plain(decay, FLOAT, -1, 0) if "gated" in rule else None, r.plain([tokens, values], FLOAT, 0, 1) if "delta" in rule else None)
    r.give(state)
    r.attributes |= {"update_rule": rule}
    r.maybe(scale=0.5, qk_l2_norm=1)
    if "delta" in rule:
        r.maybe(beta_activation="sigmoid")
    if "gated" in rule and r.chance():
        r.give(r.plain([values], FLOAT), r.plain([values], FLOAT))
        r.attributes |= {"gate_activation": r.random.choice(["softplus", "qwen", "sigmoid", "kda"])}
    r.outputs, r.output_types = 2, {1: FLOAT}


def linear_gate(r):
    batch, length, heads = r.few(3), r.few(5), r.few(7)
    r.terms = Terms(least=1e-2)  # ONNX Runtime takes log(1 + e^x), which loses what is small beside 1
    r.give(r.plain([batch, length, heads], None, -30, 30), r.plain([heads], FLOAT), r.plain([heads], FLOAT))
    if r.chance():
        r.give(r.plain([batch, length, heads]))
        r.outputs = 2


def search(r):
    """The operators that generate tokens, over tiny decoders."""
    kinds = {
        "GreedySearch": ["greedy"],
        "Sampling": ["sampling"],
        "BeamSearch": ["beam", "t5", "whisper"],
        "WhisperBeamSearch": ["whisper"],
    }
    drawn = None
    while drawn is None or drawn.op != r.op:
        drawn = Search(r.random.choice(kinds[r.op]), r.random.getrandbits(31))
    r.give(*(drawn.feeds.get(name.lower()) for name in generation.INPUTS[r.op].split()))
    while r.inputs[-1] is None:
        r.inputs.pop()
    r.attributes, r.outputs = drawn.attributes, [f"y{i}" for i in range(len(drawn.outputs))]
    r.output_types = {0: INT32}
    r.terms = Terms(bound=1e-3, least=1, settle=drawn.settled)


def quantized_experts(r):
    """QMoE: codes of 2, 4 and 8 bits with a scale a row or a block."""
    rows, count, bits = r.few(4), r.random.randint(1, 4), r.random.choice([2, 4, 4, 8])
    block = r.random.choice([0, 0, 16, 32])
    step = block or 8 // bits
    width, inner = step * r.few(3), step * r.few(3)
    activation = r.random.choice(["relu", "gelu", "silu", "identity", "swiglu"])
    outer = 2 * inner if activation == "swiglu" else inner
    r.give(r.plain([rows, width]), r.plain([rows, count]))
    zeros = []
    for to, of in ((outer, width), (width, inner)):
        r.give(r.whole([count, to, of * bits // 8], 0, 255, UINT8))
        r.give(r.plain([count, to, of // block] if block else [count, to], None, 0.01, 0.1))
        r.give(r.plain([count, to]) if r.chance() else None)
        shape = [count, to, -(-(of // block) * bits // 8)] if block else [count, -(-to * bits // 8)]
        zeros.append(r.whole(shape, 0, 255, UINT8))
    r.attributes |= {"k": r.random.randint(1, count), "activation_type": activation, "expert_weight_bits": bits}
    if activation == "swiglu":
        r.attributes["swiglu_fusion"] = 1
        r.maybe(activation_alpha=1.702, activation_beta=1.0, swiglu_limit=0.5)
    if block:
        r.attributes["block_size"] = block
    if r.chance(0.4):
        r.give(None, None, None, *zeros)
        if r.chance(0.3):
            r.give(None, r.plain([rows, count], None, 0, 1))
    r.maybe(normalize_routing_weights=1)
    if bits == 8 and block:
        r.terms = Terms(bound=2e-2)  # ONNX Runtime rounds the rows to 8 bits
