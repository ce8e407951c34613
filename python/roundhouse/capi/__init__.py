"""The modules behind the package's names, as programs for ONNX Runtime know them: the native one and the one of sessions."""

from roundhouse.capi import onnxruntime_inference_collection, onnxruntime_pybind11_state
from roundhouse.capi import onnxruntime_pybind11_state as _pybind_state

__all__ = ["_pybind_state", "onnxruntime_inference_collection", "onnxruntime_pybind11_state"]
