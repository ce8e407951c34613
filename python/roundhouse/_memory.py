"""Memory information, allocators that sessions share, copies between values."""

from roundhouse import _native
from roundhouse._native import OrtArenaCfg
from roundhouse._types import OrtAllocatorType, OrtMemType

__all__ = ["OrtArenaCfg", "OrtMemoryInfo", "copy_tensors", "create_and_register_allocator"]


class OrtMemoryInfo:
    """A kind of memory: the name of its allocator, device and use."""

    def __init__(self, name: str, allocator_type: OrtAllocatorType, device_id: int, mem_type: OrtMemType):
        self._native = _native.MemoryInfo(name, int(allocator_type), device_id, int(mem_type))

    @classmethod
    def _of(cls, native) -> "OrtMemoryInfo":
        made = cls.__new__(cls)
        made._native = native
        return made

    @property
    def name(self) -> str:
        return self._native.name

    @property
    def device_id(self) -> int:
        return self._native.device_id

    @property
    def mem_type(self) -> OrtMemType:
        return OrtMemType(self._native.memory_type)

    @property
    def allocator_type(self) -> OrtAllocatorType:
        return OrtAllocatorType(self._native.allocator_type)


def create_and_register_allocator(mem_info: OrtMemoryInfo, arena_cfg: OrtArenaCfg | None = None) -> None:
    """Makes a host allocator and keeps it with the environment. Sessions plan their memory themselves and do not take from it."""
    _native.register_allocator(mem_info._native, arena_cfg)


def copy_tensors(src, dst, stream=None) -> None:
    """Copies each tensor of src to that of dst at the same place; types and numbers of elements must agree."""
    if stream is not None:
        raise ValueError("a stream is given, but copies between host tensors have none")
    _native.copy_tensors(list(src), list(dst))
