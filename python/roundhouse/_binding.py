"""IOBinding over the native binding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from roundhouse import _native
from roundhouse._device import OrtDevice
from roundhouse._native import OrtValue, OrtValueVector

if TYPE_CHECKING:
    from roundhouse._session import Session


class IOBinding:
    """Inputs and outputs of a session, bound once for many runs.

    A device is named by kind ("cpu", "gpu", "cuda", ...), or is an OrtDevice. Values that live where the session takes and makes
    them are not copied; an input that lives elsewhere is copied once, when it is bound.
    """

    def __init__(self, session: Session) -> None:
        self._session = session._sess
        self._iobinding = _native.SessionIOBinding(self._session)
        # What is bound, by name; None where it is no OrtValue.
        self._numpy_obj_references = {}
        self._bound_inputs: dict[str, OrtValue | None] = {}
        self._bound_outputs: dict[str, OrtValue | None] = {}

    def bind_cpu_input(self, name: str, arr_on_cpu: np.ndarray) -> None:
        """Binds an input to a numpy array, which is not copied."""
        self._iobinding.bind_input(name, arr_on_cpu)
        self._numpy_obj_references[name] = arr_on_cpu
        self._bound_inputs[name] = None

    def bind_input(
        self, name: str, device_type: str | OrtDevice, device_id: int, element_type: Any, shape: Sequence[int], buffer_ptr: int
    ) -> None:
        """Binds an input to memory of a device at an address; ``element_type`` is numpy's or ONNX's number."""
        self._iobinding.bind_input(name, _device(device_type, device_id), element_type, list(shape), buffer_ptr)
        self._bound_inputs[name] = None

    def bind_ortvalue_input(self, name: str, ortvalue: OrtValue) -> None:
        """Binds an input to a value."""
        self._iobinding.bind_ortvalue_input(name, ortvalue)
        self._bound_inputs[name] = ortvalue

    def bind_output(
        self,
        name: str,
        device_type: str | OrtDevice = "cpu",
        device_id: int = 0,
        element_type: Any = None,
        shape: Sequence[int] | None = None,
        buffer_ptr: int | None = None,
    ) -> None:
        """Binds an output to a device, where each run makes it, or to memory at an address, whose type and shape must then be given."""
        self._bound_outputs[name] = None
        if buffer_ptr is None:
            self._iobinding.bind_output(name, _device(device_type, device_id))
            return
        if element_type is None or shape is None:
            raise ValueError("a buffer is given without element_type and shape")
        self._iobinding.bind_output(name, _device(device_type, device_id), element_type, list(shape), buffer_ptr)

    def bind_ortvalue_output(self, name: str, ortvalue: OrtValue) -> None:
        """Binds an output to a value, into which runs write; its shape must be the output's."""
        self._iobinding.bind_ortvalue_output(name, ortvalue)
        self._bound_outputs[name] = ortvalue

    def synchronize_inputs(self) -> None:
        """Waits until the copies of bound inputs are done."""
        self._iobinding.synchronize_inputs()

    def synchronize_outputs(self) -> None:
        """Waits until the outputs of the last run are there."""
        self._iobinding.synchronize_outputs()

    def get_outputs(self) -> list[OrtValue]:
        """The outputs of the last run, where they were made, in the order in which they were bound."""
        return list(self._iobinding.get_outputs())

    def get_outputs_as_ortvaluevector(self) -> OrtValueVector:
        """The same as a native vector."""
        return self._iobinding.get_outputs()

    def copy_outputs_to_cpu(self) -> list[Any]:
        """The outputs of the last run as numpy arrays."""
        return self._iobinding.copy_outputs_to_cpu()

    def clear_binding_inputs(self) -> None:
        """Forgets what inputs are bound to."""
        self._iobinding.clear_binding_inputs()
        self._numpy_obj_references.clear()
        self._bound_inputs.clear()

    def clear_binding_outputs(self) -> None:
        """Forgets what outputs are bound to."""
        self._iobinding.clear_binding_outputs()
        self._bound_outputs.clear()


def _device(device: str | OrtDevice, device_id: int) -> OrtDevice:
    return device if isinstance(device, OrtDevice) else OrtDevice.make(device, device_id)
