"""Runs a pattern with all passes and with none, in float64 where these differ, and cuts it down while they do."""

import copy
import functools

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from passes import PASSES
from pattern import Pattern

import roundhouse

BOUNDS = {TensorProto.FLOAT: 1e-5, TensorProto.FLOAT16: 1e-2, TensorProto.DOUBLE: 1e-12}  # of the largest magnitude
STEPS = 0.1  # a quantised value a step off, and what it does further on
CODES = 3  # steps that an integer may be off where some are added up
ROUNDINGS = 4  # as many times as far from the result in float64 as the graph without passes is
MOVES = 16  # as many times as far as inputs and constants move it that are off by half a unit of their last place
NOISE = {TensorProto.FLOAT: 2**-24, TensorProto.FLOAT16: 2**-11, TensorProto.DOUBLE: 2**-53}
MOST_TRIALS = 120


class Refused(Exception):
    pass


class Runner:
    """A session with all passes but those in `without`, or none."""

    def __init__(self, module, model: onnx.ModelProto, optimised: bool, without: tuple[str, ...] = ()):
        options = module.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = 1
        options.graph_optimization_level = getattr(module.GraphOptimizationLevel, "ORT_ENABLE_ALL" if optimised else "ORT_DISABLE_ALL")
        options.add_session_config_entry("session.set_denormal_as_zero", "0")
        if without:
            options.add_session_config_entry("optimization.disable_specified_optimizers", ";".join(without))
        self.inputs = {x.name for x in model.graph.input}
        self.session = self.unless_refused(module.InferenceSession, model.SerializeToString(), options, providers=["CPUExecutionProvider"])

    @staticmethod
    def unless_refused(do, *arguments, **named):
        try:
            return do(*arguments, **named)
        except Exception as error:
            raise Refused(" ".join(str(error).split())[:300]) from None

    def run(self, feeds: dict) -> list[np.ndarray]:
        return self.unless_refused(self.session.run, None, {name: value for name, value in feeds.items() if name in self.inputs})


def widened(model: onnx.ModelProto) -> onnx.ModelProto:
    """The same in float64."""
    model = copy.deepcopy(model)
    floats = (TensorProto.FLOAT, TensorProto.FLOAT16)
    for port in [*model.graph.input, *model.graph.output]:
        if port.type.tensor_type.elem_type in floats:
            port.type.tensor_type.elem_type = TensorProto.DOUBLE
    for tensor in model.graph.initializer:
        if tensor.data_type in floats:
            tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float64), tensor.name))
    for node in model.graph.node:
        for attribute in node.attribute:
            if attribute.name == "to" and attribute.i in floats:
                attribute.i = TensorProto.DOUBLE
    return model


def exact(pattern: Pattern, feeds: dict, noise=0.0, seed=0) -> list[np.ndarray] | None:
    """The results in float64, of inputs and constants that are off by up to the share `noise`."""
    rng, model = np.random.default_rng(seed), widened(pattern.model())

    def moved(values):
        return values * (1 + noise * rng.uniform(-1, 1, values.shape)) if noise and values.dtype.kind == "f" else values

    for tensor in model.graph.initializer:
        values = numpy_helper.to_array(tensor)
        tensor.CopyFrom(numpy_helper.from_array(np.asarray(moved(values), values.dtype), tensor.name))
    wide = {k: np.asarray(moved(v.astype(np.float64))) if v.dtype.kind == "f" else v for k, v in feeds.items()}
    try:
        return Runner(roundhouse, model, False).run(wide)
    except Refused:
        return None


def departure(plain: np.ndarray, tested: np.ndarray, bound: float, pattern: Pattern) -> str | None:
    """How `tested` departs from `plain` by more than the bound of its largest magnitude; infinities and NaN stand where they stood, in
    each other's place where sums are made in another order. 8-bit integers of a quantised graph may be some off."""
    if plain.shape != tested.shape or plain.dtype != tested.dtype:
        return f"{tested.dtype}{list(tested.shape)}, expected {plain.dtype}{list(plain.shape)}"
    if plain.dtype.kind != "f":
        off = np.abs(plain.astype(np.int64) - tested.astype(np.int64)).max(initial=0)
        return f"off by {off}" if off > (CODES if pattern.quantized and plain.dtype.itemsize == 1 else 0) else None
    a, b = plain.astype(np.float64), tested.astype(np.float64)
    unlike = np.isfinite(a) != np.isfinite(b) if pattern.sums_move else unbounded(a) != unbounded(b)
    if pattern.zeros_turn:
        unlike = np.isnan(a) != np.isnan(b)
    if unlike.any():
        return f"{np.count_nonzero(~np.isfinite(b))} of {b.size} not finite, expected {np.count_nonzero(~np.isfinite(a))}, or others"
    finite = np.isfinite(a)
    error = np.abs(a[finite] - b[finite]).max(initial=0) / max(np.abs(a[finite]).max(initial=0), pattern.least)
    return f"off by {error:.3g} of the largest magnitude" if error > bound else None


def unbounded(values: np.ndarray) -> np.ndarray:
    """Which values are infinite, and of which sign, and which are NaN; 0 for the others."""
    return np.where(np.isnan(values), 2, np.where(np.isinf(values), np.sign(values), 0))


def distance(exact: np.ndarray, found: np.ndarray) -> float:
    """Of the largest magnitude; infinite where other values are not finite."""
    found = found.astype(np.float64)
    if exact.shape != found.shape or not np.array_equal(unbounded(exact), unbounded(found)):
        return np.inf
    finite = np.isfinite(exact)
    return float(np.abs(exact[finite] - found[finite]).max(initial=0) / max(np.abs(exact[finite]).max(initial=0), 1e-3))


def is_rounding(pattern: Pattern, feeds: dict, index: int, plain: np.ndarray, tested: np.ndarray, bound: float) -> bool:
    """Whether it is as far from the result in float64 as rounding may bring it: that of the graph without passes, or of what goes in."""
    reference = exact(pattern, feeds)
    if plain.dtype.kind != "f":
        return False
    if reference is None:  # an operator that has no kernel of doubles
        return departure(plain, tested, MOVES * bound, pattern) is None
    found = distance(reference[index], tested)
    if found <= max(bound, ROUNDINGS * distance(reference[index], plain)):
        return True
    moved = [exact(pattern, feeds, NOISE[pattern.number], seed) for seed in range(6)]
    return found <= bound + MOVES * max((distance(reference[index], other[index]) for other in moved if other), default=0)


def bound_of(pattern: Pattern) -> float:
    return STEPS if pattern.quantized else max(BOUNDS[pattern.number], pattern.bound)


def difference(pattern: Pattern, without: tuple[str, ...] = ()) -> str | None:
    """How the results with all passes depart from those without any; None where they agree. Refused: it cannot be run."""
    model, bound = pattern.model(), bound_of(pattern)
    plain, tested, refusals = Runner(roundhouse, model, False), None, []
    for index, feeds in enumerate(pattern.feeds):
        try:
            expected = plain.run(feeds)
        except Refused as refusal:  # sizes that do not go together
            refusals.append(refusal)
            continue
        try:
            tested = tested or Runner(roundhouse, model, True, without)
            results = tested.run(feeds)
        except Refused as refusal:
            return f"refused: {refusal}"
        for i, (a, b) in enumerate(zip(expected, results, strict=True)):
            found = departure(a, b, bound, pattern)
            if found and not is_rounding(pattern, feeds, i, a, b, bound):
                return f"{model.graph.output[i].name}, run {index + 1}: {found}"
    if len(refusals) == len(pattern.feeds):
        raise refusals[0]
    return None


def culprits(pattern: Pattern) -> list[str]:
    """The passes any of which must be left out for the results to agree."""
    return [name for name in PASSES if difference(pattern, (name,)) is None]


@functools.cache
def stock():
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    return onnxruntime


def stock_difference(pattern: Pattern) -> str | None:
    """How the results without passes depart from those of ONNX Runtime; None where they agree or it has none. Half types, which it rounds
    elsewhere, are left out."""
    if pattern.number == TensorProto.FLOAT16:
        return None
    model, bound = pattern.model(), 4 * bound_of(pattern)
    for index, feeds in enumerate(pattern.feeds):
        answers = []
        for module in (stock(), roundhouse):
            try:
                answers.append(Runner(module, model, False).run(feeds))
            except Refused as refusal:
                answers.append(str(refusal))
        theirs, ours = answers
        if isinstance(theirs, str):
            continue
        if isinstance(ours, str):
            return f"run {index + 1}: {ours}"
        for i, (a, b) in enumerate(zip(theirs, ours, strict=True)):
            found = departure(a, b, bound, pattern)
            if found and not is_rounding(pattern, feeds, i, a, b, bound):
                return f"{model.graph.output[i].name}, run {index + 1}: {found}"
    return None


def copied(pattern: Pattern) -> Pattern:
    other = copy.copy(pattern)
    other.nodes, other.inputs = copy.deepcopy(pattern.nodes), copy.deepcopy(pattern.inputs)
    other.outputs, other.feeds = list(pattern.outputs), [dict(feeds) for feeds in pattern.feeds]
    return other


def with_one_output(pattern: Pattern):
    """The earliest value first."""
    names = [name for node in pattern.nodes for name in node.output]
    for name in names if len(pattern.outputs) > 1 or pattern.outputs[0] != names[0] else []:
        if [name] == pattern.outputs:
            return
        small = copied(pattern)
        small.outputs = [name]
        yield small


def with_one_run(pattern: Pattern):
    for feeds in pattern.feeds if len(pattern.feeds) > 1 else []:
        small = copied(pattern)
        small.feeds = [feeds]
        yield small


def with_fixed_sizes(pattern: Pattern):
    """One open size at a time, in all inputs, as the only run has it."""
    if len(pattern.feeds) > 1:
        return
    names = {d.dim_param for x in pattern.inputs for d in x.type.tensor_type.shape.dim if d.dim_param}
    for name in sorted(names):
        small = copied(pattern)
        for x in small.inputs:
            for d, size in zip(x.type.tensor_type.shape.dim, small.feeds[0][x.name].shape, strict=True):
                if d.dim_param == name:
                    d.dim_value = size
        yield small


def with_cut_values(pattern: Pattern):
    """What makes a value is left out: an input of the values that it has takes its place."""
    model = pattern.model()
    made = [name for node in model.graph.node for name in node.output if name not in pattern.outputs]
    if not made:
        return
    runner = Runner(roundhouse, pattern.model(made), False)
    values = [runner.run(feeds) for feeds in pattern.feeds]
    for i in reversed(range(len(made))):
        small = copied(pattern)
        small.nodes = [node for node in small.nodes if made[i] not in node.output]
        kept = {name for node in small.nodes for name in node.output}
        gone = {name for node in pattern.nodes if made[i] in node.output for name in node.output} & set(made)
        if gone - kept != {made[i]}:  # it has another result that is taken
            continue
        for feeds, arrays in zip(small.feeds, values, strict=True):
            feeds[made[i]] = arrays[i]
        first = values[0][i]
        small.inputs.append(helper.make_tensor_value_info(made[i], helper.np_dtype_to_tensor_dtype(first.dtype), first.shape))
        if len({arrays[i].shape for arrays in values}) == 1:
            yield small


def with_nodes_bypassed(pattern: Pattern):
    for at, node in enumerate(pattern.nodes):
        for source in node.input[:2] if len(node.output) == 1 and node.output[0] not in pattern.outputs else []:
            small = copied(pattern)
            del small.nodes[at]
            for other in small.nodes:
                other.input[:] = [source if name == node.output[0] else name for name in other.input]
            yield small


STEPS_DOWN = [with_one_output, with_one_run, with_cut_values, with_nodes_bypassed, with_fixed_sizes]


def minimised(pattern: Pattern, message: str) -> tuple[Pattern, str]:
    """The smallest graph found whose results still change."""
    trials, changed = 0, True
    while changed:
        changed = False
        for step in STEPS_DOWN:
            shrunk = True
            while shrunk and trials < MOST_TRIALS:
                shrunk = False
                for small in step(pattern):
                    trials += 1
                    try:
                        found = difference(small)
                    except Exception:
                        continue
                    if found:
                        pattern, message, shrunk, changed = small, found, True, True
                        break
                    if trials >= MOST_TRIALS:
                        break
    return pattern, message
