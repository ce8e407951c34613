"""Cells of sweep_operators.py for windows, products, recurrences and normalisations of images: types, strides, axes, attributes."""

from sweep_cell import Cell, Fed, Fixed, Of, whole

MICROSOFT = "com.microsoft"

#: Shape, window, attributes of pools and convolutions.
WINDOWS = [
    ((2, 16, 400), [3], {}),
    ((2, 16, 400), [8], {"strides": [4]}),
    ((2, 16, 400), [3], {"dilations": [5]}),
    ((2, 16, 400), [7], {"auto_pad": "SAME_LOWER"}),
    ((1, 16, 32, 32), [1, 7], {"pads": [0, 3, 0, 3]}),
    ((1, 16, 32, 32), [7, 1], {"pads": [3, 0, 3, 0]}),
    ((1, 16, 32, 32), [3, 3], {"strides": [1, 2]}),
    ((1, 16, 32, 32), [3, 3], {"strides": [2, 1], "pads": [1, 1, 1, 1]}),
    ((1, 16, 33, 33), [3, 3], {"strides": [3, 3], "auto_pad": "SAME_UPPER"}),
    ((1, 16, 32, 32), [2, 2], {"dilations": [2, 3]}),
    ((1, 16, 32, 32), [9, 9], {"pads": [4, 4, 4, 4]}),
    ((1, 16, 32, 32), [5, 5], {"strides": [5, 5]}),
    ((1, 16, 32, 32), [16, 16], {}),
    ((8, 16, 8, 8), [3, 3], {"pads": [1, 1, 1, 1]}),
    ((1, 16, 64, 4), [3, 3], {"pads": [1, 1, 1, 1]}),
    ((1, 16, 4, 64), [3, 3], {"pads": [1, 1, 1, 1]}),
    ((1, 3, 64, 64), [3, 3], {"strides": [2, 2], "pads": [0, 0, 1, 1]}),
    ((1, 8, 12, 16, 16), [3, 3, 3], {}),
    ((1, 8, 12, 16, 16), [1, 3, 3], {"strides": [1, 2, 2]}),
    ((1, 8, 12, 16, 16), [3, 1, 1], {"pads": [1, 0, 0, 1, 0, 0]}),
    ((1, 8, 12, 16, 16), [2, 2, 2], {"strides": [2, 2, 2]}),
]


def pools():
    for shape, window, attributes in WINDOWS:
        for ceil in (0, 1):
            more = {"kernel_shape": window, "ceil_mode": ceil} | attributes
            for dtype in ("float32", "float64", "float16", "uint8", "int8"):
                yield Cell("MaxPool", Fed(dtype, *shape), **more)
            yield Cell("MaxPool", Fed("float32", *shape), outputs=2, **more)
            for count in (0, 1):
                for dtype in ("float32", "float16"):
                    yield Cell("AveragePool", Fed(dtype, *shape), count_include_pad=count, **more)
            for p in (1, 2, 3):
                yield Cell("LpPool", Fed("float32", *shape), p=p, **more)
    for dtype in ("float32", "float16"):
        for shape in [(2, 64, 500), (1, 32, 12, 16, 16), (16, 64, 7, 7), (1, 512, 1, 1)]:
            for op in ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"):
                yield Cell(op, Fed(dtype, *shape))
    for transposed in ("uint8", "int8"):
        for shape, window, attributes in WINDOWS[4:15]:
            scales = (Of("float32", 0.1), Of(transposed, 5)) * 2
            yield Cell("QLinearAveragePool", Fed(transposed, *shape), *scales, domain=MICROSOFT, kernel_shape=window, **attributes)


def convolutions():
    for shape, window, attributes in WINDOWS:
        channels = shape[1]
        for dtype in ("float32", "float16"):
            for outputs, group in [(channels, 1), (channels, channels), (2 * channels, channels), (24, 1), (8, 4), (1, 1)]:
                if channels % group or outputs % group:
                    continue
                weight = Fixed(dtype, outputs, channels // group, *window, low=-1, high=1)
                for bias in (None, Fixed(dtype, outputs)):
                    yield Cell("Conv", Fed(dtype, *shape), weight, bias, group=group, **attributes)
        yield Cell("Conv", Fed("float32", *shape), Fed("float32", 8, channels, *window), **attributes)


def transposed_convolutions():
    for shape, window, attributes in WINDOWS:
        if "auto_pad" in attributes or max(window) > 9:
            continue
        channels = shape[1]
        for dtype in ("float32", "float16"):
            for outputs, group in [(channels, 1), (1, channels), (2, 4), (5, 1)]:
                if channels % group:
                    continue
                weight = Fixed(dtype, channels, outputs, *window, low=-1, high=1)
                yield Cell("ConvTranspose", Fed(dtype, *shape), weight, group=group, **attributes)
        strides = attributes.get("strides", [1] * len(window))
        if max(strides) > 1:
            added = attributes | {"output_padding": [s - 1 for s in strides]}
            yield Cell("ConvTranspose", Fed("float32", *shape), Fixed("float32", channels, 8, *window), Fixed("float32", 8), **added)


def integer_convolutions():
    for shape, window, attributes in WINDOWS:
        channels = shape[1]
        for given in ("uint8", "int8"):
            for weights in ("uint8", "int8"):
                for outputs, group in [(channels, 1), (channels, channels), (24, 1), (8, 4)]:
                    if channels % group or outputs % group:
                        continue
                    weight = Fixed(weights, outputs, channels // group, *window)
                    image, zeros = Fed(given, *shape), (Of(given, 3), Of(weights, 1 if weights == "uint8" else 0))
                    yield Cell("ConvInteger", image, weight, *zeros, group=group, opset=10, **attributes)
                    if given == "int8" and weights == "uint8":
                        continue
                    per_channel = Fixed("float32", outputs, low=0.01, high=0.1)
                    scales = [Of("float32", 0.05), zeros[0], weight, per_channel, Of(weights, [zeros[1].array] * outputs)]
                    scales += [Of("float32", 0.5), Of(given, 9)]
                    yield Cell("QLinearConv", image, *scales, Fixed("int32", outputs), group=group, **attributes)


def products():
    pairs = [
        ((256,), (256, 200)),
        ((200, 256), (256,)),
        ((4096,), (4096,)),
        ((1, 300), (300, 300)),
        ((300, 3), (3, 300)),
        ((2000, 16), (16, 3)),
        ((3, 2000), (2000, 3)),
        ((8, 4, 32, 48), (8, 4, 48, 32)),
        ((8, 4, 32, 48), (48, 32)),
        ((8, 4, 32, 48), (4, 48, 32)),
        ((8, 1, 32, 48), (1, 4, 48, 32)),
        ((48, 32), (6, 32, 40)),
        ((64, 1, 64), (64, 64, 16)),
        ((64, 16, 64), (64, 64, 1)),
        ((1000, 3, 3), (1000, 3, 3)),
        ((100, 77, 1), (100, 1, 33)),
    ]
    for first, second in pairs:
        for dtype in ("float32", "float64", "float16", "int32", "int64", "uint32", "uint64"):
            yield Cell("MatMul", Fed(dtype, *first), Fed(dtype, *second))
            yield Cell("MatMul", Fed(dtype, *first), Fixed(dtype, *second))
        for a in ("uint8", "int8"):
            for b in ("uint8", "int8"):
                if len(first) > 1 and len(second) > 1:
                    yield Cell("MatMulInteger", Fed(a, *first), Fed(b, *second), Of(a, 3), Of(b, 1), opset=10)
                    zeros = Fixed(b, second[-1], low=0, high=3) if len(second) == 2 else None
                    yield Cell("MatMulInteger", Fed(a, *first), Fixed(b, *second), Of(a, 3), zeros, opset=10)
    for rows, inner, columns in [(64, 100, 48), (1, 300, 300), (300, 300, 1), (17, 33, 65), (500, 8, 8)]:
        for across in (0, 1):
            for down in (0, 1):
                for dtype in ("float32", "float64", "float16"):
                    a = Fed(dtype, *((inner, rows) if across else (rows, inner)))
                    shape = (columns, inner) if down else (inner, columns)
                    for b in (Fed(dtype, *shape), Fixed(dtype, *shape)):
                        for c in (None, Fed(dtype, columns), Fed(dtype, rows, 1), Fed(dtype, rows, columns), Fed(dtype)):
                            factors = {} if c is None or c.shape else {"alpha": 0.5, "beta": 2.0}
                            yield Cell("Gemm", a, b, c, transA=across, transB=down, **factors)


def sums_of_products():
    equations = [
        ("ij,jk->ki", (64, 100), (100, 48)),
        ("bij,bkj->bik", (8, 40, 32), (8, 30, 32)),
        ("bijc,bjkc->bikc", (2, 16, 24, 8), (2, 24, 16, 8)),
        ("bhwc,hkc->bhwk", (4, 16, 16, 32), (16, 24, 32)),
        ("ij,ij->", (200, 200), (200, 200)),
        ("ij,ij->i", (200, 200), (200, 200)),
        ("ij,ij->j", (200, 200), (200, 200)),
        ("i,ij->ij", (300,), (300, 200)),
        ("abc,cd,->abd", (8, 40, 32), (32, 24)),
        ("...ij,...jk->...ik", (8, 4, 20, 24), (8, 4, 24, 20)),
        ("nchw,nkc->nkhw", (2, 16, 16, 16), (2, 24, 16)),
    ]
    for dtype in ("float32", "float64", "int32", "int64", "float16"):
        for equation, *shapes in equations:
            if equation.count(",") == 2:
                shapes = [*shapes, ()]
            yield Cell("Einsum", *(Fed(dtype, *shape) for shape in shapes), equation=equation)
        for equation, shape in [
            ("ii->i", (200, 200)),
            ("ii->", (200, 200)),
            ("bij->bji", (8, 60, 50)),
            ("ijk->j", (30, 40, 50)),
            ("ijk->ik", (30, 40, 50)),
        ]:
            yield Cell("Einsum", Fed(dtype, *shape), equation=equation)


def recurrences():
    for op, gates in [("LSTM", 4), ("GRU", 3), ("RNN", 1)]:
        for dtype in ("float32", "float16"):
            for steps, batch, given, hidden in [(20, 1, 16, 32), (10, 8, 32, 32), (30, 4, 3, 20), (5, 32, 64, 48)]:
                for direction in ("forward", "reverse", "bidirectional"):
                    ways = 2 if direction == "bidirectional" else 1
                    weights = [Fixed(dtype, ways, gates * hidden, size, low=-0.2, high=0.2) for size in (given, hidden)]
                    bias = Fixed(dtype, ways, 2 * gates * hidden, low=-0.2, high=0.2)
                    lengths = Of("int32", [1 + (7 * i) % steps for i in range(batch)])
                    common = {"hidden_size": hidden, "direction": direction}
                    yield Cell(op, Fed(dtype, steps, batch, given), *weights, bias, lengths, outputs=2, **common)
                    special = {"activations": ["HardSigmoid", "Tanh", "Tanh"][: 3 if op == "LSTM" else 2] * ways, "clip": 3.0}
                    if op == "RNN":
                        special["activations"] = ["Relu"] * ways
                    yield Cell(op, Fed(dtype, steps, batch, given), *weights, bias, outputs=1, **common, **special)
                    if op == "GRU":
                        yield Cell(op, Fed(dtype, steps, batch, given), *weights, bias, linear_before_reset=1, **common)


def normalisations():
    for dtype in ("float32", "float64", "float16"):
        for shape, axis in [((16, 64, 64), 1), ((16, 64, 64), 2), ((16384, 4), 1), ((4, 16, 32, 32), 1), ((64, 1000), -1), ((3, 20000), 1)]:
            size = shape[axis:]
            for outputs in (1, 3):
                yield Cell("LayerNormalization", Fed(dtype, *shape), Fixed(dtype, *size), Fixed(dtype, *size), outputs=outputs, axis=axis)
            yield Cell("LayerNormalization", Fed(dtype, *shape), Fixed(dtype, *size), axis=axis)
            yield Cell("RMSNormalization", Fed(dtype, *shape), Fixed(dtype, *size), axis=axis, opset=23)
        for shape in [(4, 16, 500), (2, 8, 8, 16, 16), (64, 32), (16, 64, 7, 7), (1, 3, 128, 128)]:
            size = shape[1]
            positive = Fixed(dtype, size, low=0.5, high=2)
            yield Cell("BatchNormalization", Fed(dtype, *shape), positive, Fixed(dtype, size), Fixed(dtype, size), positive)
            if len(shape) > 2:
                yield Cell("InstanceNormalization", Fed(dtype, *shape), positive, Fixed(dtype, size))
                for groups in (1, size, size // 2 if size % 2 == 0 else size):
                    yield Cell("GroupNormalization", Fed(dtype, *shape), positive, Fixed(dtype, size), num_groups=groups)
            if len(shape) == 4:
                yield Cell("LRN", Fed("float32", *shape), size=5)
                yield Cell("LRN", Fed("float32", *shape), size=2, alpha=0.5, beta=0.5)
            if dtype == "float32":
                yield Cell("MeanVarianceNormalization", Fed(dtype, *shape), axes=[0, *range(2, len(shape))])
                yield Cell("MeanVarianceNormalization", Fed(dtype, *shape), axes=[1])


def transforms():
    for dtype in ("float32", "float64"):
        for shape, axis in [((8, 512, 1), 1), ((8, 300, 1), 1), ((64, 64, 2), 0), ((64, 64, 2), 1), ((4, 127, 2), 1), ((2, 16, 100, 2), 1)]:
            for inverse in (0, 1):
                if not inverse or shape[-1] == 2:
                    yield Cell("DFT", Fed(dtype, *shape), None, whole(axis), inverse=inverse)
            if shape[-1] == 1:
                yield Cell("DFT", Fed(dtype, *shape), None, whole(axis), onesided=1)
                yield Cell("DFT", Fed(dtype, *shape), whole(shape[axis] * 2), whole(axis))
        for frame, step in [(256, 64), (400, 160)]:
            for onesided in (0, 1):
                window = Fixed(dtype, frame)
                yield Cell("STFT", Fed(dtype, 2, 4000, 1), whole(step), window, whole(frame), onesided=onesided)
    for op in ("HannWindow", "HammingWindow", "BlackmanWindow"):
        for number in (1, 11, 6):
            for periodic in (0, 1):
                yield Cell(op, Fed("int64", low=5000, high=5000), output_datatype=number, periodic=periodic)
    for count in (2, 3, 10):
        yield Cell("Det", Fed("float32", 500, count, count))


def contributed():
    """Of com.microsoft: bytes that broadcast, joins and choices of bytes, normalisations with a sum before them."""
    for dtype in ("uint8", "int8"):
        scales = (Of("float32", 0.05), Of(dtype, 3))
        for op in ("QLinearAdd", "QLinearMul"):
            for first, second in [
                ((64, 1024), (1024,)),
                ((64, 1024), (64, 1)),
                ((40000,), ()),
                ((4, 16, 32, 32), (16, 1, 1)),
                ((16384, 4), (4,)),
            ]:
                yield Cell(
                    op, Fed(dtype, *first), *scales, Fed(dtype, *second), *scales, Of("float32", 0.1), Of(dtype, 5), domain=MICROSOFT
                )
                yield Cell(
                    op, Fed(dtype, *second), *scales, Fed(dtype, *first), *scales, Of("float32", 0.1), Of(dtype, 5), domain=MICROSOFT
                )
        for shape, axis in [((64, 1000), 0), ((16, 64, 64), 1), ((16384, 3), 1)]:
            limits = (*scales, Of("float32", 1 / 256), Of(dtype, 0))
            yield Cell("QLinearSoftmax", Fed(dtype, *shape), *limits, domain=MICROSOFT, axis=axis, opset_=13)
        for axis in (0, 1, 2):
            parts = [x for _ in range(3) for x in (Fed(dtype, 16, 32, 64), *scales)]
            yield Cell("QLinearConcat", Of("float32", 0.1), Of(dtype, 5), *parts, domain=MICROSOFT, axis=axis)
        yield Cell("QLinearGlobalAveragePool", Fed(dtype, 2, 16, 16, 64), *scales, *scales, domain=MICROSOFT, channels_last=1)
        yield Cell("QLinearWhere", Fed("bool", 64, 1), Fed(dtype, 64, 1000), *scales, Fed(dtype, 1000), *scales, *scales, domain=MICROSOFT)
    for dtype in ("float32", "float16"):
        for rows, length in [(256, 256), (8192, 8), (8, 8192)]:
            sum_of_two = (Fed(dtype, rows, length), Fed(dtype, rows, length))
            weights = (Fixed(dtype, length), Fixed(dtype, length), Fixed(dtype, length))
            three = tuple(Fed(i.dtype, 1, *i.shape) for i in sum_of_two)
            yield Cell("SkipLayerNormalization", *three, *weights, domain=MICROSOFT)
            yield Cell("SkipSimplifiedLayerNormalization", *three, weights[0], weights[1], domain=MICROSOFT)
        for op in ("FastGelu", "BiasGelu", "QuickGelu"):
            given = (Fed(dtype, 256, 256), *([] if op == "QuickGelu" else [Fed(dtype, 256)]))
            yield Cell(op, *given, domain=MICROSOFT)


def losses():
    for shape in [(64, 500), (8, 10, 32, 32), (8, 5, 400)]:
        target = (shape[0], *shape[2:])
        for reduction in ("none", "mean", "sum"):
            for ignored in (None, 0):
                for weight in (None, Fixed("float32", shape[1], low=0.1, high=1)):
                    given = (Fed("float32", *shape), Fed("int64", *target, low=0, high=shape[1] - 1), weight)
                    for op in ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"):
                        yield Cell(op, *given, reduction=reduction, ignore_index=ignored, opset=13)


#: Families, and how many cells of each there are beside the others.
PRODUCT_FAMILIES = [
    (pools, 190),
    (convolutions, 170),
    (transposed_convolutions, 60),
    (integer_convolutions, 100),
    (products, 180),
    (sums_of_products, 50),
    (recurrences, 70),
    (normalisations, 80),
    (transforms, 40),
    (contributed, 60),
    (losses, 30),
]
