"""Enumerations and small classes of the API that need no native code."""

from enum import Enum, IntEnum


class NamedInText:
    """An enumeration whose text is its name, as in the original package, and not its number."""

    __str__ = Enum.__str__

    def __format__(self, form: str) -> str:
        return format(str(self), form)


class OrtAllocatorType(NamedInText, IntEnum):
    """Whether blocks come from an arena or from the device each."""

    INVALID = -1
    ORT_DEVICE_ALLOCATOR = 0
    ORT_ARENA_ALLOCATOR = 1


class OrtMemType(NamedInText, IntEnum):
    """What a provider uses memory for: values that the host gives or takes, or its own."""

    CPU_INPUT = -2
    CPU_OUTPUT = -1
    CPU = -1
    DEFAULT = 0


class OrtDeviceMemoryType(NamedInText, IntEnum):
    """Whether the host can reach a device's memory."""

    DEFAULT = 0
    HOST_ACCESSIBLE = 5


class OrtMemoryInfoDeviceType(NamedInText, IntEnum):
    """Kinds of devices that have memory."""

    CPU = 0
    GPU = 1
    FPGA = 2
    NPU = 3


class ArenaExtendStrategy(NamedInText, IntEnum):
    """How much an arena takes when it grows."""

    kNextPowerOfTwo = 0  # noqa: N815 (the name in the API)
    kSameAsRequested = 1  # noqa: N815


class OrtCompiledModelCompatibility(NamedInText, IntEnum):
    """Whether a provider can use what was compiled before."""

    EP_NOT_APPLICABLE = 0
    EP_SUPPORTED_OPTIMAL = 1
    EP_SUPPORTED_PREFER_RECOMPILATION = 2
    EP_UNSUPPORTED = 3


class OrtDeviceEpIncompatibilityReason(NamedInText, IntEnum):
    """Why a provider cannot use a device; values may be joined."""

    NONE = 0
    DRIVER_INCOMPATIBLE = 1
    DEVICE_INCOMPATIBLE = 2
    MISSING_DEPENDENCY = 4
    UNKNOWN = -(2**31)


class OrtSparseFormat(NamedInText, IntEnum):
    """How the indices of a sparse tensor are written."""

    ORT_SPARSE_UNDEFINED = 0
    ORT_SPARSE_COO = 1
    ORT_SPARSE_CSRC = 2
    ORT_SPARSE_BLOCK_SPARSE = 4
