"""Convolutions with what stands around them, squeeze-and-excite, pads and windows, and departures from them."""

import numpy as np
from element_patterns import NEAR, affine
from pattern import Pattern


class Image:
    """[N, C, spatial...]. `open_share`: of sizes that are not known at load."""

    def __init__(self, p: Pattern, channels, spatial=(1, 2, 3, 5, 7), open_share=0.3):
        self.spatial = [p.size(f"S{i}", spatial, open_share) for i in range(p.random.choice([1, 2, 2, 2, 3]))]
        self.channels = p.random.choice(channels)
        self.dims = [p.size("N", [1, 2, 3]), p.size("C", [self.channels], 0), *self.spatial]
        self.rank = len(self.dims)


def channel_numbers(p: Pattern, image: Image, channels: int) -> str:
    """One a channel, or shapes that are not quite that."""
    ones = [1] * len(image.spatial)
    shape = p.random.choice([[channels, *ones]] * 4 + [[1, channels, *ones], [], [1], [1, *ones], [channels, *ones[1:]]])
    values = p.rng.uniform(-1.5, 1.5, shape)
    return p.constant(values) if p.maybe(0.85) else p.input(shape, lambda s: values)


def normalized(p: Pattern, x: str, channels: int) -> str:
    values = [p.rng.uniform(0.5, 1.5, channels) for _ in range(4)]
    if p.maybe(0.05):
        values[3][0] = 0
    numbers = [p.constant(v) if p.maybe(0.97) else p.input([channels], lambda s, v=v: v) for v in values]
    return p.node("BatchNormalization", [x, *numbers], epsilon=p.random.choice([1e-5, 1e-3]))


def activated(p: Pattern, x: str, image: Image, channels: int) -> str:
    form = p.random.randrange(9)
    p.bound = max(p.bound, NEAR)
    if form < 2:
        return p.node("Relu", [x])
    if form == 2:
        return p.clip(x, *p.random.choice([(0, 6), (-1, 1), (0, None), (None, 0.5), (0.5, -0.5)]))
    if form == 3:
        return p.either("Mul", x, p.node("Sigmoid", [x if p.maybe(0.9) else p.node("Neg", [x])]))
    if form == 4:
        ones = [1] * len(image.spatial)
        shape = p.random.choice([[channels, *ones], [channels, *ones], [1], [1, channels, *ones]])
        return p.node("PRelu", [x, p.constant(p.rng.uniform(-0.5, 1, shape))])
    if form == 5:
        return affine(p, p.clip(affine(p, x, 1, 3), 0, 6), 1 / 6, 0)
    if form == 6:
        return p.either("Mul", x, affine(p, p.clip(affine(p, x, 1, 3), 0, 6), 1 / 6, 0))
    return p.node(p.random.choice(["LeakyRelu", "Elu", "Tanh", "Sigmoid", "HardSigmoid", "Softplus"]), [x])


def padded(p: Pattern, x: str, image: Image) -> str:
    pads = [[p.random.choice([0, 1, 1, 2]) if i >= 2 else int(p.maybe(0.03)) for i in range(image.rank)] for _ in range(2)]
    flat = [value if p.maybe(0.97) else -1 for value in pads[0] + pads[1]]
    mode, value = p.random.choice(["constant"] * 6 + ["reflect", "edge"]), p.random.choice([0.0, 0.0, 0.0, -np.inf, 1.0])
    if p.opset < 11:
        return p.node("Pad", [x], pads=flat, value=float(value), mode=mode)
    if p.opset >= 18 and p.maybe(0.3):
        axes = p.random.sample(range(2, image.rank), image.rank - 2)
        named = p.ints(*(a - image.rank if p.maybe(0.5) else a for a in axes))
        flat = [flat[a + side] for side in (0, image.rank) for a in axes]
        return p.node("Pad", [x, p.ints(*flat), p.constant(value), named], mode=mode)
    return p.node("Pad", [x, p.ints(*flat)] + ([p.constant(value)] if p.maybe(0.8) else []), mode=mode)


def windows(p: Pattern, image: Image, dilates=True) -> dict:
    kernel = [p.random.choice([1, 2, 3]) for _ in image.spatial]
    attributes = {"kernel_shape": kernel, "strides": [p.random.choice([1, 1, 2]) for _ in kernel]}
    if p.maybe(0.2):
        attributes["auto_pad"] = p.random.choice(["VALID", "SAME_UPPER", "SAME_LOWER"])
    elif p.maybe(0.6):
        attributes["pads"] = [p.random.randint(0, size - 1) for size in kernel * 2]
    if dilates and p.maybe(0.2):
        attributes["dilations"] = [p.random.choice([1, 2]) for _ in kernel]
    return attributes


def window(p: Pattern, x: str, image: Image) -> str:
    """A convolution or pooling."""
    op = p.random.choice(["Conv", "Conv", "MaxPool", "AveragePool", "LpPool"])
    attributes = windows(p, image, op == "Conv" or (op == "MaxPool" and p.opset >= 10))
    if op == "Conv":
        inputs = [x, p.weights(p.random.choice([2, 5]), image.channels, *attributes["kernel_shape"])]
        return p.node("Conv", inputs, **attributes)
    if op == "AveragePool":
        attributes["count_include_pad"] = p.random.choice([0, 1])
    if op in ("MaxPool", "AveragePool") and p.opset >= 10 and p.maybe(0.2):
        attributes["ceil_mode"] = 1
    return p.node(op, [x], **attributes)


def pads_and_windows(p: Pattern) -> str:
    image = Image(p, [1, 2, 3], (1, 2, 4, 5, 7))
    x = p.input(image.dims)
    before = p.random.randrange(5)
    if before == 0:
        x = p.node(p.random.choice(["Relu", "Sigmoid", "Neg"]), [x])
    elif before == 1:
        x = p.clip(x, *p.random.choice([(0, 6), (-1, 1), (0, None), (None, 6), (0.5, 1)]))
    x = padded(p, x, image)
    results = [window(p, x, image) for _ in range(p.random.choice([1, 1, 2, 3]))]
    for other in results[1:]:
        p.extra.append(other)
    return results[0]


def convolution_block(p: Pattern) -> str:
    """A convolution, scaling, what is added, an activation, and another convolution."""
    p.sums_move = True
    image = Image(p, [1, 3, 8, 16, 24])
    x, channels = p.input(image.dims), image.channels
    if p.maybe(0.25):
        op = p.random.choice(["Mul", "Add"])
        x = normalized(p, x, channels) if p.maybe(0.5) else p.either(op, x, channel_numbers(p, image, channels))
        x = p.node("Relu", [x]) if p.maybe(0.6) else x
    source, keeps_sizes = x, p.maybe(0.7)
    for _ in range(p.random.randint(1, 2)):
        depthwise = p.maybe(0.25)
        outer = channels if depthwise or p.maybe(0.5) else p.random.choice([1, 5, 16, 33])
        attributes = windows(p, image)
        if keeps_sizes:
            kernel = [p.random.choice([1, 1, 3]) for _ in image.spatial]
            attributes = {"kernel_shape": kernel, "pads": [k // 2 for k in kernel] * 2}
        weights = p.weights(outer, 1 if depthwise else channels, *attributes["kernel_shape"])
        inputs = [x, weights] + ([p.constant(p.rng.uniform(-1, 1, outer))] if p.maybe(0.5) else [])
        x, channels = p.node("Conv", inputs, group=channels if depthwise else 1, **attributes), outer
        if p.maybe(0.4):
            x = normalized(p, x, channels)
        for op in p.random.sample(["Mul", "Add", "Sub", "Div"], p.random.choice([0, 0, 1, 2])):
            numbers = channel_numbers(p, image, channels)
            turned = op != "Div" and p.maybe(0.3)  # which zero is divided by is open
            x = p.node(op, [numbers, x] if turned else [x, numbers])
        if p.maybe(0.3):
            dims = [image.dims[0], p.size("K", [channels], 0), *image.spatial]
            x = p.either(p.random.choice(["Add", "Add", "Mul"]), x, source if p.maybe(0.5) else p.operand(dims))
        if p.maybe(0.7):
            x = activated(p, x, image, channels)
        if p.maybe(0.25):
            x = affine(p, x, p.random.choice([-1.5, -0.5, 0.75, 2]), p.random.choice([0, 0.5, -1]))
    return x


def transposed_block(p: Pattern) -> str:
    """A transposed convolution, scaling, an activation, and now and then another convolution, as decoders have them."""
    p.sums_move = True
    image = Image(p, [1, 3, 8, 16])
    x, channels = p.input(image.dims), image.channels
    x = p.node("LeakyRelu", [x], alpha=0.1) if p.maybe(0.2) else x
    for _ in range(p.random.randint(1, 2)):
        depthwise = p.maybe(0.2)
        outer = channels if depthwise or p.maybe(0.3) else p.random.choice([1, 3, 5, 16])
        kernel = p.random.choice([1, 2, 3, 4])
        attributes = {"strides": [p.random.choice([1, 2, 2, kernel]) for _ in image.spatial]}
        if p.maybe(0.5):
            attributes["pads"] = [p.random.randint(0, (kernel - 1) // 2) for _ in image.spatial] * 2
        elif p.maybe(0.3):
            attributes["auto_pad"] = p.random.choice(["VALID", "SAME_UPPER", "SAME_LOWER"])
        if p.maybe(0.2):
            attributes["output_padding"] = [stride - 1 for stride in attributes["strides"]]
        if p.maybe(0.1):
            attributes["dilations"] = [p.random.choice([1, 2]) for _ in image.spatial]
        weights = p.weights(channels, 1 if depthwise else outer, *[kernel] * len(image.spatial))
        inputs = [x, weights] + ([p.constant(p.rng.uniform(-1, 1, outer))] if p.maybe(0.5) else [])
        x, channels = p.node("ConvTranspose", inputs, group=channels if depthwise else 1, **attributes), outer
        x = normalized(p, x, channels) if p.maybe(0.4) else x
        for op in p.random.sample(["Mul", "Add", "Sub", "Div"], p.random.choice([0, 0, 1, 2])):
            numbers = channel_numbers(p, image, channels)
            turned = op != "Div" and p.maybe(0.3)
            x = p.node(op, [numbers, x] if turned else [x, numbers])
        x = activated(p, x, image, channels) if p.maybe(0.85) else x
    if p.maybe(0.3):
        x = p.either("Add", x, channel_numbers(p, image, channels) if p.maybe(0.5) else x)
    return x


def joined_branches(p: Pattern) -> str:
    """Convolutions of one value, side by side, added up or joined."""
    p.finite = True  # kernels of different shapes become one, filled up with zeros
    image = Image(p, [3, 8, 16])
    x = p.input(image.dims)
    outer, terms = p.random.choice([image.channels, 5]), []
    for _ in range(p.random.randint(2, 3)):
        kernel = [p.random.choice([1, 3]) for _ in image.spatial]
        y = p.node("Conv", [x, p.weights(outer, image.channels, *kernel)], kernel_shape=kernel, pads=[k // 2 for k in kernel] * 2)
        y = normalized(p, y, outer) if p.maybe(0.4) else y
        terms.append(activated(p, y, image, outer) if p.maybe(0.3) else y)
    if p.maybe(0.4):
        y = p.node("Concat", terms, axis=1)
        inputs = [y, p.weights(4, outer * len(terms), *[1] * len(image.spatial))]
        return p.node("Conv", inputs) if p.maybe(0.7) else y
    y = terms[0]
    for term in terms[1:]:
        y = p.either("Add", y, term)
    return p.node("Relu", [y])


class Excite:
    """The means of planes and what is made of them: [N, C] or [N, C, 1, ...]."""

    def __init__(self, p: Pattern, image: Image):
        self.p, self.image, self.is_flat, self.width = p, image, False, image.channels
        self.behind = list(range(2, image.rank))

    def pooled(self, x: str) -> str:
        p, form, keepdims = self.p, self.p.random.randrange(7), self.p.random.choice([0, 1])
        if form < 3:
            return p.node("GlobalAveragePool", [x])
        if form == 3:
            sizes = [d.values[0] for d in self.image.spatial]
            kernel = sizes if p.maybe(0.8) else [max(1, s - 1) for s in sizes]
            return p.node("AveragePool", [x], kernel_shape=kernel, strides=[p.random.choice([1, 2]) for _ in kernel])
        self.is_flat = not keepdims
        axes = self.behind if p.maybe(0.8) else p.random.sample(range(1, self.image.rank), p.random.randint(1, self.image.rank - 1))
        if form == 4 and len(axes) > 1:
            return p.mean(p.mean(x, axes[-1:], keepdims), axes[:-1], keepdims)
        return p.mean(x, axes, keepdims)

    def flat(self, y: str) -> str:
        if self.is_flat:
            return y
        self.is_flat, p = True, self.p
        form = p.random.randrange(3)
        if form == 0:
            return p.node("Flatten", [y], axis=1)
        return p.node("Reshape", [y, p.ints(*p.random.choice([(0, -1), (-1, self.width)]))]) if form == 1 else p.squeeze(y, self.behind)

    def plane(self, y: str) -> str:
        if not self.is_flat:
            return y
        self.is_flat, p = False, self.p
        if p.maybe(0.5):
            return p.unsqueeze(y, self.behind)
        return p.node("Reshape", [y, p.ints(*p.random.choice([(0, -1), (-1, self.width)]), *[1] * len(self.behind))])

    def product(self, y: str, outer: int) -> str:
        p, form, inner = self.p, self.p.random.randrange(3), self.width
        y = self.plane(y) if form == 0 else self.flat(y)
        self.width = outer
        bias = p.random.choice([[outer]] * 3 + [[1, outer], [1], []])
        if form == 0:
            inputs = [y, p.weights(outer, inner, *[1] * len(self.behind)), p.constant(p.rng.uniform(-1, 1, outer))]
            return p.node("Conv", inputs[: p.random.randint(2, 3)])
        if form == 1:
            turned = p.random.choice([0, 1])
            inputs = [y, p.weights(outer, inner) if turned else p.weights(inner, outer), p.constant(p.rng.uniform(-1, 1, bias))]
            count = 2 if p.opset >= 11 and p.maybe(0.3) else 3
            return p.node("Gemm", inputs[:count], transB=turned, alpha=p.random.choice([1.0, 1.0, 0.5]))
        y = p.node("MatMul", [y, p.weights(inner, outer)])
        return p.either("Add", y, p.constant(p.rng.uniform(-1, 1, bias))) if p.maybe(0.6) else y


def squeeze_excite(p: Pattern) -> str:
    p.sums_move = True
    image = Image(p, [1, 2, 4, 5, 16], (1, 2, 3, 4), 0.2)
    x = p.input(image.dims)
    if p.maybe(0.3):
        x = p.node("Conv", [x, p.weights(image.channels, image.channels, *[1] * len(image.spatial))])
    excite = Excite(p, image)
    y = excite.product(excite.pooled(x), p.random.choice([1, 2, 3]))
    y = activated(p, y, image, excite.width) if p.maybe(0.3) and not excite.is_flat else p.node("Relu", [y]) if p.maybe(0.8) else y
    y = excite.product(y, image.channels)
    form = p.random.randrange(5)
    if form < 3:
        y = p.node(p.random.choice(["Sigmoid", "Sigmoid", "HardSigmoid", "Tanh"]), [y])
    elif form == 3:
        y = affine(p, p.clip(affine(p, y, 1, 3), 0, p.random.choice([6, 6, 6.05])), 1 / 6, 0)
    y = p.either("Mul", x, excite.plane(y))
    if p.maybe(0.3):
        y = p.node("Conv", [y, p.weights(3, image.channels, *[1] * len(image.spatial))])
    return y


def inverted_residual(p: Pattern) -> str:
    """Single pixels to more channels, a depthwise convolution, squeeze-and-excite, single pixels to fewer, and a sum: large enough for
    blocks of channels."""
    p.sums_move = True
    image, outer, inner = Image(p, [3, 16, 24, 32]), p.random.choice([16, 32, 40]), p.random.choice([16, 24])
    image.spatial, image.rank = [p.size(f"S{i}", [14, 15, 28], 0.15) for i in range(2)], 4
    x = source = p.input([p.size("N", [1, 2]), image.channels, *image.spatial])
    channels = image.channels
    usual = [("one", outer), ("depth", outer), ("gate", outer), ("one", inner)]
    for kind, count in p.random.choice([usual, usual, [("three", 16), ("one", inner), ("depth", inner), ("one", 16)]]):
        if kind == "gate":
            if p.maybe(0.5):
                gate = p.node("Relu", [p.node("Conv", [p.node("GlobalAveragePool", [x]), p.weights(4, count, 1, 1)])])
                gate = p.node(p.random.choice(["Sigmoid", "HardSigmoid"]), [p.node("Conv", [gate, p.weights(count, 4, 1, 1)])])
                x = p.either("Mul", x, gate)
            continue
        kernel, stride = 1 if kind == "one" else p.random.choice([3, 3, 5]), 1 if kind == "one" else p.random.choice([1, 1, 2])
        group = channels if kind == "depth" else 1
        weights = p.weights(count, channels // group, kernel, kernel)
        x = p.node("Conv", [x, weights], group=group, pads=[kernel // 2] * 4, strides=[stride] * 2)
        channels = count
        x = normalized(p, x, count) if p.maybe(0.4) else p.either("Add", x, channel_numbers(p, image, count)) if p.maybe(0.3) else x
        x = activated(p, x, image, count) if p.maybe(0.7) else x
    if p.maybe(0.5):
        other = source if p.maybe(0.5) else p.node("Conv", [source, p.weights(channels, image.channels, 1, 1)])
        x = p.either("Add", x, other)
    return x


def stem(p: Pattern) -> str:
    """A first convolution of few channels, scaled, and pooled; or single pixels made more."""
    p.sums_move = True
    image = Image(p, [1, 3, 3, 4])
    image.spatial, image.rank = [p.size(f"S{i}", [15, 16, 31], 0.2) for i in range(2)], 4
    x, outer = p.input([p.size("N", [1, 2]), image.channels, *image.spatial]), p.random.choice([16, 32, 33])
    kernel = p.random.choice([3, 7])
    x = p.node("Conv", [x, p.weights(outer, image.channels, kernel, kernel)], pads=[kernel // 2] * 4, strides=[p.random.choice([1, 2])] * 2)
    x = normalized(p, x, outer) if p.maybe(0.5) else x
    x = activated(p, x, image, outer) if p.maybe(0.8) else x
    if p.maybe(0.7):
        pads = p.random.choice([[1, 1, 1, 1], [0, 0, 1, 1], [0, 0, 0, 0]])
        x = p.node("MaxPool", [x], kernel_shape=p.random.choice([[3, 3], [2, 2]]), strides=[2, 2], pads=pads)
    elif p.opset >= 11:
        nearest = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
        mode = p.random.choice([nearest, {"mode": "linear"}])
        x = p.node("Resize", [x, "", p.constant([1, 1, 2, 2], np.float32)], **mode)
    return p.node("Conv", [x, p.weights(p.random.choice([8, 16]), outer, 1, 1)]) if p.maybe(0.6) else x


IMAGES = {
    "pads_and_windows": pads_and_windows,
    "convolution_block": convolution_block,
    "transposed_block": transposed_block,
    "joined_branches": joined_branches,
    "squeeze_excite": squeeze_excite,
    "inverted_residual": inverted_residual,
    "stem": stem,
}
