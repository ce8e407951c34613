"""Single operators of the standard generated from rules: types of the schema, broadcasts, zero sizes, scalars, axes of either sign."""

import numpy as np
from onnx import TensorProto
from recipe import Row
from values import numpy_type


def unary(r):
    r.give(r.value(r.shape()))


def broadcasting(count):
    def make(r):
        r.give(*(r.value(s) for s in r.broadcast(count)))

    return make


def nonzero(r):
    """A division: the divisor is never an integer 0."""
    a, b = r.broadcast(2)
    divisor = r.value(b)
    if divisor.dtype.kind in "iu":
        divisor = np.where(divisor == 0, 3, divisor).astype(divisor.dtype)
    r.give(r.value(a), divisor)
    if r.op == "Mod":
        r.attributes["fmod"] = 1 if divisor.dtype.kind not in "iu" else r.random.randint(0, 1)


def power(r):
    a, b = r.broadcast(2)
    r.give(r.value(a, None, 0, 4), r.value(b, None, 0, 3))


def shifts(r):
    a, b = r.broadcast(2)
    r.give(r.value(a, None, 0, 100), r.value(b, None, 0, 9))
    r.attributes["direction"] = r.random.choice(["LEFT", "RIGHT"])


def where(r):
    c, a, b = r.broadcast(3)
    r.number = r.random.choice([n for n in (1, 2, 3, 6, 7, 8, 9, 10, 11, 16)])
    r.give(r.value(c, TensorProto.BOOL), r.value(a), r.value(b))


def clip(r):
    r.give(r.value(r.shape()), *(r.value([], None, *b) if r.random.random() < 0.7 else None for b in ((-2, 0), (1, 2))))


def reduction(r):
    shape = r.shape(0, 4)
    axes = r.random.sample(range(len(shape)), r.random.randint(0, len(shape)))
    axes = [a - len(shape) if r.random.random() < 0.4 else a for a in axes]
    r.give(r.value(shape))
    r.maybe(keepdims=r.random.randint(0, 1))
    if len(r.schema.inputs) > 1:
        if axes or r.random.random() < 0.5:
            r.give(r.integers(axes))
        r.maybe(noop_with_empty_axes=1)
    elif axes:
        r.attributes["axes"] = axes


def along_axis(least=1):
    def make(r):
        shape = r.shape(least, 4)
        r.give(r.value(shape))
        if len(shape):
            r.maybe(axis=r.axis(len(shape)))

    return make


def arg(r):
    along_axis()(r)
    r.maybe(keepdims=r.random.randint(0, 1), select_last_index=r.random.randint(0, 1))


def cumulative(r):
    shape = r.shape(1, 4)
    r.give(r.value(shape), np.array(r.axis(len(shape)), dtype=r.random.choice([np.int32, np.int64])))
    r.maybe(exclusive=1, reverse=1)


def top_k(r):
    shape = r.shape(1, 3)
    axis = r.axis(len(shape))
    distinct = r.rng.permutation(int(np.prod(shape, dtype=np.int64))) % 120  # few ties, whose order is open
    r.give(distinct.reshape(shape).astype(numpy_type(r.number)), r.integers([r.random.randint(0, shape[axis])]))
    r.attributes["axis"], r.outputs = axis, 2
    r.maybe(largest=r.random.randint(0, 1))


def gather(r):
    shape = r.shape(1, 3)
    axis = r.axis(len(shape))
    if shape[axis] == 0:
        shape[axis] = 2
    r.give(r.value(shape), r.rng.integers(-shape[axis], shape[axis], r.shape(0, 2), dtype=np.int64))
    r.maybe(axis=axis) if axis in (0, -len(shape)) else r.attributes.update(axis=axis)


def gather_elements(r):
    shape = [max(d, 1) for d in r.shape(1, 3)]
    axis = r.axis(len(shape))
    chosen = [r.random.randint(0, d) for d in shape]
    r.give(r.value(shape), r.rng.integers(-shape[axis], shape[axis], chosen, dtype=np.int64))
    r.attributes["axis"] = axis


def scatter_elements(r):
    gather_elements(r)
    data, indices = r.inputs
    axis = r.attributes["axis"]
    count = data.shape[axis]
    order = np.argsort(r.rng.random([*indices.shape]), axis=axis)  # no index twice on a line
    if order.shape[axis] > count:
        order = np.take(order, range(count), axis)
    order %= max(count, 1)
    order = np.sort(order, axis) if order.size else order
    lines = np.moveaxis(np.zeros_like(order), axis, -1)
    lines[...] = np.arange(lines.shape[-1]) - (count if r.random.random() < 0.5 else 0)
    indices = np.moveaxis(lines, -1, axis)
    r.inputs[:] = [data, indices, r.value(indices.shape)]


def slices(r):
    shape = r.shape(1, 4)
    axes = r.random.sample(range(len(shape)), r.random.randint(1, len(shape)))
    pick = lambda d: r.random.choice([0, 1, -1, d, -d, d // 2, d + 3, -d - 3, 2**31, -(2**63), 2**63 - 1])  # noqa: E731
    starts, ends = [pick(shape[a]) for a in axes], [pick(shape[a]) for a in axes]
    steps = [r.random.choice([1, 1, 2, 3, -1, -2, 100, -100]) for _ in axes]
    r.give(
        r.value(shape),
        r.integers(starts),
        r.integers(ends),
        r.integers([a - len(shape) if r.random.random() < 0.4 else a for a in axes]),
        r.integers(steps),
    )


def pad(r):
    shape = r.shape(1, 4)
    mode = r.random.choice(["constant", "constant", "edge", "reflect", "wrap"][: 5 if r.opset >= 19 else 4])
    least = [0 if mode == "constant" and d else 0 for d in shape]
    most = [3 if mode == "constant" else max(0, min(3, d - 1)) for d in shape]
    pads = [r.random.randint(a, b) for a, b in zip(least * 2, most * 2)]
    r.give(r.value(shape), r.integers(pads), r.value([]) if r.random.random() < 0.5 else None)
    if mode != "constant" or r.random.random() < 0.5:
        r.attributes["mode"] = mode


def tile(r):
    shape = r.shape(0, 4)
    r.give(r.value(shape), r.integers([r.random.choice([0, 1, 2, 3]) for _ in shape]))


def expand(r):
    a, b = r.broadcast(2)
    r.give(r.value(a), r.integers(b))


def transpose(r):
    shape = r.shape(0, 5)
    r.give(r.value(shape))
    if shape and r.random.random() < 0.9:
        r.attributes["perm"] = r.random.sample(range(len(shape)), len(shape))


def reshape(r):
    shape = [max(d, 1) for d in r.shape(0, 4)]
    r.give(r.value(shape))
    count, target = int(np.prod(shape, dtype=np.int64)), []
    while count > 1 and r.random.random() < 0.8:
        divisor = r.random.choice([d for d in range(1, count + 1) if count % d == 0][:6])
        target.append(divisor)
        count //= divisor
    target.append(count)
    if r.random.random() < 0.5:
        target[r.random.randrange(len(target))] = -1
    r.give(r.integers(target))


def concat(r):
    shape = r.shape(1, 4)
    axis = r.axis(len(shape))
    for _ in range(r.random.randint(1, 4)):
        shape[axis] = r.size()
        r.give(r.value(shape))
    r.attributes["axis"] = axis


def split(r):
    shape = r.shape(1, 4)
    axis = r.axis(len(shape))
    parts = [r.random.randint(0, 4) for _ in range(r.random.randint(1, 4))]
    shape[axis] = sum(parts)
    r.give(r.value(shape), r.integers(parts))
    r.attributes["axis"], r.outputs = axis, len(parts)


def unsqueeze(r):
    shape = r.shape(0, 3)
    rank = len(shape) + r.random.randint(1, 2)
    axes = r.random.sample(range(rank), rank - len(shape))
    r.give(r.value(shape), r.integers([a - rank if r.random.random() < 0.4 else a for a in axes]))


def squeeze(r):
    shape = r.shape(0, 4)
    ones = [a for a, d in enumerate(shape) if d == 1]
    r.give(r.value(shape))
    if r.random.random() < 0.7:
        r.give(r.integers([a - len(shape) if r.random.random() < 0.4 else a for a in ones]))


def trilu(r):
    r.give(r.value(r.shape(2, 4)))
    if r.random.random() < 0.7:
        r.give(np.array(r.random.randint(-6, 6), dtype=np.int64))
    r.maybe(upper=r.random.randint(0, 1))


def matrix_product(r):
    m, k, n = r.size(), r.size(), r.size()
    batch = r.broadcast(2)
    a, b = [[max(d, 1) if d > 4 else d for d in s][-2:] for s in batch]
    left, right = (a + [m, k] if r.random.random() < 0.85 else [k]), (b + [k, n] if r.random.random() < 0.85 else [k])
    r.give(r.value(left), r.value(right))


def gemm(r):
    m, k, n = r.size(), r.size(), r.size()
    r.maybe(transA=1, transB=1, alpha=0.5, beta=2.0)
    a, b = [[k, m] if r.attributes.get("transA") else [m, k], [n, k] if r.attributes.get("transB") else [k, n]]
    r.give(r.value(a), r.value(b))
    if r.random.random() < 0.7:
        r.give(r.value(r.random.choice([[n], [1, n], [m, 1], [m, n], [1], []])))


def windows(r, dims: int) -> list[int]:
    kernel = [r.random.randint(1, 4) for _ in range(dims)]
    if r.random.random() < 0.5:
        r.attributes["strides"] = [r.random.randint(1, 3) for _ in range(dims)]
    if r.random.random() < 0.4:
        r.attributes["dilations"] = [r.random.randint(1, 2) for _ in range(dims)]
    if r.random.random() < 0.5:
        r.attributes["pads"] = [r.random.randint(0, k - 1) for k in kernel * 2]
    elif r.random.random() < 0.3 and "dilations" not in r.attributes:
        r.attributes["auto_pad"] = r.random.choice(["SAME_UPPER", "SAME_LOWER", "VALID"])
    return kernel


def convolution(r):
    dims, group = r.random.randint(1, 3), r.random.choice([1, 1, 1, 2, 4])
    kernel = windows(r, dims)
    inner, outer = group * r.random.randint(1, 5), group * r.random.randint(1, 9)
    x = [r.random.randint(1, 2), inner, *(r.random.randint(7, 16 if dims < 3 else 9) for _ in range(dims))]
    weights = [inner, outer // group, *kernel] if r.op == "ConvTranspose" else [outer, inner // group, *kernel]
    r.give(r.value(x), r.value(weights, None, -1, 1))
    if r.random.random() < 0.6:
        r.give(r.value([outer]))
    if group > 1 or r.random.random() < 0.5:
        r.attributes["group"] = group
    if r.op == "ConvTranspose":
        r.attributes.pop("auto_pad", None)


def pooling(r):
    dims = r.random.randint(1, 3)
    r.attributes["kernel_shape"] = windows(r, dims)
    if r.op == "AveragePool" and r.opset < 19 or r.op == "LpPool" and r.opset < 18:
        r.attributes.pop("dilations", None)
    if r.op == "AveragePool":
        r.maybe(count_include_pad=1)
    if "auto_pad" not in r.attributes and r.random.random() < 0.3 and (r.op != "LpPool" or r.opset >= 18):
        r.attributes["ceil_mode"] = 1
    r.give(r.value([r.random.randint(1, 2), r.random.randint(1, 4), *(r.random.randint(8, 14) for _ in range(dims))]))


def global_pooling(r):
    r.give(r.value([r.random.randint(1, 2), r.random.randint(1, 4), *(max(1, r.size()) for _ in range(r.random.randint(1, 3)))]))


def normalization(r):
    channels = r.random.randint(1, 9)
    x = [r.random.randint(1, 3), channels, *(max(1, r.size()) for _ in range(r.random.randint(1, 3)))]
    one = lambda low, high: r.value([channels], None, low, high)  # noqa: E731
    r.give(r.value(x), one(-2, 2), one(-2, 2))
    if r.op == "BatchNormalization":
        r.give(one(-2, 2), one(0.1, 3))
    r.maybe(epsilon=1e-3)


def layer_normalization(r):
    shape = [max(1, d) for d in r.shape(1, 4)]
    axis = r.axis(len(shape))
    r.attributes["axis"] = axis
    tail = shape[axis:] if axis < 0 else shape[axis:]
    r.give(r.value(shape), r.value(tail, None, -2, 2))
    if r.op == "LayerNormalization" and r.random.random() < 0.6:
        r.give(r.value(tail, None, -2, 2))


def one_hot(r):
    depth = r.random.randint(1, 6)
    r.number = r.random.choice([1, 6, 7])
    r.give(
        r.rng.integers(-depth, depth + 2, r.shape(0, 3), dtype=np.int64),
        np.array(depth, dtype=np.int64),
        r.value([2], r.random.choice([1, 6, 7])),
    )


def cast(r):
    targets = [n for n in (1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 16)]
    r.attributes["to"] = r.random.choice(targets)
    narrow = r.attributes["to"] in (2, 3, 4, 5, 12, 13)  # what lies outside an integer type is left open
    r.give(r.value(r.shape(), None, 0 if narrow or r.number in (2, 4, 12, 13) else -100, 100))


def quantize(r):
    r.opset, number = 19, r.random.choice([TensorProto.INT8, TensorProto.UINT8])
    r.number = TensorProto.FLOAT
    shape = [max(1, d) for d in r.shape(1, 3)]
    axis = r.axis(len(shape))
    per_axis = r.random.random() < 0.5
    parameters = [shape[axis]] if per_axis else []
    if per_axis:
        r.attributes["axis"] = axis
    x = r.value(shape) if r.op == "QuantizeLinear" else r.value(shape, number, -100, 100)
    r.give(x, r.value(parameters, None, 0.05, 0.5), r.value(parameters, number, -5, 5))


UNARY = """
    Abs Neg Ceil Floor Round Sign Sqrt Exp Log Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh Asinh Acosh Atanh Erf Reciprocal Sigmoid
    Softplus Softsign Relu LeakyRelu Elu Selu Celu HardSigmoid HardSwish ThresholdedRelu Mish Identity Not BitwiseNot IsNaN IsInf
    Shape Size NonZero
"""
BINARY = "Add Sub Mul And Or Xor Equal Greater Less GreaterOrEqual LessOrEqual BitwiseAnd BitwiseOr BitwiseXor PRelu"
REDUCTIONS = "ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceSumSquare ReduceLogSum ReduceLogSumExp"

RECIPES = [
    *(Row(op, unary) for op in UNARY.split()),
    *(Row(op, broadcasting(2)) for op in BINARY.split()),
    *(Row(op, broadcasting(3)) for op in ("Min", "Max", "Sum", "Mean")),
    *(Row(op, reduction) for op in REDUCTIONS.split()),
    *(Row(op, nonzero) for op in ("Div", "Mod")),
    *(Row(op, along_axis()) for op in ("Softmax", "LogSoftmax", "Hardmax", "Flatten")),
    *(Row(op, arg) for op in ("ArgMax", "ArgMin")),
    *(Row(op, convolution) for op in ("Conv", "Conv", "Conv", "ConvTranspose")),
    *(Row(op, pooling) for op in ("MaxPool", "AveragePool", "LpPool")),
    *(Row(op, global_pooling) for op in ("GlobalAveragePool", "GlobalMaxPool")),
    *(Row(op, normalization) for op in ("BatchNormalization", "InstanceNormalization")),
    *(Row(op, quantize) for op in ("QuantizeLinear", "DequantizeLinear")),
    Row("LayerNormalization", layer_normalization),
    Row("Pow", power),
    Row("BitShift", shifts),
    Row("Where", where),
    Row("Clip", clip),
    Row("CumSum", cumulative),
    Row("TopK", top_k),
    Row("Gather", gather),
    Row("GatherElements", gather_elements),
    Row("ScatterElements", scatter_elements),
    Row("Slice", slices),
    Row("Pad", pad),
    Row("Tile", tile),
    Row("Expand", expand),
    Row("Transpose", transpose),
    Row("Reshape", reshape),
    Row("Concat", concat),
    Row("Split", split),
    Row("Unsqueeze", unsqueeze),
    Row("Squeeze", squeeze),
    Row("Trilu", trilu),
    Row("MatMul", matrix_product),
    Row("MatMul", matrix_product),
    Row("Gemm", gemm),
    Row("OneHot", one_hot),
    Row("Cast", cast),
]
