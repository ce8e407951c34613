"""What pattern families are written in: a small graph around one form that passes look for, with random departures from it."""

import random

import numpy as np
import onnx
from backend_cases.cases import walk
from onnx import TensorProto, helper, numpy_helper

FLOATS = {TensorProto.FLOAT: np.float32, TensorProto.FLOAT16: np.float16, TensorProto.DOUBLE: np.float64}
OFF = [1e-6, 3e-5, 1e-4, 1e-3, 1e-2, 0.3]  # by which share a constant is not the one that is meant
SPECIALS = [np.nan, np.inf, -np.inf, 0, 1e-6, -1e4, 1e4, 8, -8]
RUNS = 2  # of one session, with other sizes and values each


class Size:
    """A dimension: in each run the same, or a symbol's that the model leaves open."""

    def __init__(self, name: str, values: list[int], is_open: bool):
        self.name, self.values, self.is_open = name, values if is_open else values[:1] * RUNS, is_open


class Pattern:
    """A graph in the making. `extra`: results beside the one that is returned. `quantized`: results may be a step off; `bound`: by this
    share of the largest magnitude, or of `least`; `sums_move`: products are added up in another order, in which infinities would meet;
    `finite`: what is drawn is; `zeros_turn`: which zero Max gives of two is open, and so the infinity that a division by it gives."""

    def __init__(self, family: str, make, key: int):
        self.family, self.key, self.random, self.rng = family, key, random.Random(key), np.random.default_rng(key)
        self.number = self.random.choice([TensorProto.FLOAT] * 7 + [TensorProto.FLOAT16, TensorProto.FLOAT16, TensorProto.DOUBLE])
        self.opset = self.random.choice([7, 9, 11, 12, 13, 13, 17, 17, 18, 20, 21, 23])
        self.nodes, self.constants, self.inputs, self.feeds, self.extra, self.drawn = [], [], [], [{} for _ in range(RUNS)], [], set()
        self.quantized, self.bound, self.least, self.sums_move, self.finite, self.zeros_turn = False, 0, 1e-3, False, False, False
        self.outputs = [make(self), *self.extra]
        self.departures()
        self.keep_finite()

    def departures(self) -> None:
        """A value on the way is a result too, or somebody else takes it as well."""
        made = [name for node in self.nodes for name in node.output if name not in self.outputs]
        if made and self.maybe(0.12):
            self.outputs.append(self.random.choice(made))
        if made and self.maybe(0.08):
            self.outputs.append(self.node("Neg", [self.random.choice(made)]))

    @property
    def dtype(self):
        return FLOATS[self.number]

    def maybe(self, share: float) -> bool:
        return self.random.random() < share

    def size(self, name: str, choices, open_share=0.35) -> Size:
        return Size(name, [self.random.choice(choices) for _ in range(RUNS)], self.maybe(open_share))

    def input(self, dims, values=None, number=None) -> str:
        """`values(shape)`: by default about normal, now and then with NaN, infinities and large numbers."""
        number = number or self.number
        name = f"x{len(self.inputs)}"
        sizes = [d.name if isinstance(d, Size) and d.is_open else d.values[0] if isinstance(d, Size) else d for d in dims]
        self.inputs.append(helper.make_tensor_value_info(name, number, sizes))
        self.drawn |= {name} if values in (None, self.bounded) else set()
        for run, feeds in enumerate(self.feeds):
            shape = [d.values[run] if isinstance(d, Size) else d for d in dims]
            made = (values or self.normal)(shape)
            feeds[name] = np.asarray(made, helper.tensor_dtype_to_np_dtype(number))
        return name

    def normal(self, shape):
        made = np.asarray(self.rng.standard_normal(shape) * self.random.choice([1, 1, 1, 4]))
        if made.size and self.maybe(0.05):
            flat = made.reshape(-1)
            for _ in range(self.random.randint(1, 3)):
                flat[self.random.randrange(flat.size)] = self.random.choice(SPECIALS)
        return made

    def keep_finite(self) -> None:
        """Of what no family chose."""
        for feeds in self.feeds if self.finite or self.sums_move else []:
            for name in self.drawn:
                kept = np.isfinite(feeds[name]) if self.finite else ~np.isinf(feeds[name])
                feeds[name] = np.where(kept, feeds[name], 1).astype(feeds[name].dtype)

    def bounded(self, shape):
        """Without infinities, which weights may meet that are near 0 or 0."""
        made = self.normal(shape)
        return np.where(np.isinf(made), 1, made)

    def constant(self, values, dtype=None) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array(values, dtype or self.dtype), name))
        return name

    def weights(self, *shape) -> str:
        return self.constant(self.rng.uniform(-1, 1, shape) / max(1.0, np.sqrt(np.prod(shape[1:]))))

    def ints(self, *values) -> str:
        return self.constant(values, np.int64)

    def scalar(self, value: float) -> str:
        """One number: now and then a little off, in one or two dimensions, or only known in a run."""
        if self.maybe(0.06):
            value = value * (1 + self.random.choice(OFF) * self.random.choice([-1, 1]))
        shape = self.random.choice([[], [], [], [1], [1, 1]])
        if self.maybe(0.03):
            return self.input(shape, lambda s: np.full(s, value))
        return self.constant(np.full(shape, value))

    def operand(self, dims, wider=0.02) -> str:
        """Numbers that broadcast to `dims`, constant where no size is open."""
        channels = [dims[min(1, len(dims) - 1)], *[1] * max(len(dims) - 2, 0)] if dims else []
        kept = self.random.choice([[], [1], dims[-1:], channels, list(dims), dims[1:], None, None])
        if kept is None:
            kept = [self.random.choice([1, d]) for d in dims[self.random.randint(0, len(dims)) :]]
        if self.maybe(wider):
            kept = [2, *([1] * (len(dims) - len(kept))), *kept]
        if any(isinstance(d, Size) and d.is_open for d in kept) or self.maybe(0.3):
            return self.input(kept)
        return self.constant(self.rng.uniform(0.5, 1.5, [d.values[0] if isinstance(d, Size) else d for d in kept]))

    def add(self, op: str, inputs, outputs: int, domain="", **attributes) -> list[str]:
        names = [f"v{sum(len(n.output) for n in self.nodes) + i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, f"n{len(self.nodes)}", domain=domain, **attributes))
        return names

    def node(self, op: str, inputs, **attributes) -> str:
        return self.add(op, inputs, 1, **attributes)[0]

    def either(self, op: str, a: str, b: str) -> str:
        """Of operators whose operands may change places."""
        return self.node(op, [a, b] if self.maybe(0.5) else [b, a])

    # Operators whose form depends on the opset.
    def with_axes(self, op: str, x: str, axes: list[int], since: int, **attributes) -> str:
        if self.opset >= since:
            return self.node(op, [x, self.ints(*axes)], **attributes)
        return self.node(op, [x], axes=axes, **attributes)

    def mean(self, x: str, axes: list[int], keepdims=1) -> str:
        return self.with_axes("ReduceMean", x, axes, 18, keepdims=keepdims)

    def squeeze(self, x: str, axes: list[int]) -> str:
        return self.with_axes("Squeeze", x, axes, 13)

    def unsqueeze(self, x: str, axes: list[int]) -> str:
        return self.with_axes("Unsqueeze", x, axes, 13)

    def split(self, x: str, sizes: list[int], axis: int) -> list[str]:
        if self.opset >= 13:
            return self.add("Split", [x, self.ints(*sizes)], len(sizes), axis=axis)
        return self.add("Split", [x], len(sizes), axis=axis, split=sizes)

    def slice(self, x: str, begin: int, end: int, axis: int, step=1) -> str:
        if self.opset >= 10:
            return self.node("Slice", [x, self.ints(begin), self.ints(end), self.ints(axis), self.ints(step)][: 5 if step != 1 else 4])
        return self.node("Slice", [x], starts=[begin], ends=[end], axes=[axis])

    def clip(self, x: str, low: float | None, high: float | None) -> str:
        """Clip, or Max and Min."""
        if self.opset >= 8 and self.maybe(0.3):
            for op, bound in self.random.sample([("Max", low), ("Min", high)], 2):
                x = x if bound is None else self.either(op, x, self.scalar(bound))
            return x
        if self.opset < 11:
            return self.node("Clip", [x], **{k: float(v) for k, v in (("min", low), ("max", high)) if v is not None})
        bounds = ["" if bound is None else self.constant(bound) for bound in (low, high)]
        return self.node("Clip", [x, *bounds[: 1 if high is None else 2]])

    def model(self, outputs=None) -> onnx.ModelProto:
        """Pruned to what the outputs need."""
        outputs = list(dict.fromkeys(outputs or self.outputs))
        needed, nodes = set(outputs), []
        for node in reversed(self.nodes):
            if needed & set(node.output):
                nodes.insert(0, node)
                needed |= {name for inner in walk([node]) for name in inner.input}
        results = [onnx.ValueInfoProto(name=name) for name in outputs]
        graph = helper.make_graph(nodes, self.family, [x for x in self.inputs if x.name in needed], results)
        graph.initializer.extend(c for c in self.constants if c.name in needed)
        imports = [helper.make_opsetid("", self.opset)] + [helper.make_opsetid("com.microsoft", 1)] * any(n.domain for n in nodes)
        return helper.make_model(graph, opset_imports=imports, ir_version=10)
