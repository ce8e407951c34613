"""Operator cases for check_provider: one row a case."""

from dataclasses import dataclass, field

import numpy as np


@dataclass
class Case:
    """One node; inputs that are arrays are given when it runs, those in ``constants`` stand in the model."""

    op: str
    label: str
    inputs: list  # arrays; None: left out
    outputs: list = field(default_factory=lambda: ["float32"])  # their types
    constants: tuple = ()  # numbers of inputs
    attributes: dict = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"operators/{self.op}" + (f"-{self.label}" if self.label else "")


_RNG_SEED = 1


def _floats(*shape, low=-2.0, high=2.0, seed=_RNG_SEED):
    return np.random.default_rng(seed + sum(shape)).uniform(low, high, shape).astype(np.float32)


def _ints(*values, dtype=np.int64):
    return np.array(values, dtype)


def _unary():
    x, positive = _floats(2, 3, 4), _floats(2, 3, 4, low=0.1)
    plain = "Abs Neg Relu Sigmoid Tanh Exp Erf Floor Ceil Sin Cos Softplus HardSwish Sign Round Identity Elu HardSigmoid Gelu"
    cases = [Case(op, "", [x]) for op in plain.split()]
    cases += [Case(op, "", [positive]) for op in ("Log", "Sqrt", "Reciprocal")]
    cases += [
        Case("LeakyRelu", "", [x], attributes={"alpha": 0.1}),
        Case("Clip", "", [x, np.float32(-1).reshape(()), np.float32(1).reshape(())], constants=(1, 2)),
        Case("Relu", "one-element", [_floats(1)]),
        Case("Relu", "large", [_floats(64, 1024)]),
        Case("Relu", "float16", [x.astype(np.float16)], ["float16"]),
        Case("Neg", "int64", [_ints(3, -4, 0)], ["int64"]),
        Case("Not", "", [np.array([True, False])], ["bool"]),
        Case("Cast", "to-int64", [x], ["int64"], attributes={"to": 7}),
        Case("Cast", "to-float16", [x], ["float16"], attributes={"to": 10}),
    ]
    return cases


def _binary():
    x, y, row = _floats(2, 3, 4), _floats(2, 3, 4, low=0.5, seed=7), _floats(4, low=0.5)
    cases = []
    for op in ("Add", "Sub", "Mul", "Div", "Min", "Max"):
        cases += [Case(op, "", [x, y]), Case(op, "broadcast", [x, row]), Case(op, "constant", [x, y], constants=(1,))]
    for op in ("Greater", "Less", "Equal"):
        cases.append(Case(op, "", [x, y], ["bool"]))
    return cases + [
        Case("Add", "int64", [_ints(1, 2, 3), _ints(4, 5, -6)], ["int64"]),
        Case("Add", "float16", [x.astype(np.float16), y.astype(np.float16)], ["float16"]),
        Case("Pow", "", [y, x]),
        Case("And", "", [np.array([True, False]), np.array([True, True])], ["bool"]),
        Case("Where", "", [x > 0, x, y]),
        Case("PRelu", "", [x, row]),
    ]


def _matrices():
    a, b = _floats(5, 7), _floats(7, 6, seed=3)
    return [
        Case("MatMul", "", [a, b]),
        Case("MatMul", "weights", [a, b], constants=(1,)),
        Case("MatMul", "batched", [_floats(2, 5, 7), _floats(2, 7, 6)]),
        Case("Gemm", "", [a, b, _floats(6)], constants=(1, 2)),
        Case("Gemm", "transposed", [a, b.T.copy(), _floats(6)], attributes={"transB": 1, "alpha": 0.5}),
        Case("Softmax", "", [_floats(3, 9)], attributes={"axis": -1}),
        Case("LogSoftmax", "", [_floats(3, 9)], attributes={"axis": -1}),
        Case("LayerNormalization", "", [_floats(3, 8), _floats(8), _floats(8, seed=4)], constants=(1, 2)),
    ]


def _convolutions():
    image, scale = _floats(1, 4, 9, 9), _floats(4, low=0.5)
    three = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    return [
        Case("Conv", "", [image, _floats(6, 4, 3, 3), _floats(6)], constants=(1, 2), attributes=three),
        Case("Conv", "pointwise", [image, _floats(8, 4, 1, 1)], constants=(1,)),
        Case("Conv", "strided", [image, _floats(6, 4, 3, 3)], constants=(1,), attributes={**three, "strides": [2, 2]}),
        Case("Conv", "depthwise", [image, _floats(4, 1, 3, 3)], constants=(1,), attributes={**three, "group": 4}),
        Case("ConvTranspose", "", [image, _floats(4, 3, 3, 3)], constants=(1,), attributes={"strides": [2, 2]}),
        Case("MaxPool", "", [image], attributes={"kernel_shape": [2, 2], "strides": [2, 2]}),
        Case("AveragePool", "", [image], attributes={"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}),
        Case("GlobalAveragePool", "", [image]),
        Case("BatchNormalization", "", [image, scale, scale, scale, scale], constants=(1, 2, 3, 4)),
        Case("InstanceNormalization", "", [image, scale, scale], constants=(1, 2)),
        Case(
            "Resize",
            "nearest",
            [image, None, np.array([1, 1, 2, 2], np.float32)],
            constants=(2,),
            attributes={"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
        ),
    ]


def _shapes():
    x = _floats(2, 3, 4)
    return [
        Case("Reshape", "", [x, _ints(4, 6)], constants=(1,)),
        Case("Transpose", "", [x], attributes={"perm": [2, 0, 1]}),
        Case("Concat", "", [x, x + 1], attributes={"axis": 1}),
        Case("Split", "", [x, _ints(1, 3)], ["float32", "float32"], constants=(1,), attributes={"axis": 2}),
        Case("Slice", "", [x, _ints(1), _ints(3), _ints(2)], constants=(1, 2, 3)),
        Case("Gather", "", [x, _ints(2, 0)], constants=(1,), attributes={"axis": 1}),
        Case("Unsqueeze", "", [x, _ints(0)], constants=(1,)),
        Case("Squeeze", "", [x[:, :1].copy(), _ints(1)], constants=(1,)),
        Case("Flatten", "", [x]),
        Case("Expand", "", [x[:, :1].copy(), _ints(2, 3, 4)], constants=(1,)),
        Case("Tile", "", [x, _ints(1, 2, 1)], constants=(1,)),
        Case("Pad", "", [x, _ints(0, 1, 0, 0, 0, 2)], constants=(1,)),
        Case("Shape", "", [x], ["int64"]),
        Case("NonZero", "", [(x > 0).astype(np.float32)], ["int64"]),
    ]


def _reductions():
    x = _floats(2, 3, 4)
    cases = [Case(op, "", [x, _ints(1)], constants=(1,)) for op in ("ReduceSum", "ReduceMean", "ReduceMax")]
    return cases + [Case("ArgMax", "", [x], ["int64"], attributes={"axis": 1})]


def _quantised():
    x, scale, zero = _floats(3, 8), np.float32(0.02).reshape(()), np.uint8(128).reshape(())
    return [
        Case("QuantizeLinear", "", [x, scale, zero], ["uint8"], constants=(1, 2)),
        Case("DequantizeLinear", "", [np.arange(24, dtype=np.uint8).reshape(3, 8), scale, zero], constants=(1, 2)),
    ]


def _recurrent():
    x = _floats(5, 2, 3)
    return [
        Case("LSTM", "", [x, _floats(1, 16, 3), _floats(1, 16, 4)], constants=(1, 2), attributes={"hidden_size": 4}),
        Case("GRU", "", [x, _floats(1, 12, 3), _floats(1, 12, 4)], constants=(1, 2), attributes={"hidden_size": 4}),
    ]


def cases() -> list[Case]:
    return _unary() + _binary() + _matrices() + _convolutions() + _shapes() + _reductions() + _quantised() + _recurrent()
