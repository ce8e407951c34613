"""Enumerations and small classes of the API that need no native code."""

from enum import IntEnum


class ExecutionOrder(IntEnum):
    DEFAULT = 0
    PRIORITY_BASED = 1
    MEMORY_EFFICIENT = 2


class OrtAllocatorType(IntEnum):
    INVALID = -1
    ORT_DEVICE_ALLOCATOR = 0
    ORT_ARENA_ALLOCATOR = 1


class OrtMemType(IntEnum):
    CPU_INPUT = -2
    CPU_OUTPUT = -1
    CPU = -1
    DEFAULT = 0


class OrtDeviceMemoryType(IntEnum):
    DEFAULT = 0
    HOST_ACCESSIBLE = 5


class OrtSparseFormat(IntEnum):
    ORT_SPARSE_UNDEFINED = 0
    ORT_SPARSE_COO = 1
    ORT_SPARSE_CSRC = 2
    ORT_SPARSE_BLOCK_SPARSE = 4


class OrtDevice:
    """A device by name ("cpu", "cuda", ...) and index."""

    _TYPES = {"cpu": 0, "cuda": 1, "gpu": 1, "fpga": 2, "npu": 3, "cann": 3, "dml": 4, "webgpu": 1}

    def __init__(self, device_type: int, device_id: int = 0, vendor_id: int = 0, memory_type: int = 0):
        self._values = (device_type, device_id, vendor_id, memory_type)

    @staticmethod
    def make(ort_device_name: str, device_id: int, vendor_id: int = -1) -> "OrtDevice":
        name = ort_device_name.lower()
        if name not in OrtDevice._TYPES:
            raise ValueError(f"device '{ort_device_name}' is not known, expected one of {', '.join(OrtDevice._TYPES)}")
        return OrtDevice(OrtDevice._TYPES[name], device_id, max(vendor_id, 0))

    def device_type(self) -> int:
        return self._values[0]

    def device_id(self) -> int:
        return self._values[1]

    def device_vendor_id(self) -> int:
        return self._values[2]

    def device_mem_type(self) -> int:
        return self._values[3]
