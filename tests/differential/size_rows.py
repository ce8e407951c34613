"""Operators whose sizes are computed, and those that go along an axis, over axes of 0, 1 and 2 elements."""

import itertools

import numpy as np
from edge_cell import ENDS, MICROSOFT, Cell, values, whole


def reshapes():
    shapes = [*itertools.product((0, -1, 1, 2), repeat=2), *itertools.product((0, -1, 2), repeat=3), (-1,), (0,), (2,), (), (0, -1, 2, 2)]
    for x, shape, allow in itertools.product(([0, 2], [2, 0], [2, 2], [0], [1], [2, 0, 2], [0, 4, 6]), shapes, (None, 1)):
        if list(shape).count(-1) > 1:
            continue
        yield Cell("Reshape", [values(*x), whole(*shape)], allowzero=allow)
        yield Cell("Reshape", [values(*x), whole(*shape)], constant=(1,), allowzero=allow)
    for n, m, axis in itertools.product(ENDS, ENDS, (-2, -1, 0, 1, 2)):
        yield Cell("Flatten", [values(n, m)], axis=axis)
    for n, m in itertools.product(ENDS, ENDS):
        yield Cell("Squeeze", [values(n, 1, m)])
        for axes in ((0,), (1,), (-1,), (0, 1)):
            yield Cell("Squeeze", [values(n, 1, m), whole(*axes)])
            yield Cell("Unsqueeze", [values(n, m), whole(*axes)])
        for target in itertools.product((0, 1, 2), repeat=2):
            yield Cell("Expand", [values(n, m), whole(*target)])
            yield Cell("Expand", [values(n, m), whole(*target)], constant=(1,))
            yield Cell("Tile", [values(n, m), whole(*target)])
        yield Cell("Transpose", [values(n, m, 2)], perm=[1, 2, 0])
        yield Cell("Shape", [values(n, m)], start=1)
        yield Cell("Size", [values(n, m)])


def slices():
    ends = (-3, -1, 0, 1, 2, 5)
    for n, start, end, step in itertools.product(ENDS, ends, ends, (-2, -1, 1, 2)):
        yield Cell("Slice", [values(n, 2), whole(start), whole(end), whole(0), whole(step)])
        yield Cell("Slice", [values(n, 2), whole(start), whole(end), whole(0), whole(step)], constant=(1, 2, 3, 4))
    for n, begin, end, mode in itertools.product(ENDS, (-2, -1, 0, 1, 2), (-1, 0, 1, 2), ("constant", "edge", "reflect", "wrap")):
        yield Cell("Pad", [values(n, 2), whole(begin, 0, end, 0)], opset=19, mode=mode)
        yield Cell("Pad", [values(n, 2), whole(begin, 0, end, 0)], opset=19, constant=(1,), mode=mode)
    for n, size in itertools.product(ENDS, (0, 1, 2, 3)):
        yield Cell("CenterCropPad", [values(n, 2), whole(size, 1)])
    for start, limit, delta in itertools.product((0, 1, 2), (0, 1, 2), (-1, 1, 2)):
        yield Cell("Range", [np.int64(start), np.int64(limit), np.int64(delta)])
        yield Cell("Range", [np.float32(start), np.float32(limit), np.float32(delta)])
    for n, m in itertools.product(ENDS, ENDS):
        yield Cell("ConstantOfShape", [whole(n, m)])
        yield Cell("EyeLike", [values(n, m)], k=1)
        for k in (-2, -1, 0, 1, 2):
            yield Cell("Trilu", [values(n, m), np.array(k, np.int64)])


def splits():
    for n, sizes in itertools.product(ENDS, ((0,), (1,), (0, 0), (0, 1), (1, 1), (2, 0), (1, 0, 1))):
        yield Cell("Split", [values(n, 2), whole(*sizes)], len(sizes))
        yield Cell("SplitToSequence", [values(n, 2), whole(*sizes)])
    for n, count, outputs in itertools.product(ENDS, (1, 2, 3), (1, 2, 3)):
        if count == outputs:
            yield Cell("Split", [values(n, 2)], count, num_outputs=count)
    for n, opset in itertools.product(ENDS, (11, 13)):
        yield Cell("Split", [values(n, 2)], 2, opset=opset)
    for n, size, keep in itertools.product(ENDS, (0, 1, 2, 3), (0, 1)):
        yield Cell("SplitToSequence", [values(n, 2), np.array(size, np.int64)], keepdims=keep)
        yield Cell("SplitToSequence", [values(n, 2)], keepdims=keep)


def joins():
    shapes = ([0, 0], [0], [0, 2], [2, 0], [1, 2], [2, 2], [0, 3], [0, 0, 0])
    for a, b, axis in itertools.product(shapes, shapes, (0, 1, -1)):
        yield Cell("Concat", [values(*a), values(*b)], axis=axis)
    for a, b in itertools.product(shapes, shapes):
        yield Cell("Concat", [values(*a), values(*b), values(2, 2)], axis=0)
        for op in ("Add", "Where", "Max", "Equal", "PRelu"):
            yield Cell(op, ([np.ones(a, bool)] if op == "Where" else []) + [values(*a), values(*b)])


def picks():
    for n, k, largest in itertools.product(ENDS, (0, 1, 2), (0, 1)):
        yield Cell("TopK", [values(2, n), whole(k)], 2, largest=largest)
        yield Cell("TopK", [values(n, 2), whole(k)], 2, axis=0, largest=largest)
    for n, m, axis in itertools.product(ENDS, ENDS, (0, 1)):
        indices = np.zeros((m, 2), np.int64)
        yield Cell("Gather", [values(n, 2), indices], axis=axis)
        yield Cell("GatherElements", [values(n, 2), indices], axis=axis)
        yield Cell("GatherND", [values(n, 2), np.zeros((m, 1), np.int64)])
        yield Cell("GatherND", [values(n, 2), np.zeros((m, 0), np.int64)])
        yield Cell("ScatterElements", [values(n, 2), np.zeros((m, 1), np.int64), values(m, 1)], axis=axis)
        yield Cell("ScatterND", [values(n, 2), np.zeros((m, 1), np.int64), values(m, 2)])
        yield Cell("Compress", [values(n, 2), np.ones(m, bool)], axis=axis)
        yield Cell("Compress", [values(n, 2), np.ones(m, bool)])
        yield Cell("OneHot", [np.zeros((n, 1), np.int64), np.array(m, np.int64), values(2)], axis=axis)
        yield Cell("ReverseSequence", [values(n, m, 1), np.full(m, n, np.int64)])
        yield Cell("NonZero", [values(n, m)])
        yield Cell("Unique", [values(n, m)], 4)
        yield Cell("Unique", [values(n, m)], 4, axis=axis)
    for n, m in itertools.product(ENDS, ENDS):
        for most in (0, 1):
            yield Cell("NonMaxSuppression", [values(1, n, 4), values(1, m, n), np.array(most, np.int64)])


REDUCTIONS = "Sum Mean Max Min Prod L1 L2 SumSquare LogSum LogSumExp".split()


def reductions():
    for name, n, m, keep in itertools.product(REDUCTIONS, ENDS, ENDS, (0, 1)):
        for axes in ((0,), (1,), (0, 1)):
            yield Cell(f"Reduce{name}", [values(n, m), whole(*axes)], keepdims=keep)
        yield Cell(f"Reduce{name}", [values(n, m)], keepdims=keep)
        yield Cell(f"Reduce{name}", [values(n, m), whole()], keepdims=keep, noop_with_empty_axes=1)
        yield Cell(f"Reduce{name}", [values(n, m)], opset=11, axes=[1], keepdims=keep)
        yield Cell(f"Reduce{name}", [values(n, m, dtype=np.int32), whole(0)], keepdims=keep)
    for op, n, m, axis, keep in itertools.product(("ArgMax", "ArgMin"), ENDS, ENDS, (0, 1), (0, 1)):
        yield Cell(op, [values(n, m)], axis=axis, keepdims=keep)
    for n, m, axis, exclusive, reverse in itertools.product(ENDS, ENDS, (0, 1), (0, 1), (0, 1)):
        yield Cell("CumSum", [values(n, m), np.array(axis, np.int32)], exclusive=exclusive, reverse=reverse)


def normalizations():
    for n, m, axis in itertools.product(ENDS, ENDS, (0, 1)):
        for op in ("Softmax", "LogSoftmax", "Hardmax", "LpNormalization"):
            yield Cell(op, [values(n, m)], axis=axis)
        yield Cell("LpNormalization", [values(n, m)], axis=axis, p=1)
        tail = [n, m][axis:]
        yield Cell("LayerNormalization", [values(n, m), values(*tail), values(*tail)], 3, axis=axis)
        yield Cell("RMSNormalization", [values(n, m), values(*tail)], opset=23, axis=axis)
        yield Cell("Softmax", [values(n, m)], opset=11, axis=axis)
    for batch, channels, n in itertools.product(ENDS, repeat=3):
        x, c = values(batch, channels, n), values(channels)
        yield Cell("InstanceNormalization", [x, c, c])
        yield Cell("BatchNormalization", [x, c, c, c, np.abs(c)], opset=15)
        yield Cell("BatchNormalization", [x, c, c, c, np.abs(c)], 3, opset=15, training_mode=1)
        yield Cell("MeanVarianceNormalization", [x], opset=13, axes=[0, 2])
        for groups in (1, 2):
            yield Cell("GroupNormalization", [x, c, c], opset=21, num_groups=groups)
        yield Cell("SkipLayerNormalization", [x, x, values(n)], domain=MICROSOFT)


def products():
    for m, k, n in itertools.product(ENDS, repeat=3):
        yield Cell("MatMul", [values(m, k), values(k, n)])
        yield Cell("MatMul", [values(m, k), values(k, n)], constant=(1,))
        yield Cell("MatMul", [values(2, m, k), values(k)])
        yield Cell("MatMul", [values(n, m, k), values(1, k, 2)])
        for a, b in itertools.product((0, 1), repeat=2):
            yield Cell(
                "Gemm", [values(*([k, m] if a else [m, k])), values(*([n, k] if b else [k, n])), values(n)], transA=a, transB=b, alpha=0.5
            )
            yield Cell("Gemm", [values(*([k, m] if a else [m, k])), values(*([n, k] if b else [k, n]))], constant=(1,), transA=a, transB=b)
        bytes_ = values(m, k, dtype=np.uint8), values(k, n, dtype=np.uint8)
        scale, zero = np.float32(0.5), np.uint8(1)
        yield Cell("MatMulInteger", [*bytes_, zero, zero])
        yield Cell("QLinearMatMul", [bytes_[0], scale, zero, bytes_[1], scale, zero, scale, zero])
        yield Cell("Einsum", [values(m, k), values(k, n)], equation="mk,kn->mn")
        yield Cell("Einsum", [values(m, k), values(k, n)], equation="mk,kn->")
        yield Cell("Einsum", [values(m, k)], equation="mk->k")
        yield Cell("FusedMatMul", [values(m, k), values(n, k)], domain=MICROSOFT, transB=1, alpha=0.5)
        yield Cell("DynamicQuantizeMatMul", [values(m, k), bytes_[1], scale, zero], domain=MICROSOFT)
    for n, m in itertools.product(ENDS, ENDS):
        yield Cell("DynamicQuantizeLinear", [values(n, m)], 3)
        yield Cell("QuantizeLinear", [values(n, m), np.float32(0.5), np.uint8(3)])
        yield Cell("QuantizeLinear", [values(n, m), np.abs(values(m)), np.zeros(m, np.uint8)], axis=1)
        yield Cell("DequantizeLinear", [values(n, m, dtype=np.uint8), np.float32(0.5), np.uint8(3)])
        yield Cell("Det", [values(n, m, m)])


def sequences():
    for steps, batch, hidden, direction in itertools.product(ENDS, ENDS, (1, 2), ("forward", "reverse", "bidirectional")):
        two = 2 if direction == "bidirectional" else 1
        for op, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
            inputs = [values(steps, batch, 2), values(two, gates * hidden, 2) / 16, values(two, gates * hidden, hidden) / 16]
            yield Cell(op, inputs, 2, hidden_size=hidden, direction=direction)
            yield Cell(op, inputs, 2, constant=(1, 2), hidden_size=hidden, direction=direction)
    for batch, queries, keys, causal in itertools.product(ENDS, ENDS, ENDS, (0, 1)):
        q, k = values(batch, 2, queries, 2), values(batch, 2, keys, 2)
        yield Cell("Attention", [q / 4, k / 4, k], opset=23, is_causal=causal)
        flat = values(batch, keys, 4)
        yield Cell(
            "MultiHeadAttention", [values(batch, queries, 4) / 4, flat / 4, flat], domain=MICROSOFT, num_heads=2, unidirectional=causal
        )


def elements():
    unary = "Abs Neg Exp Sqrt Relu Sigmoid Erf Round Identity Not IsNaN Softplus Gelu Clip Cast Elu HardSigmoid".split()
    for op, n in itertools.product(unary, ENDS):
        x = np.ones((n, 2), bool) if op == "Not" else values(n, 2)
        yield Cell(op, [x], opset=20, to=7 if op == "Cast" else None)
    for n, m in itertools.product(ENDS, ENDS):
        yield Cell("Add", [values(n, m), values(m)])
        yield Cell("Mul", [values(n, 1), values(1, m)])
        yield Cell("Sum", [values(n, m), values(n, 1), values(1)])
        yield Cell("Where", [np.ones((n, 1), bool), values(1, m), values(1)])
        yield Cell("Pow", [np.abs(values(n, m)), values(1)])


ROWS = [reshapes, slices, splits, joins, picks, reductions, normalizations, products, sequences, elements]
