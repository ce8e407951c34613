"""Generated nodes that change elements, places and sizes, and those of images."""

import numpy as np
from draws import INTEGERS, Drawn, Fixed
from onnx import helper

UNARY = {
    "Abs": 13, "Acos": 7, "Asin": 7, "Atan": 7, "Ceil": 13, "Celu": 12, "Cos": 7, "Elu": 6, "Erf": 13, "Exp": 13, "Floor": 13, "Gelu": 20,
    "HardSigmoid": 6, "HardSwish": 14, "Identity": 16, "IsInf": 20, "IsNaN": 20, "LeakyRelu": 16, "Mish": 18, "Neg": 13, "Relu": 14,
    "Reciprocal": 13, "Round": 11, "Selu": 6, "Shrink": 9, "Sigmoid": 13, "Sign": 13, "Sin": 7, "Sinh": 9, "Softplus": 1, "Softsign": 1,
    "Swish": 24, "Tanh": 13, "ThresholdedRelu": 10,
}  # fmt: skip
FLOATS = [np.float32, np.float32, np.float16]
MOVED = [np.float32, np.float16, np.int32, np.int64, np.uint8, np.bool_, np.uint32]


def unary(d):
    op = d.pick(list(UNARY))
    kind = d.pick(INTEGERS) if op in ("Abs", "Neg", "Sign", "Relu", "Identity") and d.chance(0.5) else d.pick(FLOATS)
    if op in ("Neg", "Relu") and np.dtype(kind).kind == "u":
        kind = np.int32
    x = d.values(d.shape(), kind, d.chance(0.5))
    if op in ("Acos", "Asin"):
        x = np.clip(x, -1, 1)
    attributes = {"alpha": d.pick([0.3, 1.5, 2.0])} if op in ("Celu", "Elu", "LeakyRelu", "ThresholdedRelu", "Swish") else {}
    if op == "Gelu":
        attributes = {"approximate": d.pick(["none", "tanh"])}
    if op == "Shrink":
        attributes = {"bias": d.pick([0.0, 0.5, -1.0]), "lambd": d.pick([0.5, 1.5])}
    return Drawn(op, [x], attributes, 1, max(UNARY[op], d.pick([13, 18, 22])))


def binary(d):
    op = d.pick(["Add", "Sub", "Mul", "Div", "Pow", "Mod", "Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual", "Max", "Min"]
                + ["PRelu", "And", "Or", "Xor", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitShift", "Mean", "Sum"])  # fmt: skip
    opset, shape = max(d.pick([13, 17, 18, 22]), 18 if op.startswith("Bitwise") else 16), d.shape()
    shapes = [shape, d.broadcast(shape)]
    if op != "PRelu" and d.chance(0.5):
        shapes.reverse()
    if op in ("And", "Or", "Xor"):
        return Drawn(op, [d.values(s, np.bool_) for s in shapes], {}, 1, opset)
    kind = d.pick(FLOATS if d.chance(0.4) or op in ("PRelu", "Mean", "Sum") else INTEGERS)
    if op.startswith("Bit"):
        kind = d.pick([np.uint8, np.uint16, np.uint32, np.uint64] if op == "BitShift" else INTEGERS)
    if op == "Pow" and np.dtype(kind).kind != "f":
        kind = d.pick([np.int32, np.int64])
    full = d.chance(0.4) and op != "Pow"
    x, y = (d.values(s, kind, full) for s in shapes)
    if np.dtype(kind).kind in "iu" and op in ("Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual", "Max", "Min") and d.chance(0.5):
        y = np.asarray(x + d.integers(x.shape, kind) % 3).astype(kind)  # beside each other
    attributes = {}
    if op == "Pow":
        y = np.asarray(np.abs(y) % 4).astype(kind)
    if op in ("Div", "Mod"):
        y = np.where(y == 0, 1, y).astype(kind)
        attributes = {"fmod": 1} if op == "Mod" and (np.dtype(kind).kind == "f" or d.chance(0.3)) else {}
    if op == "BitShift":
        attributes = {"direction": d.pick(["LEFT", "RIGHT"])}
        y = np.asarray(d.rng.integers(0, np.iinfo(kind).bits, shapes[1])).astype(kind)
    return Drawn(op, [x, d.maybe_fixed(y)], attributes, 1, opset)


def old_operands(d):
    """Operands that are broadcast from an axis."""
    op = d.pick(["Add", "Sub", "Mul", "Div", "Pow", "Greater", "Less"])
    shape, first = d.shape(4), d.number(0, 3)
    last = d.number(first + 1, 4)
    attributes = {"broadcast": 1} | ({"axis": first} if last != 4 or d.chance(0.3) else {})
    x, y = np.abs(d.floats(shape)) + 0.1, d.floats(shape[first:last])
    return Drawn(op, [x, y], attributes, 1, 6)


def reduction(d):
    op = d.pick(["ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd"]
                + ["ReduceSum", "ReduceSumSquare"])  # fmt: skip
    opset, shape, kind = d.pick([11, 12, 13, 17, 18, 20]), d.shape(), d.pick([*FLOATS, np.int32, np.int64])
    x = d.values(shape, kind, d.chance(0.3) and op in ("ReduceMax", "ReduceMin"))
    if op == "ReduceLogSum":
        x = np.asarray(np.abs(x) + 1).astype(kind)
    attributes, inputs = {"keepdims": d.number(0, 1)}, [x]
    axes = [a - len(shape) * d.number(0, 1) for a in d.order(len(shape))[: d.number(1, 4)]] if shape and d.chance(0.8) else None
    if opset < 18 and not (op == "ReduceSum" and opset >= 13):
        return Drawn(op, inputs, attributes | ({"axes": axes} if axes else {}), 1, opset)
    if axes or d.chance(0.3):
        inputs.append(d.maybe_fixed(np.array(axes or [], np.int64)))
    if not axes and d.chance(0.3):
        attributes["noop_with_empty_axes"] = 1
    return Drawn(op, inputs, attributes, 1, opset)


def softmax(d):
    op = d.pick(["Softmax", "LogSoftmax", "Hardmax", "ArgMax", "ArgMin"])
    opset, shape = d.pick([8, 11, 12, 13, 18]), d.shape(d.number(1, 4))
    x, attributes = d.floats(shape, scale=d.pick([1, 20])), {"axis": d.axis(len(shape), opset >= 11)}
    if op.startswith("Arg"):
        x = np.round(x / 10).astype(d.pick([np.float32, np.int32, np.int64]))
        attributes |= {"keepdims": d.number(0, 1)} | ({"select_last_index": d.number(0, 1)} if opset >= 12 else {})
    return Drawn(op, [x], attributes, 1, opset)


def move(d):
    op = d.pick(["Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Expand", "Tile", "Concat", "Split", "Slice", "Pad", "Shape"]
                + ["DepthToSpace", "SpaceToDepth", "Trilu", "Where", "ReverseSequence", "Size"])  # fmt: skip
    opset, shape = d.pick([13, 15, 18, 21] + [28] * (op == "SpaceToDepth")), d.shape(d.number(1, 4))
    kind = d.pick(MOVED)
    full = d.chance(0.3) and np.dtype(kind).kind in "iu"
    value = lambda sizes: d.values(sizes, kind, full)  # noqa: E731
    x, axis, sizes = value(shape), d.axis(len(shape)), lambda *numbers: d.maybe_fixed(np.array(numbers, np.int64))
    if op in ("Shape", "Size"):
        return Drawn(op, [x], {"start": d.number(-5, 4), "end": d.number(-5, 5)} if op == "Shape" and opset >= 15 else {}, 1, opset)
    if op == "Reshape":
        return Drawn(op, [x, sizes(*d.pick([[-1], [1, -1, 1], [0, -1], [shape[0], -1]]))], {}, 1, opset)
    if op in ("Flatten", "Transpose"):
        return Drawn(op, [x], {"axis": axis} if op == "Flatten" else {"perm": d.order(len(shape))}, 1, opset)
    if op == "Squeeze":
        return Drawn(op, [value((*shape[:1], 1, *shape[1:])), sizes(1)], {}, 1, opset)
    if op == "Unsqueeze":
        return Drawn(op, [x, sizes(*d.order(len(shape) + 2)[:2])], {}, 1, opset)
    if op == "Expand":
        return Drawn(op, [value(d.broadcast(shape)), sizes(*shape)], {}, 1, opset)
    if op == "Tile":
        return Drawn(op, [x, sizes(*d.numbers(1, 3, len(shape)))], {}, 1, opset)
    if op == "Concat":
        parts = [value(tuple(d.number(1, 4) if i == axis % len(shape) else n for i, n in enumerate(shape))) for _ in range(d.number(1, 3))]
        return Drawn(op, parts, {"axis": axis}, 1, opset)
    if op == "Split":
        parts = d.numbers(1, 3, d.number(1, 3))
        whole = tuple(sum(parts) if i == axis % len(shape) else n for i, n in enumerate(shape))
        return Drawn(op, [value(whole), sizes(*parts)], {"axis": axis}, len(parts), opset)
    if op == "Slice":
        ends = [d.pick([100, 2**31 - 1, 2**63 - 1, -1, -100, 1, 3]) for _ in shape]
        return Drawn(op, [x, sizes(*d.numbers(-6, 5, len(shape))), sizes(*ends), sizes(*d.order(len(shape))),
                          sizes(*(d.pick([1, 2, -1, -2]) for _ in shape))], {}, 1, opset)  # fmt: skip
    if op == "Pad":
        mode = d.pick(["constant", "edge", "reflect"])
        pads = [d.number(0, min(2, shape[i % len(shape)] - 1)) for i in range(2 * len(shape))]
        x = x if x.dtype != np.bool_ else d.floats(shape)
        return Drawn(op, [x, sizes(*pads), d.maybe_fixed(np.array(3, x.dtype))], {"mode": mode}, 1, opset)
    if op in ("DepthToSpace", "SpaceToDepth"):
        block = d.number(1, 3)
        sides = (2, block * block * 2, 2, 3) if op[0] == "D" else (1, 2, block * 2, block * 3)
        mode = {"mode": d.pick(["DCR", "CRD"])} if op[0] == "D" or opset >= 28 else {}
        return Drawn(op, [d.floats(sides)], {"blocksize": block} | mode, 1, opset)
    if op == "Trilu":
        return Drawn(op, [value(d.shape(d.number(2, 4))), d.maybe_fixed(np.array(d.number(-6, 6)))], {"upper": d.number(0, 1)}, 1, opset)
    if op == "Where":
        return Drawn(op, [d.values(d.broadcast(shape), np.bool_), x, value(d.broadcast(shape))], {}, 1, opset)
    whole = d.shape(d.number(2, 4), 2, 5)
    lengths = d.maybe_fixed(np.array(d.numbers(1, whole[0], whole[1])))
    return Drawn(op, [value(whole), lengths], {"batch_axis": 1, "time_axis": 0}, 1, opset)


def index(d):
    op = d.pick(["Gather", "GatherElements", "GatherND", "ScatterElements", "ScatterND", "OneHot", "Compress", "NonZero", "Unique"]
                + ["CumSum", "Cast", "Cast", "Clip", "Range", "TopK", "BitCast"])  # fmt: skip
    opset, shape, kind = d.pick([13, 16, 18, 21]), d.shape(d.number(1, 4), 1, 4), d.pick([np.float32, np.int32, np.int64, np.uint8])
    x, axis = d.values(shape, kind), d.axis(len(shape))
    at = axis % len(shape)
    if op == "Gather":
        return Drawn(op, [x, d.maybe_fixed(d.rng.integers(-shape[at], shape[at], d.shape(d.number(0, 2))))], {"axis": axis}, 1, opset)
    if op in ("GatherElements", "ScatterElements"):
        sizes = tuple(d.number(1, n) for n in shape)
        places = np.argsort(d.rng.random([n if i == at else sizes[i] for i, n in enumerate(shape)]), at).take(range(sizes[at]), at)
        if op[0] == "G":
            return Drawn(op, [x, d.maybe_fixed(places)], {"axis": axis}, 1, opset)
        reduction = {"reduction": d.pick(["none", "add", "mul"])} if opset >= 16 else {}
        return Drawn(op, [x, d.maybe_fixed(places), d.values(sizes, kind)], {"axis": axis, **reduction}, 1, opset)
    if op in ("GatherND", "ScatterND"):
        depth = d.number(1, len(shape))
        rows = d.order(int(np.prod(shape[:depth])))[: d.number(1, 4)]
        places = np.stack(np.unravel_index(rows, shape[:depth]), -1).astype(np.int64)
        updates = [d.values((len(rows), *shape[depth:]), kind)] if op[0] == "S" else []
        return Drawn(op, [x, d.maybe_fixed(places), *updates], {}, 1, opset)
    if op == "OneHot":
        depth = d.number(1, 5)
        return Drawn(
            op, [d.rng.integers(-depth, depth, shape), Fixed(np.array(depth)), Fixed(np.array([2, 5], kind))], {"axis": -1}, 1, opset
        )
    if op == "Compress":
        return Drawn(op, [x, d.maybe_fixed(np.array([True] + [d.chance(0.7) for _ in range(shape[at] - 1)]))], {"axis": axis}, 1, opset)
    if op == "NonZero":
        return Drawn(op, [np.round(x).astype(kind)], {}, 1, opset)
    if op == "Unique":
        return Drawn(
            op, [np.clip(np.round(x), 0, 2).astype(kind)], {"sorted": d.number(0, 1)} | ({"axis": axis} if d.chance(0.5) else {}), 4, opset
        )
    if op == "CumSum":
        x = d.values(shape, d.pick([np.float32, np.int32, np.int64]))
        return Drawn(op, [x, d.maybe_fixed(np.array(axis))], {"exclusive": d.number(0, 1), "reverse": d.number(0, 1)}, 1, opset)
    if op == "Cast":
        x = d.values(shape, d.pick([np.float32, np.float16, np.bool_, *INTEGERS]), d.chance(0.4))
        to = d.pick([1, 10, 6, 7, 9, 3, 2, 12])
        return Drawn(op, [np.abs(x) if x.dtype.kind == "f" and to in (2, 12) else x], {"to": to}, 1, opset)
    if op == "BitCast":
        x = d.values(shape, d.pick(INTEGERS), True)
        same = [helper.np_dtype_to_tensor_dtype(np.dtype(kind)) for kind in INTEGERS if np.dtype(kind).itemsize == x.itemsize]
        return Drawn(op, [x], {"to": d.pick(same)}, 1, 26)
    if op == "Clip":
        x, (low, high) = d.values(shape, d.pick([np.float32, np.float16, *INTEGERS]), d.chance(0.4)), d.pick([(0, 3), (1, 10), (1, 100)])
        if x.dtype.itemsize == 4 and x.dtype.kind in "iu" and d.chance(0.5):
            high = 2**30 + 1
        return Drawn(op, [x, d.maybe_fixed(np.array(low, x.dtype)), d.maybe_fixed(np.array(high, x.dtype))][: d.number(2, 3)], {}, 1, opset)
    if op == "Range":
        kind, first, step = d.pick([np.float32, np.int32, np.int64]), d.number(-5, 4), d.pick([1, 2, -1, -3])
        return Drawn(op, [d.maybe_fixed(np.array(n, kind)) for n in (first, first + step * d.number(1, 5), step)], {}, 1, opset)
    return Drawn(op, [d.floats(shape), d.maybe_fixed(np.array([d.number(1, shape[at])]))], {"axis": axis}, 2, opset)


def resize(d):
    rank, opset = d.pick([1, 2, 2, 3]), d.pick([11, 13, 18, 19])
    x = d.floats((1, d.number(1, 2), *d.shape(rank, 2, 6)))
    scales = [1.0, 1.0] + [d.pick([0.5, 0.75, 1.0, 1.3, 2.0, 3.0]) for _ in range(rank)]
    places = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]
    attributes = {"mode": d.pick(["nearest", "linear"] + ["cubic"] * (rank == 2)), "coordinate_transformation_mode": d.pick(places)}
    attributes["nearest_mode"] = d.pick(["floor", "ceil", "round_prefer_floor"])
    roi = Fixed(np.zeros(0, np.float32)) if opset == 11 else None
    if d.chance(0.5):
        return Drawn("Resize", [x, roi, d.maybe_fixed(np.array(scales, np.float32))], attributes, 1, opset)
    sizes = np.array([max(1, int(n * s)) for n, s in zip(x.shape, scales)], np.int64)
    return Drawn("Resize", [x, roi, Fixed(np.zeros(0, np.float32)) if opset == 11 else None, d.maybe_fixed(sizes)], attributes, 1, opset)


def image(d):
    op = d.pick(
        ["GridSample", "RoiAlign", "Col2Im", "NonMaxSuppression", "DFT", "HannWindow", "HammingWindow", "BlackmanWindow", "AffineGrid"]
    )
    if op == "GridSample":
        attributes = {"mode": d.pick(["bilinear", "nearest", "bicubic"]), "padding_mode": d.pick(["zeros", "border", "reflection"])}
        grid = d.floats((2, *d.shape(2, 1, 4), 2), scale=0.8)
        return Drawn(op, [d.floats((2, 2, *d.shape(2, 2, 5))), grid], attributes | {"align_corners": d.number(0, 1)}, 1, 16)
    if op == "RoiAlign":
        boxes = d.rng.random((3, 4)) * 4
        boxes[:, 2:] += boxes[:, :2]
        attributes = {"output_height": d.number(1, 3), "output_width": d.number(1, 3), "sampling_ratio": d.number(1, 2)}
        return Drawn(op, [d.floats((2, 2, 6, 6)), boxes.astype(np.float32), d.rng.integers(0, 2, 3)], attributes, 1, 16)
    if op == "Col2Im":
        sides, (vertical, horizontal) = d.numbers(3, 5, 2), d.numbers(1, 2, 2)
        count = (sides[0] - vertical + 1) * (sides[1] - horizontal + 1)
        return Drawn(op, [d.floats((2, 2 * vertical * horizontal, count)), d.maybe_fixed(np.array(sides)),
                          d.maybe_fixed(np.array([vertical, horizontal]))], {}, 1, 18)  # fmt: skip
    if op == "NonMaxSuppression":
        boxes = np.round(d.rng.random((1, 6, 4)) * 4, 1)
        boxes[..., 2:] += boxes[..., :2] + 0.1
        inputs = [boxes.astype(np.float32), d.rng.random((1, 2, 6)).astype(np.float32), d.maybe_fixed(np.array([d.number(0, 3)]))]
        return Drawn(op, [*inputs, d.maybe_fixed(np.array([d.pick([0.0, 0.3, 0.5])], np.float32))], {}, 1, d.pick([10, 11]))
    if op == "AffineGrid":
        return Drawn(
            op, [d.floats((2, 2, 3)), d.maybe_fixed(np.array([2, 1, *d.shape(2, 2, 4)]))], {"align_corners": d.number(0, 1)}, 1, 20
        )
    if op == "DFT":
        parts = d.number(1, 2)
        attributes = {"inverse": d.number(0, 1)} if parts == 2 or d.chance(0.5) else {"onesided": 1}
        length = d.maybe_fixed(np.array(d.number(1, 8))) if d.chance(0.3) else None
        return Drawn(op, [d.floats((2, d.number(1, 6), 3, parts)), length, Fixed(np.array(d.pick([1, 2, -2])))], attributes, 1, 20)
    return Drawn(op, [np.array(d.number(1, 11))], {"periodic": d.number(0, 1)}, 1, 17)


FAMILIES = {"unary": unary, "binary": binary, "old operands": old_operands, "reduction": reduction, "softmax": softmax, "move": move,
            "index": index, "resize": resize, "image": image}  # fmt: skip
