"""Roundhouse under the name onnxruntime."""

import importlib
import importlib.machinery
import importlib.util
import os
import sys
import types

# Functions of ONNX Runtime's native module that its tools import to pack weights. They run no model.
_PACKING = (
    "quantize_matmul_2bits",
    "quantize_matmul_4bits",
    "quantize_matmul_8bits",
    "quantize_matmul_bnb4",
    "quantize_qdq_matmul_2bits",
    "quantize_qdq_matmul_4bits",
)


def _installed_onnxruntime() -> str | None:
    """The folder of an ONNX Runtime that is installed too. The shim, a package of the same name, has no folder capi."""
    for entry in sys.path:
        folder = os.path.join(entry or os.getcwd(), "onnxruntime")
        if os.path.isfile(os.path.join(folder, "capi", "__init__.py")):
            return folder
    return None


def _packing_functions(folder: str, state: types.ModuleType):
    """A ``__getattr__`` that takes the packing functions from the native module in `folder`, which is loaded at the first of them."""

    def attribute(name: str):
        if name in _PACKING:
            finder = importlib.machinery.PathFinder
            spec = finder.find_spec("onnxruntime_pybind11_state", [os.path.join(folder, "capi")])
            if spec is not None:
                native = importlib.util.module_from_spec(spec)
                spec.loader.exec_module(native)
                state.__dict__.update({k: getattr(native, k) for k in _PACKING if hasattr(native, k)})
                if name in state.__dict__:
                    return state.__dict__[name]
        raise AttributeError(f"module {state.__name__!r} has no attribute {name!r}")

    return attribute


def onnxruntime_path() -> str:
    """The folder that makes ``import onnxruntime`` give Roundhouse where it stands first in the environment's PYTHONPATH."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "shim")


def install_as_onnxruntime() -> None:
    """From now on ``import onnxruntime`` in this process gives Roundhouse.

    The tools in Python that ONNX Runtime's package has beside its runtime (``onnxruntime.quantization``, ``transformers``, ``tools``,
    ``backend``, ``datasets``) are those of an ONNX Runtime that is installed too, and run their models on Roundhouse.
    """
    package = importlib.import_module("roundhouse")
    importlib.import_module("roundhouse._session").default_fallback = "warn"
    native = importlib.import_module("roundhouse._native")
    state = types.ModuleType("onnxruntime.capi.onnxruntime_pybind11_state")
    state.__dict__.update({k: v for k, v in native.__dict__.items() if not k.startswith("__")})
    state.__dict__.update({k: getattr(package, k) for k in package.__all__})
    # Names of the native module alone.
    enumerations = importlib.import_module("roundhouse._types")
    for name in ("ArenaExtendStrategy", "OrtCompiledModelCompatibility", "OrtDeviceEpIncompatibilityReason"):
        setattr(state, name, getattr(enumerations, name))
    state.__dict__.update(enumerations.ArenaExtendStrategy.__members__)
    state.get_default_session_options = package.SessionOptions
    native.set_messages_with_codes(True)
    session = types.ModuleType("onnxruntime.capi.onnxruntime_inference_collection")
    for name in (
        "AdapterFormat",
        "InferenceSession",
        "IOBinding",
        "ModelCompiler",
        "OrtDevice",
        "OrtDeviceVendorId",
        "OrtValue",
        "SparseTensor",
        "copy_tensors",
    ):
        setattr(session, name, getattr(package, name))
    session.Session = package.InferenceSession  # its base class there
    session.C = state
    capi = types.ModuleType("onnxruntime.capi")
    capi.__path__ = []
    capi.onnxruntime_pybind11_state = state
    capi._pybind_state = state
    capi.onnxruntime_inference_collection = session
    installed = _installed_onnxruntime()
    if installed is not None:
        if installed not in package.__path__:
            package.__path__.append(installed)
        capi.__path__.append(os.path.join(installed, "capi"))
        state.__getattr__ = _packing_functions(installed, state)
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
