#!/usr/bin/env python3
"""Runs the official ONNX cases on MIGraphX's reference target by its C interface alone: what its parser takes, and what of that is right.

scripts/stand migraphx -- python tests/vendors/migraphx_alone.py [--filter REGEX] [--verbose]
"""

import argparse
import collections
import contextlib
import ctypes
import os
import sys

import numpy as np
import onnx
import vendor_runtime  # noqa: F401, I001
from backend_cases.cases import collect, to_value
from backend_cases.compare import Mismatch, compare
from backend_cases.workers import Pool

Pointer = ctypes.c_void_p


class Failed(Exception):
    pass


class MiGraphX:
    def __init__(self):
        self.library = ctypes.CDLL(os.environ["ROUNDHOUSE_MIGRAPHX_LIBRARY"])
        self.types = self.numbers()

    def call(self, name, *arguments):
        if getattr(self.library, "migraphx_" + name)(*arguments):
            raise Failed(name)

    def made(self, name, *arguments):
        made = Pointer()
        self.call(name, ctypes.byref(made), *arguments)
        return made

    def parse(self, model, shapes):
        options = self.made("onnx_options_create")
        for name, shape in shapes.items():
            if shape:
                lengths = (ctypes.c_size_t * len(shape))(*shape)
                self.call("onnx_options_set_input_parameter_shape", options, name.encode(), lengths, ctypes.c_size_t(len(shape)))
        data = model.SerializeToString()
        return self.made("parse_onnx_buffer", data, ctypes.c_size_t(len(data)), options)

    def numbers(self):
        """NumPy's types by MIGraphX's numbers."""
        helper = onnx.helper
        types = {}
        for dtype in ("bool", "f2", "f4", "f8", "u1", "i1", "u2", "i2", "i4", "i8", "u4", "u8"):
            kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
            x, y = (helper.make_tensor_value_info(n, kind, [1]) for n in "xy")
            graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "type", [x], [y])
            program = self.parse(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), {})
            types[self.layout(self.parameter(program, "x"))[0]] = np.dtype(dtype)
        return types

    def parameter(self, program, name):
        return self.made("program_parameter_shapes_get", self.made("program_get_parameter_shapes", program), name.encode())

    def parameter_names(self, program):
        shapes, count = self.made("program_get_parameter_shapes", program), ctypes.c_size_t()
        self.call("program_parameter_shapes_size", ctypes.byref(count), shapes)
        names = (ctypes.c_char_p * count.value)()
        self.call("program_parameter_shapes_names", names, shapes)
        return [name.decode() for name in names]

    def layout(self, shape):
        number, count, lengths = ctypes.c_int(), ctypes.c_size_t(), ctypes.POINTER(ctypes.c_size_t)()
        self.call("shape_type", ctypes.byref(number), shape)
        self.call("shape_lengths", ctypes.byref(lengths), ctypes.byref(count), shape)
        dims = [lengths[i] for i in range(count.value)]
        self.call("shape_strides", ctypes.byref(lengths), ctypes.byref(count), shape)
        return number.value, dims, [lengths[i] for i in range(count.value)]

    def run(self, program, feeds):
        parameters = self.made("program_parameters_create")
        for name in self.parameter_names(program):
            data = feeds[name].ctypes.data_as(Pointer)
            self.call(
                "program_parameters_add", parameters, name.encode(), self.made("argument_create", self.parameter(program, name), data)
            )
        results, count = self.made("program_run", program, parameters), ctypes.c_size_t()
        self.call("arguments_size", ctypes.byref(count), results)
        return [self.array(self.made("arguments_get", results, ctypes.c_size_t(i))) for i in range(count.value)]

    def array(self, argument):
        number, dims, strides = self.layout(self.made("argument_shape", argument))
        if number not in self.types:
            raise Failed("type")
        dtype = self.types[number]
        size = (1 + sum((d - 1) * s for d, s in zip(dims, strides))) * dtype.itemsize
        flat = np.frombuffer(ctypes.string_at(self.made("argument_buffer", argument), size), dtype)
        return np.lib.stride_tricks.as_strided(flat, dims, [s * dtype.itemsize for s in strides]).copy()

    def compiled(self, model, feeds):
        program = self.parse(model, {name: feed.shape for name, feed in feeds.items()})
        self.call("program_compile", program, self.made("target_create", b"ref"), self.made("compile_options_create"))
        return program


@contextlib.contextmanager
def quiet():
    """MIGraphX tells what it refuses on the standard error stream."""
    sys.stderr.flush()
    before, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)
    try:
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)
        os.close(nothing)


def verdict(vendor, case):
    for inputs, expected in case.data():
        feeds = {k: to_value(v) for k, v in zip(case.input_names(len(inputs)), inputs)}
        if not all(isinstance(feed, np.ndarray) for feed in feeds.values()):
            return "refused", "no tensor"
        feeds = {name: np.ascontiguousarray(feed) for name, feed in feeds.items()}
        try:
            with quiet():
                program = vendor.compiled(case.model, feeds)
                actual = vendor.run(program, feeds)
        except Failed as error:
            return "refused", str(error)
        try:
            if len(actual) != len(expected):
                raise Mismatch(f"{len(actual)} outputs")
            for i, (e, a) in enumerate(zip(map(to_value, expected), actual)):
                if isinstance(e, np.ndarray) and e.ndim == 0 and a.shape == (1,):
                    a = a.reshape(())  # it has no values of rank 0
                compare(e, a, case.rtol, case.atol, f"output {i}")
        except Mismatch as error:
            return "wrong", str(error)[:200]
    return "right", ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filter", help="regular expression over kind/name")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--verbose", "-v", action="store_true")
    args = parser.parse_args()
    results = Pool(collect(args.filter), MiGraphX, args.jobs, 60, run=verdict).run()
    if args.verbose:
        for key, (status, message) in results.items():
            print(f"{status:8}{key}  {message}")
    print(f"MIGraphX alone: {dict(collections.Counter(status for status, _ in results.values()))} of {len(results)} cases")


if __name__ == "__main__":
    main()
