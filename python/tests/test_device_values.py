"""OrtValues and bindings in memory of a provider's device: in Roundhouse, and in onnxruntime with the same library."""

import gc
import os
import pathlib

import models
import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper

import roundhouse

LIBRARIES = pathlib.Path(os.environ.get("ROUNDHOUSE_LIBRARY_DIR", pathlib.Path(roundhouse.__file__).parents[2] / "lib"))
FAKE = "FakeDeviceExecutionProvider"
GPU = ("gpu", 0, 0xFADE)
COPIES = ("input_copies", "output_copies", "step_copies")


@pytest.fixture(params=[roundhouse, onnxruntime], ids=lambda m: m.__name__)
def module(request):
    """With the fake device registered."""
    path = LIBRARIES / "roundhouse_provider_fake_device.so"
    if not path.exists():
        pytest.skip(f"{path} is not built")
    request.param.register_execution_provider_library("fake", str(path))
    yield request.param
    gc.collect()
    request.param.unregister_execution_provider_library("fake")


@pytest.fixture
def x():
    return np.arange(6, dtype=np.float32).reshape(2, 3)


def device_of(module):
    (device,) = [d for d in module.get_ep_devices() if d.ep_name == FAKE]
    return device


def add_and_relu():
    return models.model(
        [helper.make_node("Add", ["a", "b"], ["s"]), helper.make_node("Relu", ["s"], ["y"])],
        [models.tensor("a", shape=(2, 3)), models.tensor("b", shape=(2, 3))],
        [models.tensor("y", shape=(2, 3))],
    )


def session_on_device(module, model=None, **options):
    settings = module.SessionOptions()
    settings.add_provider_for_devices([device_of(module)], {k: str(v) for k, v in options.items()})
    return module.InferenceSession(model or add_and_relu(), settings)


def copies_of(session):
    """What Roundhouse counts; nothing of other runtimes."""
    if not hasattr(session, "statistics"):
        return None
    statistics = session.statistics()
    return tuple(statistics[name] for name in COPIES)


def expect_copies(session, *counts):
    assert copies_of(session) in (None, counts)


# --- values


def test_memory_of_the_device(module):
    info = device_of(module).memory_info(module.OrtDeviceMemoryType.DEFAULT)
    assert (info.name, info.device_id, info.device_vendor_id) == ("FakeDevice", 0, 0xFADE)
    assert info.device_mem_type == module.OrtDeviceMemoryType.DEFAULT
    made = module.OrtMemoryInfo.create_v2(
        "FakeDevice",
        module.OrtMemoryInfoDeviceType.GPU,
        0xFADE,
        0,
        module.OrtDeviceMemoryType.DEFAULT,
        0,
        module.OrtAllocatorType.ORT_DEVICE_ALLOCATOR,
    )
    assert (made.name, made.device_vendor_id, made.mem_type) == ("FakeDevice", 0xFADE, module.OrtMemType.DEFAULT)


def test_from_numpy_and_back(module, x):
    value = module.OrtValue.ortvalue_from_numpy(x, *GPU)
    assert value.device_name() == "cuda"
    assert (value.shape(), value.data_type(), value.tensor_size_in_bytes()) == ([2, 3], "tensor(float)", 24)
    assert value.data_ptr() >> 60 == 1
    np.testing.assert_array_equal(value.numpy(), x)
    np.testing.assert_array_equal(np.asarray(value), x)


@pytest.mark.parametrize("how", ["numpy", "onnx", "memory"])
def test_from_shape(module, how, x):
    if how == "memory":
        info = device_of(module).memory_info(module.OrtDeviceMemoryType.DEFAULT)
        value = module.OrtValue.ortvalue_from_shape_and_type([2, 3], np.float32, memory_info=info)
    else:
        value = module.OrtValue.ortvalue_from_shape_and_type([2, 3], 1 if how == "onnx" else np.float32, *GPU)
    assert (value.device_name(), value.shape(), value.element_type()) == ("cuda", [2, 3], 1)
    value.update_inplace(x)
    np.testing.assert_array_equal(value.numpy(), x)


def test_update_in_place_between_all_memories(module, x):
    there = module.OrtValue.ortvalue_from_numpy(x, *GPU)
    address = there.data_ptr()
    there.update_inplace(x + 1)
    there.update_inplace(np.arange(12, dtype=np.float32).reshape(3, 4)[:, :2].T)
    np.testing.assert_array_equal(there.numpy(), [[0, 4, 8], [1, 5, 9]])
    here = module.OrtValue.ortvalue_from_shape_and_type([2, 3], np.float32)
    here.update_inplace(there)
    np.testing.assert_array_equal(here.numpy(), [[0, 4, 8], [1, 5, 9]])
    there.update_inplace(module.OrtValue.ortvalue_from_numpy(x * 3, *GPU))
    there.update_inplace(here)
    assert there.data_ptr() == address
    np.testing.assert_array_equal(there.numpy(), here.numpy())
    with pytest.raises(RuntimeError):
        there.update_inplace(np.zeros((2, 4), np.float32))
    with pytest.raises(TypeError):
        there.update_inplace([1, 2])


def test_copy_tensors(module, x):
    there = module.OrtValue.ortvalue_from_shape_and_type([2, 3], np.float32, *GPU)
    again = module.OrtValue.ortvalue_from_shape_and_type([2, 3], np.float32, *GPU)
    back = module.OrtValue.ortvalue_from_shape_and_type([2, 3], np.float32)
    module.copy_tensors([module.OrtValue.ortvalue_from_numpy(x)], [there])
    module.copy_tensors([there], [again])
    module.copy_tensors([again], [back])
    np.testing.assert_array_equal(back.numpy(), x)
    with pytest.raises(RuntimeError):
        module.copy_tensors([there], [])


def test_copy_tensors_on_a_stream(module, x):
    stream = device_of(module).create_sync_stream()
    assert stream.get_handle() != 0
    there = module.OrtValue.ortvalue_from_shape_and_type([2, 3], np.float32, *GPU)
    back = module.OrtValue.ortvalue_from_shape_and_type([2, 3], np.float32)
    module.copy_tensors([module.OrtValue.ortvalue_from_numpy(x)], [there], stream)
    module.copy_tensors([there], [back], stream)
    np.testing.assert_array_equal(back.numpy(), x)


def test_dlpack_shares_the_memory(module, x):
    value = module.OrtValue.ortvalue_from_numpy(x, *GPU)
    kind, index = value.__dlpack_device__()
    assert kind != 1 and index == 0
    again = module.OrtValue.from_dlpack(value)
    assert (again.data_ptr(), again.shape(), again.device_name()) == (value.data_ptr(), [2, 3], "cuda")
    with pytest.raises(RuntimeError, match="device"):
        np.from_dlpack(value)


def test_dlpack_says_which_kind_of_device(module, x):
    if module is onnxruntime:
        pytest.skip("it takes the memory of every vendor for CUDA's")
    assert module.OrtValue.ortvalue_from_numpy(x, *GPU).__dlpack_device__() == (12, 0)  # kDLExtDev


@pytest.mark.parametrize(
    ("name", "vendor", "numbers"),
    [
        ("cpu", -1, (0, 0)),
        ("cuda", -1, (1, 0x10DE)),
        ("dml", -1, (1, 0x1414)),
        ("webgpu", -1, (1, 0)),
        ("cann", -1, (3, 0x19E5)),
        ("gpu", -1, (1, 0)),
        ("npu", -1, (3, 0)),
        ("gpu", 0xFADE, (1, 0xFADE)),
        ("npu", 5, (3, 5)),
    ],
)
def test_names_of_devices(module, name, vendor, numbers):
    device = module.OrtDevice.make(name, 2, vendor)
    assert (device.device_type(), device.device_vendor_id()) == numbers
    assert (device.device_id(), device.device_mem_type()) == (2, 0)


def test_vendors_have_names(module):
    assert module.OrtDevice.make("gpu", 0, module.OrtDeviceVendorId.NVIDIA).device_vendor_id() == 0x10DE


@pytest.mark.parametrize(
    ("device", "says"),
    [
        (("cuda", 0), r"no registered provider has memory on gpu:0 \(vendor 0x10de\).*'FakeDevice' on gpu:0 \(vendor 0xfade\)"),
        (("gpu", 1, 0xFADE), r"memory on gpu:1 \(vendor 0xfade\)"),
        (("npu", 0, 0xFADE), r"memory on npu:0"),
        (("tpu", 0), "'tpu' is not known, expected one of cpu, cuda"),
    ],
)
def test_devices_that_are_not_there(module, x, device, says):
    with pytest.raises(Exception, match=says if module is roundhouse else None):
        module.OrtValue.ortvalue_from_numpy(x, *device)


def test_strings_stay_on_the_host(module):
    with pytest.raises(RuntimeError, match="string"):
        module.OrtValue.ortvalue_from_numpy(np.array(["a"], object), *GPU)


def test_what_does_not_fit_says_so(x):
    value = roundhouse.OrtValue.ortvalue_from_numpy(x)
    with pytest.raises(RuntimeError, match="type int64, expected float"):
        value.update_inplace(np.zeros((2, 3), np.int64))
    with pytest.raises(RuntimeError, match="32 bytes, expected 24"):
        value.update_inplace(np.zeros((2, 4), np.float32))
    with pytest.raises(TypeError, match="lists of OrtValue"):
        roundhouse.copy_tensors([x], [value])
    with pytest.raises(TypeError, match="__dlpack__"):
        roundhouse.OrtValue.from_dlpack(5)
    with pytest.raises(RuntimeError, match=r"device \(2, 0\) is that of no registered memory"):
        roundhouse.OrtValue.from_dlpack(Elsewhere())


class Elsewhere:
    """Says that it is on a device that nobody has registered."""

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, **_):
        import ctypes

        class Tensor(ctypes.Structure):
            _fields_ = [
                ("data", ctypes.c_void_p),
                ("kind", ctypes.c_int32),
                ("index", ctypes.c_int32),
                ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.c_void_p),
                ("offset", ctypes.c_uint64),
                ("manager", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p),
            ]

        self.shape = (ctypes.c_int64 * 1)(4)
        self.tensor = Tensor(1 << 60, 2, 0, 1, 2, 32, 1, self.shape, None, 0, None, None)
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return make(ctypes.addressof(self.tensor), b"dltensor", None)


def test_values_share_what_they_are_made_of(x):
    value = roundhouse.OrtValue.ortvalue_from_numpy(x)
    again = roundhouse.OrtValue(value._ortvalue)
    assert again.data_ptr() == value.data_ptr() == x.ctypes.data
    del value
    gc.collect()
    np.testing.assert_array_equal(again.numpy(), x)


def test_memory_of_the_host_that_the_device_reaches(module, x):
    info = device_of(module).memory_info(module.OrtDeviceMemoryType.HOST_ACCESSIBLE)
    assert (info.name, info.device_mem_type) == ("FakeDeviceHost", module.OrtDeviceMemoryType.HOST_ACCESSIBLE)
    value = module.OrtValue.ortvalue_from_shape_and_type([2, 3], np.float32, memory_info=info)
    assert value.data_ptr() >> 60 == 0
    view = value.numpy()
    assert view.ctypes.data == value.data_ptr()
    view[...] = x
    there = module.OrtValue.ortvalue_from_shape_and_type([2, 3], np.float32, *GPU)
    module.copy_tensors([value], [there])
    view[...] = 0
    module.copy_tensors([there], [value])
    np.testing.assert_array_equal(view, x)
    session = module.InferenceSession(add_and_relu(), providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    binding.bind_ortvalue_input("a", value)
    binding.bind_ortvalue_input("b", value)
    binding.bind_ortvalue_output("y", value)
    session.run_with_iobinding(binding)
    np.testing.assert_array_equal(view, x * 2)
    expect_copies(session, 0, 0, 0)


def test_values_that_no_memory_takes(module):
    info = device_of(module).memory_info(module.OrtDeviceMemoryType.HOST_ACCESSIBLE)
    with pytest.raises(RuntimeError, match="non-string numpy arrays"):
        module.OrtValue.ortvalue_from_shape_and_type([2], TensorProto.STRING, memory_info=info)
    types = module.OrtMemoryInfoDeviceType, module.OrtDeviceMemoryType, module.OrtAllocatorType
    nobodys = module.OrtMemoryInfo.create_v2("Nobodys", types[0].GPU, 0xDEAD, 0, types[1].HOST_ACCESSIBLE, 0, types[2].ORT_DEVICE_ALLOCATOR)
    with pytest.raises(RuntimeError, match="No shared allocator found"):
        module.OrtValue.ortvalue_from_shape_and_type([2], np.float32, memory_info=nobodys)


# --- bindings


@pytest.mark.parametrize("delay", [0, 200])
def test_values_bound_on_the_device_are_not_copied(module, x, delay):
    session = session_on_device(module, delay_us=delay)
    a = module.OrtValue.ortvalue_from_numpy(x, *GPU)
    result = module.OrtValue.ortvalue_from_shape_and_type([2, 3], np.float32, *GPU)
    binding = session.io_binding()
    binding.bind_ortvalue_input("a", a)
    binding.bind_ortvalue_input("b", a)
    binding.bind_ortvalue_output("y", result)
    for k in (1, -1, 2):
        a.update_inplace(x * k)
        binding.synchronize_inputs()
        session.run_with_iobinding(binding)
        binding.synchronize_outputs()
        np.testing.assert_array_equal(result.numpy(), np.maximum(x * k * 2, 0))
    (value,) = binding.get_outputs()
    assert (value.data_ptr(), value.device_name()) == (result.data_ptr(), "cuda")
    np.testing.assert_array_equal(binding.copy_outputs_to_cpu()[0], result.numpy())
    expect_copies(session, 0, 0, 0)


def test_inputs_from_the_host_are_copied_when_they_are_bound(module, x):
    session = session_on_device(module)
    result = module.OrtValue.ortvalue_from_shape_and_type([2, 3], np.float32, *GPU)
    binding = session.io_binding()
    binding.bind_cpu_input("a", x)
    binding.bind_ortvalue_input("b", module.OrtValue.ortvalue_from_numpy(x))
    binding.bind_ortvalue_output("y", result)
    for _ in range(3):
        session.run_with_iobinding(binding)
    np.testing.assert_array_equal(result.numpy(), x * 2)
    expect_copies(session, 2, 0, 0)


def test_outputs_on_the_host_cost_one_copy_a_run(module, x):
    session = session_on_device(module)
    a = module.OrtValue.ortvalue_from_numpy(x, *GPU)
    mine = np.zeros((2, 3), np.float32)
    for bound in (False, True):
        binding = session.io_binding()
        binding.bind_ortvalue_input("a", a)
        binding.bind_ortvalue_input("b", a)
        if bound:
            binding.bind_output("y", "cpu", 0, np.float32, [2, 3], mine.ctypes.data)
        else:
            binding.bind_output("y")
        session.run_with_iobinding(binding)
        (value,) = binding.get_outputs()
        assert value.device_name() == "cpu"
        np.testing.assert_array_equal(value.numpy(), x * 2)
    np.testing.assert_array_equal(mine, x * 2)
    expect_copies(session, 0, 2, 0)


def test_outputs_that_the_run_allocates_on_the_device(x):
    with registered():
        session = session_on_device(roundhouse)
        a = roundhouse.OrtValue.ortvalue_from_numpy(x, *GPU)
        binding = session.io_binding()
        binding.bind_input("a", "gpu", 0, np.float32, [2, 3], a.data_ptr())
        binding.bind_input("b", roundhouse.OrtDevice.make("gpu", 0, 0xFADE), 0, 1, [2, 3], a.data_ptr())
        binding.bind_output("y", "gpu")
        for _ in range(2):
            session.run_with_iobinding(binding)
        vector = binding.get_outputs_as_ortvaluevector()
        assert (len(vector), vector[0].device_name(), vector[-1].shape()) == (1, "cuda", [2, 3])
        np.testing.assert_array_equal(vector[0].numpy(), x * 2)
        assert copies_of(session) == (0, 0, 0)
        with pytest.raises(RuntimeError, match="no registered provider has memory on gpu:0"):
            binding.bind_output("y", "cuda")
        del vector, binding, a, session


class registered:
    """The fake device in Roundhouse, as long as the block runs."""

    def __enter__(self):
        path = LIBRARIES / "roundhouse_provider_fake_device.so"
        if not path.exists():
            pytest.skip(f"{path} is not built")
        roundhouse.register_execution_provider_library("fake", str(path))

    def __exit__(self, *_):
        gc.collect()
        roundhouse.unregister_execution_provider_library("fake")


@pytest.mark.parametrize(
    ("shape", "dtype", "says"),
    [((3, 3), np.float32, r"output 'y'.*float\[3, 3\], expected float\[2, 3\]"), ((2, 3), np.int32, "int32.*expected float")],
    ids=["shape", "type"],
)
def test_outputs_that_do_not_fit(module, x, shape, dtype, says):
    session = session_on_device(module)
    binding = session.io_binding()
    for name in ("a", "b"):
        binding.bind_cpu_input(name, x)
    binding.bind_ortvalue_output("y", module.OrtValue.ortvalue_from_shape_and_type(shape, dtype, *GPU))
    with pytest.raises(RuntimeError, match=says if module is roundhouse else None):
        session.run_with_iobinding(binding)
    binding.bind_output("y")
    session.run_with_iobinding(binding)
    np.testing.assert_array_equal(binding.copy_outputs_to_cpu()[0], x * 2)


@pytest.mark.parametrize("case", ["type", "name", "shape"])
def test_inputs_that_do_not_fit(module, x, case):
    session = session_on_device(module)
    binding = session.io_binding()
    binding.bind_cpu_input("b", x)
    binding.bind_output("y")
    value = module.OrtValue.ortvalue_from_numpy(
        {"type": x.astype(np.int32), "name": x, "shape": x.reshape(3, 2)}[case], *(() if case == "name" else GPU)
    )
    says = {"type": r"input 'a' is tensor\(int32\), expected tensor\(float\)", "name": "'q'", "shape": "input 'a' has shape"}[case]
    with pytest.raises(RuntimeError, match=says if module is roundhouse else None):
        binding.bind_ortvalue_input("q" if case == "name" else "a", value)
        session.run_with_iobinding(binding)


def test_where_a_session_takes_and_makes_values(module):
    for session, name, provider in (
        (session_on_device(module), "FakeDevice", FAKE),
        (module.InferenceSession(add_and_relu(), providers=["CPUExecutionProvider"]), "Cpu", "CPUExecutionProvider"),
    ):
        assert [(info.name, info.device_vendor_id) for info in session.get_input_memory_infos()] == [
            (name, 0xFADE if name != "Cpu" else 0)
        ] * 2
        assert [info.name for info in session.get_output_memory_infos()] == [name]
        assert [device.ep_name for device in session.get_input_epdevices()] == [provider] * 2


def test_values_of_a_session(module, x):
    session = session_on_device(module)
    for device, kind in ((("cpu",), "cpu"), (GPU, "cuda")):
        value = session.create_ortvalue_from_shape_and_type([2, 3], np.float32, *device)
        assert (value.device_name(), value.shape()) == (kind, [2, 3])
        binding = session.io_binding()
        binding.bind_cpu_input("a", x)
        binding.bind_cpu_input("b", x)
        binding.bind_ortvalue_output("y", value)
        session.run_with_iobinding(binding)
        np.testing.assert_array_equal(binding.copy_outputs_to_cpu()[0], x * 2)


def test_options_and_recordings_of_a_running_session(module):
    for session in (session_on_device(module), module.InferenceSession(add_and_relu(), providers=["CPUExecutionProvider"])):
        session.release_captured_graph()
        session.release_captured_graph(3)
        session.set_ep_dynamic_options({"ep.dynamic.workload_type": "Efficient"})
    with pytest.raises(RuntimeError):
        session.set_ep_dynamic_options({})


def test_runs_with_vectors_of_values(module, x):
    session = session_on_device(module)
    if module is roundhouse:
        feeds, fetches = roundhouse._native.OrtValueVector(), roundhouse._native.OrtValueVector()
        devices = [roundhouse.OrtDevice.make("gpu", 0, 0xFADE)]
    else:
        state = onnxruntime.capi.onnxruntime_pybind11_state
        feeds, fetches = state.OrtValueVector(), state.OrtValueVector()
        devices = [onnxruntime.OrtDevice.make("gpu", 0, 0xFADE)._get_c_device()]
    for _ in range(2):
        feeds.push_back(module.OrtValue.ortvalue_from_numpy(x, *GPU)._ortvalue)
    session.run_with_ortvaluevector(module.RunOptions(), ["a", "b"], feeds, ["y"], fetches, devices)
    assert (len(fetches), fetches[0].shape(), fetches.element_type_at(0)) == (1, [2, 3], 1)
    assert fetches[0].device_name().lower() == "cuda"
    (capsule,) = fetches.to_dlpacks(None)
    assert module.OrtValue.from_dlpack(capsule).data_ptr() == fetches[0].data_ptr()
    target = module.OrtValue.ortvalue_from_shape_and_type([2, 3], np.float32)
    target.update_inplace(module.OrtValue(fetches[0]))
    np.testing.assert_array_equal(target.numpy(), x * 2)
    expect_copies(session, 0, 0, 0)
    fetches.push_back(np.array([True, False]).__dlpack__())
    assert len(fetches) == 2
    assert TensorProto.BOOL == fetches.element_type_at(1)
