"""Cells of sweep_operators.py for operators that move elements, choose among them or sort them: types, axes, strides, attributes."""

import numpy as np
from sweep_cell import Cell, Fed, Of, whole

MOVED = ["float32", "float64", "float16", "uint8", "int32", "int64", "bool", "string"]
PLAIN = [t for t in MOVED if t != "string"]


def transposes():
    cases = [
        ((256, 256), (1, 0)),
        ((16384, 3), (1, 0)),
        ((3, 16384), (1, 0)),
        ((32, 48, 40), (0, 2, 1)),
        ((32, 48, 40), (1, 0, 2)),
        ((32, 48, 40), (2, 1, 0)),
        ((32, 48, 40), (1, 2, 0)),
        ((32, 48, 40), (2, 0, 1)),
        ((1, 128, 128, 3), (0, 3, 1, 2)),
        ((1, 3, 128, 128), (0, 2, 3, 1)),
        ((8, 16, 24, 20), (0, 2, 1, 3)),
        ((8, 16, 24, 20), (0, 1, 3, 2)),
        ((8, 16, 24, 20), (3, 2, 1, 0)),
        ((8, 16, 24, 20), (2, 3, 0, 1)),
        ((2, 3, 16, 16, 32), (0, 2, 1, 4, 3)),
        ((4, 8, 2, 16, 2, 16), (0, 1, 3, 5, 2, 4)),
        ((4, 8, 16, 2, 16, 2), (0, 1, 3, 5, 2, 4)),
        ((2, 4, 4, 4, 8, 8, 4), (6, 0, 5, 1, 4, 2, 3)),
    ]
    for dtype in MOVED:
        for shape, perm in cases:
            if dtype == "string":
                shape = tuple(s // 3 if s > 4 else s for s in shape)
            yield Cell("Transpose", Fed(dtype, *shape), perm=list(perm))


def slices():
    cases = [
        ((50000,), [0], [0], [50000], [2]),
        ((50000,), [0], [-1], [-60000], [-1]),
        ((256, 256), [1], [3], [200], [1]),
        ((256, 256), [1], [0], [256], [3]),
        ((256, 256), [1], [-1], [-300], [-2]),
        ((256, 256), [0], [-1], [-300], [-1]),
        ((256, 256), [0, 1], [1, 1], [255, 255], [2, 2]),
        ((16384, 4), [1], [0], [2], [1]),
        ((16384, 4), [1], [1], [2], [1]),
        ((4, 16, 32, 32), [2, 3], [0, 0], [32, 32], [2, 2]),
        ((4, 16, 32, 32), [1, 3], [2, 1], [12, 30], [1, 1]),
        ((4, 16, 32, 32), [0, 1, 2, 3], [-1] * 4, [-99] * 4, [-1] * 4),
        ((8, 32, 8, 32), [2], [1], [2], [1]),
    ]
    for dtype in MOVED:
        for shape, axes, starts, ends, steps in cases:
            yield Cell("Slice", Fed(dtype, *shape), *map(whole, (starts, ends, axes, steps)))


def pads():
    cases = [
        ((50000,), [3, 5]),
        ((256, 256), [1, 1, 1, 1]),
        ((256, 256), [0, 40, 0, 40]),
        ((256, 256), [40, 0, 40, 0]),
        ((256, 256), [-3, 5, -3, -5]),
        ((16384, 3), [0, 1, 0, 0]),
        ((4, 16, 32, 32), [0, 0, 2, 2, 0, 0, 2, 2]),
        ((4, 16, 32, 32), [0, 3, 0, 0, 0, 5, 0, 0]),
        ((4, 32, 32, 16), [0, 1, 1, 0, 0, 1, 1, 0]),
        ((2, 8, 16, 16, 16), [0, 0, 1, 1, 1, 0, 0, 1, 1, 1]),
    ]
    for mode in ("constant", "reflect", "edge", "wrap"):
        for dtype in ["float32", "float64", "float16", "uint8", "int32", "int64", "bool"]:
            for shape, padding in cases:
                yield Cell("Pad", Fed(dtype, *shape), whole(padding), mode=mode)
                if mode == "constant" and dtype in ("float32", "uint8"):
                    yield Cell("Pad", Fed(dtype, *shape), whole(padding), Of(dtype, 7), mode=mode)


def joins():
    for dtype in MOVED:
        for shapes, axis in [
            (((256, 64), (256, 64), (256, 128)), 1),
            (((100, 256), (50, 256), (6, 256)), 0),
            (((16384, 1), (16384, 1), (16384, 2)), 1),
            (((16, 8, 64), (16, 24, 64), (16, 1, 64)), 1),
            (((4, 16, 32, 8), (4, 16, 32, 3)), 3),
            (((256, 8),) * 12, 1),
        ]:
            yield Cell("Concat", *(Fed(dtype, *shape) for shape in shapes), axis=axis)
        for shape, axis, lengths in [
            ((256, 256), 1, [64, 64, 128]),
            ((256, 256), 0, [100, 100, 56]),
            ((16384, 4), 1, [1, 1, 2]),
            ((16, 64, 64), 1, [8, 24, 32]),
            ((4, 16, 32, 32), 3, [2, 30]),
            ((64, 32, 16), 2, [1] * 16),
        ]:
            yield Cell("Split", Fed(dtype, *shape), whole(lengths), outputs=len(lengths), axis=axis)


def repeats():
    for dtype in MOVED:
        for shape, target in [
            ((256, 1), (256, 256)),
            ((256,), (256, 256)),
            ((16, 1, 64), (16, 64, 64)),
            ((16384, 1), (16384, 4)),
            ((1, 16, 1, 32), (8, 16, 32, 32)),
            ((8, 1, 16, 1), (8, 16, 16, 32)),
            ((1,), (64, 1024)),
            ((64, 256, 1), (64, 256, 4)),
            ((64, 256, 1), (64, 256, 3)),
        ]:
            yield Cell("Expand", Fed(dtype, *shape), whole(target))
        for shape, times in [
            ((256, 64), (1, 4)),
            ((64, 256), (4, 1)),
            ((16384, 1), (1, 4)),
            ((16384, 3), (1, 2)),
            ((16, 16, 16), (2, 2, 4)),
            ((4, 8, 1, 32), (1, 1, 32, 1)),
            ((1, 1, 64), (32, 32, 1)),
        ]:
            yield Cell("Tile", Fed(dtype, *shape), whole(times))


def gathers():
    for dtype in MOVED:
        for indices in ("int32", "int64"):
            for shape, axis, count in [
                ((1000, 64), 0, (512,)),
                ((1000, 3), 0, (8192,)),
                ((50000,), 0, (20000,)),
                ((256, 256), 1, (64,)),
                ((256, 256), 1, ()),
                ((64, 100, 16), 1, (40,)),
                ((64, 16, 4), 2, (2,)),
                ((100, 16), 0, (16, 32)),
            ]:
                limit = shape[axis] - 1
                yield Cell("Gather", Fed(dtype, *shape), Fed(indices, *count, low=-limit, high=limit), axis=axis)
            for shape, axis in [((256, 128), 0), ((256, 128), 1), ((16, 64, 32), 1), ((16384, 2), 1), ((30000,), 0)]:
                limit = shape[axis] - 1
                yield Cell("GatherElements", Fed(dtype, *shape), Fed(indices, *shape, low=-limit, high=limit), axis=axis)
        for shape, tuples, batch in [
            ((64, 32, 16), (400, 2), 0),
            ((64, 32, 16), (64, 20, 1), 1),
            ((1000, 3), (8192, 1), 0),
            ((40, 40, 40), (8192, 3), 0),
            ((8, 64, 64), (8, 500, 2), 1),
        ]:
            limit = min(shape) - 1
            yield Cell("GatherND", Fed(dtype, *shape), Fed("int64", *tuples, low=0, high=limit), batch_dims=batch)


def along(line, shape, axis):
    """The line of indices at each place of the other axes."""
    return np.broadcast_to(np.array(line).reshape([-1 if i == axis else 1 for i in range(len(shape))]), shape)


def scatters():
    """To distinct places."""
    for dtype in ["float32", "float64", "float16", "uint8", "int32", "int64"]:
        for reduction in ("none", "add") if dtype == "float16" else ("none", "add", "mul", "max", "min"):
            for shape, axis in [((256, 128), 0), ((256, 128), 1), ((16, 64, 32), 1), ((16384, 2), 1), ((30000,), 0)]:
                updates = [min(s, 16) if i == axis else s for i, s in enumerate(shape)]
                line = [shape[axis] - 1 - 2 * i if shape[axis] > 32 else i for i in range(updates[axis])]
                index = Of("int64", along(line, updates, axis))
                yield Cell(
                    "ScatterElements", Fed(dtype, *shape), index, Fed(dtype, *updates, low=0, high=3), axis=axis, reduction=reduction
                )
            for shape, count in [((1000, 64), 300), ((20000,), 5000), ((1000, 3), 700)]:
                index = Of("int64", [[3 * i % shape[0]] for i in range(count) if 3 * i < shape[0]])
                rows = len(index.array)
                yield Cell("ScatterND", Fed(dtype, *shape), index, Fed(dtype, rows, *shape[1:], low=0, high=3), reduction=reduction)


def sorts():
    for dtype in ["float32", "float64", "float16", "int8", "uint8", "int32", "int64"]:
        for shape, axis, k in [
            ((64, 1000), 1, 5),
            ((64, 1000), 1, 300),
            ((1000, 64), 0, 5),
            ((16, 200, 16), 1, 20),
            ((50000,), 0, 1000),
            ((16384, 4), 1, 2),
        ]:
            for largest in (0, 1):
                for ordered in (0, 1):
                    yield Cell("TopK", Fed(dtype, *shape), whole([k]), outputs=2, axis=axis, largest=largest, sorted=ordered)
    for dtype in ["float32", "float64", "int8", "int64", "string"]:
        for shape, axis in [((20000,), None), ((64, 64), None), ((500, 8), 0), ((8, 500), 1)]:
            for ordered in (0, 1):
                yield Cell("Unique", Fed(dtype, *shape), outputs=4, axis=axis, sorted=ordered)
                yield Cell("Unique", Fed(dtype, *shape), axis=axis, sorted=ordered)
    for dtype in ["float32", "int32", "int64", "uint8", "bool"]:
        for shape in [(50000,), (64, 1000), (4, 16, 32, 32)]:
            yield Cell("NonZero", Fed(dtype, *shape, low=-1, high=1))


def chosen():
    for dtype in MOVED:
        for shape, axis in [((50000,), None), ((256, 256), 0), ((256, 256), 1), ((16, 64, 64), 1), ((64, 64), None)]:
            length = shape[axis] if axis is not None else min(4000, shape[0] * (shape[1] if len(shape) > 1 else 1))
            yield Cell("Compress", Fed(dtype, *shape), Fed("bool", length), axis=axis)
        for batch, time in [(0, 1), (1, 0)]:
            for shape in [(64, 64, 16), (64, 64, 1), (16, 16, 256)]:
                lengths = Of("int64", [1 + 7 * i % shape[time] for i in range(shape[batch])])
                yield Cell("ReverseSequence", Fed(dtype, *shape), lengths, batch_axis=batch, time_axis=time)
    for dtype in ["float32", "float64", "int32", "int64", "bool"]:
        for shape in [(256, 256), (16, 64, 64), (4096, 4, 4)]:
            for upper in (0, 1):
                for k in (-3, 0, 5):
                    yield Cell("Trilu", Fed(dtype, *shape), Of("int64", k), upper=upper)
    for dtype in ["float32", "int64"]:
        for values in ["float32", "int64"]:
            for axis in (-1, 0, 1):
                for shape, depth in [((1000,), 64), ((32, 32), 50), ((4000,), 3)]:
                    yield Cell("OneHot", Fed(dtype, *shape, low=0, high=depth - 1), Of("int64", depth), Of(values, [0, 1]), axis=axis)
    for dtype in [1, 7, 11, 6]:
        for k in (-3, 0, 3):
            yield Cell("EyeLike", Fed("float32", 200, 300), dtype=dtype, k=k)
    for dtype in ["float32", "float64", "int16", "int32", "int64"]:
        yield Cell("Range", Fed(dtype, low=0, high=0), Fed(dtype, low=20000, high=20000), Fed(dtype, low=1, high=1))
        yield Cell("Range", Fed(dtype, low=30000, high=30000), Fed(dtype, low=0, high=0), Fed(dtype, low=-3, high=-3))


def blocks():
    for dtype in ["float32", "float64", "float16", "uint8", "int8"]:
        for shape, size in [((1, 64, 32, 32), 2), ((4, 64, 16, 16), 4), ((1, 36, 33, 33), 3), ((16, 16, 8, 8), 2)]:
            for mode in ("DCR", "CRD"):
                yield Cell("DepthToSpace", Fed(dtype, *shape), blocksize=size, mode=mode)
            yield Cell("SpaceToDepth", Fed(dtype, shape[0], shape[1] // size, shape[2] * size, shape[3] * size), blocksize=size)


def resizes():
    modes = [
        ("nearest", {"nearest_mode": "floor", "coordinate_transformation_mode": "asymmetric"}),
        ("nearest", {"nearest_mode": "ceil", "coordinate_transformation_mode": "half_pixel"}),
        ("nearest", {"nearest_mode": "round_prefer_ceil", "coordinate_transformation_mode": "align_corners"}),
        ("linear", {"coordinate_transformation_mode": "half_pixel"}),
        ("linear", {"coordinate_transformation_mode": "align_corners"}),
        ("linear", {"coordinate_transformation_mode": "pytorch_half_pixel", "antialias": 1}),
        ("cubic", {"cubic_coeff_a": -0.5, "coordinate_transformation_mode": "half_pixel"}),
        ("cubic", {"exclude_outside": 1, "coordinate_transformation_mode": "half_pixel"}),
        ("cubic", {"antialias": 1, "coordinate_transformation_mode": "half_pixel"}),
    ]
    cases = [
        ((1, 8, 40, 40), (1, 1, 1.5, 1.5)),
        ((1, 8, 80, 80), (1, 1, 0.4, 0.4)),
        ((1, 8, 40, 40), (1, 1, 1, 2)),
        ((1, 8, 40, 40), (1, 1, 3, 1)),
        ((1, 64, 10, 10), (1, 1, 2, 2)),
        ((64, 64), (2.5, 2.5)),
        ((1, 40, 40, 8), (1, 2, 2, 1)),
        ((1, 4, 500), (1, 1, 2)),
        ((1, 4, 16, 16, 16), (1, 1, 2, 2, 2)),
        ((1, 4, 16, 16, 16), (1, 1, 1, 2, 2)),
    ]
    for dtype in ["float32", "uint8", "int32", "int8", "float16"]:
        for shape, scales in cases:
            for mode, attributes in modes:
                if mode == "cubic" and "int" in dtype:
                    continue
                yield Cell("Resize", Fed(dtype, *shape), None, Of("float32", scales), mode=mode, **attributes)


def sampled():
    for dtype in ["float32", "float64"]:
        for mode in ("linear", "nearest", "cubic"):
            for padding in ("zeros", "border", "reflection"):
                for corners in (0, 1):
                    common = {"mode": mode, "padding_mode": padding, "align_corners": corners}
                    yield Cell("GridSample", Fed(dtype, 1, 16, 32, 32), Fed(dtype, 1, 32, 32, 2, low=-1.2, high=1.2), **common)
                    if mode != "cubic":
                        yield Cell("GridSample", Fed(dtype, 1, 4, 16, 16, 16), Fed(dtype, 1, 8, 16, 16, 3, low=-1.2, high=1.2), **common)
        for mode in ("avg", "max"):
            for transform in ("half_pixel", "output_half_pixel"):
                for ratio in (0, 1, 3):
                    boxes = Fed(dtype, 20, 4, low=0, high=60)
                    sizes = {"output_height": 5, "output_width": 6, "sampling_ratio": ratio, "spatial_scale": 0.5}
                    yield Cell(
                        "RoiAlign",
                        Fed(dtype, 1, 16, 32, 32),
                        boxes,
                        Of("int64", [0] * 20),
                        mode=mode,
                        coordinate_transformation_mode=transform,
                        opset=16,
                        **sizes,
                    )
        yield Cell("AffineGrid", Fed(dtype, 2, 2, 3), whole([2, 1, 64, 64]), align_corners=1)
        yield Cell("AffineGrid", Fed(dtype, 2, 3, 4), whole([2, 1, 16, 16, 16]))
    for shape, image, block, extra in [
        ((1, 72, 400), [22, 22], [3, 3], {}),
        ((1, 32, 256), [32, 32], [2, 2], {"strides": [2, 2]}),
        ((2, 18, 324), [20, 20], [3, 3], {}),
        ((1, 72, 400), [24, 24], [3, 3], {"dilations": [2, 2]}),
    ]:
        yield Cell("Col2Im", Fed("float32", *shape), whole(image), whole(block), **extra)


def texts():
    yield Cell("StringSplit", Fed("string", 2000), outputs=2, delimiter=" ")
    yield Cell("StringSplit", Fed("string", 40, 50), outputs=2)
    yield Cell(
        "StringNormalizer",
        Fed("string", 2000),
        case_change_action="UPPER",
        is_case_sensitive=0,
        locale="C",
        stopwords=["of", "cell"],
        opset=10,
    )
    yield Cell(
        "StringNormalizer",
        Fed("string", 2000),
        case_change_action="LOWER",
        is_case_sensitive=1,
        locale="C",
        stopwords=["of", "cell"],
        opset=10,
    )
    yield Cell("RegexFullMatch", Fed("string", 2000), pattern="[a-f]+")
    for dtype in ("int32", "int64"):
        for mode in ("TF", "IDF", "TFIDF"):
            for skip in (0, 2):
                pool = {"ngram_counts": [0, 4], "ngram_indexes": list(range(8)), "pool_int64s": [2, 3, 5, 4, 5, 6, 7, 8, 6, 7, 1, 2]}
                most = {"min_gram_length": 1, "max_gram_length": 2, "max_skip_count": skip, "mode": mode, "weights": [1.0, 2.0] * 4}
                yield Cell("TfIdfVectorizer", Fed(dtype, 16, 200, low=0, high=9), **pool, **most)


def constants_of_shape():
    for dtype in MOVED:
        yield Cell("Reshape", Fed(dtype, 64, 1000), whole([1000, 64]))
        yield Cell("Squeeze", Fed(dtype, 64, 1, 1000), whole([1]))
    for dtype in PLAIN:
        yield Cell(
            "TensorScatter",
            Fed(dtype, 4, 64, 128),
            Fed(dtype, 4, 8, 128),
            Of("int64", [0, 5, 60, 56][:4]),
            axis=1,
            mode="circular",
            opset=24,
        )
    yield Cell(
        "MaxUnpool",
        Fed("float32", 1, 4, 16, 16),
        Of("int64", np.arange(1024).reshape(1, 4, 16, 16) * 4),
        kernel_shape=[2, 2],
        strides=[2, 2],
    )


#: Families, and how many cells of each there are beside the others.
MOVE_FAMILIES = [
    (transposes, 110),
    (slices, 80),
    (pads, 120),
    (joins, 80),
    (repeats, 100),
    (gathers, 160),
    (scatters, 110),
    (sorts, 110),
    (chosen, 130),
    (blocks, 40),
    (resizes, 130),
    (sampled, 60),
    (texts, 20),
    (constants_of_shape, 24),
]
