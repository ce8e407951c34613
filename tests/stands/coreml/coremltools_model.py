"""A package in coremltools: its loader checks operators, arguments and types; its operators compute values where they can.

What mil_numpy computes too is held against those. Where coremltools has no numbers of its own, mil_numpy's count."""

import logging
import pathlib

import mil_numpy
import numpy as np

logging.disable(logging.CRITICAL)  # of the parts of coremltools that are Apple's alone

from coremltools.converters.mil import Builder as mb  # noqa: E402
from coremltools.converters.mil.frontend.milproto import load as milproto  # noqa: E402
from coremltools.converters.mil.mil import Function, Operation  # noqa: E402
from coremltools.proto import Model_pb2  # noqa: E402

COMPARED = 1 << 16  # elements up to which both compute an operator


def loaded(package):
    data = pathlib.Path(package) / "Data" / "com.apple.CoreML"
    spec = Model_pb2.Model()
    spec.ParseFromString((data / "model.mlmodel").read_bytes())
    return spec, milproto.load(spec, spec.specificationVersion, str(data / "weights"))


def names_of(value):
    return [name for v in value for name in names_of(v)] if isinstance(value, (list, tuple)) else [value.name]


#: coremltools 9.0 leaves the mode of one out of account, and ends in an error of its own for exclusive sums in the other.
WRONG = {"scatter_along_axis", "cumsum"}


def has_numbers(operation):
    return type(operation).value_inference is not Operation.value_inference and operation.op_type not in WRONG


def plain(argument):
    """As mil_numpy takes it."""
    return (
        argument if isinstance(argument, str) else [np.asarray(v) for v in argument] if isinstance(argument, list) else np.asarray(argument)
    )


def difference(own, other):
    a, b = np.asarray(own), np.asarray(other)
    if a.shape != b.shape:
        return f"{a.shape} and {b.shape}"
    bound = 2e-3 if a.dtype == np.float16 else 1e-4
    close = np.isclose(a.astype("f8"), b.astype("f8"), rtol=bound, atol=bound, equal_nan=True)
    return None if close.all() else f"{a[~close].flat[0]} and {b[~close].flat[0]}"


class CoremltoolsModel:
    def __init__(self, package):
        _, program = loaded(package)
        self.function = program.functions["main"]
        self.operations = [o for o in self.function.operations if o.op_type != "const"]
        self.constants = {o.outputs[0].name: o.outputs[0].val for o in self.function.operations if o.op_type == "const"}
        lacking = sorted({o.op_type for o in self.operations if not has_numbers(o) and o.op_type not in mil_numpy.OPERATORS})
        if lacking:
            raise NotImplementedError(f"neither coremltools nor mil_numpy computes {lacking}")

    def results(self, operation, values):
        def get(value):
            return [get(v) for v in value] if isinstance(value, (list, tuple)) else values[value.name]

        arguments = {k: get(v) for k, v in operation.inputs.items() if v is not None}
        if not has_numbers(operation):
            return self.own(operation, arguments)
        made = getattr(mb, operation.op_type)(**arguments, name=operation.name + "_again")
        results = [v.val for v in (made if isinstance(made, (list, tuple)) else [made])]
        if any(r is None for r in results):
            return self.own(operation, arguments)
        if operation.op_type in mil_numpy.OPERATORS and sum(np.size(r) for r in results) <= COMPARED:
            for a, b in zip(self.own(operation, arguments), results, strict=True):
                if found := difference(a, b):
                    raise AssertionError(f"{operation.op_type} of {operation.name}: mil_numpy and coremltools differ, {found}")
        return results

    def own(self, operation, arguments):
        named = {k: plain(v) for k, v in arguments.items()}
        result = mil_numpy.OPERATORS[operation.op_type](**named)
        return result if isinstance(result, list) else [result]

    def predict(self, feeds):
        values = {**self.constants, **feeds}
        last = {}
        for operation in self.operations:
            last.update(dict.fromkeys((n for v in operation.inputs.values() if v is not None for n in names_of(v)), operation))
        kept = {v.name for v in self.function.outputs}
        with Function({}):
            for operation in self.operations:
                for value, result in zip(operation.outputs, self.results(operation, values), strict=True):
                    expected = tuple(value.shape) if value.shape else ()
                    if np.shape(result) != expected:
                        raise AssertionError(f"{operation.op_type} gives {np.shape(result)}, the program says {expected}")
                    values[value.name] = result
                for name in [n for n, o in last.items() if o is operation and n not in kept and n not in self.constants]:
                    values.pop(name, None)
        return values
