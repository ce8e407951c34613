"""Variants of the official node cases: other types, sizes, values, axes, opsets, and inputs that are constants."""

import copy
import random

import numpy as np
import onnx
from backend_cases.cases import to_value
from onnx import AttributeProto, TensorProto, numpy_helper
from terms import Terms
from values import array, is_floating, numpy_type, with_specials

MOST_ELEMENTS = 1 << 16
LEFT_OUT = ("complex", "float6")  # types without a place in the C ABI's tensors
SIZES = [0, 1, 1, 2, 3, 5, 7, 16, 17, 33]
NUMBER = {f"tensor({name.lower()})": number for name, number in TensorProto.DataType.items()} | {"tensor(float)": TensorProto.FLOAT}


class Variant:
    """A model of one node and its inputs, changed in one to three ways. `changes` says how."""

    terms = Terms()

    def __init__(self, case, seed: int):
        self.random, self.rng = random.Random(seed), np.random.default_rng(seed)
        self.model, self.changes = copy.deepcopy(case.model), [case.key]
        inputs = case.data()[0][0]
        self.feeds = dict(zip(case.input_names(len(inputs)), map(to_value, inputs)))
        self.node = self.model.graph.node[0]
        self.op, self.domain = self.node.op_type, self.node.domain
        ways = [
            self.retype,
            self.retype,
            self.resize,
            self.resize,
            self.special,
            self.negate_axes,
            self.drop_attribute,
            self.older,
            self.freeze,
        ]
        chosen = self.random.sample(ways, self.random.choice([1, 2, 2, 3]))
        for way in sorted(chosen, key=lambda way: way == self.freeze):  # constants keep their size
            way()

    def make(self):
        return self

    def arrays(self) -> list[str]:
        return [name for name, value in self.feeds.items() if isinstance(value, np.ndarray)]

    def port(self, name: str):
        return next(p for p in self.model.graph.input if p.name == name)

    def forget_output_shapes(self) -> None:
        for port in self.model.graph.output:
            if port.type.HasField("tensor_type"):
                port.type.tensor_type.ClearField("shape")

    def schema(self):
        opset = next((o.version for o in self.model.opset_import if o.domain == self.node.domain), None)
        try:
            return onnx.defs.get_schema(self.node.op_type, opset, self.node.domain)
        except (onnx.defs.SchemaError, TypeError):
            return None

    def retype(self) -> None:
        """One type variable of the operator takes another of its types, on all inputs and outputs that share it."""
        schema = self.schema()
        constraints = [c for c in schema.type_constraints if len(c.allowed_type_strs) > 1] if schema else []
        if not constraints:
            return
        constraint = self.random.choice(constraints)
        names = [name for name in sorted(constraint.allowed_type_strs) if name in NUMBER and not any(word in name for word in LEFT_OUT)]
        if not names:
            return
        number = NUMBER[self.random.choice(names)]

        def bound(formals, names):
            for i, name in enumerate(names):
                if name and formals[min(i, len(formals) - 1)].type_str == constraint.type_param_str:
                    yield name

        for name in bound(schema.inputs, self.node.input):
            if not isinstance(self.feeds.get(name), np.ndarray):
                return
            self.feeds[name] = self.converted(self.feeds[name], number)
            self.port(name).type.tensor_type.elem_type = number
        outputs = set(bound(schema.outputs, self.node.output))
        for port in self.model.graph.output:
            if port.name in outputs and port.type.HasField("tensor_type"):
                port.type.tensor_type.elem_type = number
        self.changes.append(f"{constraint.type_param_str} {TensorProto.DataType.Name(number)}")

    def converted(self, old: np.ndarray, number: int) -> np.ndarray:
        dtype = numpy_type(number)
        if old.dtype.kind in "OUSTcb" or number == TensorProto.STRING or dtype.kind in "cb":
            return array(number, old.shape, self.rng)
        with np.errstate(all="ignore"):
            wide = old.astype(np.float64)
            if not is_floating(dtype) and is_floating(old.dtype) and wide.size and np.abs(wide).max() <= 1:
                wide = np.round(wide * 4)
            if dtype.kind == "u" or dtype.name.startswith("uint"):
                wide = np.abs(wide)
            return wide.astype(dtype)

    def resize(self) -> None:
        """Every dimension of one size takes another, in all inputs; values are drawn from those there were."""
        sizes = sorted({d for name in self.arrays() for d in self.feeds[name].shape if d > 1})
        if not sizes:
            return
        old, new = self.random.choice(sizes), self.random.choice(SIZES)
        for name in self.arrays():
            value = self.feeds[name]
            shape = [new if d == old else d for d in value.shape]
            if tuple(shape) == value.shape:
                continue
            if not value.size or np.prod(shape, dtype=np.float64) > MOST_ELEMENTS:
                return
            self.feeds[name] = self.rng.choice(value.reshape(-1), shape)
            tensor = self.port(name).type.tensor_type
            tensor.ClearField("shape")
            for d in shape:
                tensor.shape.dim.add().dim_value = d
        self.forget_output_shapes()
        self.changes.append(f"size {old} to {new}")

    def special(self) -> None:
        names = [
            name for name in self.arrays() if self.feeds[name].size and is_floating(self.feeds[name].dtype) and "zero_point" not in name
        ]
        if names:
            name = self.random.choice(names)
            self.feeds[name] = with_specials(self.feeds[name], self.rng)
            self.changes.append(f"special values in {name}")

    def negate_axes(self) -> None:
        """Axes counted from the other end."""
        arrays = [self.feeds[n] for n in self.node.input if isinstance(self.feeds.get(n), np.ndarray)]
        rank = arrays[0].ndim if arrays else 0
        for attribute in self.node.attribute:
            if attribute.name == "axis" and 0 < rank:
                attribute.i += rank if attribute.i < 0 else -rank
            elif attribute.name == "axes" and attribute.type == AttributeProto.INTS:
                axes = [a + rank if a < 0 else a - rank for a in attribute.ints]
                del attribute.ints[:]
                attribute.ints.extend(axes)
            else:
                continue
            self.changes.append(f"{attribute.name} from the other end")

    def drop_attribute(self) -> None:
        if self.node.attribute:
            attribute = self.random.choice(self.node.attribute)
            self.changes.append(f"without {attribute.name}")
            self.node.attribute.remove(attribute)
            self.forget_output_shapes()

    def older(self) -> None:
        """Another opset whose definition of the operator is an older or newer one."""
        if self.node.domain:
            return
        versions = {s.since_version for s in onnx.defs.get_all_schemas_with_history() if s.name == self.op and not s.domain}
        version = max(self.random.choice(sorted(versions)), 7)
        for opset in self.model.opset_import:
            if opset.domain == "":
                opset.version = version
        self.changes.append(f"opset {version}")

    def freeze(self) -> None:
        """Some inputs become constants of the model, which kernels prepare for and passes fold."""
        for name in self.random.sample(self.arrays(), self.random.randint(0, len(self.arrays()))):
            tensor = numpy_helper.from_array(self.feeds.pop(name), name)
            self.model.graph.initializer.append(tensor)
            self.model.graph.input.remove(self.port(name))
            self.changes.append(f"{name} constant")


def suits(case) -> bool:
    """One deterministic node, small inputs."""
    return (
        len(case.model.graph.node) == 1
        and not case.model.functions
        and not case.key.endswith("_expanded")
        and not {"RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Multinomial", "Bernoulli", "Dropout"}
        & set(case.ops)
        and sum(v.size for v in map(to_value, case.data()[0][0]) if isinstance(v, np.ndarray)) <= MOST_ELEMENTS
    )


def as_text(case) -> str:
    """The model and its inputs."""
    lines = [onnx.printer.to_text(case.model)]
    with np.printoptions(threshold=64, edgeitems=8):
        for name, value in case.feeds.items():
            what = f"{value.dtype}{list(value.shape)} " if isinstance(value, np.ndarray) else ""
            lines.append(f"{name} = {what}{value}")
    return "\n".join(lines)
