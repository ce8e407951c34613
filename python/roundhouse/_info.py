"""Questions and settings of the whole library."""

import platform

from roundhouse._native import (
    get_available_providers,
    get_build_info,
    get_version_string,
    set_default_logger_callback,
    set_default_logger_severity,
    set_seed,
)

__all__ = [
    "disable_telemetry_events",
    "enable_telemetry_events",
    "get_all_providers",
    "get_available_providers",
    "get_build_info",
    "get_device",
    "get_version_string",
    "has_collective_ops",
    "preload_dlls",
    "print_debug_info",
    "set_default_logger_callback",
    "set_default_logger_severity",
    "set_default_logger_verbosity",
    "set_seed",
]

_KNOWN_PROVIDERS = [
    "TensorrtExecutionProvider",
    "CUDAExecutionProvider",
    "MIGraphXExecutionProvider",
    "ROCMExecutionProvider",
    "OpenVINOExecutionProvider",
    "DnnlExecutionProvider",
    "NnapiExecutionProvider",
    "CoreMLExecutionProvider",
    "AclExecutionProvider",
    "DmlExecutionProvider",
    "CPUExecutionProvider",
]

_GPU_PROVIDERS = {
    "TensorrtExecutionProvider",
    "CUDAExecutionProvider",
    "ROCMExecutionProvider",
    "MIGraphXExecutionProvider",
    "DmlExecutionProvider",
}


def get_all_providers() -> list[str]:
    """Every provider name that the API knows, whether present or not, most preferred first."""
    return list(_KNOWN_PROVIDERS)


def get_device() -> str:
    """The kind of device that the available providers run on: "CPU" or "GPU"."""
    return "GPU" if _GPU_PROVIDERS & set(get_available_providers()) else "CPU"


def enable_telemetry_events() -> None:
    """Does nothing: there is no telemetry."""


def disable_telemetry_events() -> None:
    """Does nothing: there is no telemetry."""


def has_collective_ops() -> bool:
    """False: there are no operators over several machines."""
    return False


def set_default_logger_verbosity(level: int) -> None:
    """Accepted; verbose messages have one level here."""


def preload_dlls(cuda: bool = True, cudnn: bool = True, msvc: bool = True, directory: str | None = None) -> None:
    """Accepted; providers load the libraries that they need."""


def print_debug_info() -> None:
    """Prints versions, platform and providers."""
    print(get_build_info())
    print(f"interface {get_version_string()}, Python {platform.python_version()}, {platform.platform()}")
    print(f"providers: {', '.join(get_available_providers())}")
