"""What the tables of nodes over axes of 0, 1 and 2 elements are written in."""

import numpy as np
import onnx
from onnx import helper, numpy_helper

ENDS = (0, 1, 2)
MICROSOFT = "com.microsoft"


class Cell:
    """One node: inputs by position (None: left out), attributes, the number of its outputs. Inputs listed in `constant` are in the model,
    all others are given to the run, and no size of theirs is known before."""

    def __init__(self, op, inputs, outputs=1, opset=18, domain="", constant=(), **attributes):
        self.op, self.outputs, self.opset, self.domain, self.constant = op, outputs, opset, domain, constant
        self.inputs = [None if x is None else np.asarray(x) for x in inputs]
        self.attributes = {name: value for name, value in attributes.items() if value is not None}

    def text(self) -> str:
        inputs = ", ".join(
            "none" if x is None else f"{x.dtype}{list(x.shape)}" + (str(x.tolist()) if x.dtype.kind == "i" and x.size < 9 else "")
            for x in self.inputs
        )
        constant = f" constant {list(self.constant)}" if self.constant else ""
        return f"{self.op}-{self.opset}({inputs}){constant} {self.attributes}"

    def model(self, fixed=False) -> onnx.ModelProto:
        """`fixed`: the inputs have their sizes instead of names for them."""
        ports, constants, names = [], [], []
        for i, x in enumerate(self.inputs):
            names.append("" if x is None else f"x{i}")
            if x is None:
                continue
            if i in self.constant:
                constants.append(numpy_helper.from_array(x, names[i]))
            else:
                shape = x.shape if fixed else [f"x{i}_{axis}" for axis in range(x.ndim)]
                ports.append(helper.make_tensor_value_info(names[i], helper.np_dtype_to_tensor_dtype(x.dtype), shape))
        results = [f"y{i}" for i in range(self.outputs)]
        node = helper.make_node(self.op, names, results, domain=self.domain, **self.attributes)
        graph = helper.make_graph([node], "cell", ports, [onnx.ValueInfoProto(name=name) for name in results], constants)
        imports = [helper.make_opsetid("", self.opset)] + ([helper.make_opsetid(self.domain, 1)] if self.domain else [])
        return helper.make_model(graph, opset_imports=imports, ir_version=8)

    def feeds(self) -> dict:
        return {f"x{i}": x for i, x in enumerate(self.inputs) if x is not None and i not in self.constant}


def values(*shape, dtype=np.float32):
    """Quarters from 0.25 on, every third of them negative; whole numbers in integer types, none negative in unsigned ones."""
    count = int(np.prod(shape, dtype=np.int64))
    numbers = np.arange(1, count + 1, dtype=np.float64)
    if np.dtype(dtype).kind != "u":
        numbers[1::3] *= -1
    if np.dtype(dtype).kind == "f":
        numbers /= 4
    return numbers.reshape(shape).astype(dtype)


def whole(*numbers):
    return np.array(numbers, np.int64)
