"""Reads a Core ML package as Apple documents it: Manifest.json, the model's protobuf by its field numbers, and the file of weights.

Independent of src/providers/coreml, which writes such packages. What is not as the format has it is an error.
"""

import dataclasses
import json
import pathlib
import struct

import numpy as np

#: MIL's numbers of types, and those of the weights' file.
TYPES = {1: np.dtype(bool), 2: "string", 10: np.dtype("f2"), 11: np.dtype("f4"), 23: np.dtype("i4")}
BLOB_TYPES = {1: np.dtype("f2"), 2: np.dtype("f4")}
ARRAY_TYPES = {65568: np.dtype("f4"), 131104: np.dtype("i4")}
BLOB_MARK, BLOB_VERSION = 0xDEADBEEF, 2


class FormatError(Exception):
    pass


@dataclasses.dataclass
class Named:
    name: str
    dtype: object
    shape: tuple


@dataclasses.dataclass
class Operation:
    type: str
    inputs: dict  # argument: names of values
    outputs: list
    value: object = None  # of a const


@dataclasses.dataclass
class Program:
    inputs: list
    outputs: list  # names
    operations: list
    features: tuple  # descriptions of inputs and outputs


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def fields(data, known):
    """(name, value) of each field of a message: a number, or bytes. `known`: names by field number."""
    at, end = 0, len(data)
    while at < end:
        tag, at = varint(data, at)
        number, wire = tag >> 3, tag & 7
        if number not in known:
            raise FormatError(f"field {number} where {sorted(known.values())} are known")
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 2:
            length, at = varint(data, at)
            value, at = data[at : at + length], at + length
        else:
            raise FormatError(f"wire type {wire} of field {number}")
        if at > end:
            raise FormatError(f"field {number} goes beyond its message")
        yield known[number], value


def only(data, known):
    found = dict(fields(data, known))
    return found


def entry(data):
    pair = only(data, {1: "key", 2: "value"})
    return bytes(pair["key"]).decode(), pair["value"]


def ints(data):
    values, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        values.append(value - (1 << 64) if value >> 63 else value)
    return values


def value_type(data):
    """(type, shape)."""
    dtype, rank, shape = None, 0, []
    for name, value in fields(only(data, {1: "tensor"})["tensor"], {1: "type", 2: "rank", 3: "dimension"}):
        if name == "type":
            dtype = TYPES[value]
        elif name == "rank":
            rank = value
        else:
            shape.append(only(only(value, {1: "constant"})["constant"], {1: "size"}).get("size", 0))
    if len(shape) != rank:
        raise FormatError(f"{len(shape)} sizes of a value of rank {rank}")
    return dtype, tuple(shape)


def named(data):
    found = only(data, {1: "name", 2: "type"})
    return Named(bytes(found["name"]).decode(), *value_type(found["type"]))


class Reader:
    def __init__(self, package):
        self.package = pathlib.Path(package)
        manifest = json.loads((self.package / "Manifest.json").read_text())
        items = manifest["itemInfoEntries"]
        self.data = self.package / "Data"
        for item in items.values():
            if not (self.data / item["path"]).exists():
                raise FormatError(f"the manifest names {item['path']}, which is not there")
        self.model = (self.data / items[manifest["rootModelIdentifier"]]["path"]).read_bytes()
        weights = [item["path"] for item in items.values() if item["name"] == "weights"]
        self.weights = np.fromfile(self.data / weights[0] / "weight.bin", np.uint8) if weights else None

    def blob(self, data, dtype, shape):
        found = only(data, {1: "file", 2: "offset"})
        if bytes(found["file"]) != b"@model_path/weights/weight.bin":
            raise FormatError(f"weights in {found['file']}")
        at = found["offset"]
        mark, kind, size, offset = struct.unpack("<IIQQ", self.weights[at : at + 24].tobytes())
        if mark != BLOB_MARK or BLOB_TYPES.get(kind) != dtype or offset % 64:
            raise FormatError(f"weights at {at}: mark {mark:#x}, type {kind}, offset {offset}")
        if size != dtype.itemsize * int(np.prod(shape, dtype=np.int64)) or offset + size > len(self.weights):
            raise FormatError(f"weights at {at}: {size} bytes of {shape}")
        return self.weights[offset : offset + size].view(dtype).reshape(shape)

    def immediate(self, data, dtype, shape):
        tensor = only(only(data, {1: "tensor"})["tensor"], {1: "floats", 2: "ints", 3: "bools", 4: "strings", 7: "bytes"})
        [(kind, repeated)] = tensor.items()
        raw = b"".join(value for _, value in fields(repeated, {1: "values"}))
        if kind == "strings":
            return bytes(raw).decode()
        expected = {"floats": "f4", "ints": "i4", "bools": "?", "bytes": "f2"}[kind]
        if np.dtype(expected) != dtype:
            raise FormatError(f"{kind} for a constant of {dtype}")
        values = np.array(ints(raw), expected) if kind in ("ints", "bools") else np.frombuffer(raw, expected)
        return values.reshape(shape)

    def constant(self, data):
        found = only(data, {2: "type", 3: "immediate", 5: "blob"})
        dtype, shape = value_type(found["type"])
        if "blob" in found:
            return self.blob(found["blob"], dtype, shape)
        return self.immediate(found["immediate"], dtype, shape)

    def operation(self, data):
        made = Operation("", {}, [])
        attributes = {}
        for name, value in fields(data, {1: "type", 2: "input", 3: "output", 5: "attribute"}):
            if name == "type":
                made.type = bytes(value).decode()
            elif name == "input":
                key, argument = entry(value)
                bindings = [only(binding, {1: "name"})["name"] for _, binding in fields(argument, {1: "arguments"})]
                made.inputs[key] = [bytes(binding).decode() for binding in bindings]
            elif name == "output":
                made.outputs.append(named(value))
            else:
                key, attribute = entry(value)
                attributes[key] = self.constant(attribute)
        if attributes.pop("name", None) != made.outputs[0].name:
            raise FormatError(f"the name of {made.type} is not that of its first result")
        if (made.type == "const") != ("val" in attributes):
            raise FormatError(f"{made.type} with attributes {sorted(attributes)}")
        made.value = attributes.get("val")
        return made

    def function(self, data):
        inputs, block = [], None
        for name, value in fields(data, {1: "input", 2: "opset", 3: "block"}):
            if name == "input":
                inputs.append(named(value))
            elif name == "opset":
                if bytes(value) != b"CoreML5":
                    raise FormatError(f"opset {value}")
            else:
                key, block = entry(value)
                if key != "CoreML5":
                    raise FormatError(f"a block for {key}")
        outputs, operations = [], []
        for name, value in fields(block, {2: "output", 3: "operation"}):
            if name == "output":
                outputs.append(bytes(value).decode())
            else:
                operations.append(self.operation(value))
        return inputs, outputs, operations

    def features(self, data):
        found = {"input": [], "output": []}
        for kind, value in fields(data, {1: "input", 10: "output"}):
            feature = only(value, {1: "name", 3: "type"})
            array = only(only(feature["type"], {5: "array"})["array"], {1: "shape", 2: "type"})
            shape = tuple(ints(array["shape"]))
            found[kind].append(Named(bytes(feature["name"]).decode(), ARRAY_TYPES[array["type"]], shape))
        return found["input"], found["output"]

    def read(self):
        model = only(self.model, {1: "specification", 2: "description", 502: "program"})
        if model["specification"] != 6:
            raise FormatError(f"specification {model['specification']}")
        program = only(model["program"], {1: "version", 2: "functions"})
        name, function = entry(program["functions"])
        if program["version"] != 1 or name != "main":
            raise FormatError(f"version {program['version']}, function {name}")
        inputs, outputs, operations = self.function(function)
        made = Program(inputs, outputs, operations, self.features(model["description"]))
        check(made)
        return made


def check(program):
    """Each value is given once, before it is taken; what the description says of inputs and outputs is so."""
    inputs, outputs = program.features
    if inputs != program.inputs or [f.name for f in outputs] != program.outputs:
        raise FormatError("the description and the function have other inputs or outputs")
    known = {value.name: value for value in program.inputs}
    for operation in program.operations:
        for argument, names in operation.inputs.items():
            for name in names:
                if name not in known:
                    raise FormatError(f"{operation.type}: {argument} is {name}, which nothing before it gives")
        for value in operation.outputs:
            if value.name in known:
                raise FormatError(f"{value.name} is given twice")
            known[value.name] = value
    for feature in outputs:
        if known[feature.name] != feature:
            raise FormatError(f"{feature.name} is {known[feature.name]}, described as {feature}")


def read(package):
    return Reader(package).read()
