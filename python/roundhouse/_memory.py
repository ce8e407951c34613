"""Memory information, allocators that sessions share, copies between values."""

from collections.abc import Iterable

from roundhouse import _native
from roundhouse._native import OrtArenaCfg, OrtSyncStream, OrtValue
from roundhouse._types import OrtAllocatorType, OrtDeviceMemoryType, OrtMemoryInfoDeviceType, OrtMemType

__all__ = ["OrtArenaCfg", "OrtMemoryInfo", "copy_tensors", "create_and_register_allocator", "create_and_register_allocator_v2"]


class OrtMemoryInfo:
    """A kind of memory: the name of its allocator, device and use."""

    def __init__(self, name: str, allocator_type: OrtAllocatorType, device_id: int, mem_type: OrtMemType):
        self._native = _native.MemoryInfo(name, int(allocator_type), device_id, int(mem_type))

    @classmethod
    def _of(cls, native) -> "OrtMemoryInfo":
        made = cls.__new__(cls)
        made._native = native
        return made

    @staticmethod
    def create_v2(
        name: str,
        device_type: OrtMemoryInfoDeviceType,
        vendor_id: int,
        device_id: int,
        device_mem_type: OrtDeviceMemoryType,
        alignment: int,
        allocator_type: OrtAllocatorType,
    ) -> "OrtMemoryInfo":
        """By kind of device and vendor, under any name."""
        return OrtMemoryInfo._of(
            _native.MemoryInfo(name, int(device_type), vendor_id, device_id, int(device_mem_type), alignment, int(allocator_type))
        )

    @property
    def name(self) -> str:
        """Of the allocator, such as "Cpu"."""
        return self._native.name

    @property
    def device_id(self) -> int:
        """Which of the devices of its kind, from 0."""
        return self._native.device_id

    @property
    def device_vendor_id(self) -> int:
        """The PCI number of the device's vendor; 0: none."""
        return self._native.vendor_id

    @property
    def device_mem_type(self) -> OrtDeviceMemoryType:
        """Whether the host can reach it."""
        return OrtDeviceMemoryType(self._native.device_memory_type)

    @property
    def mem_type(self) -> OrtMemType:
        """What a provider uses it for."""
        return OrtMemType(self._native.memory_type)

    @property
    def allocator_type(self) -> OrtAllocatorType:
        """Whether blocks come from an arena."""
        return OrtAllocatorType(self._native.allocator_type)


def create_and_register_allocator(mem_info: OrtMemoryInfo, arena_cfg: OrtArenaCfg | None = None) -> None:
    """Makes a host allocator and keeps it with the environment. Sessions plan their memory themselves and do not take from it."""
    _native.register_allocator(mem_info._native, arena_cfg)


def create_and_register_allocator_v2(
    provider_type: str, mem_info: OrtMemoryInfo, options: dict[str, str], arena_cfg: OrtArenaCfg | None = None
) -> None:
    """The same for memory of a provider's device; ``options`` are the provider's."""
    _native.register_allocator_v2(provider_type, mem_info._native, {str(k): str(v) for k, v in options.items()}, arena_cfg)


def copy_tensors(src: Iterable[OrtValue], dst: Iterable[OrtValue], stream: OrtSyncStream | None = None) -> None:
    """Copies each tensor of src to that of dst at the same place, in any two memories; types and numbers of elements must agree.

    With a stream (``OrtEpDevice.create_sync_stream()``) copies are done when that has done its work.
    """
    _native.copy_tensors(list(src), list(dst), stream)
