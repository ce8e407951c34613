"""On what terms a case is run and its results are held against each other."""

import dataclasses
from collections.abc import Callable


@dataclasses.dataclass
class Terms:
    """`bound`: in place of that of the type; `least`: the magnitude that differences are at least held against. `buffers`: names of inputs
    and of the outputs that are written to the same memory. `settle`: of the values of Roundhouse and of ONNX Runtime makes the latter's
    with what it leaves undefined taken from the former."""

    bound: float | None = None
    least: float = 1e-6
    buffers: dict[str, str] = dataclasses.field(default_factory=dict)
    settle: Callable[[list, list], list] = lambda ours, theirs: theirs
