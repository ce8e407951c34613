"""Values in a GPU's memory, bindings, options and profiles of the providers of GPUs, by the calls that programs have: on a stand,
as test_cuda.py is."""

import json
import pathlib

import numpy as np
import onnx
import pytest
from hosts import CUDA, DEVICE, GPU, HOSTS, STAND, dense, failure, floats, model_of, present, session, tensor
from onnx import TensorProto, helper
from programs import program_of, said_by

import roundhouse as ort

CPU = "CPUExecutionProvider"
pytestmark = pytest.mark.skipif(not STAND, reason="there is no stand here: scripts/stand cuda -- ...")
hosts = pytest.mark.parametrize("host", HOSTS, ids=lambda h: h.__name__)
GIB = 1 << 30
KEY = "cuda" if GPU == CUDA else "rocm"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A model as the snippets have it: an image of 224 x 224."""
    nodes = [
        helper.make_node("Conv", ["input", "w"], ["c"], "conv", strides=[16, 16]),
        helper.make_node("Relu", ["c"], ["r"], "relu"),
        helper.make_node("GlobalAveragePool", ["r"], ["output"], "pool"),
    ]
    model = model_of(nodes, [tensor("input", [1, 3, 224, 224])], [tensor("output", [1, 4, 1, 1])], {"w": floats(4, 3, 3, 3)})
    file = tmp_path_factory.mktemp("model") / "model.onnx"
    file.write_bytes(model)
    return str(file)


@pytest.fixture(scope="module")
def image():
    return floats(1, 3, 224, 224, seed=5)


@pytest.fixture(scope="module")
def expected(path, image):
    return ort.InferenceSession(path, providers=[CPU]).run(None, {"input": image})[0]


OPTIONS = {
    "defaults": {},
    "named": {
        "device_id": 0,
        "arena_extend_strategy": "kNextPowerOfTwo",
        "gpu_mem_limit": 2 * GIB,
        **({"cudnn_conv_algo_search": "EXHAUSTIVE"} if GPU == CUDA else {"miopen_conv_exhaustive_search": "1"}),
        "do_copy_in_default_stream": True,
    },
    "four": {"gpu_mem_limit": 4 * GIB, "arena_extend_strategy": "kSameAsRequested"},
    "one": {"gpu_mem_limit": 1 * GIB, "arena_extend_strategy": "kSameAsRequested"},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_options_as_programs_give_them(options, path, image, expected):
    made = ort.InferenceSession(path, providers=[(GPU, options), CPU])
    assert made.get_providers() == [GPU, CPU]
    for _ in range(10):
        made.run(None, {"input": image})
    np.testing.assert_allclose(made.run(None, {"input": image})[0], expected, rtol=1e-5, atol=1e-6)


def test_it_is_among_those_that_are_there():
    assert ort.get_available_providers()[0] == GPU


def test_a_binding_to_the_device(path, image, expected):
    made = ort.InferenceSession(path, providers=[GPU])
    io_binding = made.io_binding()
    io_binding.bind_cpu_input("input", image)
    io_binding.bind_output("output", DEVICE)
    made.run_with_iobinding(io_binding)
    np.testing.assert_allclose(io_binding.copy_outputs_to_cpu()[0], expected, rtol=1e-5, atol=1e-6)
    (there,) = io_binding.get_outputs()
    assert there.device_name() == "cuda"  # as ONNX Runtime calls every GPU


def test_values_on_the_device_are_used_where_they_are(path, image, expected):
    made = ort.InferenceSession(path, providers=[GPU])
    there = ort.OrtValue.ortvalue_from_numpy(image, DEVICE, 0)
    result = ort.OrtValue.ortvalue_from_shape_and_type([1, 4, 1, 1], np.float32, DEVICE, 0)
    binding = made.io_binding()
    binding.bind_ortvalue_input("input", there)
    binding.bind_ortvalue_output("output", result)
    made.run_with_iobinding(binding)
    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-5, atol=1e-6)
    addresses = made.io_binding()
    addresses.bind_input("input", DEVICE, 0, np.float32, [1, 3, 224, 224], there.data_ptr())
    addresses.bind_output("output", DEVICE, 0, np.float32, [1, 4, 1, 1], result.data_ptr())
    there.update_inplace(2 * image)
    made.run_with_iobinding(addresses)
    np.testing.assert_allclose(result.numpy(), 2 * expected, rtol=1e-5, atol=1e-6)
    statistics = made.statistics()
    assert statistics["input_copies"] == statistics["output_copies"] == statistics["step_copies"] == 0


def test_one_buffer_is_input_and_output():
    model = model_of([helper.make_node("Neg", ["x"], ["y"])], [tensor("x", [5])], [tensor("y", [5])])
    made = ort.InferenceSession(model, providers=[GPU])
    x = floats(5)
    value = ort.OrtValue.ortvalue_from_numpy(x, DEVICE, 0)
    binding = made.io_binding()
    binding.bind_ortvalue_input("x", value)
    binding.bind_ortvalue_output("y", value)
    for turn in (-1, 1, -1):
        made.run_with_iobinding(binding)
        np.testing.assert_array_equal(value.numpy(), turn * x)


def test_dlpack_names_the_device():
    value = ort.OrtValue.ortvalue_from_numpy(floats(2, 3), DEVICE, 0)
    assert value.__dlpack_device__() == ((2, 0) if GPU == CUDA else (10, 0))
    for stream in (None, -1, 1, 2):
        back = ort.OrtValue.from_dlpack(value.__dlpack__(stream=stream), False)
        assert back.data_ptr() == value.data_ptr() and back.device_name() == "cuda"


@pytest.mark.parametrize(
    ("option", "value", "sentence"),
    [
        ("do_copy_in_default_stream", "0", "do_copy_in_default_stream"),
        ("tunable_op_enable", "1", "tunable_op_enable"),
        ("gpu_mem_limit", "much", "gpu_mem_limit"),
        ("arena_extend_strategy", "kMost", "kNextPowerOfTwo"),
        *([("gpu_external_alloc", "4096", "gpu_external_alloc"), ("cudnn_conv_algo_search", "BEST", "EXHAUSTIVE")] if GPU == CUDA else []),
        ("gpu_mem_limits", "1", "gpu_mem_limit"),
        ("device_id", "7", "device_id"),
    ],
)
def test_what_is_not_offered_says_so(option, value, sentence, path):
    assert sentence in failure(lambda: ort.InferenceSession(path, providers=[(GPU, {option: value})]))


@pytest.mark.parametrize(("source", "arguments"), [("append_provider.cc", [KEY]), (f"append_{KEY}.c", [])], ids=["C++", "C"])
def test_programs_in_c_append_it(source, arguments, tmp_path):
    """As they are written for ONNX Runtime, against our headers and library."""
    (tmp_path / "model.onnx").write_bytes(dense())
    said = said_by([program_of(source, tmp_path), *arguments, tmp_path / "model.onnx"])
    if not arguments:
        assert said == {"struct": "made", "number": "made"}
        return
    assert float(said["struct"]) == pytest.approx(float(said["cpu"]), rel=1e-5)
    assert float(said["object"]) == pytest.approx(float(said["cpu"]), rel=1e-5)
    assert "do_copy_in_default_stream" in said["wrong"]


@hosts
def test_kernels_have_the_names_of_nodes_in_profiles(host, tmp_path):
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["p"], "product"),
        helper.make_node("Add", ["p", "b"], ["s"], "sum"),
        helper.make_node("Softmax", ["s"], ["y"], "weights"),
    ]
    model = model_of(nodes, [tensor("x", ["N", 8])], [tensor("y", ["N", 8])], {"w": floats(8, 8), "b": floats(8)})
    with present(host, GPU):
        options = host.SessionOptions()
        options.graph_optimization_level = host.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.enable_profiling = True
        options.profile_file_prefix = str(tmp_path / "profile")
        options.add_provider_for_devices([d for d in host.get_ep_devices() if d.ep_name == GPU][:1], {})
        made = host.InferenceSession(model, options)
        for _ in range(4):
            made.run(None, {"x": floats(3, 8)})
        events = json.loads(pathlib.Path(made.end_profiling()).read_text())
        del made
    kernels = [event for event in events if event.get("args", {}).get("nodes") in ("product,sum", "weights")]
    assert [event["name"] for event in kernels] == ["gemm", "softmax"] * 4
    assert all(event["dur"] >= 0 for event in kernels)


@pytest.mark.parametrize("kind", [TensorProto.FLOAT16, TensorProto.BFLOAT16], ids=["float16", "bfloat16"])
@pytest.mark.parametrize(("m", "k", "n"), [(16, 16, 16), (70, 33, 75), (1, 130, 64)])
def test_products_of_halves_go_by_matrix_cores(kind, m, k, n, tmp_path):
    """Each element has its own place: a lane that is taken for another shows."""
    narrow = helper.make_node("Cast", ["x"], ["a"], to=kind), helper.make_node("Cast", ["w"], ["b"], to=kind)
    nodes = [
        *narrow,
        helper.make_node("MatMul", ["a", "b"], ["p"], "product"),
        helper.make_node("Cast", ["p"], ["y"], to=TensorProto.FLOAT),
    ]
    model = model_of(nodes, [tensor("x", [m, k]), tensor("w", [k, n])], [tensor("y", [m, n])])
    rng = np.random.default_rng(m)
    x, w = (rng.integers(-8, 9, shape).astype(np.float32) for shape in ((m, k), (k, n)))
    options = ort.SessionOptions()
    options.enable_profiling = True
    options.profile_file_prefix = str(tmp_path / "profile")
    made = ort.InferenceSession(model, options, providers=[GPU])
    bits = 11 if kind == TensorProto.FLOAT16 else 8  # of a product's result; whole numbers are added up exactly
    np.testing.assert_allclose(made.run(None, {"x": x, "w": w})[0], x @ w, rtol=2.0**-bits, atol=0)
    events = json.loads(pathlib.Path(made.end_profiling()).read_text())
    assert any("product" in event.get("args", {}).get("nodes", "") and event["name"].startswith("mma_gemm") for event in events)


def written_out_attention():
    """Attention of three heads as exporters write it out, with a mask."""
    nodes = []
    for name in "qkv":
        nodes += [
            helper.make_node("MatMul", ["x", f"w{name}"], [f"{name}0"]),
            helper.make_node("Reshape", [f"{name}0", "heads"], [f"{name}1"]),
            helper.make_node("Transpose", [f"{name}1"], [f"{name}2"], perm=[0, 2, 3, 1] if name == "k" else [0, 2, 1, 3]),
        ]
    nodes += [
        helper.make_node("MatMul", ["q2", "k2"], ["scores"]),
        helper.make_node("Div", ["scores", "root"], ["scaled"]),
        helper.make_node("Add", ["scaled", "mask"], ["masked"]),
        helper.make_node("Softmax", ["masked"], ["weights"], axis=-1),
        helper.make_node("MatMul", ["weights", "v2"], ["sums"]),
        helper.make_node("Transpose", ["sums"], ["turned"], perm=[0, 2, 1, 3]),
        helper.make_node("Reshape", ["turned", "flat"], ["y"]),
    ]
    constants = {f"w{name}": floats(24, 24, seed=i) / 5 for i, name in enumerate("qkv")}
    constants |= {"heads": np.array([0, 0, 3, 8]), "flat": np.array([0, 0, 24]), "root": np.array(2.8284271, np.float32)}
    return model_of(nodes, [tensor("x", ["B", "S", 24]), tensor("mask", ["B", 1, 1, "S"])], [tensor("y", ["B", "S", 24])], constants)


@hosts
@pytest.mark.parametrize("settings", [{}, {"recognise": "0"}], ids=["one kernel", "as written"])
def test_attention_that_is_written_out(host, settings):
    model = written_out_attention()
    with present(host, GPU):
        ours, reference = session(host, GPU, model, settings), host.InferenceSession(model, providers=[CPU])
        for batch, length in ((1, 5), (2, 33), (2, 70)):
            mask = np.where(np.random.default_rng(length).random((batch, 1, 1, length)) < 0.3, np.float32(-10000), np.float32(0))
            feed = {"x": floats(batch, length, 24, seed=length), "mask": mask}
            np.testing.assert_allclose(ours.run(None, feed)[0], reference.run(None, feed)[0], rtol=1e-4, atol=1e-5)
        del ours


HIDDEN = [floats(2, 3, 16), floats(2, 3, 16, seed=1), *(floats(16, seed=seed) for seed in (2, 3, 4))]
#: Operators of which the official suite has no nodes: attributes, inputs.
CONTRIB = {
    "SkipLayerNormalization": ({}, HIDDEN),
    "SkipSimplifiedLayerNormalization": ({}, HIDDEN[:3]),
    "FusedMatMul": ({"alpha": 0.5, "transA": 1, "transB": 1}, [floats(2, 7, 5), floats(2, 9, 7, seed=1)]),
    "BiasGelu": ({}, [floats(3, 16), floats(16, seed=1)]),
    "FastGelu": ({}, [floats(3, 16), floats(16, seed=1)]),
    "QuickGelu": ({}, [floats(3, 16)]),
}


@pytest.mark.parametrize("name", CONTRIB)
def test_operators_of_com_microsoft(name):
    attributes, inputs = CONTRIB[name]
    names = [f"x{i}" for i in range(len(inputs))]
    node = helper.make_node(name, names, ["y"], "node", domain="com.microsoft", **attributes)
    declared = [tensor(n, list(value.shape)) for n, value in zip(names, inputs)]
    graph = helper.make_graph([node], "main", declared, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()
    feed = dict(zip(names, inputs))
    with present(ort, GPU):
        ours = session(ort, GPU, model, config={"session.disable_cpu_ep_fallback": "1"})
        expected = ort.InferenceSession(model, providers=[CPU]).run(None, feed)[0]
        np.testing.assert_allclose(ours.run(None, feed)[0], expected, rtol=1e-4, atol=1e-5)
        del ours


@pytest.mark.parametrize(("bits", "zeros"), [(4, False), (4, True), (8, False)])
def test_products_with_codes(bits, zeros):
    rng, k, n, block = np.random.default_rng(bits), 40, 18, 16
    blocks = -(-k // block)
    codes = rng.integers(0, 256, (n, blocks, block * bits // 8), dtype=np.uint8)
    constants = {"b": codes, "s": floats(n, blocks, seed=2)}
    if zeros:
        constants["z"] = rng.integers(0, 256, (n, -(-blocks * bits // 8)), dtype=np.uint8)
    node = helper.make_node("MatMulNBits", ["a", *constants], ["y"], "node", domain="com.microsoft", K=k, N=n, bits=bits, block_size=block)
    initializers = [onnx.numpy_helper.from_array(value, key) for key, value in constants.items()]
    graph = helper.make_graph([node], "main", [tensor("a", ["M", k])], [tensor("y", ["M", n])], initializers)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()
    with present(ort, GPU):
        ours = session(ort, GPU, model, config={"session.disable_cpu_ep_fallback": "1"})
        reference = ort.InferenceSession(model, providers=[CPU])
        for m in (1, 70):
            feed = {"a": floats(m, k, seed=m)}
            np.testing.assert_allclose(ours.run(None, feed)[0], reference.run(None, feed)[0], rtol=1e-4, atol=1e-3)
        del ours
