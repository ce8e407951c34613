"""What the tables of generated operators are written in: a row for each operator, and the model that a row and a seed make."""

import functools
import json
import pathlib
import random
from types import SimpleNamespace

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from terms import Terms
from values import FLOATS, Sparse, array, with_specials
from variants import LEFT_OUT, NUMBER

OPSETS = [13, 17, 18, 21, 23]
MICROSOFT = "com.microsoft"
SIZES = [0, 1, 1, 2, 3, 4, 5, 8, 17, 33]
CONTRIB_SCHEMAS = pathlib.Path(__file__).resolve().parents[2] / "src/ops/contrib_schemas.json"


class Row:
    """An operator and the function that chooses its inputs and attributes. `low`, `high`: of the values; `types`: of the first input,
    where not all of the schema's are wanted; `first`: of the opsets, in domains other than the standard's."""

    def __init__(self, op: str, make, low=-4.0, high=4.0, domain="", types=None, first=1):
        self.op, self.make, self.low, self.high, self.domain, self.types, self.first = op, make, low, high, domain, types, first


@functools.cache
def contrib_schemas() -> dict:
    """The newest schema of each operator of com.microsoft, in the form of onnx.defs.OpSchema as far as it is used here."""
    port = lambda p: SimpleNamespace(name=p["name"], type_str=p["type"], option=p["option"])  # noqa: E731
    return {
        row["name"]: SimpleNamespace(
            inputs=[port(p) for p in row["inputs"]],
            outputs=[port(p) for p in row["outputs"]],
            type_constraints=[SimpleNamespace(type_param_str=name, allowed_type_strs=types) for name, types in row["types"].items()],
        )
        for row in sorted(json.loads(CONTRIB_SCHEMAS.read_text()), key=lambda row: row["since_version"])
    }


@functools.cache
def first_version(op: str, domain: str) -> int:
    return min(s.since_version for s in onnx.defs.get_all_schemas_with_history() if (s.name, s.domain) == (op, domain))


class Recipe:
    """A model of one node made by a row of the table."""

    def __init__(self, row: Row, seed: int):
        self.random, self.rng, self.row, self.op, self.domain = random.Random(seed), np.random.default_rng(seed), row, row.op, row.domain
        first = row.first if row.domain else first_version(row.op, "")
        self.opset = self.random.choice([opset for opset in OPSETS if opset >= first])
        self.imports, self.schema = self.definition()
        self.number = self.random.choice(self.types())
        self.inputs, self.attributes, self.outputs, self.output_types = [], {}, 1, {}
        self.terms = Terms()
        row.make(self)
        names = [f"x{i}" if value is not None else "" for i, value in enumerate(self.inputs)]
        self.feeds = {name: value for name, value in zip(names, self.inputs) if name}
        results = [f"y{i}" for i in range(self.outputs)] if isinstance(self.outputs, int) else self.outputs
        node = helper.make_node(row.op, names, results, row.op, domain=row.domain, **self.attributes)
        self.model = self.build(node)
        self.changes = [f"{row.op} {TensorProto.DataType.Name(self.number)} opset {self.opset}", *self.frozen]

    def make(self):
        return self

    def definition(self):
        """The opsets that the model imports, and the operator's schema."""
        imports = [helper.make_opsetid("", self.opset)]
        if self.row.domain == MICROSOFT:
            return [*imports, helper.make_opsetid(MICROSOFT, 1)], contrib_schemas()[self.row.op]
        if self.row.domain:
            first = first_version(self.row.op, self.row.domain)
            version = self.random.randint(first, 5) if self.row.domain == "ai.onnx.ml" else first
            schema = onnx.defs.get_schema(self.row.op, version, self.row.domain)
            if schema.deprecated:
                version = schema.since_version - 1
                schema = onnx.defs.get_schema(self.row.op, version, self.row.domain)
            return [*imports, helper.make_opsetid(self.row.domain, version)], schema
        return imports, onnx.defs.get_schema(self.row.op, self.opset, "")

    def types(self) -> list[int]:
        """The types of the operator's first input."""
        if self.row.types:
            return self.row.types
        constraint = next((c for c in self.schema.type_constraints if c.type_param_str == self.schema.inputs[0].type_str), None)
        names = constraint.allowed_type_strs if constraint else [self.schema.inputs[0].type_str]
        return sorted(NUMBER[name] for name in names if name in NUMBER and not any(word in name for word in LEFT_OUT))

    def build(self, node):
        self.frozen, ports, constants, shapes = [], [], [], {name: value.shape for name, value in self.feeds.items()}
        types = {name: helper.np_dtype_to_tensor_dtype(value.dtype) for name, value in self.feeds.items()}
        for name, value in list(self.feeds.items()):
            if isinstance(value, Sparse):  # of unknown shape: ONNX Runtime's inference does not look at what is transposed
                ports.append(helper.make_sparse_tensor_value_info(name, types[name], None))
            elif self.random.random() < 0.25 and name not in self.terms.buffers:
                constants.append(numpy_helper.from_array(value, name))
                self.frozen.append(f"{name} constant")
                del self.feeds[name]
            else:
                ports.append(helper.make_tensor_value_info(name, types[name], shapes[name]))
        graph = helper.make_graph([node], "generated", ports, [onnx.ValueInfoProto(name=name) for name in node.output if name], constants)
        model = helper.make_model(graph, opset_imports=self.imports, ir_version=10)
        inferred = {v.name: v for v in onnx.shape_inference.infer_shapes(model).graph.output}
        for port in model.graph.output:
            port.CopyFrom(inferred[port.name])
            if port.type.WhichOneof("value") is None or (port.type.HasField("tensor_type") and not port.type.tensor_type.elem_type):
                port.type.tensor_type.elem_type = self.output_type(node, port.name, types)
            if port.type.HasField("tensor_type"):
                port.type.tensor_type.ClearField("shape")
        return model

    def output_type(self, node, name: str, types: dict[str, int]) -> int:
        """What the row says, the type of an input that shares the variable, or the only one allowed."""
        index = list(node.output).index(name)
        if index in self.output_types:
            return self.output_types[index]
        variable = self.schema.outputs[min(index, len(self.schema.outputs) - 1)].type_str
        if variable in NUMBER:
            return NUMBER[variable]
        for given, formal in zip(node.input, self.schema.inputs):
            if given and formal.type_str == variable:
                return types[given]
        allowed = next(c.allowed_type_strs for c in self.schema.type_constraints if c.type_param_str == variable)
        return NUMBER[allowed[0]]

    # What the rows are written in.

    def size(self) -> int:
        return self.random.choice(SIZES)

    def shape(self, least=0, most=4) -> list[int]:
        shape = [self.size() for _ in range(self.random.randint(least, most))]
        while np.prod(shape, dtype=np.int64) > 20000:
            shape[int(np.argmax(shape))] = 2
        return shape

    def value(self, shape, number=None, low=None, high=None):
        values = array(
            self.number if number is None else number,
            shape,
            self.rng,
            self.row.low if low is None else low,
            self.row.high if high is None else high,
        )
        floating = (self.number if number is None else number) in FLOATS
        return with_specials(values, self.rng) if floating and values.size and low is None and self.random.random() < 0.15 else values

    def plain(self, shape, number=None, low=-2.0, high=2.0):
        """Values without NaN, infinities and extremes."""
        return self.value(shape, number, low, high)

    def whole(self, shape, low: int, high: int, number=TensorProto.INT64):
        """Integers in [low, high]."""
        return self.value(shape, number, low, high)

    def scalar(self, value, number=TensorProto.FLOAT):
        return np.array(value, dtype=helper.tensor_dtype_to_np_dtype(number))

    def chance(self, probability=0.5) -> bool:
        return self.random.random() < probability

    def few(self, most=5) -> int:
        """A size that is not 0."""
        return self.random.randint(1, most)

    def give(self, *values) -> None:
        self.inputs.extend(values)

    def integers(self, values):
        return np.array(values, dtype=np.int64)

    def axis(self, rank: int) -> int:
        return self.random.randint(-rank, rank - 1) if rank else 0

    def maybe(self, **attributes) -> None:
        """Each attribute by half a chance."""
        self.attributes.update({name: value for name, value in attributes.items() if self.random.random() < 0.5})

    def broadcast(self, count: int) -> list[list[int]]:
        full, shapes = self.shape(0, 4), []
        for _ in range(count):
            shape = [d if self.random.random() < 0.7 else 1 for d in full]
            shapes.append(shape[self.random.randint(0, len(shape)) if self.random.random() < 0.3 else 0 :])
        return shapes
