"""Softmax(q k^T factor + masks) v, as exporters write it, and departures from it."""

import numpy as np
from onnx import TensorProto
from pattern import Pattern, Size

LEAST = [-np.inf, -3.4028234e38, -1e30, -1e9, -1e4]  # no two of which add up to another infinity in another order


class Sizes:
    def __init__(self, p: Pattern):
        self.batch = p.size("B", [1, 1, 2, 3])
        self.heads = p.size("H", [1, 2, 3, 4], 0.15)
        self.queries = p.size("S", [1, 1, 4, 5, 20])
        self.keys = p.size("T", [1, 5, 5, 7, 7, 16, 33, 70])
        self.depth, self.values = p.random.choice([1, 4, 8, 8, 16]), p.random.choice([1, 4, 6, 8])


def narrowed(p: Pattern, dim, name: str, share=0.1):
    """The dimension, now and then 1 or another symbol that is as large or 1."""
    if p.maybe(share):
        if not isinstance(dim, Size) or p.maybe(0.5):
            return 1
        return Size(name, [p.random.choice([1, value]) for value in dim.values], True)
    return dim


def masked_rows(p: Pattern, number: float):
    def values(shape):
        left_out = p.rng.random(shape) < p.random.choice([0.3, 0.3, 0.7, 1])
        return np.where(left_out, number, p.random.choice([0, 1]) * p.rng.standard_normal(shape))

    return values


def mask_dims(p: Pattern, s: Sizes, i: int):
    shares = [(s.batch, 0.5), (s.heads, 0.7), (s.queries, 0.4), (s.keys, 0.15)]
    dims = [narrowed(p, d, f"M{i}{j}", share) for j, (d, share) in enumerate(shares)]
    dims = [d if d is s.keys or p.maybe(0.9) else 1 for d in dims]
    wider = p.random.randrange(3)
    if p.maybe(0.05):  # than the scores, in one dimension
        of = (s.batch, s.heads, s.queries)[wider]
        dims[wider] = Size(f"W{i}", [p.random.choice([2, 3, 4]) if n == 1 else n for n in of.values], of.is_open)
    return dims[p.random.choice([0, 0, 0, 0, 1, 2, 3, 4]) :]


def added_mask(p: Pattern, s: Sizes, scores: str, i: int) -> str:
    dims, least = mask_dims(p, s, i), p.random.choice(LEAST[1:] if p.number != TensorProto.FLOAT16 else [-1e4])
    if least == -1e4:  # a score beside it keeps three digits, in which the order of masks shows
        p.bound = max(p.bound, 2e-3)
    form = p.random.randrange(4)
    if form == 0 and not any(isinstance(d, Size) and d.is_open for d in dims):
        shape = [d.values[0] if isinstance(d, Size) else d for d in dims]
        mask = p.constant(masked_rows(p, least)(shape))
    elif form == 1:  # (1 - mask) least
        mask = p.input(dims, lambda shape: p.rng.integers(0, 2, shape))
        mask = p.either("Mul", p.node("Sub", [p.scalar(1), mask]), p.scalar(least))
    else:
        mask = p.input(dims, masked_rows(p, -np.inf if p.maybe(0.2) else least))
    return p.either("Add", scores, mask)


def chosen(p: Pattern, s: Sizes, scores: str, i: int) -> str:
    condition = p.input(mask_dims(p, s, i), lambda shape: p.rng.random(shape) < p.random.choice([0.5, 0.5, 0, 1]), TensorProto.BOOL)
    if p.maybe(0.2):
        condition = p.node("Not", [condition])
    least = p.random.choice(LEAST if p.number != TensorProto.FLOAT16 else [-np.inf, -1e4, -65504])
    number = p.constant(np.full(p.random.choice([[], [], [1], [1, 1, 1, 1]]), least))
    p.finite = True  # what Where leaves out is added to when it is fused, so that NaN and infinities stay
    if p.maybe(0.05):
        number = p.input([s.keys])
    return p.node("Where", [condition, *([scores, number] if p.maybe(0.5) else [number, scores])])


def bounded(p: Pattern, scores: str) -> str:
    p.finite = True  # infinite scores stay so when a bound of the masks stands for a Clip
    least = p.random.choice(LEAST[1:] if p.number != TensorProto.FLOAT16 else [-65504, -1e4])
    if p.opset >= 11 and p.maybe(0.5):
        return p.clip(scores, least, None if p.maybe(0.9) else 1e3)
    return p.either("Max", scores, p.constant(least))


def masks(p: Pattern, s: Sizes, scores: str) -> str:
    for i in range(p.random.choice([0, 1, 1, 2, 2, 3, 4])):
        form = p.random.randrange(6)
        if form < 3:
            scores = added_mask(p, s, scores, i)
        elif form < 5 and p.opset >= 9:
            scores = chosen(p, s, scores, i)
        elif p.opset >= 8:
            scores = bounded(p, scores)
    return scores


def scaled(p: Pattern, x: str, s: Sizes, share=0.7) -> str:
    if not p.maybe(share):
        return x
    factor = p.random.choice([s.depth**-0.5, 0.35])
    form = p.random.randrange(7)
    if form == 0:
        return p.either("Mul", x, p.operand([s.batch, s.heads, 1, 1], 0))
    if form == 1:
        return p.node("Div", [p.constant(1.5), x]) if p.maybe(0.05) else p.either("Mul", x, p.input([s.heads, 1, 1]))
    return p.node("Div", [x, p.scalar(1 / factor)]) if form < 4 else p.either("Mul", x, p.scalar(factor))


def grouped(p: Pattern, x: str, heads: int) -> str:
    """Each of `heads` / 2 heads twice, or all of them after another."""
    form = p.random.randrange(4)
    if form == 0 and p.opset >= 13:
        wide = p.node("Expand", [p.unsqueeze(x, [2]), p.ints(1, 1, 2, 1, 1)])
        shape = p.node("Shape", [x])
        dims = [p.node("Gather", [shape, p.ints(i)]) for i in (0, 2, 3)]
        return p.node("Reshape", [wide, p.node("Concat", [dims[0], p.ints(heads), *dims[1:]], axis=0)])
    if form == 1:
        return p.node("Gather", [x, p.ints(*np.repeat(range(heads // 2), 2))], axis=1)
    if form == 2:
        return p.node("Gather", [x, p.ints(*list(range(heads // 2)) * 2)], axis=1)
    return p.node("Tile", [x, p.ints(1, 2, 1, 1)])


def keys_or_values(p: Pattern, s: Sizes, depth: int, name: str) -> str:
    """[B, H, T, D]: as it comes, of fewer heads or batches, or behind those of the past."""
    heads, keys, values = s.heads, s.keys, p.bounded if name == "V" else None
    fixed = not heads.is_open and heads.values[0] % 2 == 0
    if fixed and p.maybe(0.2):
        return grouped(p, p.input([narrowed(p, s.batch, f"{name}B"), heads.values[0] // 2, keys, depth], values), heads.values[0])
    dims = [narrowed(p, s.batch, f"{name}B"), narrowed(p, heads, f"{name}H", 0.15), keys, depth]
    if p.maybe(0.15) and min(keys.values) > 1:
        past = Size(f"{name}P", [p.random.randrange(1 - keys.is_open, n) for n in keys.values], keys.is_open)
        new = Size(f"{name}N", [n - before for n, before in zip(keys.values, past.values, strict=True)], keys.is_open)
        parts = [p.input([*dims[:2], length, depth], values) for length in (past, new)]
        return p.node("Concat", parts, axis=p.random.choice([2, -2]) if p.opset >= 11 else 2)
    return p.input(dims, values)


def transposed_keys(p: Pattern, s: Sizes) -> str:
    form = p.random.randrange(4)
    if form == 0:
        return p.input([narrowed(p, s.batch, "KB"), narrowed(p, s.heads, "KH"), s.depth, s.keys])
    if form == 1:  # from [B, T, H, D]
        return p.node("Transpose", [p.input([narrowed(p, s.batch, "KB"), s.keys, s.heads, s.depth])], perm=[0, 2, 3, 1])
    return p.node("Transpose", [keys_or_values(p, s, s.depth, "K")], perm=[0, 1, 3, 2])


def filled(p: Pattern, s: Sizes, scores: str):
    """Masked scores become a number, and, what the second result does, weights 0: mostly the same ones."""
    p.finite = True
    drawn = mask_dims(p, s, 8)

    def condition():
        return p.input(drawn, lambda shape: p.rng.random(shape) < p.random.choice([0.5, 0.5, 0, 1]), TensorProto.BOOL)

    least = p.random.choice([-np.inf, -3.4028234e38, -1e9, -1e4, -1e4] if p.number != TensorProto.FLOAT16 else [-np.inf, -65504, -1e4])
    if p.number == TensorProto.DOUBLE and least < -1e30:
        least = -1e9
    masked, turned = condition(), p.maybe(0.3)
    kept = p.node("Not", [masked])
    scores = p.node("Where", [kept, scores, p.constant(least)] if turned else [masked, p.constant(least), scores])
    if p.maybe(0.1):
        masked = condition()

    def zeroed(weights: str) -> str:
        turned = p.maybe(0.05)
        if p.maybe(0.4):
            return p.node("Where", [kept if not turned else masked, weights, p.constant(0)])
        return p.node("Where", [masked if not turned else kept, p.constant(0), weights])

    return scores, zeroed


def capped(p: Pattern, scores: str) -> str:
    cap = p.random.choice([2, 30, 50])
    inner = p.node("Div", [scores, p.scalar(cap)]) if p.maybe(0.5) else p.either("Mul", scores, p.scalar(1 / cap))
    return p.either("Mul", p.node("Tanh", [inner]), p.scalar(cap if p.maybe(0.9) else -cap))


def probabilities(p: Pattern, scores: str, rank=4) -> str:
    axis = p.random.choice([-1, -1, rank - 1]) if p.opset >= 11 else rank - 1
    if p.maybe(0.03):
        axis = 1
    if p.number == TensorProto.FLOAT16 and p.maybe(0.5):  # in float
        wide = p.node("Softmax", [p.node("Cast", [scores], to=TensorProto.FLOAT)], axis=axis)
        weights = p.node("Cast", [wide], to=TensorProto.FLOAT16)
    else:
        weights = p.node("Softmax", [scores], axis=axis) if p.opset < 13 or axis != -1 or p.maybe(0.7) else p.node("Softmax", [scores])
    if p.opset >= 9 and p.maybe(0.07):
        p.finite = True
        weights = p.node("Where", [p.node("IsNaN", [weights]), p.constant(0), weights])
    return p.node("Dropout", [weights]) if p.opset >= 12 and p.maybe(0.05) else weights


def attention(p: Pattern) -> str:
    """Of heads that come as such."""
    s = Sizes(p)
    batch = narrowed(p, s.batch, "QB", 0.07)
    if p.maybe(0.3):
        queries = p.node("Transpose", [p.input([batch, s.queries, s.heads, s.depth])], perm=[0, 2, 1, 3])
    else:
        queries = p.input([batch, s.heads, s.queries, s.depth])
    keys = transposed_keys(p, s)
    if p.maybe(0.4):
        queries, keys = scaled(p, queries, s, 0.8), scaled(p, keys, s, 0.5)
    scores = scaled(p, p.node("MatMul", [queries, keys]), s, 0.6)
    scores = capped(p, scores) if p.maybe(0.1) else scores
    if p.maybe(0.15):  # a bias before the scale
        bias = p.input([narrowed(p, s.batch, "BB"), s.heads, s.queries, s.keys])
        scores = scaled(p, p.either("Add", scores, p.node("Neg", [bias]) if p.maybe(0.7) else bias), s, 1)
    zeroed = None
    if p.opset >= 9 and p.maybe(0.25):
        scores, zeroed = filled(p, s, scores)
    scores = masks(p, s, scores) if not zeroed or p.maybe(0.1) else scores
    weights = probabilities(p, scores)
    weights = zeroed(weights) if zeroed and p.maybe(0.7) else weights
    values = keys_or_values(p, s, s.values, "V")
    if p.maybe(0.12):  # as columns
        p.sums_move = True
        weights, values = (p.node("Transpose", [x], perm=[0, 1, 3, 2]) for x in (weights, values))
        y = p.node("MatMul", [values, weights])
        return p.node("Reshape", [y, p.ints(0, -1, 1, s.values)]) if p.maybe(0.3) else y
    y = p.node("MatMul", [weights, values])
    if p.maybe(0.5):
        y = p.node("Transpose", [y], perm=[0, 2, 1, 3])
        if not s.heads.is_open and p.maybe(0.6):
            y = p.node("Reshape", [y, p.ints(0, 0, s.heads.values[0] * s.values if p.maybe(0.5) else -1)])
    return y


def projected_attention(p: Pattern) -> str:
    """Of one value, by three products or one, with heads made by Reshape, in four dimensions or folded into three."""
    p.sums_move = True
    s = Sizes(p)
    s.heads = Size("H", [p.random.choice([1, 2, 3, 4])], False)
    heads, depth, length = s.heads.values[0], s.depth, s.keys
    s.queries, s.values = length, depth
    width, folded = heads * depth, p.maybe(0.25)
    x = p.input([s.batch, length, width])
    around = p.random.choice([[0, 0, heads, depth], [0 if s.batch.is_open else s.batch.values[0], -1, heads, depth]])

    def split_heads(y, perm):
        y = p.node("Transpose", [p.node("Reshape", [y, p.ints(*around)])], perm=perm)
        if folded:
            last = perm[2:] == [3, 1]
            y = p.node("Reshape", [y, p.ints(-1, *([depth, length.values[0]] if last else [length.values[0], depth]))])
        return y

    folded &= not length.is_open
    perms = [[0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]]
    if p.maybe(0.3):
        bias = p.constant(p.rng.standard_normal(3 * width))
        parts = p.split(p.either("Add", p.node("MatMul", [x, p.weights(width, 3 * width)]), bias), [width] * 3, 2 if p.maybe(0.5) else -1)
    else:
        parts = [p.node("MatMul", [x, p.weights(width, width)]) for _ in range(3)]
        parts = [p.either("Add", y, p.constant(p.rng.standard_normal(width))) if p.maybe(0.6) else y for y in parts]
    q, k, v = (split_heads(y, perm) for y, perm in zip(parts, perms, strict=True))
    if p.maybe(0.2):
        q = scaled(p, q, s) if not folded else p.either("Mul", q, p.scalar(0.4))
    scores = p.node("MatMul", [q, k])
    if p.maybe(0.7):
        scores = p.either("Mul", scores, p.scalar(depth**-0.5))
    if folded:
        if p.maybe(0.6):
            scores = p.node("Reshape", [scores, p.ints(-1, heads, length.values[0], length.values[0])])
            scores = masks(p, s, scores)
            scores = p.node("Reshape", [scores, p.ints(-1, length.values[0], length.values[0])])
        y = p.node("MatMul", [probabilities(p, scores, 3), v])
        y = p.node("Reshape", [y, p.ints(-1, heads, length.values[0], depth)])
    else:
        y = p.node("MatMul", [probabilities(p, masks(p, s, scores)), v])
    y = p.node("Reshape", [p.node("Transpose", [y], perm=[0, 2, 1, 3]), p.ints(0, 0, width)])
    return p.either("Add", p.node("MatMul", [y, p.weights(width, width)]), x) if p.maybe(0.4) else y


def part_of(p: Pattern, x: str, index: int, axis: int) -> str:
    """One along an axis, which goes."""
    if p.maybe(0.5):
        return p.node("Gather", [x, p.constant(index, np.int64)], axis=axis)
    return p.squeeze(p.slice(x, index, index + 1, axis), [axis])


def packed_attention(p: Pattern) -> str:
    """Queries, keys and values made together: [B, S, 3, H, D], of four dimensions each, or of a fifth for windows."""
    p.sums_move = True
    heads, depth, length = p.random.choice([1, 2, 3]), p.random.choice([1, 4, 8]), p.size("S", [1, 4, 7, 16])
    batch, parts = p.size("B", [1, 2, 3]), p.random.choice([3, 3, 3, 4])
    order = p.random.choice([[0, 1, 2]] * 4 + [[2, 1, 0], [1, 2, 0], [0, 1, 1], [0, 2, parts - 1]])
    s = Sizes(p)
    s.batch, s.heads, s.queries, s.keys = batch, Size("H", [heads], False), length, length
    form = p.random.randrange(3)
    if form == 0:
        x = p.input([batch, length, parts, heads, depth])
        turned = p.node("Transpose", [x], perm=p.random.choice([[2, 0, 3, 1, 4]] * 5 + [[2, 0, 1, 3, 4]]))
        pieces = p.split(turned, [1] * parts, 0) if p.maybe(0.4) else None
        q, k, v = (p.squeeze(pieces[i], [0]) if pieces else part_of(p, turned, i, 0) for i in order)
    elif form == 1:
        x = p.input([batch, length, parts * heads * depth])
        pieces = p.split(x, [heads * depth] * parts, 2)
        split = [p.node("Reshape", [pieces[i], p.ints(0, 0, heads, depth)]) for i in order]
        q, k, v = (p.node("Transpose", [y], perm=[0, 2, 1, 3]) for y in split)
    else:
        at = p.random.choice([2, 3])  # where the parts are: before the heads, or each head's own
        around = [parts, heads, depth] if at == 2 else [heads, parts, depth]
        x = p.node("Reshape", [p.input([batch, length, parts * heads * depth]), p.ints(0, 0, *around)])
        q, k, v = (p.node("Transpose", [part_of(p, x, i, at)], perm=[0, 2, 1, 3]) for i in order)
    q = scaled(p, q, s, 0.3) if p.maybe(0.5) else q
    scores = p.node("MatMul", [q, p.node("Transpose", [k], perm=[0, 1, 3, 2])])
    scores = masks(p, s, scaled(p, scores, s, 0.4))
    y = p.node("Transpose", [p.node("MatMul", [probabilities(p, scores), v])], perm=[0, 2, 1, 3])
    return p.node("Reshape", [y, p.ints(0, 0, heads * depth)]) if p.maybe(0.6) else y


def window_attention(p: Pattern) -> str:
    """Of windows of an image: [N W, H, S, D], with a mask for each window between two Reshapes, or [N, W, H, S, D]."""
    windows, heads = p.random.choice([1, 2, 3]), p.random.choice([1, 2, 3])
    length, depth = p.random.choice([1, 2, 4, 9]), p.random.choice([1, 4, 8])
    images = p.size("N", [1, 1, 2], 0.3)
    p.sums_move = True
    bias_shape = p.random.choice([[1, heads, length, length]] * 3 + [[heads, length, length], [length, length], [1, 1, 1, length]])
    bias = p.constant(p.rng.standard_normal(bias_shape))
    mask = np.where(p.rng.random([windows, length, length]) < 0.3, -100.0, 0.0)
    if p.maybe(0.4):
        dims = [images, windows, heads, length, depth]
        turned = p.maybe(0.5)
        q, k, v = (p.input([dims[0], dims[1], *([length, heads] if turned else [heads, length]), depth]) for _ in range(3))
        q, k, v = (p.node("Transpose", [y], perm=[0, 1, 3, 2, 4]) if turned else y for y in (q, k, v))
        scores = p.node("MatMul", [q, p.node("Transpose", [k], perm=[0, 1, 2, 4, 3])])
        scores = p.either("Add", scores, bias) if p.maybe(0.7) else scores
        if p.maybe(0.4):
            shape = p.random.choice([[windows, 1, length, length], [1, windows, 1, length, length]])
            scores = p.either("Add", scores, p.constant(mask.reshape(shape)))
        y = p.node("MatMul", [probabilities(p, scores, 5), v])
        return p.node("Transpose", [y], perm=[0, 1, 3, 2, 4]) if turned else y
    rows = Size("NW", [n * windows for n in images.values], images.is_open)
    q, v = (p.input([rows, heads, length, depth]) for _ in range(2))
    scores = p.either("Mul", p.node("MatMul", [q, p.input([rows, heads, depth, length])]), p.scalar(depth**-0.5))
    scores = p.either("Add", scores, bias) if p.maybe(0.8) else scores
    if p.maybe(0.8):
        around = p.random.choice([[-1, windows, heads, length, length]] * 5 + [[-1, 1, heads, length, length]])
        shape = p.random.choice([[1, windows, 1, length, length]] * 4 + [[windows, 1, length, length], [1, windows, 1, 1, length]])
        values = mask if shape[-2] == length else mask[:, :1]
        seen = p.node("Reshape", [scores, p.ints(*around)])
        scores = p.node("Reshape", [p.either("Add", seen, p.constant(values.reshape(shape))), p.ints(-1, heads, length, length)])
    return p.node("MatMul", [probabilities(p, scores), v])


def folded_attention(p: Pattern) -> str:
    """[B H, S, D], with masks between Reshapes to four dimensions and back, once or twice."""
    p.sums_move = True
    batch, heads = p.random.choice([1, 2, 3]), p.random.choice([1, 2, 4])
    rows, keys = p.random.choice([1, 5, 7]), p.random.choice([1, 5, 7])
    depth, outer = p.random.choice([1, 4, 8]), p.random.choice([1, 4, 6])
    s = Sizes(p)
    s.batch, s.heads, s.queries, s.keys = (Size(name, [n], False) for name, n in zip("BHST", [batch, heads, rows, keys], strict=True))

    def folded(length, width):
        if p.maybe(0.3):
            return p.input([batch * heads, length, width])
        turned = p.maybe(0.5)
        y = p.input([batch, length, heads, width] if turned else [batch, heads, length, width])
        y = p.node("Transpose", [y], perm=[0, 2, 1, 3]) if turned else y
        return p.node("Reshape", [y, p.ints(*p.random.choice([[batch * heads, length, width], [-1, length, width]]))])

    q, k, v = folded(rows, depth), p.node("Transpose", [folded(keys, depth)], perm=[0, 2, 1]), folded(keys, outer)
    q = p.either("Mul", q, p.scalar(depth**-0.5)) if p.maybe(0.5) else q
    scores = p.node("MatMul", [q, k])
    for _ in range(p.random.choice([0, 1, 1, 2])):
        split = p.random.choice([[batch, heads]] * 6 + [[heads, batch]])
        seen = p.node("Reshape", [scores, p.ints(*split, rows, keys)])
        seen = masks(p, s, seen)
        scores = p.node("Reshape", [seen, p.ints(-1, rows, keys)])
    if p.maybe(0.15):
        scores = p.either("Add", scores, p.operand([Size("BH", [batch * heads], False), s.queries, s.keys]))
    y = p.node("MatMul", [probabilities(p, scores, 3), v])
    if p.maybe(0.7):
        y = p.node("Reshape", [y, p.ints(*p.random.choice([[batch, heads]] * 5 + [[heads, batch]]), rows, outer)])
        y = p.node("Transpose", [y], perm=[0, 2, 1, 3]) if p.maybe(0.6) else y
    return y


ATTENTION = {
    "attention": attention,
    "projected_attention": projected_attention,
    "packed_attention": packed_attention,
    "window_attention": window_attention,
    "folded_attention": folded_attention,
}
