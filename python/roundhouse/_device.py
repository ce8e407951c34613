"""Devices that values live on, by kind, index and vendor."""

import operator
from enum import IntEnum


class OrtDeviceVendorId(IntEnum):
    """PCI numbers of vendors."""

    NONE = 0x0000
    AMD = 0x1002
    NVIDIA = 0x10DE
    ARM = 0x13B5
    MICROSOFT = 0x1414
    HUAWEI = 0x19E5
    QUALCOMM = 0x5143
    INTEL = 0x8086


_CPU, _GPU, _FPGA, _NPU = 0, 1, 2, 3
_ANY_VENDOR = -1

#: Kind of device and vendor behind the names that programs use.
_NAMES = {
    "cpu": (_CPU, OrtDeviceVendorId.NONE),
    "cuda": (_GPU, OrtDeviceVendorId.NVIDIA),
    "dml": (_GPU, OrtDeviceVendorId.MICROSOFT),
    "webgpu": (_GPU, OrtDeviceVendorId.NONE),
    "gpu": (_GPU, None),
    "npu": (_NPU, None),
    "cann": (_NPU, OrtDeviceVendorId.HUAWEI),
}


def kind_and_vendor(name: str) -> tuple[int, OrtDeviceVendorId | None]:
    """What a device's name stands for; ValueError for a name that is none."""
    if name not in _NAMES:
        raise ValueError(f"device type '{name}' is not known, expected one of {', '.join(_NAMES)}")
    return _NAMES[name]


class OrtDevice:
    """A device: ``make`` takes names; ``OrtDevice(type, memory_type, [vendor_id,] device_id)`` numbers."""

    def __init__(self, *numbers: "OrtDevice | int") -> None:
        if len(numbers) == 1 and isinstance(numbers[0], OrtDevice):
            self._values = numbers[0]._values
        elif len(numbers) == 3:
            self._values = (numbers[0], numbers[2], _ANY_VENDOR, numbers[1])
        elif len(numbers) == 4:
            self._values = (numbers[0], numbers[3], numbers[2], numbers[1])
        else:
            raise TypeError(f"OrtDevice takes a device, or 3 or 4 numbers: {len(numbers)} values are given")

    @staticmethod
    def make(ort_device_name: str, device_id: int, vendor_id: int = _ANY_VENDOR) -> "OrtDevice":
        """By name; "gpu" and "npu" go with a vendor's number, the other names stand for one."""
        kind, vendor = kind_and_vendor(ort_device_name)
        device_id = operator.index(device_id)
        if vendor_id >= 0:
            vendor = vendor_id
        return OrtDevice(kind, 0, _ANY_VENDOR if vendor is None else int(vendor), device_id)

    def _get_c_device(self) -> "OrtDevice":
        return self

    @property
    def _ort_device(self) -> "OrtDevice":
        return self

    def device_type(self) -> int:
        """0 CPU, 1 GPU, 2 FPGA, 3 NPU."""
        return self._values[0]

    def device_id(self) -> int:
        """Which of the devices of its kind, from 0."""
        return self._values[1]

    def device_vendor_id(self) -> int:
        """0 where the device was made without one."""
        return max(self._values[2], 0)

    def device_mem_type(self) -> int:
        """A number of OrtDeviceMemoryType."""
        return self._values[3]

    vendor_id = device_vendor_id
    mem_type = device_mem_type

    @staticmethod
    def cpu() -> int:
        """The number of processors as a kind of device."""
        return _CPU

    @staticmethod
    def gpu() -> int:
        """The number of GPUs as a kind of device."""
        return _GPU

    @staticmethod
    def fpga() -> int:
        """The number of FPGAs as a kind of device."""
        return _FPGA

    @staticmethod
    def npu() -> int:
        """The number of NPUs as a kind of device."""
        return _NPU

    cuda = webgpu = dml = gpu
    cann = npu

    @staticmethod
    def default_memory() -> int:
        """The number of a device's own memory as a kind of memory."""
        return 0


def place(device, device_id=0, vendor_id=_ANY_VENDOR) -> tuple[int, int, int, int]:
    """(kind, index, vendor or -1, kind of memory) of a device that is given as an OrtDevice or by name."""
    if isinstance(device, OrtDevice):
        return device._values
    if not isinstance(device, str):
        raise TypeError(f"a device is of type {type(device).__name__}, expected a name or an OrtDevice")
    return OrtDevice.make(device, device_id, vendor_id)._values
