"""Decoders with caches and models with branches on the providers of GPUs: on a stand, as test_cuda.py is."""

import numpy as np
import onnx
import pytest
from hosts import DEVICE, GPU, HOSTS, STAND, floats, present, session

import roundhouse

CPU = "CPUExecutionProvider"
pytestmark = pytest.mark.skipif(not STAND, reason="there is no stand here: scripts/stand cuda -- ...")
hosts = pytest.mark.parametrize("host", HOSTS, ids=lambda h: h.__name__)

HEADS, KV_HEADS, DEPTH, LONGEST = 4, 2, 16, 32

#: A layer whose lengths follow from the mask, as exporters of language models write it.
DECODER = """<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
main (float[B, S, 64] x, int64[B, T] mask, float[B, 2, P, 16] past_k, float[B, 2, P, 16] past_v)
  => (float[B, S, 64] y, float[B, 2, Q, 16] present_k, float[B, 2, Q, 16] present_v)
<float[64, 128] w, float[32, 8] cos, float[32, 8] sin, int64[1] one = {1}, int64 column = {1}>
{
  counts = ReduceSum <keepdims = 0> (mask, one)
  last = Sub (counts, one)
  ends = Cast <to = 6> (last)
  sizes = Shape (mask)
  width = Gather (sizes, column)
  total = Cast <to = 6> (width)
  qkv = MatMul (x, w)
  y, present_k, present_v = com.microsoft.GroupQueryAttention <num_heads = 4, kv_num_heads = 2, do_rotary = 1>
    (qkv, , , past_k, past_v, ends, total, cos, sin)
}"""


def decoder():
    model = onnx.parser.parse_model(DECODER)
    angles = np.random.default_rng(1).random((LONGEST, DEPTH // 2)).astype(np.float32) * 6
    arrays = {"w": floats(HEADS * DEPTH, (HEADS + 2 * KV_HEADS) * DEPTH, seed=2) / 6, "cos": np.cos(angles), "sin": np.sin(angles)}
    model.graph.initializer.extend(onnx.numpy_helper.from_array(array.astype(np.float32), name) for name, array in arrays.items())
    return model.SerializeToString()


def whole(host, model, settings=None):
    return session(host, GPU, model, settings, config={"session.disable_cpu_ep_fallback": "1"})


def decode(session_, steps, capacity=None):
    """What a decoder gives for a prompt of three tokens, then for one at a time; with a capacity the caches stay where they are."""
    past = [np.zeros((2, KV_HEADS, capacity or 0, DEPTH), np.float32)] * 2
    results, total = [], 0
    for step in range(steps):
        length = 3 if step == 0 else 1
        total += length
        x = floats(2, length, HEADS * DEPTH, seed=10 + step)
        feed = {"x": x, "mask": np.ones((2, total), np.int64), "past_k": past[0], "past_v": past[1]}
        y, *past = session_.run(None, feed)
        results.append(y)
    return [*results, *(cache[:, :, :total] for cache in past)]


@hosts
@pytest.mark.parametrize("capacity", [None, LONGEST])
def test_decoding(host, capacity):
    model = decoder()
    with present(host, GPU):
        ours, reference = whole(host, model), host.InferenceSession(model, providers=[CPU])
        for e, a in zip(decode(reference, 20, capacity), decode(ours, 20, capacity), strict=True):
            np.testing.assert_allclose(a, e, rtol=1e-5, atol=1e-5)
        del ours


@hosts
def test_a_cache_that_is_input_and_output(host):
    """Past and present in one buffer of the device: the new row alone is written."""
    model, total = decoder(), 5
    with present(host, GPU):
        ours, reference = whole(host, model), roundhouse.InferenceSession(model, providers=[CPU])
        caches = [floats(2, KV_HEADS, LONGEST, DEPTH, seed=seed) for seed in (3, 4)]
        feed = {"x": floats(2, 1, HEADS * DEPTH, seed=5), "mask": np.ones((2, total), np.int64)}
        expected = reference.run(None, feed | {"past_k": caches[0], "past_v": caches[1]})
        if host is roundhouse:  # the stock wheel has no values on a device of CUDA's
            values = [host.OrtValue.ortvalue_from_numpy(cache, DEVICE, 0) for cache in caches]
            binding = ours.io_binding()
            for name, array in feed.items():
                binding.bind_cpu_input(name, array)
            for name, value in zip("kv", values, strict=True):
                binding.bind_ortvalue_input(f"past_{name}", value)
                binding.bind_ortvalue_output(f"present_{name}", value)
            binding.bind_output("y")
            ours.run_with_iobinding(binding)
            np.testing.assert_allclose(binding.get_outputs()[2].numpy(), expected[0], rtol=1e-5, atol=1e-5)
            for value, cache, wanted in zip(values, caches, expected[1:], strict=True):
                now = value.numpy()
                np.testing.assert_allclose(now[:, :, :total], wanted[:, :, :total], rtol=1e-5, atol=1e-5)
                np.testing.assert_array_equal(now[:, :, total:], cache[:, :, total:])
            del binding, values, value
        del ours


#: Branches by a condition that a run brings, one that follows from a size, and one that the device computes; with constants of their own.
BRANCHES = """<ir_version: 8, opset_import: ["" : 17]>
main (float[N, 6] x, bool flag) => (float[N, 6] given, float[N, 6] sized, float computed)
<int64[1] two = {2}, int64[1] zero = {0}, int64[1] one = {1}, int64 first = {0}, float limit = {0.0}, float[6] bias>
{
  e = Exp (x)
  given = If (flag) <then_branch = t () => (float[N, 6] a) { a = Add (e, bias) },
                     else_branch = u () => (float[N, 6] b) <float[6] own = {1, 2, 3, 4, 5, 6}> { m = Mul (e, own) b = Sub (m, bias) }>
  size = Shape (x)
  rows = Gather (size, first)
  limit_rows = Squeeze (two, zero)
  is_large = Greater (rows, limit_rows)
  sized = If (is_large) <then_branch = v () => (float[N, 6] c) { c = Neg (given) },
                        else_branch = w () => (float[N, 6] d) { d = Relu (given) }>
  sum = ReduceSum <keepdims = 0> (x)
  positive = Greater (sum, limit)
  computed = If (positive) <then_branch = p () => (float f) { f = Sqrt (sum) }, else_branch = q () => (float g) { g = Neg (sum) }>
}"""


#: A loop that carries a value and stacks another, with a constant of its own and one from outside.
LOOP = """<ir_version: 8, opset_import: ["" : 17]>
main (float[N, 6] x, float[6] outside) => (float[N, 6] last, float[T, N, 6] all)
<int64 five = {5}>
{
  last, all = Loop (five, , x) <body = b (int64 i, bool go, float[M, 6] before) => (bool on, float[M, 6] after, float[M, 6] kept)
    <float[6] own = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6}>
  {
    on = Identity (go)
    number = Cast <to = 1> (i)
    scaled = Mul (before, own)
    moved = Add (scaled, outside)
    after = Add (moved, number)
    kept = Tanh (after)
  }>
}"""


@hosts
def test_a_loop_of_a_constant_count(host):
    """ONNX Runtime does not tell, when it asks for the body, that the count is a constant: the loop is its own, the body's nodes ours."""
    model = onnx.parser.parse_model(LOOP).SerializeToString()
    with present(host, GPU):
        ours = whole(host, model) if host is roundhouse else session(host, GPU, model)
        reference = host.InferenceSession(model, providers=[CPU])
        for n in (3, 1, 3, 3, 3):
            feed = {"x": floats(n, 6, seed=n), "outside": floats(6, seed=7)}
            for e, a in zip(reference.run(None, feed), ours.run(None, feed), strict=True):
                np.testing.assert_allclose(a, e, rtol=1e-5, atol=1e-5)
        del ours


@hosts
def test_branches(host):
    model = onnx.parser.parse_model(BRANCHES)
    model.graph.initializer.append(onnx.numpy_helper.from_array(floats(6, seed=9), "bias"))
    model = model.SerializeToString()
    with present(host, GPU):
        ours, reference = whole(host, model), host.InferenceSession(model, providers=[CPU])
        for n, flag in [(3, True), (3, False), (1, True), (2, False), (3, True), (3, True), (3, True), (5, False)]:
            feed = {"x": floats(n, 6, seed=n), "flag": np.array(flag)}
            for e, a in zip(reference.run(None, feed), ours.run(None, feed), strict=True):
                np.testing.assert_allclose(a, e, rtol=1e-5, atol=1e-5)
        del ours
