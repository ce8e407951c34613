"""The providers of GPUs on a stand-in driver and compiler: `scripts/stand cuda -- python -m pytest tests/vendors/test_cuda.py`, or `hip`.
Functions of the driver have their names in CUDA in both."""

import concurrent.futures
import ctypes
import functools
import os

import numpy as np
import onnx
import pytest
from hosts import CUDA, GPU, HOSTS, STAND, devices_of, failure, floats, model_of, registered, session, tensor
from onnx import TensorProto, helper

import roundhouse

CPU = "CPUExecutionProvider"
hosts = pytest.mark.parametrize("host", HOSTS, ids=lambda h: h.__name__)

COMPILER = "NVRTC" if GPU == CUDA else "hiprtc"
pytestmark = pytest.mark.skipif(not STAND, reason="there is no stand here: scripts/stand cuda -- ...")


@functools.cache
def stand():
    opened = ctypes.CDLL(STAND)
    opened.rh_stand_calls.restype = opened.rh_stand_live.restype = ctypes.c_long
    return opened


class Calls:
    """Of the driver, by the name of its function, since this was made."""

    def __init__(self):
        stand().rh_stand_clear()

    def __getitem__(self, name):
        return stand().rh_stand_calls(name.encode())


def made(host, model, settings=None, device=0):
    """A session that is to have all nodes on the device."""
    return session(host, GPU, model, settings, device=device, config={"session.disable_cpu_ep_fallback": "1"})


def check(host, model, feeds, settings=None, rtol=1e-5, atol=1e-5):
    with registered(host, GPU):
        ours, reference = made(host, model, settings), host.InferenceSession(model, providers=[CPU])
        for feed in feeds:
            for e, a in zip(reference.run(None, feed), ours.run(None, feed), strict=True):
                np.testing.assert_allclose(a, e, rtol=rtol, atol=atol)
        del ours


def perceptron(n="N"):
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["p"], "product"),
        helper.make_node("Add", ["p", "b"], ["s"], "sum"),
        helper.make_node("Relu", ["s"], ["r"], "relu"),
        helper.make_node("Gemm", ["r", "w2", "b2"], ["g"], "second", transB=1),
        helper.make_node("Softmax", ["g"], ["y"], "weights", axis=-1),
    ]
    weights = {"w": floats(40, 70, seed=1), "b": floats(70, seed=2), "w2": floats(10, 70, seed=3), "b2": floats(10, seed=4)}
    return model_of(nodes, [tensor("x", [n, 40])], [tensor("y", [n, 10])], weights)


def batches(*sizes):
    return [{"x": floats(n, 40, seed=n)} for n in sizes]


@hosts
def test_sizes_of_any_class(host):
    check(host, perceptron(), batches(3, 5, 16, 17, 1, 3, 3, 3, 3, 40))


@hosts
def test_no_elements(host):
    check(host, perceptron(), batches(0, 2, 0))


@hosts
def test_the_device_says_what_it_is(host):
    with registered(host, GPU):
        (device,) = devices_of(host, GPU)
        metadata = dict(device.ep_metadata)
        assert metadata["device_id"] == "0" and metadata["uuid"].startswith("GPU-") and int(metadata["memory_bytes"]) > 1 << 28
        assert metadata["name"] and metadata["pci_bus_id"].endswith(".0")
        name = "sm_80" if GPU == CUDA else os.environ.get("RH_STAND_ARCHITECTURE", "gfx90a")
        version, lanes = {"sm_80": ("8.0", "32"), "gfx90a": ("9.0", "64"), "gfx1100": ("11.0", "32")}[name]
        assert (metadata["architecture"], metadata["compute_capability"], metadata["warp_size"]) == (name, version, lanes)


def counted_runs(host, model, feed, runs):
    with registered(host, GPU):
        ours = made(host, model)
        for _ in range(5):
            ours.run(None, feed)
        calls = Calls()
        for _ in range(runs):
            ours.run(None, feed)
        counts = {
            "launches": calls["cuLaunchKernel"],
            "graphs": calls["cuGraphLaunch"],
            "allocations": calls["cuMemAlloc_v2"] + calls["cuMemHostAlloc"],
            "copies in": calls["cuMemcpyHtoDAsync_v2"] + calls["cuMemcpyHtoD_v2"],
        }
        del ours
    return counts


def test_what_steady_runs_cost():
    """Neighbours of single elements are one launch; nothing is allocated, and nothing is copied to the device but the feed."""
    counts = counted_runs(roundhouse, perceptron(3), batches(3)[0], 10)
    assert counts["graphs"] == 0 and counts["launches"] == 30
    assert counts["allocations"] == 0 and counts["copies in"] == 10


@hosts
def test_what_was_compiled_is_kept(host, tmp_path):
    settings = {"cache_dir": str(tmp_path)}
    with registered(host, GPU):
        made(host, perceptron(3), settings)
        kept = list(tmp_path.glob("*.artifact"))
        assert kept
        times = [path.stat().st_size for path in kept]
        check_again = made(host, perceptron(3), settings)
        feed = batches(3)[0]
        expected = host.InferenceSession(perceptron(3), providers=[CPU]).run(None, feed)[0]
        np.testing.assert_allclose(check_again.run(None, feed)[0], expected, rtol=1e-5, atol=1e-6)
        del check_again
    assert [path.stat().st_size for path in tmp_path.glob("*.artifact")] == times


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"gpu_mem_limit": "many"}, "gpu_mem_limit is 'many', expected a number of bytes"),
        ({"tunable_op_enable": "1"}, "tunable_op_enable is '1', which is not offered: nothing is tuned: leave it out"),
        ({"gpu_mem_limits": "1"}, "did you mean 'gpu_mem_limit'?"),
        ({COMPILER.lower() + "_path": "/nowhere/lib.so", "cache": "0"}, COMPILER + " is not at '/nowhere/lib.so', which the option names"),
    ],
)
@hosts
def test_options_that_cannot_be_had(host, settings, says):
    with registered(host, GPU):
        assert says in failure(lambda: made(host, perceptron(7), settings))


def test_a_device_that_is_not_there():
    """ONNX Runtime drops the option where the device is given."""
    with registered(roundhouse, GPU):
        text = failure(lambda: made(roundhouse, perceptron(7), {"device_id": "9"}))
        assert "device_id is '9', the driver has 1 devices" in text


def test_a_limit_names_the_largest_values():
    with registered(roundhouse, GPU):
        ours = made(roundhouse, perceptron(), {"gpu_mem_limit": "2200000", "arena_extend_strategy": "kSameAsRequested"})
        ours.run(None, batches(2)[0])
        text = failure(functools.partial(ours.run, None, batches(9000)[0]))
        assert "gpu_mem_limit is 2200000" in text and "'r' " in text
        np.testing.assert_equal(ours.run(None, batches(2)[0])[0].shape, (2, 10))
        del ours


def elements(ops, kind=TensorProto.FLOAT):
    """A row of operators of single elements, and one that is broadcast."""
    nodes = [helper.make_node(op, [f"v{i}"] + (["k"] if op in ("Add", "Mul", "Div") else []), [f"v{i + 1}"]) for i, op in enumerate(ops)]
    dtype = helper.tensor_dtype_to_np_dtype(kind)
    return model_of(nodes, [tensor("v0", ["N", 8], kind)], [tensor(f"v{len(ops)}", ["N", 8], kind)], {"k": floats(8, seed=5).astype(dtype)})


@hosts
@pytest.mark.parametrize("kind", [TensorProto.FLOAT, TensorProto.FLOAT16])
def test_chains_of_elements(host, kind):
    model = elements(["Add", "Relu", "Mul", "Sigmoid", "Neg", "Exp"], kind)
    dtype = helper.tensor_dtype_to_np_dtype(kind)
    bound = 1e-5 if kind == TensorProto.FLOAT else 4e-3
    check(host, model, [{"v0": floats(n, 8, seed=n).astype(dtype)} for n in (3, 1)], rtol=bound, atol=bound)
    assert counted_runs(roundhouse, model, {"v0": floats(3, 8).astype(dtype)}, 1)["launches"] == 1


#: Sizes that are computed within the model, views, parts of a value, and outputs that are one value, an input, and a size.
SHAPES = """<ir_version: 8, opset_import: ["" : 17]>
main (float[N, 6] x) => (float[M, 3] y, float[N, 6] same, float[N, 6] input, int64[2] size, float[N, 2] part)
<int64[1] three = {3}, int64[1] less = {-1}, int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] four = {4}>
{
  size = Shape (x)
  rows = Slice (size, zero, one)
  doubled = Mul (rows, two)
  wanted = Concat <axis = 0> (doubled, three)
  e = Exp (x)
  y = Reshape (e, wanted)
  same = Identity (e)
  input = Identity (x)
  t = Transpose <perm = [1, 0]> (x)
  s = Slice (t, two, four)
  part = Transpose <perm = [1, 0]> (s)
}"""


@hosts
def test_sizes_that_the_model_computes(host):
    model = onnx.parser.parse_model(SHAPES).SerializeToString()
    check(host, model, [{"x": floats(n, 6, seed=n)} for n in (2, 5, 1, 0, 5)])


def image_model(height, width):
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], "conv", pads=[1, 1, 1, 1], strides=[2, 2]),
        helper.make_node("BatchNormalization", ["c", "s", "t", "m", "v"], ["n"], "norm"),
        helper.make_node("Relu", ["n"], ["r"], "relu"),
        helper.make_node("Conv", ["r", "d"], ["e"], "depthwise", group=8, pads=[1, 1, 1, 1], dilations=[1, 1]),
        helper.make_node("HardSwish", ["e"], ["h"], "swish"),
        helper.make_node("MaxPool", ["h"], ["p"], "max", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
        helper.make_node("AveragePool", ["p"], ["a"], "mean", kernel_shape=[2, 2], pads=[0, 0, 1, 1], ceil_mode=1),
        helper.make_node("GlobalAveragePool", ["a"], ["g"], "global"),
        helper.make_node("Flatten", ["g"], ["f"], "flat"),
        helper.make_node("Gemm", ["f", "k"], ["y"], "classes"),
    ]
    constants = {"w": floats(8, 3, 3, 3, seed=1), "b": floats(8, seed=2), "d": floats(8, 1, 3, 3, seed=3), "k": floats(8, 5, seed=4)}
    constants |= {"s": floats(8, seed=5), "t": floats(8, seed=6), "m": floats(8, seed=7), "v": np.abs(floats(8, seed=8)) + 0.5}
    return model_of(nodes, [tensor("x", ["N", 3, height, width])], [tensor("y", ["N", 5])], constants)


@hosts
@pytest.mark.parametrize(("height", "width"), [(17, 20), (32, 9)])
def test_images(host, height, width):
    feeds = [{"x": floats(n, 3, height, width, seed=n)} for n in (1, 2)]
    check(host, image_model(height, width), feeds, rtol=1e-4, atol=1e-4)


def run_often(ours, reference, n):
    feed = batches(n)[0]
    for _ in range(8):
        np.testing.assert_allclose(ours.run(None, feed)[0], reference.run(None, feed)[0], rtol=1e-5, atol=1e-6)


@hosts
def test_four_threads_with_four_sizes(host):
    reference = host.InferenceSession(perceptron(), providers=[CPU])
    with registered(host, GPU):
        ours = made(host, perceptron())
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(functools.partial(run_often, ours, reference), (1, 2, 20, 40)))
        del ours


def test_nothing_is_left(tmp_path):
    stand()
    before = {kind: stand().rh_stand_live(kind.encode()) for kind in ("memory", "pinned", "stream", "event", "module")}
    for host in HOSTS:
        check(host, perceptron(), batches(2, 3, 2, 2, 2))
    after = {kind: stand().rh_stand_live(kind.encode()) for kind in before}
    assert all(after[kind] <= before[kind] for kind in before), (before, after)


@hosts
def test_a_node_that_is_left_to_the_cpu(host):
    """A node between regions of the device that it has no kernel for: values go to the host and back."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"], "first"),
        helper.make_node("LpNormalization", ["a"], ["b"], "left"),
        helper.make_node("MatMul", ["b", "w"], ["y"], "second"),
    ]
    model = model_of(nodes, [tensor("x", ["N", 64])], [tensor("y", ["N", 64])], {"w": floats(64, 64) / 8})
    with registered(host, GPU):
        ours, reference = session(host, GPU, model), host.InferenceSession(model, providers=[CPU])
        for n in (3, 70):
            feed = {"x": floats(n, 64, seed=n)}
            np.testing.assert_allclose(ours.run(None, feed)[0], reference.run(None, feed)[0], rtol=1e-4, atol=1e-3)
        del ours


@hosts
@pytest.mark.parametrize("bits", [4, 8])
def test_blocks_that_go_by_index(host, bits):
    """MatMulNBits whose scales belong to places along K as g_idx says."""
    rng = np.random.default_rng(bits)
    constants = {
        "codes": rng.integers(0, 256, (6, 2, 32 * bits // 8)).astype(np.uint8),
        "scales": rng.random(12).astype(np.float32),
        "groups": rng.integers(0, 2, 64).astype(np.int32),
    }
    attributes = {"K": 64, "N": 6, "bits": bits, "block_size": 32}
    node = helper.make_node("MatMulNBits", ["x", "codes", "scales", "", "groups"], ["y"], domain="com.microsoft", **attributes)
    model = onnx.load_from_string(model_of([node], [tensor("x", ["N", 64])], [tensor("y", ["N", 6])], constants))
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    model = model.SerializeToString()
    feeds = [{"x": floats(n, 64, seed=n)} for n in (1, 70)]
    with registered(host, GPU):
        ours, reference = made(host, model), roundhouse.InferenceSession(model, providers=[CPU])
        for feed in feeds:
            np.testing.assert_allclose(ours.run(None, feed)[0], reference.run(None, feed)[0], rtol=1e-4, atol=1e-4)
        del ours
