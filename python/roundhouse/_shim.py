"""Roundhouse under the name onnxruntime."""

import importlib
import os
import sys
from typing import NoReturn


def onnxruntime_path() -> str:
    """The folder that makes ``import onnxruntime`` give Roundhouse where it stands first in the environment's PYTHONPATH."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "shim")


def _add_to_path(package, folder: str) -> None:
    if folder not in package.__path__:
        package.__path__.append(folder)


def say_missing(name: str) -> NoReturn:
    """What the import of a tool of ONNX Runtime's package says where that is not installed."""
    raise ModuleNotFoundError(
        f"{name} belongs to ONNX Runtime's package, which is not installed: run `pip install onnxruntime` beside roundhouse "
        "and start the program with `python -m roundhouse.as_onnxruntime`",
        name=name,
    )


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
    if installed is None:
        _add_to_path(package, os.path.join(os.path.dirname(os.path.abspath(__file__)), "missing_tools"))
    else:
        _add_to_path(package, installed)
        _add_to_path(capi, os.path.join(installed, "capi"))
    modules = {f"onnxruntime.capi.{name}": getattr(capi, name) for name in capi.__all__}
    sys.modules.update({"onnxruntime": package, "onnxruntime.capi": capi, **modules})
