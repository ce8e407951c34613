"""ONNX models of one or a few nodes, as bytes, without the onnx package."""

import struct

import numpy as np

#: TensorProto.DataType of numpy's types.
TYPES = {
    "float32": 1,
    "uint8": 2,
    "int8": 3,
    "int32": 6,
    "int64": 7,
    "bool": 9,
    "float16": 10,
    "float64": 11,
}


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, data: bytes | str) -> bytes:
    data = data.encode() if isinstance(data, str) else data
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def tensor(name: str, array: np.ndarray) -> bytes:
    dims = b"".join(_number(1, d) for d in array.shape)
    return dims + _number(2, TYPES[array.dtype.name]) + _bytes(8, name) + _bytes(9, np.ascontiguousarray(array).tobytes())


def _attribute(name: str, value) -> bytes:
    head = _bytes(1, name)
    if isinstance(value, float):
        return head + _varint(2 << 3 | 5) + struct.pack("<f", value) + _number(20, 1)
    if isinstance(value, int):
        return head + _number(3, value) + _number(20, 2)
    if isinstance(value, str):
        return head + _bytes(4, value) + _number(20, 3)
    if all(isinstance(v, int) for v in value):
        return head + b"".join(_number(8, v) for v in value) + _number(20, 7)
    raise TypeError(f"attribute {name} is of type {type(value).__name__}")


def node(op_type: str, inputs, outputs, name: str = "", **attributes) -> bytes:
    """Left-out inputs are empty names."""
    parts = [_bytes(1, i) for i in inputs] + [_bytes(2, o) for o in outputs] + [_bytes(3, name), _bytes(4, op_type)]
    return b"".join(parts + [_bytes(5, _attribute(k, v)) for k, v in attributes.items()])


def _value_info(name: str, dtype: str, shape) -> bytes:
    dims = b"" if shape is None else _bytes(2, b"".join(_bytes(1, _number(1, d)) for d in shape))
    return _bytes(1, name) + _bytes(2, _bytes(1, _number(1, TYPES[dtype]) + dims))


def model(nodes, inputs, outputs, initializers=(), opset: int = 21) -> bytes:
    """``inputs`` and ``outputs``: (name, dtype, shape or None); ``initializers``: (name, array)."""
    graph = b"".join(_bytes(1, n) for n in nodes) + _bytes(2, "check")
    graph += b"".join(_bytes(5, tensor(name, array)) for name, array in initializers)
    graph += b"".join(_bytes(11, _value_info(*i)) for i in inputs) + b"".join(_bytes(12, _value_info(*o)) for o in outputs)
    return _number(1, 10) + _bytes(7, graph) + _bytes(8, _bytes(1, "") + _number(2, opset))
