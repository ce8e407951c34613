"""IOBinding over the native binding."""

from roundhouse import _native
from roundhouse._device import OrtDevice
from roundhouse._native import OrtValue, OrtValueVector


class IOBinding:
    """Inputs and outputs of a session, bound once for many runs.

    A device is named by kind ("cpu", "gpu", "cuda", ...), or is an OrtDevice. Values that live where the session takes and makes
    them are not copied; an input that lives elsewhere is copied once, when it is bound.
    """

    def __init__(self, session):
        self._session = session._sess
        self._iobinding = _native.SessionIOBinding(self._session)
        # What is bound, by name; None where it is no OrtValue.
        self._numpy_obj_references = {}
        self._bound_inputs: dict[str, OrtValue | None] = {}
        self._bound_outputs: dict[str, OrtValue | None] = {}

    def bind_cpu_input(self, name, arr_on_cpu):
        self._iobinding.bind_input(name, arr_on_cpu)
        self._numpy_obj_references[name] = arr_on_cpu
        self._bound_inputs[name] = None

    def bind_input(self, name, device_type, device_id, element_type, shape, buffer_ptr):
        self._iobinding.bind_input(name, _device(device_type, device_id), element_type, list(shape), buffer_ptr)
        self._bound_inputs[name] = None

    def bind_ortvalue_input(self, name, ortvalue: OrtValue):
        self._iobinding.bind_ortvalue_input(name, ortvalue)
        self._bound_inputs[name] = ortvalue

    def bind_output(self, name, device_type="cpu", device_id=0, element_type=None, shape=None, buffer_ptr=None):
        self._bound_outputs[name] = None
        if buffer_ptr is None:
            self._iobinding.bind_output(name, _device(device_type, device_id))
            return
        if element_type is None or shape is None:
            raise ValueError("a buffer is given without element_type and shape")
        self._iobinding.bind_output(name, _device(device_type, device_id), element_type, list(shape), buffer_ptr)

    def bind_ortvalue_output(self, name, ortvalue: OrtValue):
        self._iobinding.bind_ortvalue_output(name, ortvalue)
        self._bound_outputs[name] = ortvalue

    def synchronize_inputs(self):
        self._iobinding.synchronize_inputs()

    def synchronize_outputs(self):
        self._iobinding.synchronize_outputs()

    def get_outputs(self) -> list[OrtValue]:
        return list(self._iobinding.get_outputs())

    def get_outputs_as_ortvaluevector(self) -> OrtValueVector:
        return self._iobinding.get_outputs()

    def copy_outputs_to_cpu(self):
        return self._iobinding.copy_outputs_to_cpu()

    def clear_binding_inputs(self):
        self._iobinding.clear_binding_inputs()
        self._numpy_obj_references.clear()
        self._bound_inputs.clear()

    def clear_binding_outputs(self):
        self._iobinding.clear_binding_outputs()
        self._bound_outputs.clear()


def _device(device, device_id) -> OrtDevice:
    return device if isinstance(device, OrtDevice) else OrtDevice.make(device, device_id)
