"""A cell of sweep_operators.py: a model of one operator and its inputs. The name says all of it, and the values follow from the name."""

import zlib

import numpy as np
import onnx
from onnx import helper, numpy_helper

OPSET = 22
WORDS = ["a", "of", "cell", "sweep", "", "operators", "a text of some more letters than fit into sixteen bytes"]
SHOWN = 8


class Fed:
    """An input of a run: values of a type and shape, drawn when they are needed."""

    def __init__(self, dtype, *shape, low=None, high=None):
        self.dtype, self.shape, self.low, self.high = np.dtype(object if dtype == "string" else dtype), shape, low, high

    def __str__(self):
        limits = "" if self.low is None else f" {self.low:g}..{self.high:g}"
        return f"{'string' if self.dtype == object else self.dtype}[{'x'.join(map(str, self.shape))}]{limits}"

    def values(self, rng):
        if self.dtype == object:
            return rng.choice(np.array(WORDS, object), self.shape)
        if self.dtype == bool:
            return rng.random(self.shape) < 0.5
        if self.dtype.kind == "f":
            return rng.uniform(-4 if self.low is None else self.low, 4 if self.high is None else self.high, self.shape).astype(self.dtype)
        low, high = -100 if self.low is None else self.low, 100 if self.high is None else self.high
        return rng.integers(max(low, np.iinfo(self.dtype).min), high, self.shape, endpoint=True).astype(self.dtype)


class Fixed(Fed):
    """A constant of the model, drawn as an input is."""

    def __str__(self):
        return f"constant {super().__str__()}"


class Of(Fixed):
    """A constant with these values."""

    def __init__(self, dtype, values):
        self.array = np.array(values, dtype)
        super().__init__(dtype, *self.array.shape)

    def __str__(self):
        shown = ",".join(f"{x:g}" for x in self.array.ravel()[:SHOWN].tolist())
        sizes = "x".join(map(str, self.shape))
        return f"{self.array.dtype}[{sizes}]={shown}" + ("..." if self.array.size > SHOWN else "")

    def values(self, _):
        return self.array


def whole(values):
    return Of("int64", values)


class Cell:
    """The operator on its inputs in turn; None is an input left out. An attribute of None is left out; `opset_` is an attribute `opset`."""

    def __init__(self, op, *inputs, domain="", opset=OPSET, outputs=1, **attributes):
        self.op, self.inputs, self.domain, self.opset, self.outputs = op, inputs, domain, opset, outputs
        self.attributes = {name.rstrip("_"): value for name, value in attributes.items() if value is not None}
        texts = ["-" if i is None else str(i) for i in inputs]
        self.name = " ".join(
            [op if not domain else f"{op} ({domain})", ", ".join(texts), *(f"{k}={v}" for k, v in self.attributes.items())]
        )

    def build(self):
        """The model's bytes, and what it is fed."""
        rng = np.random.default_rng(zlib.crc32(self.name.encode()))
        names = ["" if given is None else f"x{i}" for i, given in enumerate(self.inputs)]
        values = {name: given.values(rng) for name, given in zip(names, self.inputs, strict=True) if given is not None}
        constants = {name for name, given in zip(names, self.inputs, strict=True) if isinstance(given, Fixed)}
        results = [f"y{i}" for i in range(self.outputs)]
        node = helper.make_node(self.op, names, results, domain=self.domain, **self.attributes)
        feeds = {name: value for name, value in values.items() if name not in constants}
        ports = [helper.make_tensor_value_info(k, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for k, v in feeds.items()]
        initializers = [numpy_helper.from_array(values[name], name) for name in sorted(constants)]
        graph = helper.make_graph([node], "g", ports, [onnx.ValueInfoProto(name=r) for r in results], initializers)
        imports = [helper.make_opsetid("", self.opset), *([helper.make_opsetid(self.domain, 1)] if self.domain else [])]
        return helper.make_model(graph, opset_imports=imports, ir_version=10).SerializeToString(), feeds
