"""Products with what follows them, in floats and in codes of 8 bits, and departures from them."""

import numpy as np
from element_patterns import hard_swish, silu
from onnx import TensorProto
from pattern import Pattern

COLUMNS = [1, 2, 4, 5, 8, 13, 16, 33, 65]


def bias(p: Pattern, rows, columns: int) -> str:
    """One number a column, or shapes that are not quite that."""
    fixed = [d.values[0] for d in rows]
    others = [[1, columns], [1], [], [fixed[-1], 1], [fixed[-1], columns], [*fixed, columns], [1] * (len(rows) + 1) + [columns]]
    shape = p.random.choice([[columns]] * 4 + others)
    return p.constant(p.rng.uniform(-1, 1, shape)) if p.maybe(0.7) else p.input(shape)


def followed(p: Pattern, y: str, rows, columns: int, source: str | None = None) -> str:
    """Biases, sums, scaling, and an activation, in any order."""
    dims = [*rows, p.size("M", [columns], 0)]
    for _ in range(p.random.randint(0, 4)):
        form = p.random.randrange(8)
        if form < 3:
            y = p.either("Add", y, bias(p, rows, columns))
        elif form == 3:
            y = p.either(p.random.choice(["Add", "Add", "Mul"]), y, source or p.input(dims) if p.maybe(0.7) else p.operand(dims))
        elif form == 4:
            y = p.node(p.random.choice(["Mul", "Div", "Sub"]), [y, bias(p, rows, columns)])
        elif form == 5:
            y = p.random.choice([silu, hard_swish])(p, y)
        elif form == 6:
            y = p.clip(y, *p.random.choice([(0, 6), (-1, 1), (0, None), (None, 0.5), (0.5, -0.5)]))
        else:
            y = p.node(p.random.choice(["Relu", "Relu", "Sigmoid", "Tanh", "LeakyRelu", "Elu", "Softplus", "HardSigmoid"]), [y])
    return y


def matmul(p: Pattern) -> str:
    inner, columns = p.random.choice([1, 2, 7, 8, 16, 17, 33, 100, 300]), p.random.choice(COLUMNS)
    rows = [p.size(f"R{i}", [1, 1, 2, 3, 5, 17, 40], 0.3) for i in range(p.random.choice([1, 1, 2, 3]))]
    dims = [*rows, p.size("K", [inner], 0)]
    x = source = p.input(dims)
    if p.maybe(0.3):
        x = p.node(p.random.choice(["Mul", "Add", "Sub", "Div"]), [x, bias(p, rows, inner)])
    form = p.random.randrange(6)
    if form < 3:
        y = p.node("MatMul", [x, p.weights(inner, columns) if p.maybe(0.7) else p.input([inner, columns])])
    elif form == 3:  # the weights are turned, or the rows
        y = p.node("MatMul", [x, p.node("Transpose", [p.input([columns, inner])], perm=[1, 0])])
    elif form == 4:
        batch = p.random.choice([[], [2], [1], [3, 1], [rows[0]] if len(rows) > 1 else []])
        y = p.node("MatMul", [x, p.input([*batch, inner, columns])])
    else:
        flat = p.node("Reshape", [x, p.ints(-1, inner)])
        gemm = p.node("Gemm", [flat, p.weights(columns, inner), p.constant(p.rng.uniform(-1, 1, columns))], transB=1)
        gemm = p.node("Relu", [gemm]) if p.maybe(0.3) else gemm
        if any(d.is_open for d in rows[1:]):
            return gemm
        y = p.node("Reshape", [gemm, p.ints(-1, *(d.values[0] for d in rows[1:]), columns)])
    return followed(p, y, rows, columns, source if inner == columns else None)


def gemm(p: Pattern) -> str:
    inner, columns, rows = p.random.choice([1, 2, 8, 17, 33, 100]), p.random.choice(COLUMNS), p.size("R", [1, 2, 3, 5, 17, 64])
    turned = [p.random.choice([0, 0, 0, 1]), p.random.choice([0, 1])]
    x = p.input([inner, rows] if turned[0] else [rows, inner])
    weights = [columns, inner] if turned[1] else [inner, columns]
    inputs = [x, p.weights(*weights) if p.maybe(0.7) else p.input(weights)]
    if p.opset < 11 or p.maybe(0.8):
        shape = p.random.choice([[columns]] * 4 + [[1, columns], [1], [], [rows.values[0], 1], [rows.values[0], columns], [1, 1]])
        inputs.append(p.constant(p.rng.uniform(-1, 1, shape)) if p.maybe(0.7) else p.input(shape))
    factors = {"alpha": p.random.choice([1.0, 1.0, 0.5]), "beta": p.random.choice([1.0, 1.0, 0.25, 0.0])}
    y = followed(p, p.node("Gemm", inputs, transA=turned[0], transB=turned[1], **factors), [rows], columns)
    if p.maybe(0.3):
        y = p.node("Gemm", [y, p.weights(4, columns), p.constant(p.rng.uniform(-1, 1, 4))], transB=1)
    return y


def gated(p: Pattern) -> str:
    """Two products of one value, one of which gates the other, and a third behind."""
    inner, columns, rows = p.random.choice([8, 17]), p.random.choice([4, 16]), [p.size("B", [1, 2]), p.size("S", [1, 3, 7])]
    x = p.input([*rows, inner])
    if p.maybe(0.5):
        both = p.node("MatMul", [x, p.weights(inner, 2 * columns)])
        a, b = p.split(both, [columns, columns], 2)
    else:
        a, b = (p.node("MatMul", [x, p.weights(inner, columns)]) for _ in range(2))
    a = silu(p, a) if p.maybe(0.6) else p.node(p.random.choice(["Sigmoid", "Relu", "Tanh"]), [a])
    return p.either("Add", p.node("MatMul", [p.either("Mul", a, b), p.weights(columns, inner)]), x)


def normalized_columns(p: Pattern) -> str:
    """BatchNormalization and scaling of what a product of rows gives, or takes."""
    p.sums_move = True
    inner, columns, rows = p.random.choice([3, 8, 17]), p.random.choice([1, 5, 16]), p.size("R", [1, 2, 5])

    def normalized(x, width):
        return p.node("BatchNormalization", [x, *(p.constant(p.rng.uniform(0.5, 1.5, width)) for _ in range(4))])

    x = p.input([rows, inner])
    x = normalized(x, inner) if p.maybe(0.5) else x
    inputs = [x, p.weights(columns, inner), p.constant(p.rng.uniform(-1, 1, columns))]
    y = p.node("Gemm", inputs, transB=1, alpha=p.random.choice([1.0, 0.5]))
    y = p.clip(y, *p.random.choice([(0, 6), (0, None), (None, 1)])) if p.maybe(0.3) else y
    return followed(p, normalized(y, columns) if p.maybe(0.6) else y, [rows], columns)


# Quantised


class Codes:
    """How a value is quantised."""

    def __init__(self, p: Pattern, scale: float):
        self.p, self.dtype = p, p.random.choice([np.int8, np.uint8])
        zero = p.random.choice([0, 5, 3]) if self.dtype is np.int8 else p.random.choice([128, 120, 0])
        self.scale, self.zero = p.constant(scale, np.float32), p.constant(zero, self.dtype)

    def rounded(self, x: str) -> str:
        return self.p.node("QuantizeLinear", [x, self.scale, self.zero])

    def floats(self, codes: str) -> str:
        return self.p.node("DequantizeLinear", [codes, self.scale, self.zero])


def quantized_weights(p: Pattern, shape, channel_axis: int) -> str:
    """Codes with one scale, or one for each channel."""
    codes = p.constant(p.rng.integers(-90, 90, shape), np.int8)
    if p.maybe(0.5) and p.opset >= 13:
        count = shape[channel_axis]
        scale = p.constant(p.rng.uniform(0.005, 0.02, count), np.float32)
        zero = p.constant(np.full(count, p.random.choice([0, 0, 0, 2])), np.int8)
        return p.node("DequantizeLinear", [codes, scale, zero], axis=channel_axis)
    return p.node("DequantizeLinear", [codes, p.constant(0.01, np.float32), p.constant(p.random.choice([0, 0, 3]), np.int8)])


def quantized(p: Pattern) -> str:
    """DequantizeLinear, an operator, QuantizeLinear, some times over."""
    p.number, p.quantized, p.least, p.opset = TensorProto.FLOAT, True, 1, max(p.opset, 13)
    image = p.maybe(0.5)
    channels = p.random.choice([1, 3, 4, 8, 16])
    dims = [p.size("N", [1, 2, 5]), channels, *([p.size("H", [3, 5, 8]), p.size("W", [3, 4, 7])] if image else [])]
    codes = Codes(p, 0.02)
    x = codes.floats(codes.rounded(p.input(dims, lambda shape: p.rng.uniform(-2, 2, shape))))
    for _ in range(p.random.randint(1, 3)):
        x, channels, codes = quantized_step(p, x, channels, codes, image)
        x = codes.floats(codes.rounded(x)) if p.maybe(0.9) else x
    return x


def quantized_step(p: Pattern, x: str, channels: int, codes: Codes, image: bool):
    form, outer, same = p.random.randrange(8), p.random.choice([2, 4, 8, 16]), codes
    codes = Codes(p, p.random.choice([0.02, 0.05])) if p.maybe(0.8) else codes
    if form < 3:
        if image:
            kernel = p.random.choice([1, 3])
            depthwise = p.maybe(0.3)
            outer = channels if depthwise else outer
            inputs = [x, quantized_weights(p, [outer, 1 if depthwise else channels, kernel, kernel], 0)]
            inputs += [p.constant(p.rng.uniform(-0.5, 0.5, outer), np.float32)] if p.maybe(0.4) else []
            y = p.node("Conv", inputs, pads=[kernel // 2] * 4, group=channels if depthwise else 1)
        elif p.maybe(0.5):
            y = p.node("MatMul", [x, quantized_weights(p, [channels, outer], 1)])
        else:
            bias_values = p.constant(p.rng.uniform(-1, 1, outer), np.float32)
            y = p.node("Gemm", [x, quantized_weights(p, [outer, channels], 0), bias_values], transB=1)
        y = p.node("Relu", [y]) if p.maybe(0.3) else p.clip(y, 0, 6) if p.maybe(0.1) else y
        return y, outer, codes
    if form == 3:
        other = x if p.maybe(0.3) else same.floats(same.rounded(p.node("Relu", [x])))
        return p.either(p.random.choice(["Add", "Mul"]), x, other), channels, codes
    if form == 4 and image:
        largest = p.maybe(0.5)
        y = p.node("MaxPool", [x], kernel_shape=[2, 2], pads=[0, 0, 1, 1]) if largest else p.node("GlobalAveragePool", [x])
        return y, channels, same
    if form == 5:
        return p.node(p.random.choice(["Sigmoid", "Relu", "LeakyRelu"]), [x]), channels, codes
    if form == 6:
        return p.node("Concat", [x, x], axis=1), 2 * channels, same
    return p.node("Transpose", [x], perm=[0, 1, 3, 2] if image else [0, 1]), channels, same


def integer_product(p: Pattern) -> str:
    """DynamicQuantizeLinear, MatMulInteger, Cast, scales, a bias and what follows."""
    p.number, p.quantized, p.least, p.opset = TensorProto.FLOAT, True, 1, max(p.opset, 11)
    inner, columns = p.random.choice([1, 8, 17, 64]), p.random.choice([1, 4, 16, 33])
    rows = [p.size(f"R{i}", [1, 2, 5]) for i in range(p.random.choice([1, 2]))]
    x = p.input([*rows, p.size("K", [inner], 0)], lambda shape: p.rng.uniform(-2, 2, shape))
    codes, scale, zero = p.add("DynamicQuantizeLinear", [x], 3)
    dtype = p.random.choice([np.int8, np.uint8])
    info = np.iinfo(dtype)
    weights = p.constant(p.rng.integers(info.min, info.max, [inner, columns]), dtype)
    zeros = [p.constant(p.random.choice([0, 3]) if p.maybe(0.6) else p.rng.integers(0, 4, columns), dtype)] if p.maybe(0.8) else []
    whole = p.node("Cast", [p.node("MatMulInteger", [codes, weights, zero, *zeros])], to=TensorProto.FLOAT)
    shape = p.random.choice([[], [1], [columns], [columns], [rows[-1].values[0], 1]])
    factor = p.constant(p.rng.uniform(0.005, 0.01, shape), np.float32)
    if p.maybe(0.8):
        y = p.either("Mul", whole, p.either("Mul", scale, factor))
    else:
        y = p.either("Mul", p.either("Mul", whole, scale), factor)
    return followed(p, y, rows, columns, x if inner == columns else None)


PRODUCTS = {
    "matmul": matmul,
    "gemm": gemm,
    "gated_products": gated,
    "normalized_columns": normalized_columns,
    "quantized": quantized,
    "integer_product": integer_product,
}
