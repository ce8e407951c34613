"""Cells of sweep_operators.py for operators of elements, conversions and reductions: types, ways to broadcast, axes, attributes."""

from sweep_cell import Cell, Fed, Fixed, Of, whole

FLOATS = ["float32", "float64", "float16"]
SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
INTEGERS = SIGNED + UNSIGNED
NUMBERS = FLOATS + INTEGERS

#: Operators of one input: types, the range of the inputs, attributes.
UNARY = [
    ("Abs", NUMBERS, (None, None), [{}]),
    ("Neg", FLOATS + SIGNED, (None, None), [{}]),
    ("Sign", NUMBERS, (None, None), [{}]),
    *((op, FLOATS, (None, None), [{}]) for op in ("Exp", "Tanh", "Sigmoid", "Sin", "Cos", "Floor", "Ceil", "Round", "Reciprocal")),
    *((op, FLOATS, (0.1, 9.0), [{}]) for op in ("Log", "Sqrt")),
    *((op, ["float16"], (-0.9, 0.9), [{}]) for op in ("Erf", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Asinh", "Atanh")),
    *((op, ["float16"], (None, None), [{}]) for op in ("Softplus", "Softsign", "Selu", "HardSwish", "Mish", "HardSigmoid")),
    ("Gelu", ["float32", "float16"], (None, None), [{"approximate": "tanh"}, {"approximate": "none"}]),
    ("Elu", ["float32", "float16"], (None, None), [{"alpha": 0.3}, {"alpha": -1.0}]),
    ("Celu", ["float32"], (None, None), [{"alpha": 0.3}, {"alpha": 3.0}]),
    ("LeakyRelu", ["float32", "float16"], (None, None), [{"alpha": 2.0}, {"alpha": -0.5}]),
    ("ThresholdedRelu", ["float32", "float16"], (None, None), [{"alpha": -1.0}, {"alpha": 2.0}]),
    ("Shrink", ["float32", "float64", "float16", *INTEGERS], (None, None), [{"lambd": 1.5, "bias": 0.5}, {"lambd": 3.0}]),
    ("Relu", ["float64", "float16", "int8", "int32"], (None, None), [{}]),
    ("IsNaN", FLOATS, (None, None), [{}]),
    ("IsInf", FLOATS, (None, None), [{}, {"detect_negative": 0}, {"detect_positive": 0}]),
    ("Not", ["bool"], (None, None), [{}]),
    ("BitwiseNot", INTEGERS, (None, None), [{}]),
    ("Identity", ["string", "bool", "uint8", "float16"], (None, None), [{}]),
]

#: Shapes of two operands.
PAIRS = [
    ((64, 1024), (64, 1024)),
    ((40000,), ()),
    ((), (40000,)),
    ((64, 1024), (1024,)),
    ((1024,), (64, 1024)),
    ((64, 1024), (64, 1)),
    ((64, 1), (64, 1024)),
    ((16, 64, 64), (16, 1, 64)),
    ((256, 1), (1, 256)),
    ((1, 256), (256, 1)),
    ((4, 16, 32, 32), (16, 1, 1)),
    ((4, 16, 32, 32), (4, 1, 32, 32)),
    ((16384, 4), (4,)),
    ((16384, 3), (16384, 1)),
    ((3, 1), (3, 16384)),
    ((8, 1, 16, 1, 32), (1, 16, 1, 8, 32)),
    ((8, 1, 16, 1), (8, 16, 16, 32)),
]
ARITHMETIC = [t for t in NUMBERS if t not in ("int16", "uint16", "uint32")]

#: Operators of two inputs: types, ranges of both, attributes.
BINARY = [
    *((op, ARITHMETIC, (None, None), (None, None), [{}]) for op in ("Add", "Sub", "Mul", "Max", "Min")),
    ("Div", ARITHMETIC, (None, None), (1, 50), [{}]),
    ("Pow", ["float32", "float64", "float16", "int32", "int64"], (0, 4), (0, 3), [{}]),
    ("Mod", ["float32", "float64", "float16"], (None, None), (1, 9), [{"fmod": 1}]),
    ("Mod", INTEGERS, (None, None), (1, 50), [{"fmod": 1}, {"fmod": 0}]),
    ("Equal", ["bool", "string", *NUMBERS], (None, None), (None, None), [{}]),
    *((op, NUMBERS, (None, None), (None, None), [{}]) for op in ("Less", "Greater", "LessOrEqual", "GreaterOrEqual")),
    *((op, ["bool"], (None, None), (None, None), [{}]) for op in ("And", "Or", "Xor")),
    *((op, INTEGERS, (None, None), (None, None), [{}]) for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor")),
    ("BitShift", ["uint8", "uint32", "uint64"], (0, 200), (0, 6), [{"direction": "LEFT"}, {"direction": "RIGHT"}]),
    ("PRelu", ["float32"], (None, None), (None, None), [{}]),
    ("StringConcat", ["string"], (None, None), (None, None), [{}]),
]


def unary():
    for op, types, (low, high), choices in UNARY:
        for dtype in types:
            for shape in [(50000,), (33, 77, 17)]:
                for attributes in choices:
                    yield Cell(op, Fed(dtype, *shape, low=low, high=high), **attributes)


def binary():
    for op, types, (low0, high0), (low1, high1), choices in BINARY:
        for dtype in types:
            for first, second in PAIRS:
                if op == "PRelu" and len(second) > len(first):
                    continue
                for attributes in choices:
                    yield Cell(op, Fed(dtype, *first, low=low0, high=high0), Fed(dtype, *second, low=low1, high=high1), **attributes)


def powers_of_two_types():
    for base in ["float32", "float64", "int32", "int64"]:
        for exponent in ["float32", "float64", "int32", "int64"]:
            for shape in [(), (20000,)]:
                yield Cell("Pow", Fed(base, 20000, low=0, high=4), Fed(exponent, *shape, low=0, high=3))
            yield Cell("Pow", Fed(base, 20000, low=1, high=4), Of(exponent, 2))
            yield Cell("Pow", Fed(base, 20000, low=1, high=4), Of(exponent, 3))


def variadic():
    for op in ("Max", "Min", "Sum", "Mean"):
        for dtype in FLOATS + (["int32", "int64", "uint8"] if op in ("Max", "Min") else []):
            for shapes in [((64, 512),) * 3, ((64, 512), (512,), (64, 1)), ((16, 8, 256), (8, 1), ()), ((64, 512),) * 6]:
                yield Cell(op, *(Fed(dtype, *shape) for shape in shapes))


def choices():
    triples = [
        ((64, 512),) * 3,
        ((64, 512), (), ()),
        ((64, 512), (64, 512), ()),
        ((64, 512), (), (64, 512)),
        ((64, 1), (64, 512), (512,)),
        ((512,), (64, 512), (64, 512)),
        ((1, 1, 64, 64), (8, 4, 64, 64), ()),
        ((8, 1, 1, 64), (8, 4, 64, 64), ()),
        ((16384, 1), (16384, 4), (4,)),
    ]
    for dtype in ["float32", "float64", "float16", "int32", "int64", "uint8", "string"]:
        for condition, first, second in triples:
            yield Cell("Where", Fed("bool", *condition), Fed(dtype, *first), Fed(dtype, *second))


def clips():
    for dtype in ["float64", "float16", "int8", "uint8", "int32", "int64", "uint32", "uint64"]:
        for low, high in [(1, 50), (None, 50), (1, None)]:
            limits = [None if limit is None else Of(dtype, limit) for limit in (low, high)]
            yield Cell("Clip", Fed(dtype, 50000), *limits)


def casts():
    types = ["bool", *NUMBERS]
    number = {"bool": 9, "float32": 1, "float64": 11, "float16": 10, "int8": 3, "int16": 5, "int32": 6, "int64": 7}
    number |= {"uint8": 2, "uint16": 4, "uint32": 12, "uint64": 13, "string": 8}
    for source in types:
        for target in number:
            if source != target:
                size = 2000 if target == "string" else 50000
                yield Cell("Cast", Fed(source, size, low=0, high=100), to=number[target])


#: Shapes with axes to reduce.
REDUCED = [
    ((50000,), [0]),
    ((256, 256), [0]),
    ((256, 256), [1]),
    ((16384, 3), [1]),
    ((16384, 3), [0]),
    ((3, 16384), [0]),
    ((3, 16384), [1]),
    ((16, 64, 64), [1]),
    ((16, 64, 64), [0]),
    ((16, 64, 64), [0, 2]),
    ((16, 64, 64), [0, 1]),
    ((256, 64, 4), [1]),
    ((8, 16, 32, 16), [1, 3]),
    ((8, 16, 32, 16), [0, 2]),
    ((8, 16, 32, 16), [0, 2, 3]),
    ((8, 16, 32, 16), [1, 2]),
    ((8, 16, 32, 16), [0, 1, 2, 3]),
    ((4, 8, 4, 8, 64), [1, 3]),
]
#: Rows and columns of bytes, which are short in sixteen bytes, in a vector, or beyond it.
REDUCED_BYTES = [
    ((4096, 17), [1]),
    ((4096, 64), [1]),
    ((8, 40, 80, 85), [3]),
    ((32, 32, 32, 32), [2]),
    ((64, 100, 300), [2]),
    ((2000, 7), [0]),
]
REDUCTIONS = ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp"]
REDUCTIONS += ["ReduceSumSquare"]


def reductions():
    for op in REDUCTIONS:
        types = ["float32", "float64", "float16", "int32", "int64"] + (
            ["int8", "uint8", "bool"] if op in ("ReduceMax", "ReduceMin") else []
        )
        for dtype in types:
            low, high = (0, 3) if dtype.startswith("int") and op not in ("ReduceMax", "ReduceMin") else (None, None)
            low, high = (0.5, 1.5) if op in ("ReduceLogSum", "ReduceProd") and dtype.startswith("float") else (low, high)
            for shape, axes in REDUCED + (REDUCED_BYTES if dtype.endswith("int8") else []):
                yield Cell(op, Fed(dtype, *shape, low=low, high=high), whole(axes), keepdims=len(axes) % 2)


def places():
    for op in ("ArgMax", "ArgMin"):
        for dtype in ["float32", "float64", "float16", "int8", "uint8", "int32", "int64"]:
            for shape, axes in REDUCED:
                for last in (0, 1):
                    if len(axes) == 1:
                        yield Cell(op, Fed(dtype, *shape), axis=axes[0], keepdims=1 - last, select_last_index=last)


def cumulative():
    for dtype in ["float32", "float64", "float16", "int32", "int64"]:
        for shape, axes in REDUCED:
            for exclusive in (0, 1):
                for reverse in (0, 1):
                    if len(axes) == 1:
                        yield Cell("CumSum", Fed(dtype, *shape, low=0, high=2), whole(axes[0]), exclusive=exclusive, reverse=reverse)


def normalised():
    shapes = [
        ((256, 256), 0),
        ((256, 256), 1),
        ((16384, 3), 1),
        ((3, 16384), 0),
        ((16, 64, 64), 1),
        ((8, 16, 32, 16), 1),
        ((8, 16, 32, 16), 3),
    ]
    for op in ("Softmax", "LogSoftmax", "Hardmax", "LpNormalization"):
        for dtype in FLOATS:
            for shape, axis in shapes:
                for attributes in [{"p": 1}, {"p": 2}] if op == "LpNormalization" else [{}]:
                    yield Cell(op, Fed(dtype, *shape), axis=axis, **attributes)
    for op in ("Softmax", "LogSoftmax", "Hardmax"):
        yield Cell(op, Fed("float32", 16, 64, 64), axis=1, opset=11)
        yield Cell(op, Fed("float32", 8, 4, 16, 128), axis=2, opset=11)


def quantised():
    kinds = ["int8", "uint8", "int16", "uint16"]
    for dtype in kinds:
        for source in ("float32", "float16"):
            for shape, axis, block in [
                ((256, 256), 1, 0),
                ((256, 256), 0, 0),
                ((4, 16, 32, 32), 1, 0),
                ((16384, 4), 1, 0),
                ((256, 256), 1, 32),
                ((256, 256), 0, 32),
            ]:
                sizes = [s // block if block and i == axis else s for i, s in enumerate(shape)] if block else [shape[axis]]
                scale, zero = Fixed(source, *sizes, low=0.01, high=0.1), Fixed(dtype, *sizes, low=0, high=9)
                block_size = {"block_size": block} if block else {}
                yield Cell("QuantizeLinear", Fed(source, *shape), scale, zero, axis=axis, **block_size)
                yield Cell("DequantizeLinear", Fed(dtype, *shape), scale, zero, axis=axis, **block_size)
            yield Cell("QuantizeLinear", Fed(source, 50000), Of(source, 0.05), Of(dtype, 3))
            yield Cell("DequantizeLinear", Fed(dtype, 50000), Of(source, 0.05), Of(dtype, 3))
    yield Cell("DequantizeLinear", Fed("int32", 50000), Of("float32", 0.05))
    yield Cell("DequantizeLinear", Fed("int32", 4, 16, 32, 32), Fixed("float32", 16, low=0.01, high=0.1), axis=1)


#: Families, and how many cells of each there are beside the others.
ELEMENT_FAMILIES = [
    (unary, 150),
    (binary, 460),
    (powers_of_two_types, 40),
    (variadic, 50),
    (choices, 60),
    (clips, 24),
    (casts, 120),
    (reductions, 340),
    (places, 110),
    (cumulative, 90),
    (normalised, 70),
    (quantised, 70),
]
