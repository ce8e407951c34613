"""Runs backend cases on any module that has the API of onnxruntime."""

import ctypes
import importlib

import numpy as np
from onnx import TensorProto, helper

from .cases import to_value
from .compare import Mismatch, compare, describe

# Element types that numpy lacks, by TensorProto name: bits of an element.
NARROW = {
    "BFLOAT16": 16,
    "FLOAT8E4M3FN": 8,
    "FLOAT8E4M3FNUZ": 8,
    "FLOAT8E5M2": 8,
    "FLOAT8E5M2FNUZ": 8,
    "FLOAT8E8M0": 8,
    "INT4": 4,
    "UINT4": 4,
    "FLOAT4E2M1": 4,
    "INT2": 2,
    "UINT2": 2,
}
MESSAGE_LENGTH = 220


def pack(array, bits):
    """The bytes of raw_data: elements narrower than a byte packed, the first in the low bits."""
    array = np.ascontiguousarray(array)
    if bits >= 8:
        return array.tobytes()
    per_byte = 8 // bits
    values = array.ravel().view(np.uint8) & ((1 << bits) - 1)
    values = np.concatenate([values, np.zeros(-len(values) % per_byte, np.uint8)]).reshape(-1, per_byte)
    packed = np.zeros(len(values), np.uint8)
    for k in range(per_byte):
        packed |= values[:, k] << (bits * k)
    return packed.tobytes()


def unpack(data, shape, dtype, bits):
    count = int(np.prod(shape, dtype=np.int64))
    dtype = np.dtype(dtype)
    if bits >= 8:
        return np.frombuffer(data, dtype=f"u{bits // 8}", count=count).copy().view(dtype).reshape(shape)
    raw = np.frombuffer(data, np.uint8)
    values = np.stack([(raw >> (bits * k)) & ((1 << bits) - 1) for k in range(8 // bits)], 1).ravel()[:count]
    if dtype.name.startswith("int"):
        values = values.astype(np.int8)
        values[values >= 1 << (bits - 1)] -= 1 << bits
        return values.astype(dtype).reshape(shape)
    if dtype.name.startswith("uint"):
        return values.astype(dtype).reshape(shape)
    return values.view(dtype).reshape(shape)


class Runtime:
    def __init__(self, module, threads, config=None):
        self.module = importlib.import_module(module)
        self.threads = threads
        self.config = config or {}  # of its sessions
        numbers = {getattr(TensorProto, name): bits for name, bits in NARROW.items()}
        self.narrow = {n: (np.dtype(helper.tensor_dtype_to_np_dtype(n)), bits) for n, bits in numbers.items()}

    def element_type(self, value):
        """(TensorProto number, bits) of a type that numpy lacks, else None."""
        dtype = getattr(value, "dtype", None)
        return next(((n, bits) for n, (narrow, bits) in self.narrow.items() if dtype == narrow), None)

    def session_options(self):
        options = self.module.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = self.threads
        options.inter_op_num_threads = 1
        for key, value in self.config.items():
            options.add_session_config_entry(key, value)
        return options

    def load(self, model):
        return self.module.InferenceSession(model.SerializeToString(), self.session_options(), providers=["CPUExecutionProvider"])

    def run(self, session, model, feeds, buffers=None):
        """Outputs in the model's order; `buffers`: names of inputs and of the outputs that are written to the same memory."""
        if buffers:
            return self.run_bound(session, model, feeds, buffers)
        outputs = [o.type.tensor_type.elem_type for o in model.graph.output if o.type.HasField("tensor_type")]
        if not any(self.element_type(v) for v in feeds.values()) and not any(t in self.narrow for t in outputs):
            return session.run(None, feeds)
        values = session.run_with_ort_values(None, {name: self.to_ort_value(v) for name, v in feeds.items()})
        return [self.from_ort_value(v) for v in values]

    def run_bound(self, session, model, feeds, buffers):
        binding = session.io_binding()
        arrays = {name: value.copy() for name, value in feeds.items()}  # whose memory the values are
        values = {name: self.to_ort_value(array) for name, array in arrays.items()}
        for name, value in values.items():
            binding.bind_ortvalue_input(name, value)
        shared = {output: values[name] for name, output in buffers.items()}
        for port in model.graph.output:
            if port.name in shared:
                binding.bind_ortvalue_output(port.name, shared[port.name])
            else:
                binding.bind_output(port.name)
        session.run_with_iobinding(binding)
        return [np.array(self.from_ort_value(value)) for value in binding.get_outputs()]

    def to_ort_value(self, value):
        narrow = self.element_type(value)
        if narrow is None:
            return self.module.OrtValue.ortvalue_from_numpy(value)
        number, bits = narrow
        made = self.module.OrtValue.ortvalue_from_shape_and_type(list(value.shape), number)
        data = pack(value, bits)
        if made.tensor_size_in_bytes() != len(data):
            raise ValueError(f"OrtValue of {describe(value)} has {made.tensor_size_in_bytes()} bytes, expected {len(data)}")
        ctypes.memmove(made.data_ptr(), data, len(data))
        return made

    def from_ort_value(self, value):
        if not value.has_value():
            return None
        if not value.is_tensor() or value.element_type() not in self.narrow:
            return value.numpy()
        dtype, bits = self.narrow[value.element_type()]
        size = value.tensor_size_in_bytes()
        return unpack(ctypes.string_at(value.data_ptr(), size) if size else b"", tuple(value.shape()), dtype, bits)


def run_case(runtime, case):
    """(status, message): "pass", "wrong" or "error"."""
    try:
        session = runtime.load(case.model)
        for inputs, expected in case.data():
            feeds = dict(zip(case.input_names(len(inputs)), map(to_value, inputs)))
            actual = list(runtime.run(session, case.model, feeds))
            if len(actual) != len(expected):
                raise Mismatch(f"{len(actual)} outputs, expected {len(expected)}")
            for i, (e, a) in enumerate(zip(map(to_value, expected), actual)):
                compare(e, a, case.rtol, case.atol, f"output {i}")
    except Mismatch as mismatch:
        return "wrong", str(mismatch)[:MESSAGE_LENGTH]
    except Exception as error:
        first = next((line for line in str(error).splitlines() if line.strip()), "")
        return "error", f"{type(error).__name__}: {first.strip()}"[:MESSAGE_LENGTH]
    return "pass", ""
