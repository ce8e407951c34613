"""The modules behind the package's names, as programs for ONNX Runtime know them: the native one, the one of sessions, and small ones."""

from roundhouse.capi import (
    _ld_preload,
    build_and_package_info,
    onnxruntime_inference_collection,
    onnxruntime_pybind11_state,
    onnxruntime_validation,
)
from roundhouse.capi import onnxruntime_pybind11_state as _pybind_state

__all__ = [
    "_ld_preload",
    "_pybind_state",
    "build_and_package_info",
    "onnxruntime_inference_collection",
    "onnxruntime_pybind11_state",
    "onnxruntime_validation",
]
