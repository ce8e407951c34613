"""The two runtimes that load our providers, and models for them."""

import contextlib
import ctypes
import gc
import os
import pathlib

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import roundhouse

LIBRARIES = pathlib.Path(
    os.environ.get("ROUNDHOUSE_LIBRARY_DIR", pathlib.Path(__file__).resolve().parents[2] / "build" / "release" / "lib")
)
SAMPLE, DUMP, FAKE = "SampleExecutionProvider", "ImportDumpExecutionProvider", "FakeDeviceExecutionProvider"
OPENVINO, MIGRAPHX, CUDA = "OpenVINOExecutionProvider", "MIGraphXExecutionProvider", "CUDAExecutionProvider"
COREML, ROCM = "CoreMLExecutionProvider", "ROCMExecutionProvider"
FILES = {
    SAMPLE: "roundhouse_provider_sample.so",
    DUMP: "import_dump_plugin.so",
    FAKE: "roundhouse_provider_fake_device.so",
    OPENVINO: "roundhouse_provider_openvino.so",
    MIGRAPHX: "roundhouse_provider_migraphx.so",
    CUDA: "roundhouse_provider_cuda.so",
    ROCM: "roundhouse_provider_rocm.so",
    COREML: "roundhouse_provider_coreml.so",
}
HOSTS = [onnxruntime, roundhouse]

#: The provider of GPUs whose stand-in driver is there, the driver's library, and what Python calls the device.
STAND = os.environ.get("ROUNDHOUSE_HIP_LIBRARY") or os.environ.get("ROUNDHOUSE_CUDA_LIBRARY")
GPU, DEVICE = (ROCM, "gpu") if "ROUNDHOUSE_HIP_LIBRARY" in os.environ else (CUDA, "cuda")


@contextlib.contextmanager
def registered(host, name):
    """A provider's library in a host, which may be one of several in this process that have it."""
    host.register_execution_provider_library(name, str(LIBRARIES / FILES[name]))
    try:
        yield
    finally:
        gc.collect()
        host.unregister_execution_provider_library(name)


@contextlib.contextmanager
def present(host, name):
    """The same, where a session that asked for the provider by its name may have registered the library already."""
    with contextlib.ExitStack() as stack:
        if all(device.ep_name != name for device in host.get_ep_devices()):
            stack.enter_context(registered(host, name))
        yield


def devices_of(host, name):
    return [d for d in host.get_ep_devices() if d.ep_name == name]


def session(host, name, model, settings=None, optimize=False, device=0, config=None):
    options = host.SessionOptions()
    options.log_severity_level = 4
    if not optimize:
        options.graph_optimization_level = host.GraphOptimizationLevel.ORT_DISABLE_ALL
    for key, value in (config or {}).items():
        options.add_session_config_entry(key, value)
    options.add_provider_for_devices([devices_of(host, name)[device]], settings or {})
    return host.InferenceSession(model, options)


class Vendor:
    """The made-up vendor's library of this process, which the sample uses: it counts its calls, and fails as it is told."""

    def __init__(self):
        self.library = ctypes.CDLL(str(LIBRARIES / "libsample_vendor.so"))
        self.library.sv_count.restype = ctypes.c_int64

    def counts(self):
        return {what: self.library.sv_count(what.encode()) for what in ("compile", "load", "run")}

    @contextlib.contextmanager
    def counted(self):
        """What is called meanwhile, by name, once it is over."""
        before, counts = self.counts(), {}
        yield counts
        counts.update({what: count - before[what] for what, count in self.counts().items()})

    @contextlib.contextmanager
    def injected(self, fault):
        self.library.sv_inject(fault.encode())
        try:
            yield
        finally:
            self.library.sv_inject(b"")


def failure(call):
    """What a call says that fails. Nothing of it lives on, for ONNX Runtime unloads libraries under sessions that failed half made."""
    try:
        call()
    except Exception as error:  # noqa: BLE001 - each host has its own
        text = str(error)
    else:
        raise AssertionError("it did not fail")
    gc.collect()
    return text


def tensor(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def model_of(nodes, inputs, outputs, constants=None, name="main"):
    initializers = [numpy_helper.from_array(value, key) for key, value in (constants or {}).items()]
    graph = helper.make_graph(nodes, name, inputs, outputs, initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def floats(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def dense():
    """y = (x w + b) * x2, and its exponential: a region, and a node that the sample leaves."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["p"], "product"),
        helper.make_node("Add", ["p", "b"], ["s"], "sum"),
        helper.make_node("Mul", ["s", "x2"], ["m"], "scaled"),
        helper.make_node("Exp", ["m"], ["e"], "exp"),
        helper.make_node("Add", ["e", "m"], ["y"], "last"),
    ]
    constants = {"w": floats(4, 3, seed=1), "b": floats(3, seed=2)}
    return model_of(nodes, [tensor("x", ["N", 4]), tensor("x2", ["N", 3])], [tensor("y", ["N", 3])], constants)


def branches(inner=None):
    """An If whose bodies take values, constants and inputs from around it, and pass one of them on; a second one within the first."""
    deeper = helper.make_node(
        "If",
        ["c"],
        ["q"],
        "deeper",
        then_branch=helper.make_graph([helper.make_node("Mul", ["m", "w"], ["q1"], "in1")], "t2", [], [tensor("q1", ["N", 4])]),
        else_branch=helper.make_graph([helper.make_node("Add", ["m", "x"], ["q2"], "in2")], "e2", [], [tensor("q2", ["N", 4])]),
    )
    then_nodes = [deeper, helper.make_node(inner or "Add", ["q", "w"] if not inner else ["q"], ["a"], "then_last")]
    own = numpy_helper.from_array(floats(4, seed=3), "own")
    choice = helper.make_node(
        "If",
        ["c"],
        ["i", "j"],
        "choice",
        then_branch=helper.make_graph(then_nodes, "t", [], [tensor("a", ["N", 4]), tensor("q", ["N", 4])]),
        else_branch=helper.make_graph(
            [helper.make_node("Mul", ["m", "own"], ["d"], "else1"), helper.make_node("Add", ["d", "w"], ["d2"], "else2")],
            "e",
            [],
            [tensor("d", ["N", 4]), tensor("d2", ["N", 4])],
            [own],
        ),
    )
    nodes = [
        helper.make_node("Add", ["x", "w"], ["m"], "before"),
        choice,
        helper.make_node("Mul", ["i", "j"], ["y"], "after"),
    ]
    return model_of(nodes, [tensor("x", ["N", 4]), tensor("c", [], TensorProto.BOOL)], [tensor("y", ["N", 4])], {"w": floats(4, seed=4)})
