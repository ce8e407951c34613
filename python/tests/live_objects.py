"""Prints, as JSON, the names of every live object of a package: ``live_objects.py roundhouse|onnxruntime``."""

import json
import sys
import tempfile

import models
import numpy as np

if sys.argv[1] == "roundhouse":
    import roundhouse

    roundhouse.install_as_onnxruntime()
import onnxruntime as ort
from onnxruntime.capi import _pybind_state as C  # noqa: N812
from onnxruntime.capi import onnxruntime_inference_collection as collection


def objects():
    """One of each kind, as programs come by them; native ones by the way that the package's own classes take."""
    options = ort.SessionOptions()
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    session = ort.InferenceSession(models.add(), options)
    value = ort.OrtValue.ortvalue_from_numpy(np.ones((2, 3), np.float32))
    binding, device = session.io_binding(), ort.OrtDevice.make("cpu", 0)
    sparse = ort.SparseTensor.sparse_coo_from_numpy([3, 3], np.ones(2, np.float32), np.array([1, 2], np.int64), device)
    csr = ort.SparseTensor.sparse_csr_from_numpy([1, 3], np.ones(1, np.float32), np.array([1]), np.array([0, 1]), device)
    assigned, ep_device = session.get_provider_graph_assignment_info()[0], ort.get_ep_devices()[0]
    adapter = ort.AdapterFormat()
    adapter.set_parameters({"a": value})
    with tempfile.NamedTemporaryFile(suffix=".onnx_adapter") as file:
        adapter.export_adapter(file.name)
        lora = ort.LoraAdapter()
        lora.Load(file.name)
    compiler = ort.ModelCompiler(options, models.add())
    return {
        "package": ort,
        "native module": C,
        "module of sessions": collection,
        "session": session,
        "native session": session._sess,
        "binding": binding,
        "native binding": binding._iobinding,
        "value": value,
        "native value": value._ortvalue,
        "vector of values": binding._iobinding.get_outputs(),
        "options": options,
        "options of a session": session.get_session_options(),
        "run options": ort.RunOptions(),
        "input": session.get_inputs()[0],
        "metadata": session.get_modelmeta(),
        "device": device,
        "native device": device._get_c_device(),
        "provider's device": ep_device,
        "hardware": ep_device.device,
        "memory of an input": session.get_input_memory_infos()[0],
        "memory": ort.OrtMemoryInfo("Cpu", ort.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, ort.OrtMemType.DEFAULT),
        "arena": ort.OrtArenaCfg(0, -1, -1, -1),
        "adapter's file": adapter,
        "adapter's native file": adapter._adapter,
        "adapter": lora,
        "sparse tensor": sparse,
        "native sparse tensor": sparse._get_c_tensor(),
        "COO view": sparse.as_coo_view(),
        "CSR view": csr.as_csrc_view(),
        "assigned subgraph": assigned,
        "assigned node": assigned.get_nodes()[0],
        "compiler": compiler,
        "native compiler": compiler._model_compiler,
        "place of an initializer": ort.OrtExternalInitializerInfo("file", 0, 1),
        "error": C.Fail("text"),
    } | members()


def members():
    """The first member of each enumeration."""
    enumerations = {name: kind for name, kind in vars(C).items() if isinstance(kind, type) and hasattr(kind, "__members__")}
    return {f"member of {name}": next(iter(kind.__members__.values())) for name, kind in enumerations.items()}


def names_of(thing) -> dict[str, bool]:
    """The names that can be read of it, and whether what they give can be called."""
    fields = vars(thing) if hasattr(thing, "__dict__") else {}
    names = {*dir(thing), *fields} - {*dir(object), "__dict__", "__weakref__", "__slots__"}
    return {name: callable(getattr(thing, name)) for name in sorted(names) if hasattr(thing, name)}


if __name__ == "__main__":
    ort.set_default_logger_severity(4)
    print(json.dumps({kind: names_of(thing) for kind, thing in objects().items()}))
