#!/usr/bin/env python3
"""Evaluates Core ML's packages for the library that stands in for Core ML (recording_coreml.cc), which asks over the standard streams.

evaluate.py numpy         what is in the package, by this folder's own reader and operators
evaluate.py coremltools   coremltools reads the package and refuses what is wrong with it; operators are its own where it can compute
                          them, and are then held against this folder's too

Requests are lines: `load ID PATH`, `release ID`, `predict ID INPUTS OUTPUTS`, which one line for each array follows
(`NAME TYPE SIZES...`) with the bytes of inputs behind theirs. Answers are `ok`, with the bytes of results behind it, or `error MESSAGE`.
"""

import sys

import mil_numpy
import mil_reader
import numpy as np


def computed(operation, values):
    """The results of an operator of what mil_reader gives, held to the types and sizes that the program says."""
    if operation.type == "const":
        return [np.asarray(operation.value) if not isinstance(operation.value, str) else operation.value]
    arguments = {k: [values[n] for n in v] if k == "values" else values[v[0]] for k, v in operation.inputs.items()}
    result = mil_numpy.OPERATORS[operation.type](**arguments)
    results = result if isinstance(result, list) else [result]
    for value, expected in zip(results, operation.outputs, strict=True):
        if value.shape != expected.shape or value.dtype != expected.dtype:
            raise ValueError(
                f"{operation.type} gives {value.dtype}{list(value.shape)}, the program says {expected.dtype}{list(expected.shape)}"
            )
    return results


def last_uses(operations, kept):
    """By operation: the values that nothing after it takes."""
    last = {}
    for i, (taken, _) in enumerate(operations):
        last.update(dict.fromkeys(taken, i))
    return [[n for n in set(taken) if last[n] == i and n not in kept] for i, (taken, _) in enumerate(operations)]


class NumpyModel:
    def __init__(self, package):
        self.program = mil_reader.read(package)
        for operation in self.program.operations:
            if operation.type != "const" and operation.type not in mil_numpy.OPERATORS:
                raise ValueError(f"there is no operator {operation.type}")
        taken = [([n for names in o.inputs.values() for n in names], o) for o in self.program.operations]
        self.done = last_uses(taken, set(self.program.outputs))

    def predict(self, feeds):
        values = dict(feeds)
        for value in self.program.inputs:
            if feeds[value.name].shape != value.shape or feeds[value.name].dtype != value.dtype:
                raise ValueError(f"input {value.name} is {feeds[value.name].dtype}{list(feeds[value.name].shape)}")
        for operation, done in zip(self.program.operations, self.done):
            for value, result in zip(operation.outputs, computed(operation, values), strict=True):
                values[value.name] = result
            for name in done:
                del values[name]
        return values


def model_of(kind, package):
    if kind == "coremltools":
        from coremltools_model import CoremltoolsModel

        return CoremltoolsModel(package)
    return NumpyModel(package)


def main():
    kind, stream, answers = sys.argv[1], sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    models = {}

    def line():
        return stream.readline().decode().split()

    def predict(number, inputs, outputs):
        feeds = {}
        for _ in range(int(inputs)):
            name, dtype, *sizes = line()
            shape = tuple(map(int, sizes))
            feeds[name] = np.frombuffer(stream.read(4 * int(np.prod(shape, dtype=np.int64))), dtype).reshape(shape)
        wanted = [line() for _ in range(int(outputs))]
        values = models[number].predict(feeds)
        found = []
        for name, dtype, *sizes in wanted:
            value = np.asarray(values[name])
            if value.dtype != np.dtype(dtype) or value.shape != tuple(map(int, sizes)):
                raise ValueError(f"{name} is {value.dtype}{list(value.shape)}, asked for as {dtype}[{' '.join(sizes)}]")
            found.append(np.ascontiguousarray(value).tobytes())
        return b"".join(found)

    while words := line():
        answer = b""
        try:
            if words[0] == "load":
                models[words[1]] = model_of(kind, " ".join(words[2:]))
            elif words[0] == "release":
                models.pop(words[1], None)
            else:
                answer = predict(*words[1:])
        except BaseException as error:  # noqa: BLE001 - the one who asks is told
            text = " ".join(f"{type(error).__name__}: {error}".split())
            answers.write(f"error {text[:2000]}\n".encode())
        else:
            answers.write(b"ok\n" + answer)
        answers.flush()


if __name__ == "__main__":
    main()
