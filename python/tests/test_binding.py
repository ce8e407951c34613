"""IOBinding."""

import models
import numpy as np
import onnxruntime
import pytest

import roundhouse

CPU = ["CPUExecutionProvider"]


@pytest.fixture(params=[roundhouse, onnxruntime], ids=lambda m: m.__name__)
def module(request):
    return request.param


@pytest.fixture
def session(module):
    return module.InferenceSession(models.add(), providers=CPU)


def test_cpu_inputs(session, feed):
    binding = session.io_binding()
    for name, array in feed.items():
        binding.bind_cpu_input(name, array)
    binding.bind_output("sum")
    session.run_with_iobinding(binding)
    [total] = binding.copy_outputs_to_cpu()
    np.testing.assert_array_equal(total, feed["a"] + feed["b"])
    [value] = binding.get_outputs()
    assert value.shape() == [2, 3]
    binding.synchronize_inputs()
    binding.synchronize_outputs()


def test_outputs_of_changing_shape(session, feed):
    binding = session.io_binding()
    binding.bind_cpu_input("b", feed["b"])
    binding.bind_output("sum", "cpu")
    for rows in (1, 4, 2):
        binding.bind_cpu_input("a", np.full((rows, 3), rows, np.float32))
        if session.__class__.__module__.startswith("onnxruntime"):
            binding.bind_output("sum", "cpu")
        session.run_with_iobinding(binding)
        np.testing.assert_array_equal(binding.copy_outputs_to_cpu()[0], np.full((rows, 3), rows) + feed["b"])


def test_pointers_and_repeated_runs(session, feed):
    a, result = feed["a"].copy(), np.zeros((2, 3), np.float32)
    binding = session.io_binding()
    binding.bind_input("a", "cpu", 0, np.float32, a.shape, a.ctypes.data)
    binding.bind_input("b", "cpu", 0, 1, [3], feed["b"].ctypes.data)
    binding.bind_output("sum", "cpu", 0, np.float32, result.shape, result.ctypes.data)
    for k in range(3):
        a[...] = k
        session.run_with_iobinding(binding)
        np.testing.assert_array_equal(result, a + feed["b"])
    assert binding.get_outputs()[0].data_ptr() == result.ctypes.data


def test_ort_values(module, session, feed):
    result = module.OrtValue.ortvalue_from_shape_and_type([2, 3], np.float32)
    binding = session.io_binding()
    binding.bind_ortvalue_input("a", module.OrtValue.ortvalue_from_numpy(feed["a"]))
    binding.bind_ortvalue_input("b", module.OrtValue.ortvalue_from_numpy(feed["b"]))
    binding.bind_ortvalue_output("sum", result)
    session.run_with_iobinding(binding)
    np.testing.assert_array_equal(result.numpy(), feed["a"] + feed["b"])
    assert binding.get_outputs()[0].data_ptr() == result.data_ptr()


def test_clearing(session, feed):
    binding = session.io_binding()
    for name, array in feed.items():
        binding.bind_cpu_input(name, array)
    binding.bind_output("sum")
    session.run_with_iobinding(binding)
    binding.clear_binding_inputs()
    binding.clear_binding_outputs()
    with pytest.raises(RuntimeError):
        session.run_with_iobinding(binding)


@pytest.mark.parametrize("case", ["unknown input", "strings", "type", "missing", "no output", "shape", "no type"])
def test_errors(session, feed, case):
    binding = session.io_binding()
    binding.bind_cpu_input("b", feed["b"])
    buffer = np.zeros((4, 3), np.float32)
    with pytest.raises(ValueError if case == "no type" else RuntimeError):
        if case == "unknown input":
            binding.bind_cpu_input("z", feed["a"])
        elif case == "strings":
            binding.bind_input("a", "cpu", 0, np.object_, [2, 3], buffer.ctypes.data)
        elif case == "no type":
            binding.bind_output("sum", "cpu", 0, None, [2, 3], buffer.ctypes.data)
        else:
            if case != "missing":
                binding.bind_cpu_input("a", feed["a"].astype(np.float64) if case == "type" else feed["a"])
            if case == "shape":
                binding.bind_output("sum", "cpu", 0, np.float32, buffer.shape, buffer.ctypes.data)
            elif case != "no output":
                binding.bind_output("sum")
            session.run_with_iobinding(binding)
