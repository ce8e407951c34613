"""Normalisations in parts, over the last dimensions, channels or groups, and departures from them."""

import numpy as np
from onnx import TensorProto
from pattern import Pattern


def average(p: Pattern, x: str, axes: list[int], count: int) -> str:
    """ReduceMean, or ReduceSum and the number of elements."""
    keepdims = 0 if p.maybe(0.03) else 1
    if p.maybe(0.75):
        return p.mean(x, axes, keepdims)
    total = p.with_axes("ReduceSum", x, axes, 13, keepdims=keepdims)
    return p.either("Mul", total, p.scalar(1 / count)) if p.maybe(0.5) else p.node("Div", [total, p.scalar(count)])


def parameters(p: Pattern, dims, axes: list[int]) -> str:
    """One number for each element of the dimensions that are normalised, for each channel, or something else."""
    rank, fixed = len(dims), [d.values[0] for d in dims]
    forms = [fixed[axes[0] :]] * 4 + [[1] * p.random.randint(0, axes[0]) + fixed[axes[0] :], [1]]
    if rank >= 3:
        forms += [[fixed[1]] + [1] * (rank - 2), [1, fixed[1]] + [1] * (rank - 2)]
    shape = p.random.choice(forms)
    if p.maybe(0.15):
        return p.operand(dims)
    return p.input(shape) if p.maybe(0.2) else p.constant(p.rng.uniform(-1.5, 1.5, shape))


def reciprocal_of(p: Pattern, root: str) -> str:
    return p.node("Reciprocal", [root]) if p.maybe(0.5) else p.node("Div", [p.scalar(1), root])


def factors(p: Pattern, x: str, mean: str | None, centred: str, inverse: str, dims, axes) -> str:
    """(x - mean) factor, or x factor - mean factor, perhaps with the bias in the subtrahend."""
    factor = p.either("Mul", inverse, parameters(p, dims, axes)) if p.maybe(0.6) else inverse
    if mean is None:
        return p.either("Mul", x, factor)
    p.sums_move = True
    whole, part = p.either("Mul", x, factor), p.random.randrange(4)
    if part == 0:
        return p.node("Sub", [whole, p.either("Mul", mean, factor)])
    if part == 1:
        return p.node("Add", [whole, p.node("Neg", [p.either("Mul", mean, factor)])])
    if part == 2:
        return p.either("Add", whole, p.node("Sub", [parameters(p, dims, axes), p.either("Mul", mean, factor)]))
    return p.either("Mul", centred, factor)


def written_out(p: Pattern) -> str:
    rank = p.random.choice([1, 2, 3, 3, 3, 4, 4])
    dims = [p.size(f"D{i}", [1, 2, 3, 4, 5, 5, 16, 33] if i == rank - 1 else [1, 2, 3, 4], 0.2) for i in range(rank)]
    count = min(rank, p.random.choice([1, 1, 1, 2, 3]))
    axes = sorted(p.random.sample(range(rank), count)) if p.maybe(0.12) else list(range(rank - count, rank))
    named = [a - rank for a in axes] if p.maybe(0.5) and p.opset >= 11 else list(axes)
    p.random.shuffle(named)
    elements = int(np.prod([dims[a].values[0] for a in axes]))
    for axis in axes:
        dims[axis].is_open &= p.maybe(0.3)
        dims[axis].values = dims[axis].values if dims[axis].is_open else dims[axis].values[:1] * 2
    x = p.input(dims)
    if p.maybe(0.2):
        x = p.node(p.random.choice(["Sigmoid", "Neg"]), [x])
    has_mean = p.maybe(0.65)
    mean = average(p, x, named, elements) if has_mean else None
    centred = p.node("Sub", [x, mean]) if has_mean else x
    square = p.node("Pow", [centred, p.scalar(2)]) if p.maybe(0.5) else p.node("Mul", [centred, centred if p.maybe(0.96) else x])
    variance = average(p, square, named, elements)
    epsilon = p.scalar(p.random.choice([1e-5, 1e-3, 0.1]))
    inside = p.maybe(0.93)
    total = p.either("Add", variance, epsilon) if inside else variance
    form = p.random.choice(["div", "inverse", "pow", "scaled_divisor", "scaled_dividend", "factors", "factors"])
    if form == "pow":
        y = p.either("Mul", centred, p.node("Pow", [total, p.scalar(-0.5)]))
    else:
        root = p.node("Sqrt", [total]) if p.maybe(0.7) else p.node("Pow", [total, p.scalar(0.5)])
        root = root if inside else p.either("Add", root, epsilon)
        if form == "div":
            y = p.node("Div", [centred, root])
        elif form == "inverse":
            y = p.either("Mul", centred, reciprocal_of(p, root))
        elif form == "scaled_divisor":
            y = p.either("Mul", centred, p.node("Div", [parameters(p, dims, axes), root]))
        elif form == "scaled_dividend":
            y = p.node("Div", [p.either("Mul", centred, parameters(p, dims, axes)), root])
        else:
            y = factors(p, x, mean, centred, reciprocal_of(p, root), dims, axes)
    return followed(p, y, dims, axes)


def followed(p: Pattern, y: str, dims, axes) -> str:
    for op in ("Mul", "Add", "Mul", "Sub"):
        if p.maybe(0.5 if op != "Sub" else 0.1):
            y = p.either(op, y, parameters(p, dims, axes))
    return y


def cast_around(p: Pattern) -> str:
    """Of a half type, in float, as exporters of language models write RMSNormalization."""
    p.number = TensorProto.FLOAT16
    dims = [p.size("B", [1, 2]), p.size("S", [1, 3, 5]), p.size("W", [4, 16, 33], 0)]
    x = p.input(dims)
    wide = p.node("Cast", [x], to=TensorProto.FLOAT)
    square = p.node("Pow", [wide, p.constant(2, np.float32)]) if p.maybe(0.5) else p.node("Mul", [wide, wide])
    root = p.node("Sqrt", [p.either("Add", p.mean(square, [-1] if p.opset >= 11 else [2]), p.constant(1e-5, np.float32))])
    y = p.either("Mul", wide, reciprocal_of_float(p, root)) if p.maybe(0.6) else p.node("Div", [wide, root])
    if p.maybe(0.5):
        return p.either("Mul", p.node("Cast", [y], to=TensorProto.FLOAT16), parameters(p, dims, [2]))
    return p.node("Cast", [p.either("Mul", y, p.constant(p.rng.uniform(0.5, 1.5, dims[-1].values[0]), np.float32))], to=TensorProto.FLOAT16)


def reciprocal_of_float(p: Pattern, root: str) -> str:
    return p.node("Reciprocal", [root]) if p.maybe(0.5) else p.node("Div", [p.constant(1, np.float32), root])


def groups(p: Pattern) -> str:
    """InstanceNormalization of groups between two Reshapes, and what scales and shifts channels behind."""
    channels = p.random.choice([1, 2, 4, 6, 12])
    spatial = [p.size(f"S{i}", [1, 2, 3, 5], 0.3) for i in range(p.random.choice([1, 2, 2, 3]))]
    dims = [p.size("N", [1, 2, 3]), p.size("C", [channels], 0), *spatial]
    count = p.random.choice([g for g in range(1, channels + 1) if channels % g == 0])
    x = p.input(dims)
    around = p.random.choice([(0, count, -1)] * 20 + [(0, -1, count), (0, count * 2, -1)])
    flat = p.node("Reshape", [x, p.ints(*around)])
    scale, bias = (np.ones(count), np.zeros(count)) if p.maybe(0.6) else (p.rng.uniform(0.5, 1.5, count), p.rng.uniform(-1, 1, count))
    y = p.node("InstanceNormalization", [flat, p.constant(scale), p.constant(bias)], epsilon=p.random.choice([1e-5, 1e-2]))
    back = p.node("Shape", [x])
    if not any(d.is_open for d in spatial) and p.maybe(0.5):
        back = p.ints(-1, *(d.values[0] for d in dims[1:]))
    y = p.node("Reshape", [y, back])
    for op in p.random.sample(["Mul", "Add", "Mul"], p.random.randint(0, 3)):
        shape = p.random.choice([[channels] + [1] * len(spatial)] * 3 + [[1, channels] + [1] * len(spatial), [1], []])
        y = p.either(op, y, p.constant(p.rng.uniform(0.5, 1.5, shape))) if p.maybe(0.9) else p.either(op, y, p.operand(dims))
    return p.either("Mul", y, p.node("Sigmoid", [y])) if p.maybe(0.4) else y


def skipped(p: Pattern) -> str:
    """A sum, normalised, which the next layer takes beside it."""
    dims = [p.size("B", [1, 2, 3]), p.size("S", [1, 3, 7]), p.size("W", [4, 16, 33], 0)]
    total = p.either("Add", p.input(dims), p.operand(dims))
    total = p.either("Add", total, p.operand(dims)) if p.maybe(0.5) else total
    width = dims[-1].values[0]
    p.opset = max(p.opset, 17)
    scale, bias = (p.constant(p.rng.uniform(0.5, 1.5, width)) for _ in range(2))
    y = p.node("LayerNormalization", [total, scale, bias][: p.random.randint(2, 3)], axis=p.random.choice([-1, 2, -1, 1]))
    y = p.either("Add", p.node("MatMul", [y, p.weights(width, width)]), p.operand(dims))
    return p.either("Add", y, total)


NORMALIZATIONS = {
    "written_normalization": written_out,
    "cast_normalization": cast_around,
    "group_normalization": groups,
    "skip_normalization": skipped,
}
