"""Roundhouse runs ONNX models. The names and calls are those of the onnxruntime package: ``import roundhouse as ort``."""

import sys

if sys.argv[:1] == ["-m"] and sys.orig_argv[len(sys.orig_argv) - len(sys.argv)].endswith("roundhouse.as_onnxruntime"):
    # The launcher imports nothing more of the package, and nothing of the working folder, where the program does not look.
    if not sys.flags.isolated and not getattr(sys.flags, "safe_path", False):
        del sys.path[0]
    from roundhouse import as_onnxruntime

    as_onnxruntime.main()

from roundhouse import capi
from roundhouse._binding import IOBinding
from roundhouse._compile import ModelCompiler, OrtCompileApiFlags
from roundhouse._device import OrtDevice, OrtDeviceVendorId
from roundhouse._info import (
    disable_telemetry_events,
    enable_telemetry_events,
    get_all_providers,
    get_available_providers,
    get_build_info,
    get_device,
    get_version_string,
    has_collective_ops,
    preload_dlls,
    print_debug_info,
    set_default_logger_callback,
    set_default_logger_severity,
    set_default_logger_verbosity,
    set_seed,
)
from roundhouse._memory import OrtArenaCfg, OrtMemoryInfo, copy_tensors, create_and_register_allocator, create_and_register_allocator_v2
from roundhouse._model_package import ModelPackage, ModelPackageWriteMode
from roundhouse._native import (
    AdapterFormat,
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
    ModelLoadCanceled,
    ModelLoaded,
    ModelMetadata,
    ModelRequiresCompilation,
    NodeArg,
    NoModel,
    NoSuchFile,
    NotFound,
    NotImplemented,  # noqa: A004 (the name of the error in the API)
    OrtEpContextData,
    OrtEpContextDataBuffer,
    OrtEpDevice,
    OrtExecutionProviderDevicePolicy,
    OrtExternalInitializerInfo,
    OrtHardwareDevice,
    OrtHardwareDeviceType,
    OrtSyncStream,
    OrtValue,
    RunOptions,
    RuntimeException,
    SessionIOBinding,
    SessionOptions,
    get_ep_devices,
    register_execution_provider_library,
    set_global_thread_pool_sizes,
    unregister_execution_provider_library,
)
from roundhouse._package_sessions import ModelPackageComponentContext, ModelPackageContext, ModelPackageOptions
from roundhouse._placement import NodePlacement, OrtEpAssignedNode, OrtEpAssignedSubgraph, Refusal
from roundhouse._session import InferenceSession
from roundhouse._shim import install_as_onnxruntime, onnxruntime_path
from roundhouse._sparse import SparseTensor
from roundhouse._types import OrtAllocatorType, OrtDeviceMemoryType, OrtMemoryInfoDeviceType, OrtMemType, OrtSparseFormat
from roundhouse.capi import onnxruntime_validation

__version__ = get_version_string()
# Programs read these beside the version: of which package it is, and of which CUDA.
package_name = capi.build_and_package_info.package_name
version = __version__
cuda_version = ""

__all__ = [
    "AdapterFormat",
    "EPFail",
    "EngineError",
    "ExecutionMode",
    "ExecutionOrder",
    "Fail",
    "GraphOptimizationLevel",
    "IOBinding",
    "InferenceSession",
    "InvalidArgument",
    "InvalidGraph",
    "InvalidProtobuf",
    "LoraAdapter",
    "ModelCompiler",
    "ModelLoadCanceled",
    "ModelLoaded",
    "ModelMetadata",
    "ModelPackage",
    "ModelPackageComponentContext",
    "ModelPackageContext",
    "ModelPackageOptions",
    "ModelPackageWriteMode",
    "ModelRequiresCompilation",
    "NoModel",
    "NoSuchFile",
    "NodeArg",
    "NodePlacement",
    "NotFound",
    "NotImplemented",
    "OrtAllocatorType",
    "OrtArenaCfg",
    "OrtCompileApiFlags",
    "OrtDevice",
    "OrtDeviceMemoryType",
    "OrtDeviceVendorId",
    "OrtEpAssignedNode",
    "OrtEpAssignedSubgraph",
    "OrtEpContextData",
    "OrtEpContextDataBuffer",
    "OrtEpDevice",
    "OrtExecutionProviderDevicePolicy",
    "OrtExternalInitializerInfo",
    "OrtHardwareDevice",
    "OrtHardwareDeviceType",
    "OrtMemType",
    "OrtMemoryInfo",
    "OrtMemoryInfoDeviceType",
    "OrtSparseFormat",
    "OrtSyncStream",
    "OrtValue",
    "Refusal",
    "RunOptions",
    "RuntimeException",
    "SessionIOBinding",
    "SessionOptions",
    "SparseTensor",
    "capi",
    "copy_tensors",
    "create_and_register_allocator",
    "create_and_register_allocator_v2",
    "disable_telemetry_events",
    "enable_telemetry_events",
    "get_all_providers",
    "get_available_providers",
    "get_build_info",
    "get_device",
    "get_ep_devices",
    "get_version_string",
    "has_collective_ops",
    "install_as_onnxruntime",
    "onnxruntime_path",
    "onnxruntime_validation",
    "preload_dlls",
    "print_debug_info",
    "register_execution_provider_library",
    "set_default_logger_callback",
    "set_default_logger_severity",
    "set_default_logger_verbosity",
    "set_global_thread_pool_sizes",
    "set_seed",
    "unregister_execution_provider_library",
]
