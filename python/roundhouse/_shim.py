"""Roundhouse under the name onnxruntime."""

import importlib
import os
import sys


def onnxruntime_path() -> str:
    """The folder that makes ``import onnxruntime`` give Roundhouse where it stands first in the environment's PYTHONPATH."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "shim")


def install_as_onnxruntime() -> None:
    """From now on ``import onnxruntime`` in this process gives Roundhouse.

    The tools in Python that ONNX Runtime's package has beside its runtime (``onnxruntime.quantization``, ``transformers``, ``tools``,
    ``backend``, ``datasets``) are those of an ONNX Runtime that is installed too, and run their models on Roundhouse.
    """
    package = importlib.import_module("roundhouse")
    importlib.import_module("roundhouse._providers").default_fallback = "warn"
    importlib.import_module("roundhouse._native").set_messages_with_codes(True)
    capi, state = package.capi, package.capi.onnxruntime_pybind11_state
    installed = state._installed_onnxruntime()
    if installed is not None and installed not in package.__path__:
        package.__path__.append(installed)
        capi.__path__.append(os.path.join(installed, "capi"))
    sys.modules.update(
        {
            "onnxruntime": package,
            "onnxruntime.capi": capi,
            "onnxruntime.capi.onnxruntime_pybind11_state": state,
            "onnxruntime.capi._pybind_state": state,
            "onnxruntime.capi.onnxruntime_inference_collection": capi.onnxruntime_inference_collection,
        }
    )
