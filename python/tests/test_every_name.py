"""Every name that a program can read of the live objects of onnxruntime is there: ``python test_every_name.py`` prints all that differ."""

import functools
import json
import os
import pathlib
import subprocess
import sys

import pytest

import roundhouse

HERE = pathlib.Path(__file__).resolve().parent

# Names without a leading underscore that are left out on purpose, and why.
LEFT_OUT = {
    "SessionObjectInitializer": "without content, and nothing takes one",
    "contextlib": "a module that the package's file imports",
    "format of native sparse tensor": "a property there and a method of the package's class, which is the same class here",
    "get_all_operator_schema": "describes that library's own build",
    "get_all_opkernel_def": "describes that library's own build",
    "get_registered_ep_kernel_defs": "describes that library's own build",
    "get_session_initializer": "gives a SessionObjectInitializer",
    "import_capi_exception": "a variable of the package's file",
    "opkernel": "describes that library's own build",
    "schemadef": "describes that library's own build",
}


@functools.cache
def names_of(package):
    paths = [str(HERE), str(pathlib.Path(roundhouse.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-W", "ignore", str(HERE / "live_objects.py"), package]
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def differences() -> dict[str, list[str]]:
    """By kind of object: names that are missing, and those that can be called in one package and not in the other."""
    read = json.loads((HERE / "private_names.json").read_text())
    ours = names_of("roundhouse")
    result = {}
    for kind, names in names_of("onnxruntime").items():
        if kind not in ours:
            result[kind] = [kind]
            continue
        asked = {n: called for n, called in names.items() if not n.startswith("_") or n in read.get(kind, ()) or is_protocol(n)}
        missing = [n for n in asked if n not in ours[kind]]
        others = [f"{n} of {kind}" for n, called in asked.items() if n in ours[kind] and ours[kind][n] != called]
        if missing + others:
            result[kind] = missing + others
    return result


def is_protocol(name):
    """Names of the language's own and numpy's protocols, but for those of the library that makes that module."""
    return name.startswith("__") and name not in ("__author__", "__entries", "__members__", "__setstate__")


def test_every_name_can_be_read():
    found = {name for names in differences().values() for name in names}
    assert found == set(LEFT_OUT) and len(LEFT_OUT) <= 25


def test_the_list_of_private_names_is_of_names_that_are_there():
    theirs = names_of("onnxruntime")
    read = json.loads((HERE / "private_names.json").read_text())
    assert [(kind, name) for kind, names in read.items() for name in names if name not in theirs[kind]] == []


PROGRAM = """
import sys
if sys.argv[1] == "roundhouse":
    import roundhouse
    roundhouse.install_as_onnxruntime()
import models
import numpy as np
import onnxruntime as ort
from onnxruntime.capi import _pybind_state as C
from onnxruntime.capi import onnxruntime_inference_collection as collection

ort.set_default_logger_severity(4)
a, b = np.arange(6, dtype=np.float32).reshape(2, 3), np.ones(3, np.float32)
cpu = C.OrtDevice(C.OrtDevice.cpu(), C.OrtDevice.default_memory(), 0)

def tell(label, action):
    try:
        print(label, action())
    except Exception as error:
        print(label, type(error).__name__)

# --- native sessions
options = ort.SessionOptions()
inner = C.InferenceSession(options, models.add(), False, False)
inner.initialize_session(["CPUExecutionProvider"], [{}], set())
print([(i.name, i.type, i.shape) for i in inner.inputs_meta + inner.outputs_meta], inner.model_meta.graph_name)
print(inner.get_providers(), inner.get_provider_options(), inner.get_tuning_results(), inner.get_profiling_start_time_ns)
print(inner.is_webgpu_graph_capture_enabled(), inner.webgpu_context_id(), type(inner.session_options).__name__)
print(inner.run(["sum"], {"a": a, "b": b}, None)[0].tolist())
values = {"a": C.OrtValue.ortvalue_from_numpy(a, cpu), "b": C.OrtValue.ortvalue_from_numpy(b, cpu)}
made = inner.run_with_ort_values(values, ["sum"], None)
print(type(made).__name__, made[0].numpy().tolist(), made[0].to_dlpack() is not None)
binding = C.SessionIOBinding(inner)
binding.bind_input("a", a)
binding.bind_ortvalue_input("b", values["b"])
binding.bind_output("sum", cpu)
inner.run_with_iobinding(binding, None)
print(binding.get_outputs()[0].numpy().tolist(), binding.copy_outputs_to_cpu()[0].tolist())
print(inner.create_ortvalue_from_shape_and_type([2], np.float32, cpu).shape())
print(C.OrtValue.ortvalue_from_shape_and_onnx_type([2], 7, cpu).data_type())

# --- behind the package's own objects
session = ort.InferenceSession(models.add(), options, disabled_optimizers=["ConstantFolding"])
print(session._sess_options is options, session._sess_options_initial is options, session.get_session_options() is session._sess_options)
print(session._providers, session._provider_options, session._fallback_providers, session._enable_fallback)
print([i.name for i in session._inputs_meta], session._model_path, len(session._model_bytes) == len(models.add()))
bound = session.io_binding()
print(bound._session is session._sess, bound._bound_inputs, bound._bound_outputs)
bound.bind_cpu_input("a", a)
bound.bind_ortvalue_input("b", ort.OrtValue(values["b"], b))
bound._iobinding.bind_output("sum", cpu)
session._sess.run_with_iobinding(bound._iobinding, None)
print(bound.copy_outputs_to_cpu()[0].tolist(), sorted(bound._bound_inputs), list(bound._numpy_obj_references))
tell("another session's binding", lambda: ort.InferenceSession(models.add()).run_with_iobinding(bound))
value = ort.OrtValue.ortvalue_from_numpy(a)
print(value._numpy_obj is a, value._session, isinstance(value._ortvalue, C.OrtValue), value._get_c_value().shape())
print(type(session.run_with_ort_values(None, {"a": value, "b": ort.OrtValue.ortvalue_from_numpy(b)})[0]) is ort.OrtValue)

# --- DLPack
capsule = value._ortvalue.to_dlpack()
print(C.OrtValue.from_dlpack(capsule).numpy().tolist())
for dtype in (np.uint8, bool):
    print(C.OrtValue.from_dlpack(ort.OrtValue.ortvalue_from_numpy(np.array([1, 0], dtype))._ortvalue.to_dlpack()).data_type())

# --- helpers
print(collection.get_ort_device_type("cuda"), collection.get_ort_device_type("npu"), collection.get_vendor_id_for_device_type("cuda"))
print(collection.get_vendor_id_for_device_type("npu"), collection.get_vendor_id_for_device_type("x"))
tell("device", lambda: collection.get_ort_device_type("toaster") and None)
given = [("CPUExecutionProvider", {1: 2}), "CPUExecutionProvider"]
print(collection.check_and_normalize_provider_args(given, None, ["CPUExecutionProvider"]), given)
for wrong in (5, ["a"], [("a", 1)]):
    tell("arguments", lambda: collection.check_and_normalize_provider_args(wrong, [{}, {}] if wrong == ["a"] else None, ["a"]))
wrapped = collection.make_get_initializer_location_func_wrapper(lambda name, value, info: info)
print(wrapped("name", values["a"], None))
print(type(C.get_default_session_options()).__name__, len(C.get_hardware_devices()) > 0)
sparse = ort.SparseTensor.sparse_coo_from_numpy([3, 3], b[:2], np.array([1, 2], np.int64), ort.OrtDevice.make("cpu", 0))
print(sparse.dense_shape(), sparse._get_c_tensor().get_coo_data().indices().tolist())
"""


def printed(package):
    paths = [str(HERE), str(pathlib.Path(roundhouse.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", PROGRAM, package], capture_output=True, text=True, env=env, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_what_is_behind_the_names_is_the_same():
    ours = printed("roundhouse")
    theirs = [line.replace("Exception", "ValueError") if line.startswith("device ") else line for line in printed("onnxruntime")]
    assert ours == theirs


def test_capsules_of_bytes_are_told():
    """A name that ONNX Runtime had until 1.31."""
    import numpy as np

    import roundhouse.capi.onnxruntime_pybind11_state as native

    for dtype, is_uint8 in (("float32", False), ("bool", False), ("uint8", True)):
        value = roundhouse.OrtValue.ortvalue_from_numpy(np.zeros(2, dtype))
        assert native.is_dlpack_uint8_tensor(value._ortvalue.to_dlpack()) == is_uint8, dtype


@pytest.mark.parametrize("way", ["pairs", "two lists", "names"])
def test_the_callers_objects_are_never_changed(way):
    import models
    import numpy as np

    options = {"use_arena": 1}
    providers = [("CPUExecutionProvider", options)] if way == "pairs" else ["CPUExecutionProvider"]
    provider_options = [options] if way == "two lists" else None
    settings, before = roundhouse.SessionOptions(), repr((providers, provider_options, options))
    settings.add_session_config_entry("session.intra_op.allow_spinning", "0")
    disabled, names = ["fold_constants"], ["sum"]
    session = roundhouse.InferenceSession(models.add(), settings, providers, provider_options, disabled_optimizers=disabled)
    with pytest.raises(RuntimeError):
        settings.get_session_config_entry("optimization.disable_specified_optimizers")
    assert (disabled, repr((providers, provider_options, options))) == (["fold_constants"], before)
    feed = {"a": np.ones((2, 3), np.float32)[:, ::-1], "b": np.ones(3, np.float32)}
    copies = {name: array.copy() for name, array in feed.items()}
    run_options = roundhouse.RunOptions()
    session.run(names, feed, run_options)
    session.run_with_ort_values(names, {name: roundhouse.OrtValue.ortvalue_from_numpy(array) for name, array in feed.items()}, run_options)
    session.set_providers(providers, provider_options)
    assert names == ["sum"] and list(feed) == ["a", "b"] and repr((providers, provider_options, options)) == before
    for name, array in feed.items():
        np.testing.assert_array_equal(array, copies[name])
    for given in (session.get_providers(), session.get_inputs(), session.get_provider_options()):
        given.clear()
    assert session.get_providers() == ["CPUExecutionProvider"] and len(session.get_inputs()) == 2 and session.get_provider_options()


if __name__ == "__main__":
    for kind, names in differences().items():
        for name in names:
            print(f"{kind}: {name}: {LEFT_OUT.get(name, 'MISSING')}")
