"""Cuts a case of one node down while it fails alike: fewer attributes, inputs and outputs, smaller dimensions, simpler values."""

import copy
import itertools

import numpy as np
import onnx
from judge import FAILING, verdict
from onnx import numpy_helper

MOST_TRIALS = 400
LISTED = 16  # elements that are tried one by one


class Small:
    """A case whose tensors are all inputs."""

    def __init__(self, case):
        self.model, self.op, self.domain, self.changes = copy.deepcopy(case.model), case.op, case.domain, list(case.changes)
        self.feeds, self.terms = dict(case.feeds), case.terms
        for tensor in self.model.graph.initializer:
            self.give(tensor.name, numpy_helper.to_array(tensor))
        del self.model.graph.initializer[:]

    def make(self):
        return self

    @property
    def node(self):
        return self.model.graph.node[0]

    def copied(self):
        other = copy.copy(self)
        other.model, other.feeds = copy.deepcopy(self.model), dict(self.feeds)
        return other

    def give(self, name: str, value) -> None:
        """A tensor with its shape declared; the shapes of outputs are left open."""
        self.feeds[name] = value
        port = next((p for p in self.model.graph.input if p.name == name), None)
        if port is None:
            port = self.model.graph.input.add(name=name)
            port.type.tensor_type.elem_type = onnx.helper.np_dtype_to_tensor_dtype(value.dtype)
        port.type.tensor_type.ClearField("shape")
        port.type.tensor_type.shape.SetInParent()
        for size in value.shape:
            port.type.tensor_type.shape.dim.add().dim_value = size
        for output in self.model.graph.output:
            if output.type.HasField("tensor_type"):
                output.type.tensor_type.ClearField("shape")

    def arrays(self) -> dict[str, np.ndarray]:
        return {name: value for name, value in self.feeds.items() if isinstance(value, np.ndarray)}

    def frozen(self):
        """The model with its inputs as constants: one text that says everything."""
        model = copy.deepcopy(self.model)
        kept = []
        for port in model.graph.input:
            if isinstance(self.feeds.get(port.name), np.ndarray):
                model.graph.initializer.append(numpy_helper.from_array(self.feeds[port.name], port.name))
            else:
                kept.append(port)
        del model.graph.input[:]
        model.graph.input.extend(kept)
        return model


def without_attributes(case):
    for i in range(len(case.node.attribute)):
        small = case.copied()
        del small.node.attribute[i]
        yield small


def without_ports(case):
    """Optional inputs and outputs left out, the last first."""
    for i in reversed(range(1, len(case.node.input))):
        if not (name := case.node.input[i]):
            continue
        small = case.copied()
        small.node.input[i] = ""
        while small.node.input and not small.node.input[-1]:
            small.node.input.pop()
        if name not in small.node.input:
            small.feeds.pop(name, None)
            ports = [p for p in small.model.graph.input if p.name != name]
            del small.model.graph.input[:]
            small.model.graph.input.extend(ports)
        yield small
    if len(case.node.output) > 1:
        small = case.copied()
        gone = small.node.output.pop()
        ports = [p for p in small.model.graph.output if p.name != gone]
        del small.model.graph.output[:]
        small.model.graph.output.extend(ports)
        yield small


def with_smaller_sizes(case):
    """One size becomes smaller in all tensors, or a dimension of one tensor alone loses its end or its beginning."""
    arrays = case.arrays()
    sizes = sorted({d for a in arrays.values() for d in a.shape if d > 1}, reverse=True)
    for old in sizes:
        for new in sorted({1, 2, old // 2, old - 1} - {old}):
            small = case.copied()
            for name, value in arrays.items():
                small.give(name, value[tuple(slice(new) if d == old else slice(None) for d in value.shape)])
            yield small
    for name, value in arrays.items():
        for axis, old in enumerate(value.shape):
            for new in sorted({1, old // 2, old - 1} - {old, 0}) if old > 1 else []:
                for kept in (range(new), range(old - new, old)):
                    small = case.copied()
                    small.give(name, np.take(value, kept, axis))
                    yield small


def with_simpler_values(case):
    """All zeros, all ones, whole numbers, zeros in one half, one element zero."""
    for name, value in case.arrays().items():
        if value.dtype.kind in "OUSc" or not value.size:
            continue
        simpler = [np.zeros_like(value), np.ones_like(value)]
        if value.dtype.kind == "f":
            simpler += [np.nan_to_num(value, posinf=1, neginf=-1).astype(value.dtype), np.rint(value)]
        flat = value.reshape(-1)
        parts = [slice(0, flat.size // 2), slice(flat.size // 2, flat.size)] if flat.size > 1 else []
        for part in [*parts, *(slice(i, i + 1) for i in range(flat.size if flat.size <= LISTED else 0))]:
            cut = flat.copy()
            cut[part] = 0
            simpler.append(cut.reshape(value.shape))
        if np.array_equal(value, simpler[0]):
            continue
        for new in simpler[:1] if np.array_equal(value, simpler[1]) else simpler:
            if new.tobytes() != value.tobytes():
                small = case.copied()
                small.feeds[name] = new
                yield small


STEPS = [without_attributes, without_ports, with_smaller_sizes, with_simpler_values]


def minimised(case, runtime) -> Small:
    """The smallest case found that fails as this one does."""
    status = verdict(runtime, case)[0]
    best, trials = Small(case), itertools.count()
    if verdict(runtime, best)[0] != status:  # only constants show it
        return case
    changed = True
    while changed:
        changed = False
        for step in STEPS:
            shrunk = True
            while shrunk:
                shrunk = False
                for small in step(best):
                    if next(trials) >= MOST_TRIALS:
                        return best
                    if verdict(runtime, small)[0] == status:
                        best, shrunk, changed = small, True, True
                        break
    return best


def text_of(case) -> str:
    return onnx.printer.to_text(case.frozen() if isinstance(case, Small) else case.model)


def minimise(runtime, case) -> tuple[str, str]:
    """What the pool runs: the text of the smallest case and how it fails."""
    best = minimised(case.make(), runtime)
    status, message = verdict(runtime, best)
    return ("minimised" if status in FAILING else "changed"), f"{message}\n{text_of(best)}"
