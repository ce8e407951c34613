"""What operators of Core ML's programs compute, from their own arguments, in plain numpy: by Apple's description of them, and by nothing of
src/providers/coreml. `OPERATORS[type](**arguments)` gives the result, or several."""

import math

import mil_images
import mil_layers
import numpy as np

ERF = np.vectorize(math.erf, otypes=[np.float64])


def elementwise(function):
    """Computed in float64 where the operand is a float, rounded once."""

    def run(x):
        with np.errstate(all="ignore"):
            return np.asarray(function(x.astype("f8") if x.dtype.kind == "f" else x)).astype(x.dtype)

    return run


def binary(function):
    def run(x, y):
        assert x.dtype == y.dtype, f"{x.dtype} and {y.dtype}"
        with np.errstate(all="ignore"):
            return np.asarray(function(x, y)).astype(x.dtype)

    return run


def comparison(function):
    def run(x, y):
        assert x.dtype == y.dtype and x.dtype.kind in "fi", f"{x.dtype} and {y.dtype}"
        return np.asarray(function(x, y))

    return run


def logical(function):
    def run(x, y):
        assert x.dtype == y.dtype == bool
        return function(x, y)

    return run


def sigmoid(x):
    return np.where(x >= 0, 1 / (1 + np.exp(-np.abs(x))), np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x))))


def gelu(x, mode="EXACT"):
    wide = x.astype("f8")
    if mode == "EXACT":
        return (0.5 * wide * (1 + ERF(wide / math.sqrt(2)))).astype(x.dtype)
    assert mode == "TANH_APPROXIMATION", mode
    return (0.5 * wide * (1 + np.tanh(math.sqrt(2 / math.pi) * (wide + 0.044715 * wide**3)))).astype(x.dtype)


def with_alpha(function):
    def run(x, alpha):
        assert alpha.dtype == x.dtype
        with np.errstate(all="ignore"):
            return np.asarray(function(x.astype("f8"), alpha.astype("f8"))).astype(x.dtype)

    return run


def prelu(x, alpha):
    assert alpha.shape == (x.shape[1],) and x.ndim == 4
    return np.where(x >= 0, x, x * alpha.reshape(-1, *[1] * (x.ndim - 2)))


def cast(x, dtype):
    kind = {"int32": "i4", "fp16": "f2", "fp32": "f4", "bool": "?"}[dtype]
    with np.errstate(all="ignore"):
        return x.astype(kind)


def reduction(function):
    def run(x, axes, keep_dims):
        axes = tuple(int(a) for a in axes)
        assert all(0 <= a < x.ndim for a in axes)
        wide = x.astype("f8") if x.dtype.kind == "f" else x
        with np.errstate(all="ignore"):
            return np.asarray(function(wide, axis=axes, keepdims=bool(keep_dims))).astype(x.dtype)

    return run


def log_sum_exp(x, axis, keepdims):
    most = x.max(axis=axis, keepdims=True)
    most = np.where(np.isfinite(most), most, 0)
    result = np.log(np.exp(x - most).sum(axis=axis, keepdims=True)) + most
    return result if keepdims else result.squeeze(axis)


def index_reduction(function):
    def run(x, axis, keep_dims):
        return function(x, axis=int(axis), keepdims=bool(keep_dims)).astype("i4")

    return run


def cumsum(x, axis, exclusive, reverse):
    axis = int(axis)
    values = np.flip(x, axis) if reverse else x
    sums = np.cumsum(values, axis, dtype=x.dtype)
    if exclusive:
        sums = np.roll(sums, 1, axis)
        sums[(slice(None),) * axis + (0,)] = 0
    return np.flip(sums, axis) if reverse else sums


def softmax(x, axis):
    wide = x.astype("f8")
    exps = np.exp(wide - wide.max(axis=int(axis), keepdims=True))
    return (exps / exps.sum(axis=int(axis), keepdims=True)).astype(x.dtype)


def matmul(x, y, transpose_x, transpose_y):
    assert x.dtype == y.dtype and x.ndim >= 2 and y.ndim >= 2
    a = np.swapaxes(x, -1, -2) if transpose_x else x
    b = np.swapaxes(y, -1, -2) if transpose_y else y
    return np.matmul(a.astype("f4"), b.astype("f4")).astype(x.dtype)


def linear(x, weight, bias=None):
    result = x.astype("f4") @ weight.astype("f4").T
    return (result if bias is None else result + bias.astype("f4")).astype(x.dtype)


def reshape(x, shape):
    assert (shape > 0).all()
    return x.reshape(tuple(shape))


def concat(values, axis, interleave):
    assert not interleave and len({v.dtype for v in values}) == 1
    return np.concatenate(values, int(axis))


def split(x, split_sizes, axis):
    assert split_sizes.sum() == x.shape[int(axis)]
    return np.split(x, np.cumsum(split_sizes)[:-1], int(axis))


def slice_by_index(x, begin, end, stride, end_mask):
    assert len(begin) == len(end) == len(stride) == len(end_mask) == x.ndim
    index = tuple(slice(int(b), None if m else int(e), int(s)) for b, e, s, m in zip(begin, end, stride, end_mask))
    return x[index]


def pad(x, pad, mode, constant_val):
    assert len(pad) % 2 == 0 and len(pad) <= 2 * x.ndim and (mode == "constant" or len(pad) <= 4)
    pairs = [(0, 0)] * (x.ndim - len(pad) // 2) + [(int(pad[i]), int(pad[i + 1])) for i in range(0, len(pad), 2)]
    if mode == "constant":
        return np.pad(x, pairs, constant_values=constant_val)
    return np.pad(x, pairs, mode={"reflect": "reflect", "replicate": "edge"}[mode])


def tile(x, reps):
    assert len(reps) == x.ndim
    return np.tile(x, tuple(reps))


def select(cond, a, b):
    assert cond.dtype == bool and a.dtype == b.dtype
    return np.where(cond, a, b)


def gather(x, indices, axis):
    assert x.dtype.kind in "fi" and indices.dtype == np.int32
    return np.take(x, indices, int(axis))


def gather_along_axis(x, indices, axis):
    return np.take_along_axis(x, indices.astype("i8"), int(axis))


def gather_nd(x, indices):
    return x[tuple(np.moveaxis(indices, -1, 0))]


SCATTERS = {"add": np.add.at, "mul": np.multiply.at, "min": np.minimum.at, "max": np.maximum.at}


def scattered(data, index, updates, mode):
    result = data.copy()
    if mode == "update":
        result[index] = updates
    else:
        SCATTERS[mode](result, index, updates)
    return result


def scatter_along_axis(data, indices, updates, axis, mode):
    index = list(np.indices(indices.shape))
    index[int(axis)] = indices
    return scattered(data, tuple(index), updates, mode)


def scatter_nd(data, indices, updates, mode):
    return scattered(data, tuple(np.moveaxis(indices, -1, 0)), updates, mode)


UNARY = {
    **{
        name: getattr(np, name)
        for name in ("abs", "ceil", "cos", "cosh", "exp", "floor", "sign", "sin", "sinh", "sqrt", "square", "tan", "tanh")
    },
    "acos": np.arccos,
    "asin": np.arcsin,
    "atan": np.arctan,
    "atanh": np.arctanh,
    "erf": ERF,
    "relu": lambda x: np.maximum(x, 0),
    "round": np.round,
    "sigmoid": sigmoid,
    "softplus": lambda x: np.logaddexp(x, 0),
    "softsign": lambda x: x / (1 + np.abs(x)),
    "identity": lambda x: x,
}
BINARY = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "real_div": np.divide,
    "pow": np.power,
    "maximum": np.maximum,
    "minimum": np.minimum,
}
COMPARISONS = {"equal": np.equal, "greater": np.greater, "greater_equal": np.greater_equal, "less": np.less, "less_equal": np.less_equal}
REDUCTIONS = {
    "reduce_sum": np.sum,
    "reduce_mean": np.mean,
    "reduce_max": np.max,
    "reduce_min": np.min,
    "reduce_prod": np.prod,
    "reduce_l1_norm": lambda x, **how: np.abs(x).sum(**how),
    "reduce_l2_norm": lambda x, **how: np.sqrt(np.square(x).sum(**how)),
    "reduce_log_sum": lambda x, **how: np.log(x.sum(**how)),
    "reduce_log_sum_exp": log_sum_exp,
    "reduce_sum_square": lambda x, **how: np.square(x).sum(**how),
}
OPERATORS = {
    **{name: elementwise(function) for name, function in UNARY.items()},
    **{name: binary(function) for name, function in BINARY.items()},
    **{name: comparison(function) for name, function in COMPARISONS.items()},
    **{name: reduction(function) for name, function in REDUCTIONS.items()},
    **{f"logical_{name}": logical(getattr(np, f"logical_{name}")) for name in ("and", "or", "xor")},
    "log": lambda x, epsilon=0.0: elementwise(lambda wide: np.log(wide + float(epsilon)))(x),
    "logical_not": lambda x: np.logical_not(x),
    "elu": with_alpha(lambda x, alpha: np.where(x >= 0, x, alpha * np.expm1(x))),
    "leaky_relu": with_alpha(lambda x, alpha: np.where(x >= 0, x, alpha * x)),
    "sigmoid_hard": lambda x, alpha, beta: np.clip(alpha * x + beta, x.dtype.type(0), x.dtype.type(1)),
    "clip": lambda x, alpha, beta: np.clip(x, alpha, beta),
    "reduce_argmax": index_reduction(np.argmax),
    "reduce_argmin": index_reduction(np.argmin),
    "fill": lambda shape, value: np.full(tuple(shape), value),
    "transpose": lambda x, perm: x.transpose(tuple(perm)),
    **{
        function.__name__: function
        for function in (
            cast, concat, cumsum, gather, gather_along_axis, gather_nd, gelu, linear, matmul, pad, prelu, reshape, scatter_along_axis,
            scatter_nd, select, slice_by_index, softmax, split, tile,
        )
    },
    **mil_layers.OPERATORS,
    **mil_images.OPERATORS,
}  # fmt: skip
