"""Activations that are written out, and element-wise operators in a row with operands of all shapes, and departures from them."""

import numpy as np
from onnx import TensorProto
from pattern import Pattern

NUMBERS = [-2, -1, -0.5, -0.0, 0.0, 0.25, 0.5, 1, 2, 3, 6, 6.1, 0.1, 1 / 6, 1 / 3, -3]


NEAR = 4e-6  # the bound where constants are taken for those that are meant though they are a millionth off


def affine(p: Pattern, x: str, factor: float, shift: float) -> str:
    if factor != 1 or p.maybe(0.15):
        x = p.either("Mul", x, p.scalar(factor)) if p.maybe(0.6) or factor == 0 else p.node("Div", [x, p.scalar(1 / factor)])
    if shift != 0 or p.maybe(0.15):
        form = p.random.randrange(5)
        if form < 3:
            x = p.either("Add", x, p.scalar(shift))
        elif form == 3:
            x = p.node("Sub", [x, p.scalar(-shift)])
        else:
            x = p.node("Sub", [p.scalar(shift), p.node("Neg", [x])])
    return x


def bounds(p: Pattern, x: str) -> str:
    y = x
    for _ in range(p.random.randint(1, 4)):
        form, a, b = p.random.randrange(6), p.random.choice(NUMBERS), p.random.choice(NUMBERS)
        if form == 0 or p.opset < 8:
            y = p.node("Relu", [y])
        elif form == 1:
            y = p.either("Max", y, p.scalar(a))
        elif form == 2:
            y = p.either("Min", y, p.scalar(a))
        elif form == 3:
            y = p.clip(y, *p.random.choice([(a, b), (min(a, b), max(a, b)), (a, None), (None, a)]))
        elif form == 4:
            y = p.node(p.random.choice(["Max", "Min"]), [y, p.scalar(a), p.scalar(b)])
        else:
            y = p.node(p.random.choice(["Max", "Min"]), [y, x])
    return y


def leaky(p: Pattern, x: str) -> str:
    other = affine(p, x, p.random.choice([0.01, 0.2, 1.5, -0.3, 1, 0.999]), p.random.choice([0, 0, 0, 0.1]))
    return p.either("Max", x, other) if p.opset >= 8 else p.node("Relu", [other])


def hard_sigmoid(p: Pattern, x: str) -> str:
    p.bound = max(p.bound, NEAR)
    inner = affine(p, x, p.random.choice([1, 1, 0.2, 2, -1]), p.random.choice([3, 3, 0.5, 0]))
    return affine(p, p.clip(inner, 0, p.random.choice([6, 6, 1, 6.1])), p.random.choice([1 / 6, 1 / 6, 1, 0.1667]), 0)


def hard_swish(p: Pattern, x: str) -> str:
    p.bound = max(p.bound, NEAR)
    inner = affine(p, x, p.random.choice([1, 1, 1, 1 / 6]), p.random.choice([3, 3, 3, 0.5, 3.1]))
    gate = p.clip(inner, 0, p.random.choice([6, 6, 6, 1, 6.1]))
    form, scale = p.random.randrange(3), p.random.choice([1 / 6, 1 / 6, 1 / 6, 1])
    if form == 0:
        return affine(p, p.either("Mul", x, gate), scale, 0)
    return p.either("Mul", x, affine(p, gate, scale, 0)) if form == 1 else p.either("Mul", affine(p, x, scale, 0), gate)


def silu(p: Pattern, x: str) -> str:
    y = p.either("Mul", x, p.node("Sigmoid", [affine(p, x, p.random.choice([1, 1.702, 2, 0.5, -1]), p.random.choice([0, 0, 0, 1]))]))
    return affine(p, y, p.random.choice([1, 2, 0.5]), 0) if p.maybe(0.3) else y


def gelu(p: Pattern, x: str) -> str:
    p.bound, p.least = 2e-4, 1  # constants of few digits are the ones that are meant
    p.finite = True  # the operator gives 0 of minus infinity, not 0 times that
    if p.maybe(0.5) and p.opset >= 9:
        curve = p.node("Erf", [affine(p, x, p.random.choice([0.5**0.5, 0.5**0.5, 0.7071, 0.70710, 0.71]), 0)])
    else:
        cube = p.node("Pow", [x, p.scalar(3)]) if p.maybe(0.5) else p.either("Mul", x, p.either("Mul", x, x))
        inner = p.either("Add", x, affine(p, cube, p.random.choice([0.044715, 0.044715, 0.0447, 0.0447149, 0.045]), 0))
        curve = p.node("Tanh", [affine(p, inner, p.random.choice([(2 / np.pi) ** 0.5, 0.7978845608, 0.79788, 0.8]), 0)])
    one, half, form = p.scalar(1), p.scalar(0.5), p.random.randrange(4)
    if form == 0:
        return p.either("Mul", p.either("Mul", x, half), p.either("Add", curve, one))
    if form == 1:
        return p.either("Mul", p.either("Mul", x, p.either("Add", curve, one)), half)
    if form == 2:
        return p.either("Mul", x, p.either("Mul", p.either("Add", curve, one), half))
    return p.either("Mul", x, p.either("Add", p.either("Mul", curve, half), half))


def logistic(p: Pattern, x: str) -> str:
    power = affine(p, x, p.random.choice([-1, -1, 1, -1.7, -2]), p.random.choice([0, 0, 0, 0.5])) if p.maybe(0.6) else p.node("Neg", [x])
    divisor = affine(p, p.node("Exp", [power]), 1, p.random.choice([1, 1, 1, 2]))
    form = p.random.randrange(4)
    if form == 0:
        return p.node("Reciprocal", [divisor])
    return p.node("Div", [p.scalar(1) if form == 1 else x if form == 2 else p.scalar(2), divisor])


def mish(p: Pattern, x: str) -> str:
    return p.either("Mul", x, p.node("Tanh", [p.node("Softplus", [x])]))


WRITTEN = [bounds, bounds, leaky, hard_sigmoid, hard_sigmoid, hard_swish, hard_swish, silu, gelu, gelu, logistic, logistic, mish]


def activation(p: Pattern) -> str:
    dims = [p.size(f"D{i}", [1, 2, 3, 5], 0.3) for i in range(p.random.choice([0, 1, 2, 3, 4]))]
    dims[-1:] = [p.size("L", [1, 3, 5, 17, 40], 0.3)] if dims else []
    x = p.input(dims)
    if p.maybe(0.3):
        x = affine(p, x, p.random.choice(NUMBERS) or 1, p.random.choice(NUMBERS))
    y = p.random.choice(WRITTEN)(p, x)
    return p.node(p.random.choice(["Relu", "Neg", "Abs"]), [y]) if p.maybe(0.3) else y


UNARY = ["Relu", "Sigmoid", "Tanh", "Neg", "Abs", "Exp", "Sqrt", "Reciprocal", "LeakyRelu", "Elu", "Softplus", "Floor", "Ceil"]
LATER = {"Erf": 9, "Round": 11, "HardSwish": 14, "Mish": 18, "Gelu": 20, "Sign": 9, "Sin": 7, "Celu": 12}
COMPARED = {"Greater": 9, "Less": 9, "Equal": 11, "GreaterOrEqual": 12, "LessOrEqual": 12}


def chain_dims(p: Pattern):
    """Of some thousand elements, with periods and rows on both sides of a tile of 1024."""
    form = p.random.randrange(6)
    if form == 0:
        return [p.size("D0", [1, 2, 3]), p.size("D1", [1, 3, 8]), p.size("D2", [1023, 1024, 1025, 700, 2049])]
    if form == 1:
        return [p.size("D0", [1, 2, 3]), p.size("D1", [7, 32, 33]), p.size("D2", [31, 32, 33, 48])]
    if form == 2:
        return [p.size("D0", [1, 2]), p.size("D1", [1, 3, 4]), p.size("D2", [1, 16, 20]), p.size("D3", [1, 16, 63, 64])]
    if form == 3:
        return [p.size("D0", [1, 1023, 1024, 3000])]
    return [p.size(f"D{i}", [1, 2, 3, 5, 8], 0.3) for i in range(p.random.randint(1, 5))]


def chain(p: Pattern) -> str:
    p.zeros_turn = True
    dims = chain_dims(p)
    x = p.input(dims)
    values = [x]
    for _ in range(p.random.randint(2, 8)):
        y, form = values[-1] if p.maybe(0.85) else p.random.choice(values), p.random.randrange(10)
        if form < 3:
            known = UNARY + [op for op, since in LATER.items() if p.opset >= since]
            y = p.node(p.random.choice(known), [y])
        elif form < 7:
            op = p.random.choice(["Add", "Mul", "Sub", "Div", "Add", "Mul"] + ["Max", "Min"] * (p.opset >= 8))
            other = p.operand(dims, 0.05) if p.maybe(0.7) else p.random.choice(values)
            y = p.node(op, [y, other] if p.maybe(0.6) else [other, y])
        elif form == 7:
            y = p.node("Pow", [p.node("Abs", [y]) if p.maybe(0.5) else y, p.scalar(p.random.choice([2, 2, 0.5, 3, -1]))])
        elif form == 8 and p.opset >= 9:
            known = [op for op, since in COMPARED.items() if p.opset >= since]
            condition = p.node(p.random.choice(known), [y, p.operand(dims, 0)])
            y = p.node("Where", [condition, *p.random.sample([y, p.operand(dims)], 2)])
        else:
            y = p.clip(y, *p.random.choice([(-0.5, 0.75), (0, 6), (0, None), (None, 1), (1, -1)]))
        values.append(y)
    return values[-1]


def cast_chain(p: Pattern) -> str:
    """Of a half type, with some of it in float."""
    p.number = TensorProto.FLOAT16
    dims = chain_dims(p)
    y = p.input(dims)
    for _ in range(p.random.randint(2, 4)):
        y = p.either(p.random.choice(["Add", "Mul"]), y, p.operand(dims)) if p.maybe(0.7) else p.node("Sigmoid", [y])
        if p.maybe(0.4):
            wide = p.node(p.random.choice(["Tanh", "Exp", "Relu"]), [p.node("Cast", [y], to=TensorProto.FLOAT)])
            y = p.node("Cast", [wide], to=TensorProto.FLOAT16)
        if p.maybe(0.3):
            y = p.clip(y, *p.random.choice([(-0.5, 0.75), (0, None), (None, 1), (-65504, 65504)]))
    return y


ELEMENTS = {"activation": activation, "chain": chain, "cast_chain": cast_chain}
