# ruff: noqa: F401
"""The names of the native module. Where the package has a class over one of its, both are one class here, which has the methods of both."""

import importlib.machinery
import importlib.util
import os
import platform
import sys
import warnings

from roundhouse._compile import OrtCompileApiFlags
from roundhouse._device import OrtDevice
from roundhouse._info import (
    disable_telemetry_events,
    enable_telemetry_events,
    get_all_providers,
    get_device,
    has_collective_ops,
    set_default_logger_callback,
    set_default_logger_verbosity,
    set_seed,
)
from roundhouse._memory import OrtMemoryInfo, copy_tensors, create_and_register_allocator, create_and_register_allocator_v2
from roundhouse._model_package import ModelPackage, ModelPackageWriteMode
from roundhouse._native import (
    AdapterFormat,
    DeviceReset,
    EngineError,
    EPFail,
    ExecutionMode,
    ExecutionOrder,
    Fail,
    GraphOptimizationLevel,
    InvalidArgument,
    InvalidGraph,
    InvalidProtobuf,
    LoraAdapter,
    ModelCompiler,
    ModelLoadCanceled,
    ModelLoaded,
    ModelMetadata,
    ModelRequiresCompilation,
    NodeArg,
    NoModel,
    NoSuchFile,
    NotFound,
    NotImplemented,  # noqa: A004 (the name of the error in the API)
    OrtArenaCfg,
    OrtEpContextData,
    OrtEpContextDataBuffer,
    OrtEpDevice,
    OrtExecutionProviderDevicePolicy,
    OrtExternalInitializerInfo,
    OrtHardwareDevice,
    OrtHardwareDeviceType,
    OrtSyncStream,
    OrtValue,
    OrtValueVector,
    RunOptions,
    RuntimeException,
    SessionIOBinding,
    SessionOptions,
    get_available_providers,
    get_build_info,
    get_compatibility_info_from_model,
    get_compatibility_info_from_model_bytes,
    get_ep_devices,
    get_hardware_device_ep_incompatibility_details,
    get_hardware_devices,
    get_model_compatibility_for_ep_devices,
    get_version_string,
    is_dlpack_uint8_tensor,
    register_execution_provider_library,
    set_default_logger_severity,
    set_global_thread_pool_sizes,
    unregister_execution_provider_library,
)
from roundhouse._native_session import InferenceSession
from roundhouse._package_sessions import ModelPackageComponentContext, ModelPackageContext, ModelPackageOptions
from roundhouse._placement import OrtEpAssignedNode, OrtEpAssignedSubgraph
from roundhouse._sparse import SparseBlockSparseView, SparseCooView, SparseCsrView, SparseTensor
from roundhouse._types import (
    ArenaExtendStrategy,
    OrtAllocatorType,
    OrtCompiledModelCompatibility,
    OrtDeviceEpIncompatibilityReason,
    OrtDeviceMemoryType,
    OrtMemoryInfoDeviceType,
    OrtMemType,
    OrtSparseFormat,
)

kNextPowerOfTwo = ArenaExtendStrategy.kNextPowerOfTwo  # noqa: N816 (the name in the API)
kSameAsRequested = ArenaExtendStrategy.kSameAsRequested  # noqa: N816


def get_default_session_options() -> SessionOptions:
    return SessionOptions()


# Functions of ONNX Runtime's native module that its tools import to pack weights. They run no model.
_PACKING = (
    "pack_fp4_weights_for_cuda_moe_gemm",
    "quantize_matmul_2bits",
    "quantize_matmul_4bits",
    "quantize_matmul_8bits",
    "quantize_matmul_bnb4",
    "quantize_qdq_matmul_2bits",
    "quantize_qdq_matmul_4bits",
)


def _installed_onnxruntime() -> str | None:
    """The folder of an ONNX Runtime that is installed too. The package of that name that stands for Roundhouse has no folder capi."""
    for entry in sys.path:
        folder = os.path.join(entry or os.getcwd(), "onnxruntime")
        if os.path.isfile(os.path.join(folder, "capi", "__init__.py")):
            return folder
    return None


def __getattr__(name: str):
    """The packing functions are those of an ONNX Runtime that is installed too, whose native module is loaded at the first of them."""
    folder = _installed_onnxruntime() if name in _PACKING else None
    spec = folder and importlib.machinery.PathFinder.find_spec("onnxruntime_pybind11_state", [os.path.join(folder, "capi")])
    if spec:
        native = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(native)
        globals().update({packing: getattr(native, packing) for packing in _PACKING if hasattr(native, packing)})
        if name in globals():
            return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *(_PACKING if _installed_onnxruntime() else ())})
