"""Roundhouse under the name onnxruntime."""

import importlib
import sys
import types


def install_as_onnxruntime() -> None:
    """From now on ``import onnxruntime`` in this process gives Roundhouse."""
    package = importlib.import_module("roundhouse")
    importlib.import_module("roundhouse._session").default_fallback = "warn"
    native = importlib.import_module("roundhouse._native")
    state = types.ModuleType("onnxruntime.capi.onnxruntime_pybind11_state")
    state.__dict__.update({k: v for k, v in native.__dict__.items() if not k.startswith("__")})
    state.__dict__.update({k: getattr(package, k) for k in package.__all__})
    session = types.ModuleType("onnxruntime.capi.onnxruntime_inference_collection")
    for name in ("InferenceSession", "IOBinding", "OrtDevice", "OrtDeviceVendorId", "OrtValue", "copy_tensors"):
        setattr(session, name, getattr(package, name))
    capi = types.ModuleType("onnxruntime.capi")
    capi.__path__ = []
    capi.onnxruntime_pybind11_state = state
    capi._pybind_state = state
    capi.onnxruntime_inference_collection = session
    sys.modules.update(
        {
            "onnxruntime": package,
            "onnxruntime.capi": capi,
            "onnxruntime.capi.onnxruntime_pybind11_state": state,
            "onnxruntime.capi._pybind_state": state,
            "onnxruntime.capi.onnxruntime_inference_collection": session,
        }
    )
    package.capi = capi
