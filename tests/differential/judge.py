"""Runs a generated case on Roundhouse, on the reference evaluator of the `onnx` package and on ONNX Runtime, and says who agrees."""

import copy
import functools
import sys
from pathlib import Path

import numpy as np
from values import Sparse, is_floating

sys.path.append(str(Path(__file__).resolve().parents[2] / "python/roundhouse"))
import onnx  # noqa: E402
from backend_cases.compare import Mismatch, comparable, compare  # noqa: E402
from backend_cases.runtime import Runtime  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402
from recipe import MICROSOFT  # noqa: E402

# By name of the element type: what a result may be off by, relative to itself and to the largest magnitude of its tensor.
BOUNDS = {"float16": 1e-2, "bfloat16": 4e-2, "float32": 1e-4, "float64": 1e-6}
CLASSICAL = "ai.onnx.ml"
CLASSICAL_BOUND = 1e-5  # of float32 there
UNSETTLED = ("differs", "refused", "open")  # by the reference alone
FAILING = {"disagreement", "refused", "crash", "timeout"}
NARROW_FLOAT_BOUND = 0.26  # a step of the 8-bit and 4-bit types


def our_runtime() -> Runtime:
    return Runtime("roundhouse", 1, {"session.set_denormal_as_zero": "0"})


@functools.cache
def stock_runtime() -> Runtime:
    return Runtime("onnxruntime", 1)


class Answer:
    """What a runtime gave: values, or why it refused."""

    def __init__(self, run):
        self.values, self.refusal = None, None
        try:
            self.values = run()
        except Exception as error:
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            self.refusal = f"{type(error).__name__}: {' '.join(lines[:3])}"[:300]

    @classmethod
    def of_reference(cls, case):
        return cls(lambda: ReferenceEvaluator(case.model).run(None, dict(case.feeds)))

    @classmethod
    def of(cls, runtime, case):
        feeds = {name: value.ort_value(runtime.module) if isinstance(value, Sparse) else value for name, value in case.feeds.items()}
        return cls(lambda: list(runtime.run(runtime.load(case.model), case.model, feeds, case.terms.buffers)))


def largest(array: np.ndarray) -> float:
    finite = np.abs(array.astype(np.float64))
    finite = finite[np.isfinite(finite)]
    return float(finite.max()) if finite.size else 0.0


def compare_value(expected, actual, where: str, case) -> None:
    if not isinstance(expected, np.ndarray) or not isinstance(actual, np.ndarray) or expected.dtype.kind in "OUSTbc":
        compare(expected, actual, 1e-4, 1e-5, where)
        return
    if is_floating(expected.dtype):
        bound, least = case.terms.bound or BOUNDS.get(expected.dtype.name, NARROW_FLOAT_BOUND), case.terms.least
        if case.domain == CLASSICAL:  # its scores are sums of numbers about 1
            bound, least = min(bound, CLASSICAL_BOUND), 1
        compare(expected, actual, bound, bound * max(largest(comparable(expected)), least), where)
    else:
        compare(expected, actual, 0, 0, where)


def difference(expected: Answer, actual: Answer, case) -> str | None:
    """How the values of two answers differ; None where they agree."""
    if len(expected.values) != len(actual.values):
        return f"{len(actual.values)} outputs, expected {len(expected.values)}"
    try:
        for i, (e, a) in enumerate(zip(expected.values, actual.values)):
            compare_value(np.asarray(e) if isinstance(e, np.generic) else e, a, f"output {i}", case)
    except Mismatch as mismatch:
        return str(mismatch)[:300]
    except MemoryError:
        return None  # too large to be held against each other
    return None


def settled(ours: Answer, theirs: Answer, case) -> Answer:
    """ONNX Runtime's answer, without what it leaves undefined."""
    if len(ours.values) != len(theirs.values):
        return theirs
    return Answer(lambda: case.terms.settle(ours.values, theirs.values))


def valid(case) -> bool:
    """By the checker, which wants every port to have a shape, and by strict inference."""
    shaped = copy.deepcopy(case.model)
    for port in [*shaped.graph.input, *shaped.graph.output]:
        if (kind := port.type.WhichOneof("value")) in ("tensor_type", "sparse_tensor_type"):
            getattr(port.type, kind).shape.SetInParent()
    try:
        onnx.checker.check_model(shaped)
        onnx.shape_inference.infer_shapes(case.model, check_type=True, strict_mode=True)
    except Exception:
        return False
    return True


def survives(runtime, case) -> tuple[str, str]:
    """For a case whose process died or hung: whether that was Roundhouse."""
    Answer.of(runtime, case.make())
    return "the reference dies", ""


def against_reference(runtime, case) -> tuple[str, str]:
    """`agree`; `invalid`: no model; `differs`, `refused`: by Roundhouse; `open`: the reference refuses."""
    case = case.make()
    if case is None or not valid(case):
        return "invalid", ""
    ours, reference = Answer.of(runtime, case), Answer.of_reference(case)
    if ours.refusal and "is not known" in ours.refusal:
        return "unknown operator", ours.refusal
    if ours.refusal and case.domain == MICROSOFT:
        return "refused", ours.refusal  # only ONNX Runtime can tell whether it is a model
    if reference.refusal and ours.refusal:
        return "invalid", ""
    if reference.refusal:
        return "open", reference.refusal
    if ours.refusal:
        return "refused", ours.refusal
    found = difference(reference, ours, case)
    return ("differs", found) if found else ("agree", case.op)


def against_stock(runtime, case) -> tuple[str, str]:
    """For a case on which Roundhouse and the reference are not at one: "disagreement", "refused", or who stands alone."""
    case = case.make()
    ours, reference, theirs = Answer.of(runtime, case), Answer.of_reference(case), Answer.of(stock_runtime(), case)
    if ours.refusal:  # what the checker lets pass need not be a model: two against one
        if theirs.refusal and "NotImplemented" not in ours.refusal:
            return "invalid", ""
        return "refused", f"{ours.refusal} [ONNX Runtime {'refuses' if theirs.refusal else 'runs'} it]"
    if theirs.refusal:
        return (
            ("open", "") if reference.refusal else ("disagreement", f"{difference(reference, ours, case)} [ONNX Runtime: {theirs.refusal}]")
        )
    found = difference(settled(ours, theirs, case), ours, case)
    if found is None:
        return "as ONNX Runtime", difference(reference, ours, case) if not reference.refusal else reference.refusal
    if reference.refusal:
        return "disagreement", f"with ONNX Runtime: {found}"
    with_reference = "agrees with the reference" if difference(reference, theirs, case) is None else "departs from both"
    return "disagreement", f"{difference(reference, ours, case)} [ONNX Runtime {with_reference}]"


def verdict(runtime, case) -> tuple[str, str]:
    """The last word on a case: of the reference, or, where Roundhouse and it are not at one, with ONNX Runtime's."""
    found = against_reference(runtime, case)
    return against_stock(runtime, case) if found[0] in UNSETTLED else found
