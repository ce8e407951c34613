"""What generated nodes are drawn with, and what they are written in."""

import dataclasses

import numpy as np

MICROSOFT = "com.microsoft"
INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64, np.uint32, np.uint64]
BYTES = [np.uint8, np.int8]
LARGEST = 2**24  # beyond which 64 bits are refused or checked when they run; integers up to it stay as they are in float32


class Fixed:
    """An input that is a constant of the model."""

    def __init__(self, value):
        self.value = np.asarray(value)


@dataclasses.dataclass
class Drawn:
    """A node. `inputs`: arrays, constants, and None for those left out."""

    op: str
    inputs: list
    attributes: dict = dataclasses.field(default_factory=dict)
    outputs: int = 1
    opset: int = 17
    domain: str = ""


class Draw:
    """Random choices from one seed."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def pick(self, choices):
        return choices[int(self.rng.integers(len(choices)))]

    def chance(self, probability):
        return self.rng.random() < probability

    def number(self, least, most):
        return int(self.rng.integers(least, most + 1))

    def numbers(self, least, most, count):
        return [int(v) for v in self.rng.integers(least, most + 1, count)]

    def shape(self, rank=None, least=1, most=5):
        return tuple(self.numbers(least, most, self.number(0, 4) if rank is None else rank))

    def order(self, count):
        return [int(v) for v in self.rng.permutation(count)]

    def floats(self, shape, dtype=np.float32, scale=2.0):
        return np.asarray(self.rng.standard_normal(shape) * scale).astype(dtype)

    def integers(self, shape, dtype, full=False):
        """Small ones, or all that the type has, as far as the provider does not refuse them."""
        kind = np.iinfo(dtype)
        most = min(kind.max, LARGEST if full and kind.bits > 32 else kind.max if full else 20)
        return np.asarray(self.rng.integers(max(kind.min, -most), most, shape, dtype=np.int64, endpoint=True)).astype(dtype)

    def values(self, shape, dtype, full=False):
        if dtype == np.bool_:
            return np.asarray(self.rng.random(shape) < 0.5)
        return self.floats(shape, dtype) if np.dtype(dtype).kind == "f" else self.integers(shape, dtype, full)

    def scale(self, shape=()):
        return np.asarray(self.rng.random(shape) * 0.05 + 0.01).astype(np.float32)

    def maybe_fixed(self, value):
        return Fixed(value) if self.chance(0.6) else np.asarray(value)

    def broadcast(self, shape):
        """A shape that broadcasts to this one."""
        shape = [1 if self.chance(0.3) else dim for dim in shape]
        return tuple(shape[self.number(0, len(shape)) if self.chance(0.4) else 0 :])

    def axis(self, rank, negative=True):
        return self.number(-rank if negative else 0, rank - 1)
