"""Models of attention and of what language models have around it, at the sizes of prompts and of single steps after many tokens."""

import numpy as np
from operator_cases import ROWS, floats, normalization, one

MS = "com.microsoft"
TOKENS = [(16,), (128,), (512,)]
STEPS = [(1000, 1), (0, 128), (0, 512)]  # tokens before, and new ones


def attention(length):
    return one("Attention", {name: floats(1, 8, length, 64) for name in ("q", "k", "v")}, opset=23)


def attention_with_past(heads=32, kv_heads=8, depth=128, **attributes):
    def build(past, length):
        feeds = {"q": floats(1, heads, length, depth), "k": floats(1, kv_heads, length, depth), "v": floats(1, kv_heads, length, depth)}
        feeds |= {name: floats(1, kv_heads, past, depth) for name in ("pk", "pv")}
        return one("Attention", feeds, outputs=3, opset=23, order=["q", "k", "v", "", "pk", "pv"], is_causal=1, **attributes)

    return build


def masked_attention(length):
    feeds = {name: floats(1, 12, length, 64) for name in ("q", "k", "v")} | {"mask": floats(1, 1, length, length, low=-9)}
    return one("Attention", feeds, opset=23)


def multi_head_attention(length):
    return one("MultiHeadAttention", {n: floats(1, length, 512) for n in ("q", "k", "v")}, domain=MS, num_heads=8)


def multi_head_attention_with_past(past, length):
    feeds = {n: floats(1, length, 768) for n in ("q", "k", "v")} | {n: floats(1, 12, past, 64) for n in ("pk", "pv")}
    return one(
        "MultiHeadAttention",
        feeds,
        outputs=3,
        order=["q", "k", "v", "", "", "", "pk", "pv"],
        domain=MS,
        num_heads=12,
        unidirectional=1,
    )


def multi_head_attention_with_mask(length):
    feeds = {n: floats(1, length, 768) for n in ("q", "k", "v")} | {"mask": np.ones((1, length), "i4")}
    return one("MultiHeadAttention", feeds, {"b": floats(2304)}, order=["q", "k", "v", "b", "mask"], domain=MS, num_heads=12)


def decoder_attention(past, length):
    """One query, whose key and value are put into caches with room for more."""
    capacity = past + 24
    feeds = {n: floats(1, length, 768) for n in ("q", "k", "v")} | {n: floats(1, 12, capacity, 64) for n in ("pk", "pv")}
    feeds |= {"past": np.array([past], "i4")}
    return one(
        "DecoderMaskedMultiHeadAttention",
        feeds,
        outputs=3,
        order=["q", "k", "v", "", "", "pk", "pv", "past"],
        domain=MS,
        num_heads=12,
        past_present_share_buffer=1,
    )


def projected_attention(length):
    constants = {"w": floats(512, 1536, low=-0.05, high=0.05), "b": floats(1536)}
    return one("Attention", {"x": floats(1, length, 512)}, constants, domain=MS, num_heads=8)


def projected_attention_with_past(past, length):
    feeds = {"x": floats(1, length, 768), "past": floats(2, 1, 12, past, 64)}
    constants = {"w": floats(768, 2304, low=-0.05, high=0.05), "b": floats(2304)}
    order = ["x", "w", "b", "", "past"]
    return one("Attention", feeds, constants, outputs=2, order=order, domain=MS, num_heads=12, unidirectional=1)


def group_query_attention(heads=32, kv_heads=8, depth=128, packed=False, rotary=False, **attributes):
    def build(past, length):
        if packed:
            feeds, order = {"q": floats(1, length, (heads + 2 * kv_heads) * depth)}, ["q", "", ""]
        else:
            feeds = {"q": floats(1, length, heads * depth), **{n: floats(1, length, kv_heads * depth) for n in ("k", "v")}}
            order = [*feeds]
        feeds |= {n: floats(1, kv_heads, past, depth) for n in ("pk", "pv")}
        feeds |= {"ends": np.array([past + length - 1], "i4"), "total": np.array(past + length, "i4")}
        constants = {n: floats(past + length, depth // 2) for n in ("cos", "sin")} if rotary else {}
        order += ["pk", "pv", "ends", "total", *constants]
        return one(
            "GroupQueryAttention",
            feeds,
            constants,
            outputs=3,
            order=order,
            domain=MS,
            num_heads=heads,
            kv_num_heads=kv_heads,
            do_rotary=int(rotary),
            **attributes,
        )

    return build


def linear_attention(length):
    feeds = {n: floats(1, length, 256) for n in ("q", "k", "v")}
    feeds |= {"state": floats(1, 4, 64, 64), "decay": floats(1, length, 4, low=-1, high=0), "beta": floats(1, length, 4, low=0)}
    attributes = {"q_num_heads": 4, "kv_num_heads": 4, "update_rule": "gated_delta"}
    return one("LinearAttention", feeds, outputs=2, domain=MS, **attributes)


def rotary(length):
    feeds = {"x": floats(1, 8, length, 64)}
    return one("RotaryEmbedding", feeds, {n: floats(1, length, 32) for n in ("cos", "sin")}, opset=23)


def contrib_rotary(length, heads=8, depth=64):
    feeds = {"x": floats(1, heads, length, depth), "at": np.arange(length, dtype="i8").reshape(1, -1)}
    return one("RotaryEmbedding", feeds, {n: floats(length, depth // 2) for n in ("cos", "sin")}, domain=MS)


def rotary_of_tokens(interleaved):
    def build(length):
        feeds = {"x": floats(1, length, 32 * 128), "at": np.arange(length, dtype="i8").reshape(1, -1)}
        constants = {n: floats(length, 64) for n in ("cos", "sin")}
        return one("RotaryEmbedding", feeds, constants, domain=MS, num_heads=32, interleaved=interleaved)

    return build


ATTENTION_CASES = [
    ("Attention", attention, [(16,), (128,), (1024,)]),
    ("Attention, mask", masked_attention, TOKENS),
    ("Attention, past, 8 heads for 32", attention_with_past(), STEPS),
    ("RotaryEmbedding", rotary, [(16,), (128,), (1024,)]),
    ("RotaryEmbedding (com.microsoft)", contrib_rotary, [(16,), (128,), (1024,)]),
    ("RotaryEmbedding (com.microsoft), tokens", rotary_of_tokens(0), [(1,), (128,), (512,)]),
    ("RotaryEmbedding (com.microsoft), interleaved", rotary_of_tokens(1), [(1,), (128,), (512,)]),
    ("MultiHeadAttention (com.microsoft)", multi_head_attention, TOKENS),
    ("MultiHeadAttention (com.microsoft), bias and mask", multi_head_attention_with_mask, TOKENS),
    ("MultiHeadAttention (com.microsoft), past", multi_head_attention_with_past, STEPS),
    ("DecoderMaskedMultiHeadAttention (com.microsoft)", decoder_attention, [(31, 1), (255, 1), (1000, 1)]),
    ("Attention (com.microsoft)", projected_attention, TOKENS),
    ("Attention (com.microsoft), past", projected_attention_with_past, STEPS),
    ("GroupQueryAttention (com.microsoft), past and new", group_query_attention(8, 2, 64), [(31, 1), (1023, 1), (0, 128)]),
    ("GroupQueryAttention (com.microsoft), 8 heads for 32", group_query_attention(), STEPS),
    ("GroupQueryAttention (com.microsoft), packed, rotary", group_query_attention(packed=True, rotary=True), STEPS),
    ("GroupQueryAttention (com.microsoft), window of 128", group_query_attention(local_window_size=128), STEPS),
    ("GroupQueryAttention (com.microsoft), soft cap", group_query_attention(softcap=50.0), STEPS),
    ("LinearAttention (com.microsoft)", linear_attention, [(1,), (128,), (512,)]),
    ("SimplifiedLayerNormalization", normalization("SimplifiedLayerNormalization", ["scale"], opset=20), ROWS),
]
