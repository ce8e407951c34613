"""Caches of keys and values beside ONNX Runtime: SparseAttention's, which it takes only where past and present are one buffer, and those
of GroupQueryAttention that keep a window and leave rows that mean nothing."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper

import roundhouse

HEADS, KEY_HEADS, DEPTH, BLOCK, CAPACITY = 4, 2, 16, 16, 64
ROWS = np.array([[0, 1, 3, 5, 8], [0, 1, 3, 6, 9]], np.int32)
COLUMNS = np.array([[0, 0, 1, 1, 2, 1, 2, 3, -1], [0, 0, 1, 0, 1, 2, 0, 2, 3]], np.int32)
NAMES = "query key value past_key past_value rows columns total totals cosines sines".split()


def model(feeds, op="SparseAttention", names=NAMES, **attributes):
    names = [name if name in feeds else "" for name in names]
    while not names[-1]:
        names.pop()
    if op == "SparseAttention":
        attributes["sparse_block_size"] = BLOCK
    outputs = ["output", "present_key", "present_value"]
    heads = {"num_heads": HEADS, "kv_num_heads": KEY_HEADS}
    node = helper.make_node(op, names, outputs, "attention", domain="com.microsoft", **heads, **attributes)
    ports = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for n, v in feeds.items()]
    graph = helper.make_graph([node], "sparse", ports, [onnx.ValueInfoProto(name=name) for name in node.output])
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=9).SerializeToString()


def feeds_for(length, total, totals, packed=False, rotary=False, seed=0):
    rng = np.random.default_rng(seed)

    def normal(*shape):
        return rng.standard_normal(shape).astype(np.float32)

    batch = len(totals)
    q, k = normal(batch, length, HEADS * DEPTH), normal(batch, length, KEY_HEADS * DEPTH)
    v = normal(batch, length, KEY_HEADS * DEPTH)
    feeds = {"query": np.concatenate([q, k, v], -1)} if packed else {"query": q, "key": k, "value": v}
    feeds |= {"past_key": normal(batch, KEY_HEADS, CAPACITY, DEPTH), "past_value": normal(batch, KEY_HEADS, CAPACITY, DEPTH)}
    feeds |= {"rows": ROWS, "columns": COLUMNS, "total": np.array([total], np.int32), "totals": np.array(totals, np.int32)}
    if rotary:
        feeds |= {"cosines": normal(CAPACITY, DEPTH // 2), "sines": normal(CAPACITY, DEPTH // 2)}
    return feeds


def run(module, feeds, **attributes):
    """Output and caches, which past and present share."""
    session = module.InferenceSession(model(feeds, **attributes), providers=["CPUExecutionProvider"])
    binding, arrays = session.io_binding(), {name: value.copy() for name, value in feeds.items()}
    values = {name: module.OrtValue.ortvalue_from_numpy(array) for name, array in arrays.items()}
    for name, value in values.items():
        binding.bind_ortvalue_input(name, value)
    binding.bind_output("output")
    for part in ("key", "value"):
        binding.bind_ortvalue_output(f"present_{part}", values[f"past_{part}"])
    session.run_with_iobinding(binding)
    return [output.numpy().copy() for output in binding.get_outputs()]


CASES = [
    (feeds_for(20, 20, [20, 20]), {}),
    (feeds_for(64, 64, [64, 64]), {}),
    (feeds_for(1, 20, [20, 20]), {}),
    (feeds_for(1, 64, [64]), {"scale": 0.5}),
    (feeds_for(3, 40, [40]), {}),
    (feeds_for(20, 20, [20, 20], rotary=True), {"do_rotary": 1}),
    (feeds_for(1, 33, [33, 33], rotary=True), {"do_rotary": 1, "rotary_interleaved": 1}),
    (feeds_for(20, 20, [20, 20], packed=True), {}),
]


@pytest.mark.parametrize("feeds, attributes", CASES)
def test_as_onnx_runtime(feeds, attributes):
    for ours, expected in zip(run(roundhouse, feeds, **attributes), run(onnxruntime, feeds, **attributes)):
        np.testing.assert_allclose(ours, expected, rtol=1e-4, atol=2e-5)


def test_sequences_of_different_lengths():
    """As each by itself; without buffers that are shared, caches are copied. ONNX Runtime gives other numbers for the shorter one."""
    feeds = feeds_for(1, 40, [40, 17])
    outputs = roundhouse.InferenceSession(model(feeds), providers=["CPUExecutionProvider"]).run(None, feeds)
    for row, total in enumerate((40, 17)):
        alone = {n: v[row : row + 1] if n in NAMES[:5] else v for n, v in feeds.items()}
        alone |= {"total": np.array([total], np.int32), "totals": np.array([total], np.int32)}
        expected = run(onnxruntime, alone)
        np.testing.assert_allclose(outputs[0][row : row + 1], expected[0], rtol=1e-4, atol=2e-5)
        for i in (1, 2):
            np.testing.assert_array_equal(outputs[i][row, :, :total], expected[i][0, :, :total])


MISTAKES = [
    ({"total": np.array([65], np.int32)}, "total_sequence_length is 65, expected 1 to 64"),
    ({"totals": np.array([0, 20], np.int32)}, "key_total_sequence_lengths has 0, expected 1 to 20"),
    ({"rows": ROWS[:, :2]}, "1 blocks of 16 tokens do not hold total_sequence_length 20"),
    ({"rows": ROWS + np.array([0, 0, 0, 0, 9], np.int32)}, "block_row_indices has 17, expected 5 to 9"),
    ({"rows": np.repeat(ROWS, 3, 0)}, r"block_row_indices has shape \[6, 5\], expected \[a divisor of 4 heads, blocks \+ 1\]"),
    ({"past_value": np.zeros((2, 2, 64, 8), np.float32)}, r"past_value has shape \[2, 2, 64, 8\], expected \[2, 2, capacity, 16\]"),
]


@pytest.mark.parametrize("changes, message", MISTAKES, ids=[m[1][:24] for m in MISTAKES])
def test_mistakes(changes, message):
    feeds = feeds_for(1, 20, [20, 20]) | changes
    with pytest.raises(Exception, match=message):
        roundhouse.InferenceSession(model(feeds), providers=["CPUExecutionProvider"]).run(None, feeds)


WINDOW = 4
QUERY_NAMES = "query key value past_key past_value last total cosines sines positions bias sinks k_scale v_scale".split()


def kept(tokens, capacity):
    """How many keys a cache of a window holds, as GroupQueryAttention's documentation has it."""
    freed = capacity - WINDOW + 1
    return tokens if tokens <= capacity else tokens + freed * ((capacity - tokens) // freed)


def window_feeds(length, capacity, past, kind, seed):
    rng = np.random.default_rng(seed)
    batch, totals = len(past), [p + length for p in past]

    def normal(*shape):
        return rng.standard_normal(shape).astype(np.float32)

    feeds = {"query": normal(batch, length, HEADS * DEPTH)}
    feeds |= {name: normal(batch, length, KEY_HEADS * DEPTH) for name in ("key", "value")}
    for name in ("past_key", "past_value"):
        shape = (batch, KEY_HEADS, capacity, DEPTH)
        feeds[name] = rng.integers(-100, 100, shape).astype(np.int8) if kind == "quantized" else normal(*shape)
    feeds |= {"last": np.array(totals, np.int32) - 1, "total": np.array([max(totals)], np.int32)}
    if kind == "rotary":
        feeds |= {"cosines": normal(64, DEPTH // 2), "sines": normal(64, DEPTH // 2)}
    if kind == "bias":
        feeds["bias"] = normal(1, HEADS, length, max(totals))
    if kind == "quantized":
        feeds |= {"k_scale": np.array([0.02], np.float32), "v_scale": np.array([0.03], np.float32)}
    return feeds


@pytest.mark.parametrize("kind", ["plain", "rotary", "bias", "quantized"])
@pytest.mark.parametrize("capacity", [4, 7])
def test_windows(kind, capacity):
    attributes = {"sliding_window_cache": 1, "local_window_size": WINDOW, "do_rotary": int(kind == "rotary")}
    if kind == "quantized":
        attributes |= {"k_quant_type": "PER_TENSOR", "v_quant_type": "PER_TENSOR", "kv_cache_bit_width": 8}
    cases = [(1, [3]), (1, [4]), (1, [12]), (1, [20, 5]), (3, [6]), (3, [12]), (9, [12]), (5, [0]), (12, [0, 0])]
    for seed, (length, past) in enumerate(cases):
        feeds = window_feeds(length, capacity, past, kind, seed)
        made = model(feeds, "GroupQueryAttention", QUERY_NAMES, **attributes)
        ours, expected = (
            module.InferenceSession(made, providers=["CPUExecutionProvider"]).run(None, feeds) for module in (roundhouse, onnxruntime)
        )
        np.testing.assert_allclose(ours[0], expected[0], rtol=1e-4, atol=2e-5, err_msg=f"{length} after {past}")
        for row, before in enumerate(past):
            held = kept(before + length, capacity)
            for i in (1, 2):
                assert ours[i].dtype == expected[i].dtype
                np.testing.assert_allclose(ours[i][row, :, :held], expected[i][row, :, :held], rtol=1e-5, atol=1e-6)


def test_window_without_room():
    feeds = window_feeds(1, 3, [2], "plain", 0)
    made = model(feeds, "GroupQueryAttention", QUERY_NAMES, sliding_window_cache=1, local_window_size=WINDOW)
    with pytest.raises(Exception, match="past_key has room for 3 keys, expected at least the 4 of the window"):
        roundhouse.InferenceSession(made, providers=["CPUExecutionProvider"]).run(None, feeds)
