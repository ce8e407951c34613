"""Names of the onnxruntime package: programs that use them print the same with both packages."""

import inspect
import os
import pathlib
import subprocess
import sys

import onnxruntime
import pytest

import roundhouse

LIBRARIES = pathlib.Path(os.environ.get("ROUNDHOUSE_LIBRARY_DIR", pathlib.Path(roundhouse.__file__).parents[2] / "lib")).resolve()
HERE = pathlib.Path(__file__).resolve().parent

BEGIN = """
import sys
import warnings
if sys.argv[1] == "roundhouse":
    import roundhouse
    roundhouse.install_as_onnxruntime()
import models
import numpy as np
import onnxruntime as ort

ort.set_default_logger_severity(4)
FEED = {"a": np.ones((2, 3), np.float32), "b": np.ones(3, np.float32)}

def tell(label, action):
    try:
        print(label, repr(action()))
    except Exception as error:
        print(label, type(error).__name__)
"""


def printed(program, package):
    root = pathlib.Path(roundhouse.__file__).parents[1]
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(HERE), str(root), os.environ.get("PYTHONPATH", "")])}
    arguments = [sys.executable, "-W", "ignore", "-c", BEGIN + program, package]
    done = subprocess.run(arguments, capture_output=True, text=True, env=env, timeout=120)
    assert done.returncode == 0, done.stderr
    return [line for line in done.stdout.splitlines() if "EP Error" not in line and "*****" not in line and "Falling back" not in line]


def check(program, *parts):
    ours = printed(program, "roundhouse")
    assert ours == printed(program, "onnxruntime")
    for part in parts:
        assert any(part in line for line in ours), (part, ours)


CONTEXTS = """
ort.register_execution_provider_library("hooks", "LIBRARY")
devices = [device for device in ort.get_ep_devices() if device.ep_name == "HooksExecutionProvider"]

def options():
    made = ort.SessionOptions()
    made.add_provider_for_devices(devices, {})
    return made

files, views = {}, []

def write(name, data):
    views.append(data)
    files[name] = data.read()
    tell("size", lambda: data.size == len(files[name]))
    for arguments in [(3,), (3, 2), (0, None), (data.size,), (999,), (0, 999), (-1,), (0, -1)]:
        tell(f"read {arguments}", lambda: data.read(*arguments))
    tell("by name", lambda: data.read(offset=1, length=1))

compiler = ort.ModelCompiler(options(), models.add())
compiler.set_ep_context_data_write_func(write_func=write)
made = compiler.compile_to_bytes()
print(len(files), list(files.values()))
tell("late", views[0].read)
compiler.set_ep_context_data_write_func(lambda name, data: 1 / 0)
tell("write that fails", compiler.compile_to_bytes)
compiler.clear_ep_context_data_write_func()

def load(function, limit=1000):
    made_options = options()
    made_options.set_ep_context_data_read_func(function, limit)
    return ort.InferenceSession(made, made_options).run(None, FEED)[0].tolist()

buffers = []

def read(name, buffer):
    buffers.append(buffer)
    data = files[name]
    print(buffer.size, buffer.is_allocated, buffer.max_size)
    tell("write before", lambda: buffer.write(b"x"))
    buffer.allocate(len(data))
    tell("allocate again", lambda: buffer.allocate(3))
    print(buffer.size == len(data), buffer.is_allocated)
    buffer.write(data[:2])
    buffer.write(data=bytearray(data[2:]), offset=2)
    end, parts = len(data), memoryview(data)[::2]
    for content, offset in [(b"xx", end - 1), (b"x", -1), ("x", 0), (b"", end), (b"", end + 1), (parts, 0)]:
        tell("write", lambda: buffer.write(content, offset))
    buffer.write(np.frombuffer(data, np.uint8))

tell("read", lambda: load(read))
tell("late", lambda: buffers[0].write(b"x"))
tell("late", lambda: buffers[0].allocate(1))
tell("nothing", lambda: load(lambda name, buffer: None))
tell("read that fails", lambda: load(lambda name, buffer: 1 / 0))
tell("too much", lambda: load(lambda name, buffer: buffer.allocate(2000)))
tell("no bytes", lambda: load(lambda name, buffer: buffer.allocate(0)))
tell("too few arguments", lambda: load(lambda name: None))
cleared = options()
cleared.set_ep_context_data_read_func(read_func=read, max_data_size=100)
cleared.clear_ep_context_data_read_func()
tell("cleared", lambda: ort.InferenceSession(made, cleared))
"""


def test_data_of_contexts():
    library = LIBRARIES / "hooks_plugin.so"
    if not library.exists():
        pytest.skip(f"{library} is not built")
    check(CONTEXTS.replace("LIBRARY", str(library)), "late RuntimeError", "read [[2.0, 2.0, 2.0]", "write ValueError", "write BufferError")


SHARED = """
made = ort.SessionOptions()
made.use_per_session_threads = False
tell("no pools yet", lambda: ort.InferenceSession(models.add(), made, enable_fallback=0))
tell("session first", lambda: ort.InferenceSession(models.add()).run(None, FEED)[0].tolist())
tell("make", lambda: ort.set_global_thread_pool_sizes(intra_op_num_threads=2, inter_op_num_threads=1))
tell("make again", lambda: ort.set_global_thread_pool_sizes())
tell("shared", lambda: ort.InferenceSession(models.add(), made).run(None, FEED)[0].tolist())
"""


def test_threads_that_sessions_share():
    ours = printed(SHARED, "roundhouse")
    theirs = printed(SHARED, "onnxruntime")
    assert ours[0] == "no pools yet Fail" and theirs[0] == "no pools yet RuntimeError"  # Fail is a RuntimeError here
    assert ours[1:] == theirs[1:]
    assert ours[2:4] == ["make None", "make again Fail"]


ARGUMENTS = """
for given in ['CPUExecutionProvider', [3], [("CPUExecutionProvider",)]]:
    tell(given, lambda: ort.InferenceSession(models.add(), providers=given).get_providers())
CPU = ["CPUExecutionProvider"]
tell("more options", lambda: ort.InferenceSession(models.add(), providers=CPU, provider_options=[{}, {}]).get_providers())
tell("known", lambda: ort.InferenceSession(models.add(), providers=["CUDAExecutionProvider"], enable_fallback=0).get_providers())
tell("unknown", lambda: ort.InferenceSession(models.add(), providers=["Nope"], enable_fallback=0).get_providers())
session = ort.InferenceSession(models.add())
tell("results", session.get_tuning_results)
tell("none", lambda: session.set_tuning_results([]))
tell("foreign", lambda: session.set_tuning_results([{"ep": "Nope", "results": {"a": {"b": 1}}, "validators": {"c": "d"}}]))
meta = session.get_modelmeta()
meta.producer_name, meta.version, meta.custom_metadata_map = "me", 7, {"a": "b"}
print(meta.producer_name, meta.version, meta.custom_metadata_map)
state = ort.capi.onnxruntime_pybind11_state
collection = ort.capi.onnxruntime_inference_collection
print(isinstance(session, collection.Session), collection.C.InvalidArgument is state.InvalidArgument)
for name in ("ArenaExtendStrategy", "OrtCompiledModelCompatibility", "OrtDeviceEpIncompatibilityReason"):
    print(name, {key: int(value) for key, value in getattr(state, name).__members__.items()})
print(int(state.kSameAsRequested), type(state.get_default_session_options()).__name__)
print(repr(ort.cuda_version), ort.version == ort.__version__, bool(ort.package_name))
"""


def test_arguments_and_small_things():
    check(ARGUMENTS, "CPUExecutionProvider ['CPUExecutionProvider']", "unknown RuntimeError", "results []", "me 7 {'a': 'b'}")


# Parameters that the other package has, of functions that are written in Python there.
CALLS = [
    (owner, name)
    for owner in ("InferenceSession", "ModelCompiler", "IOBinding", "OrtValue", "SparseTensor", "OrtDevice")
    for name in vars(getattr(onnxruntime, owner))
    if not name.startswith("_") and inspect.isfunction(inspect.unwrap(getattr(onnxruntime, owner).__dict__[name]))
]


@pytest.mark.parametrize(("owner", "name"), CALLS, ids=".".join)
def test_parameters_have_the_names_of_the_other_package(owner, name):
    theirs = inspect.signature(getattr(getattr(onnxruntime, owner), name)).parameters
    ours = getattr(getattr(roundhouse, owner), name)
    text = str(inspect.signature(ours)) if inspect.isfunction(ours) else ours.__doc__
    missing = [parameter for parameter in theirs if parameter not in text]
    assert not missing, text


def test_no_public_name_is_missing():
    """But for the tools that describe ONNX Runtime's own build."""
    missing = {n for n in dir(onnxruntime) if not n.startswith("_") and not hasattr(roundhouse, n)}
    assert missing - {"capi"} == {"contextlib", "import_capi_exception"}
    for owner in (
        "InferenceSession",
        "SessionOptions",
        "RunOptions",
        "IOBinding",
        "ModelCompiler",
        "OrtValue",
        "SparseTensor",
        "OrtDevice",
    ):
        theirs, ours = getattr(onnxruntime, owner), getattr(roundhouse, owner)
        assert [n for n in dir(theirs) if not n.startswith("_") and not hasattr(ours, n)] == [], owner
