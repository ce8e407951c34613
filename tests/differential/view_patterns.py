"""Rotary embeddings, and views: what is split, sliced, joined, turned and reshaped, and departures from them."""

import numpy as np
from pattern import Pattern, Size


def halves(p: Pattern, x: str, depth: int, axis: int) -> list[str]:
    """Of the last dimension, of `depth` elements: [x1, x2], or not quite."""
    half = depth // 2
    cut = half if p.maybe(0.95) or half == 1 else half - 1
    form = p.random.randrange(3)
    if form == 0:
        return p.split(x, [cut, depth - cut], axis)
    if form == 1 and p.maybe(0.1) and p.opset >= 10:  # every other element
        return [p.slice(x, i, 2**40, axis, 2) for i in range(2)]
    end = p.random.choice([depth, 2**62, 2**31 - 1])
    parts = [p.slice(x, 0, cut, axis), p.slice(x, cut, end, axis)]
    return parts if p.maybe(0.95) else parts[::-1]


def angle_dims(p: Pattern, dims, width: int):
    kept = [dims[0], dims[1], dims[2], width]
    form = p.random.randrange(6)
    if form < 3:
        return [1, 1, dims[2], width]
    if form == 3:
        return [dims[2], width]
    if form == 4:
        return [kept[0], 1, dims[2], width]
    return [d if p.maybe(0.7) else 1 for d in kept]


def rotary(p: Pattern) -> str:
    depth = p.random.choice([2, 4, 8, 16, 64])
    dims = [p.size("B", [1, 2]), p.size("H", [1, 2, 3], 0.15), p.size("S", [1, 3, 5, 20]), depth]
    x = p.input(dims)
    if p.maybe(0.3):
        x = p.node("Transpose", [p.input([dims[0], dims[2], dims[1], depth])], perm=[0, 2, 1, 3])
    axis = -1 if p.maybe(0.5) else 3
    if p.maybe(0.5):  # x cos + rotated(x) sin
        one, two = halves(p, x, depth, axis)
        turned = p.node("Concat", [p.node("Neg", [two]), one] if p.maybe(0.9) else [two, p.node("Neg", [one])], axis=axis)
        factors = [p.input(angle_dims(p, dims, depth)) for _ in range(2)]
        y = p.either("Add", p.either("Mul", x, factors[0]), p.either("Mul", turned, factors[1]))
    else:  # half by half
        one, two = halves(p, x, depth, axis)
        cosine, sine = (p.input(angle_dims(p, dims, depth // 2)) for _ in range(2))
        first = p.node("Sub", [p.either("Mul", one, cosine), p.either("Mul", two, sine)])
        second = p.either("Add", p.either("Mul", two, cosine), p.either("Mul", one, sine if p.maybe(0.95) else cosine))
        y = p.node("Concat", [first, second] if p.maybe(0.95) else [second, first], axis=axis)
    return p.either("Mul", y, p.operand(dims)) if p.maybe(0.3) else y


def rotary_pairs(p: Pattern) -> str:
    """Of neighbours, which stand in a dimension of their own or are taken with steps of two."""
    half = p.random.choice([1, 2, 4, 8, 32])
    dims = [p.size("B", [1, 2]), p.size("S", [1, 3, 5, 20]), p.size("H", [1, 2, 3], 0.15), 2 * half]
    form = p.random.choice([0, 0, 1, 1, 2, 3] if p.opset >= 10 else [0, 1])
    around = [0, 0, 0, half, 2] if p.maybe(0.9) else [0, 0, 0, 2, half]
    x = p.input(dims)
    if form == 3:
        one, two = p.slice(x, 0, 2 * half, 3, 2), p.slice(x, 1, 2 * half, -1, 2)
    else:
        paired, last = p.node("Reshape", [x, p.ints(*around)]), p.random.choice([4, -1])
        if form == 0:
            one, two = (p.node("Gather", [paired, p.constant(i, np.int64)], axis=last) for i in ((0, 1) if p.maybe(0.7) else (-2, -1)))
        else:
            parts = p.split(paired, [around[4] // 2] * 2, 4) if form == 1 else [p.slice(paired, i, i + 1, 4) for i in (0, 1)]
            keeps = p.maybe(0.3) or around[4] != 2
            one, two = parts if keeps else [p.squeeze(part, [4]) for part in parts]
    has_column = form in (1, 2) and keeps
    if p.maybe(0.05):
        one, two = two, one
    rows = [[dims[1], 1, half], [1, dims[1], 1, half], [half]] if around[3] == half else [[1], [1, 1, 1]]
    shape = p.random.choice(rows)
    cosine, sine = (p.input([*shape, 1] if has_column else shape) for _ in range(2))
    first = p.node("Sub", [p.either("Mul", one, cosine), p.either("Mul", two, sine)])
    second = p.either("Add", p.either("Mul", one, sine), p.either("Mul", two, cosine))
    columns = [first, second] if p.maybe(0.95) else [second, first]
    columns = columns if has_column else [p.unsqueeze(y, [4 if p.opset < 11 else -1]) for y in columns]
    y = p.node("Reshape", [p.node("Concat", columns, axis=4), p.ints(0, 0, 0, 2 * half) if p.maybe(0.9) else p.ints(0, 0, -1)])
    return p.node("Relu", [y]) if p.maybe(0.3) else y


def partial_rotary(p: Pattern) -> str:
    """Of the first elements alone, the others beside them."""
    depth, rest = p.random.choice([4, 8]), p.random.choice([2, 4])
    dims = [p.size("B", [1, 2]), p.size("H", [1, 2], 0.15), p.size("S", [1, 3, 5]), depth]
    x = p.input([*dims[:3], depth + rest])
    turned, other = p.split(x, [depth, rest], 3)
    one, two = halves(p, turned, depth, 3)
    rotated = p.node("Concat", [p.node("Neg", [two]), one], axis=3)
    factors = [p.input(angle_dims(p, dims, depth)) for _ in range(2)]
    y = p.either("Add", p.either("Mul", turned, factors[0]), p.either("Mul", rotated, factors[1]))
    return p.node("Concat", [y, other], axis=3)


class Views:
    """A value and its shape, which steps change. Sizes are numbers, but for a batch in front that may be open."""

    def __init__(self, p: Pattern):
        self.p, rank = p, p.random.choice([2, 3, 3, 4, 4, 5])
        self.batch = p.size("N", [1, 2, 3], 0.5)
        self.dims = [self.batch, *(p.random.choice([1, 2, 3, 4, 6, 8]) for _ in range(rank - 1))]
        self.x = p.input(self.dims)

    def fixed(self, axis: int) -> bool:
        return not isinstance(self.dims[axis], Size)

    def transpose(self) -> None:
        perm = self.p.random.sample(range(len(self.dims)), len(self.dims))
        self.x, self.dims = self.p.node("Transpose", [self.x], perm=perm), [self.dims[i] for i in perm]

    def reshape(self) -> None:
        p, axes = self.p, [i for i in range(len(self.dims)) if self.fixed(i)]
        splits = [i for i in axes if self.dims[i] % 2 == 0]
        joins = [i for i in axes if i + 1 < len(self.dims) and self.fixed(i + 1)]
        dims = list(self.dims)
        if splits and (p.maybe(0.5) or not joins):
            i = p.random.choice(splits)
            dims[i : i + 1] = p.random.choice([[2, dims[i] // 2], [dims[i] // 2, 2], [1, dims[i]]])
        elif joins:
            i = p.random.choice(joins)
            dims[i : i + 2] = [dims[i] * dims[i + 1]]
        else:
            return
        at = next(i for i, d in enumerate(dims) if isinstance(d, Size))
        stays = at < len(self.dims) and self.dims[at] is dims[at]
        target = [d if i != at else 0 if stays and p.maybe(0.5) else -1 for i, d in enumerate(dims)]
        self.x, self.dims = p.node("Reshape", [self.x, p.ints(*target)]), dims

    def unsqueeze(self) -> None:
        p = self.p
        ones = [i for i, d in enumerate(self.dims) if self.fixed(i) and d == 1]
        if ones and len(self.dims) > 2 and p.maybe(0.6):
            axis = p.random.choice(ones)
            self.x = p.squeeze(self.x, [axis])
            self.dims = self.dims[:axis] + self.dims[axis + 1 :]
        elif len(self.dims) < 6:
            axis = p.random.randint(0, len(self.dims))
            self.x = p.unsqueeze(self.x, [axis])
            self.dims = [*self.dims[:axis], 1, *self.dims[axis:]]

    def slice(self) -> None:
        p, axis = self.p, self.p.random.randrange(len(self.dims))
        if not self.fixed(axis) or self.dims[axis] < 2:
            return
        size = self.dims[axis]
        begin = p.random.randrange(size)
        end = p.random.randint(begin + 1, size)
        step = p.random.choice([1, 1, 1, 2]) if p.opset >= 10 else 1
        self.x = p.slice(self.x, begin if p.maybe(0.7) else begin - size, end if end < size else p.random.choice([size, 2**40]), axis, step)
        self.dims = [*self.dims[:axis], (end - begin + step - 1) // step, *self.dims[axis + 1 :]]

    def split(self) -> None:
        """Taken apart, changed in part, joined again."""
        p, axis = self.p, self.p.random.randrange(len(self.dims))
        if not self.fixed(axis) or self.dims[axis] < 2:
            return
        first = p.random.randrange(1, self.dims[axis])
        parts = p.split(self.x, [first, self.dims[axis] - first], axis)
        parts = [p.node(p.random.choice(["Relu", "Sigmoid"]), [part]) if p.maybe(0.5) else part for part in parts]
        p.random.shuffle(parts)
        size = self.dims[axis]
        if p.maybe(0.2):
            parts, size = [self.x, *parts], 2 * size
        self.x = p.node("Concat", parts, axis=axis if p.maybe(0.5) or p.opset < 11 else axis - len(self.dims))
        self.dims = [*self.dims[:axis], size, *self.dims[axis + 1 :]]

    def expand(self) -> None:
        p = self.p
        dims = [p.random.choice([2, 3]) if not isinstance(d, Size) and d == 1 and p.maybe(0.5) else d for d in self.dims]
        if p.opset < 8:
            return
        self.x, self.dims = p.node("Expand", [self.x, p.ints(*(1 if isinstance(d, Size) else d for d in dims))]), dims

    def gather(self) -> None:
        p, axis = self.p, self.p.random.randrange(len(self.dims))
        if not self.fixed(axis):
            return
        size = self.dims[axis]
        indices = p.random.choice([list(range(size)), list(range(size))[::-1], [p.random.randrange(-size, size) for _ in range(3)]])
        if p.opset < 11:
            indices = [i % size for i in indices]
        self.x = p.node("Gather", [self.x, p.ints(*indices)], axis=axis)
        self.dims = [*self.dims[:axis], len(indices), *self.dims[axis + 1 :]]

    def compute(self) -> None:
        p, form = self.p, self.p.random.randrange(6)
        if form == 0:
            self.x = p.node(p.random.choice(["Relu", "Sigmoid", "Neg", "Identity"]), [self.x])
        elif form == 1:
            dims = [d if isinstance(d, Size) else Size("", [d], False) for d in self.dims]
            self.x = p.either(p.random.choice(["Add", "Mul"]), self.x, p.operand(dims, 0))
        elif form == 2:
            axis = p.random.randint(-len(self.dims), len(self.dims) - 1) if p.opset >= 13 else len(self.dims) - 1
            self.x = p.node("Softmax", [self.x], axis=axis)
        elif form == 3 and self.fixed(-1):
            columns = p.random.choice([1, 4, 8])
            self.x = p.node("MatMul", [self.x, p.weights(self.dims[-1], columns)])
            self.dims = [*self.dims[:-1], columns]
        elif form == 4:
            axis = p.random.randrange(len(self.dims))
            self.x = p.mean(self.x, [axis], 1)
            self.dims = [*self.dims[:axis], 1, *self.dims[axis + 1 :]] if self.fixed(axis) else self.dims
        elif form == 5 and p.opset >= 17 and self.fixed(-1):
            self.x = p.node("LayerNormalization", [self.x, p.constant(p.rng.uniform(0.5, 1.5, self.dims[-1]))], axis=-1)


def views(p: Pattern) -> str:
    state = Views(p)
    steps = [state.unsqueeze, state.slice, state.split, state.expand, state.gather]
    for _ in range(p.random.randint(3, 9)):
        p.random.choice([*steps, *[state.transpose, state.reshape] * 2, *[state.compute] * 3])()
    return state.x


def grown(p: Pattern) -> str:
    """Channels that grow by what is made of all before, or are shuffled between halves."""
    channels, spatial = p.random.choice([2, 4, 8]), [p.size("H", [1, 3, 5]), p.size("W", [1, 3, 4])]
    x = p.input([p.size("N", [1, 2]), channels, *spatial])
    pieces, whole = [x], x
    for _ in range(p.random.randint(1, 3)):
        if p.maybe(0.3):  # shuffled
            one, two = p.split(whole, [channels // 2, channels - channels // 2], 1)
            whole = p.node("Concat", [two, p.node("Relu", [one])], axis=1)
            continue
        source = p.random.choice([whole, pieces[-1]])
        width = channels if source == whole else None
        if width and p.maybe(0.6):
            piece, more = p.node("Conv", [source, p.weights(4, width, 1, 1)]), 4
        elif width:
            piece, more = p.node("Sigmoid", [source]), width
        else:
            continue
        pieces.append(piece)
        whole, channels = p.node("Concat", p.random.choice([[whole, piece], [piece, whole]]), axis=1), channels + more
        pieces[-1] = whole
    return p.node("Conv", [whole, p.weights(3, channels, 1, 1)]) if p.maybe(0.5) else whole


VIEWS = {"rotary": rotary, "rotary_pairs": rotary_pairs, "partial_rotary": partial_rotary, "views": views, "growing_channels": grown}
