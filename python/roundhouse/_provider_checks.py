"""What check_provider checks: one function a check, run in a process of its own."""

import gc
import threading

import numpy as np

import roundhouse
from roundhouse import _onnx_bytes as onnx_bytes
from roundhouse._provider_cases import Case, cases

CPU = "CPUExecutionProvider"
TOLERANCE = {"float16": 1e-2, "float32": 1e-4, "float64": 1e-9}


class Skip(Exception):
    """Why a check says nothing about this provider."""


def case_model(case: Case) -> tuple[bytes, dict]:
    """The model of one node, and what it is fed."""
    names = [f"x{i}" if array is not None else "" for i, array in enumerate(case.inputs)]
    outputs = [f"y{i}" for i in range(len(case.outputs))]
    feeds = {names[i]: a for i, a in enumerate(case.inputs) if a is not None and i not in case.constants}
    data = onnx_bytes.model(
        [onnx_bytes.node(case.op, names, outputs, "node", **case.attributes)],
        [(n, a.dtype.name, a.shape) for n, a in feeds.items()],
        [(n, t, None) for n, t in zip(outputs, case.outputs, strict=True)],
        [(names[i], np.asarray(case.inputs[i])) for i in case.constants],
    )
    return data, feeds


def compare(actual, expected, what=""):
    """AssertionError that says by how much and where results differ."""
    for i, (a, e) in enumerate(zip(actual, expected, strict=True)):
        assert a.dtype == e.dtype, f"{what}output {i} is of type {a.dtype}, expected {e.dtype}"
        assert a.shape == e.shape, f"{what}output {i} has shape {a.shape}, expected {e.shape}"
        if not e.size:
            continue
        if e.dtype.kind != "f":
            wrong = np.argwhere(a != e)
            assert not len(wrong), f"{what}output {i}: {len(wrong)} of {e.size} elements differ, the first at {tuple(wrong[0])}"
            continue
        error = np.abs(a.astype("f8") - e.astype("f8"))
        bound = TOLERANCE[e.dtype.name] * max(1.0, float(np.abs(e).max()))
        worst = np.unravel_index(int(np.argmax(np.nan_to_num(error, nan=np.inf))), e.shape)
        assert float(np.nan_to_num(error, nan=np.inf).max()) <= bound, (
            f"{what}output {i} at {tuple(int(w) for w in worst)} is {a[worst]}, expected {e[worst]}"
        )


def _exp(x):
    return onnx_bytes.node("Exp", [x], ["e"], "between")


class Bench:
    """The provider under test, and what is known of it so far."""

    def __init__(self, library: str, ep_name: str | None, options: dict[str, str]):
        self.library, self.options = library, options
        roundhouse.register_execution_provider_library("checked", library)
        self.devices = self._devices(ep_name)
        self.name = self.devices[0].ep_name
        self._carrier = None

    def _devices(self, ep_name):
        listed = [d for d in roundhouse.get_ep_devices() if d.ep_name != CPU and ep_name in (None, d.ep_name)]
        assert listed, "the library lists no device" + (f" of '{ep_name}'" if ep_name else "")
        return [d for d in listed if d.ep_name == listed[0].ep_name]

    def session(self, model: bytes, **options):
        settings = roundhouse.SessionOptions()
        settings.graph_optimization_level = roundhouse.GraphOptimizationLevel.ORT_DISABLE_ALL
        settings.add_provider_for_devices(self.devices[:1], {**self.options, **options})
        return roundhouse.InferenceSession(model, settings)

    @staticmethod
    def plain(model: bytes):
        settings = roundhouse.SessionOptions()
        settings.graph_optimization_level = roundhouse.GraphOptimizationLevel.ORT_DISABLE_ALL
        return roundhouse.InferenceSession(model, settings, providers=[CPU])

    def takes(self, session) -> bool:
        return session.placement_summary().get(self.name, 0) > 0

    def carrier(self) -> Case:
        """A case of one float input and output that the provider takes."""
        if self._carrier is None:
            for case in cases():
                one = len(case.inputs) == 1 and case.outputs == ["float32"] and case.inputs[0].dtype == np.float32
                if one and case.inputs[0].shape == (2, 3, 4) and self.takes(self.session(case_model(case)[0])):
                    self._carrier = case
                    break
            else:
                self._carrier = False
        if not self._carrier:
            raise Skip("the provider takes none of the built-in cases of one input")
        return self._carrier

    def chain(self, shape=(2, 3, 4)) -> bytes:
        """The carrier twice."""
        case = self.carrier()
        return onnx_bytes.model(
            [
                onnx_bytes.node(case.op, ["x"], ["t"], "first", **case.attributes),
                onnx_bytes.node(case.op, ["t"], ["y"], "second", **case.attributes),
            ],
            [("x", "float32", shape)],
            [("y", "float32", shape)],
        )

    def divided(self) -> bytes:
        """The carrier, nodes that the CPU has to run where the provider does not take them, and the carrier again."""
        case = self.carrier()
        return onnx_bytes.model(
            [
                onnx_bytes.node(case.op, ["x"], ["t"], "first", **case.attributes),
                onnx_bytes.node("Cast", ["t"], ["d"], "to_double", to=11),
                onnx_bytes.node("Exp", ["d"], ["f"], "on_the_cpu"),
                onnx_bytes.node("Cast", ["f"], ["e"], "to_float", to=1),
                onnx_bytes.node(case.op, ["e"], ["y"], "second", **case.attributes),
            ],
            [("x", "float32", (2, 3, 4))],
            [("t", "float32", (2, 3, 4)), ("y", "float32", (2, 3, 4))],
        )

    def memory(self):
        """(name, id, vendor) of the device's memory, as OrtValue takes it."""
        device = self.devices[0]
        try:
            info = device.memory_info(roundhouse.OrtDeviceMemoryType.DEFAULT)
        except ValueError:
            raise Skip("the provider works on memory of the host") from None
        return info

    def value(self, array):
        made = roundhouse.OrtValue.ortvalue_from_shape_and_type(array.shape, array.dtype, memory_info=self.memory())
        made.update_inplace(array)
        return made


def _sample(shape=(2, 3, 4), seed=0):
    return np.random.default_rng(seed).uniform(0.1, 1, shape).astype(np.float32)


def copies_of(session):
    statistics = session.statistics()
    return {n: statistics[n] for n in ("input_copies", "step_copies", "output_copies")}


# --- operators


def operator_check(case: Case):
    def check(bench: Bench):
        model, feeds = case_model(case)
        session = bench.session(model)
        actual = session.run(None, feeds)
        compare(actual, bench.plain(model).run(None, feeds))
        if not bench.takes(session):
            reasons = [r["reason"] or r["code"] for n in session.placement() for r in n["refusals"]]
            raise Skip("not taken: " + (reasons[0] if reasons else "no reason given"))

    return check


# --- loading


def loads(bench):
    for device in bench.devices:
        assert device.ep_name and device.ep_vendor, "a device has no provider name or no vendor"
        assert "version" in device.ep_metadata, "the provider gives no version"


def loads_again(bench):
    del bench.devices
    for _ in range(5):
        roundhouse.unregister_execution_provider_library("checked")
        roundhouse.register_execution_provider_library("checked", bench.library)
    bench.devices = bench._devices(bench.name)
    loads(bench)


def runs_a_model_without_its_nodes(bench):
    model = onnx_bytes.model([onnx_bytes.node("Cast", ["x"], ["y"], "cast", to=8)], [("x", "int64", (2,))], [("y", "bool", None)]).replace(
        b"\x08\x09", b"\x08\x08", 1
    )  # the output is strings
    session = bench.session(model)
    assert [str(v) for v in session.run(None, {"x": np.array([1, 2])})[0]] == ["1", "2"]


# --- copies


def divided_with_the_cpu(bench):
    model, x = bench.divided(), _sample()
    session = bench.session(model)
    for seed in range(3):
        x = _sample(seed=seed)
        compare(session.run(None, {"x": x}), bench.plain(model).run(None, {"x": x}))


def values_go_there_and_back(bench):
    for dtype in (np.float32, np.int64, np.uint8, np.float16):
        for shape in ((), (1,), (0, 3), (7,), (3, 5), (256, 1025)):
            array = np.random.default_rng(1).integers(0, 100, shape).astype(dtype)
            np.testing.assert_array_equal(bench.value(array).numpy(), array)


def values_are_copied_within_the_device(bench):
    first, second = bench.value(_sample()), bench.value(_sample(seed=1))
    roundhouse.copy_tensors([first], [second])
    np.testing.assert_array_equal(second.numpy(), _sample())


def constants_are_copied_when_the_model_is_loaded(bench):
    weights = _sample(seed=3)
    for op in ("Add", "Mul", "MatMul"):
        inputs = (4, 4) if op == "MatMul" else (2, 3, 4)
        model = onnx_bytes.model(
            [onnx_bytes.node(op, ["x", "w"], ["y"], "node")],
            [("x", "float32", (2, 3, 4))],
            [("y", "float32", None)],
            [("w", weights[0, :1].repeat(4, 0) if op == "MatMul" else weights.reshape(inputs))],
        )
        session = bench.session(model)
        if not bench.takes(session):
            continue
        bench.memory()
        for _ in range(3):
            session.run(None, {"x": _sample()})
        copies = copies_of(session)
        assert copies == {"input_copies": 3, "step_copies": 0, "output_copies": 3}, f"three runs made {copies}"
        return
    raise Skip("the provider takes no node with a constant input of the built-in cases")


# --- streams


def copies_on_a_stream(bench):
    bench.memory()
    try:
        stream = bench.devices[0].create_sync_stream()
    except roundhouse.NotImplemented as problem:
        raise Skip(str(problem)) from None
    there = bench.value(np.zeros((64, 64), np.float32))
    back = roundhouse.OrtValue.ortvalue_from_shape_and_type([64, 64], np.float32)
    for seed in range(10):
        x = _sample((64, 64), seed)
        roundhouse.copy_tensors([roundhouse.OrtValue.ortvalue_from_numpy(x)], [there], stream)
        roundhouse.copy_tensors([there], [back], stream)
        np.testing.assert_array_equal(back.numpy(), x)


def runs_one_after_the_other(bench):
    model = bench.chain((128, 257))
    session, plain = bench.session(model), bench.plain(model)
    for seed in range(50):
        x = _sample((128, 257), seed)
        compare(session.run(None, {"x": x}), plain.run(None, {"x": x}), f"run {seed}: ")


def results_stay_when_the_session_runs_again(bench):
    model = bench.chain()
    session, plain = bench.session(model), bench.plain(model)
    kept = [session.run(None, {"x": _sample(seed=s)})[0] for s in range(5)]
    for seed, result in enumerate(kept):
        compare([result], plain.run(None, {"x": _sample(seed=seed)}), f"run {seed}: ")


# --- binding


def bound_on_the_device_without_copies(bench):
    model = bench.chain()
    session, plain = bench.session(model), bench.plain(model)
    x = bench.value(_sample())
    y = bench.value(np.zeros((2, 3, 4), np.float32))
    binding = session.io_binding()
    binding.bind_ortvalue_input("x", x)
    binding.bind_ortvalue_output("y", y)
    for seed in range(3):
        x.update_inplace(_sample(seed=seed))
        session.run_with_iobinding(binding)
        compare([y.numpy()], plain.run(None, {"x": _sample(seed=seed)}))
    assert binding.get_outputs()[0].data_ptr() == y.data_ptr(), "the output is not where it was bound"
    copies = copies_of(session)
    assert not any(copies.values()), f"values bound on the device were copied: {copies}"


def outputs_allocated_on_the_device(bench):
    model = bench.chain()
    session = bench.session(model)
    info = bench.memory()
    device = roundhouse.OrtDevice(bench.value(_sample()).__dlpack_device__() and 1, 0, info.device_vendor_id, info.device_id)
    binding = session.io_binding()
    binding.bind_cpu_input("x", _sample())
    binding.bind_output("y", device)
    session.run_with_iobinding(binding)
    (value,) = binding.get_outputs()
    del binding, session
    gc.collect()
    compare([value.numpy()], bench.plain(model).run(None, {"x": _sample()}))


def bound_on_the_host(bench):
    model = bench.chain()
    session, result = bench.session(model), np.zeros((2, 3, 4), np.float32)
    binding = session.io_binding()
    binding.bind_cpu_input("x", _sample())
    binding.bind_output("y", "cpu", 0, np.float32, result.shape, result.ctypes.data)
    session.run_with_iobinding(binding)
    compare([result], bench.plain(model).run(None, {"x": _sample()}))


# --- faults


def _is_error(call, what):
    try:
        call()
    except (RuntimeError, ValueError):
        return
    raise AssertionError(f"{what} is no error")


def inputs_that_do_not_fit(bench):
    model = bench.chain()
    session = bench.session(model)
    _is_error(lambda: session.run(None, {"x": _sample((2, 3, 5))}), "an input of another shape")
    _is_error(lambda: session.run(None, {"x": _sample().astype(np.float64)}), "an input of another type")
    compare(session.run(None, {"x": _sample()}), bench.plain(model).run(None, {"x": _sample()}), "after errors: ")


def more_memory_than_there_is(bench):
    info = bench.memory()
    _is_error(
        lambda: roundhouse.OrtValue.ortvalue_from_shape_and_type([1 << 48], np.float32, memory_info=info), "an allocation of 2^50 bytes"
    )
    np.testing.assert_array_equal(bench.value(_sample()).numpy(), _sample())


def runs_that_are_stopped(bench):
    model = bench.chain()
    session, options = bench.session(model), roundhouse.RunOptions()
    options.terminate = True
    _is_error(lambda: session.run(None, {"x": _sample()}, options), "a run whose terminate flag is set")
    compare(session.run(None, {"x": _sample()}), bench.plain(model).run(None, {"x": _sample()}), "after a stopped run: ")


def options_that_it_does_not_know(bench):
    model = bench.chain()
    try:
        session = bench.session(model, no_such_option_of_any_provider="1")
    except RuntimeError:
        return  # refused with an error: as good as taken
    compare(session.run(None, {"x": _sample()}), bench.plain(model).run(None, {"x": _sample()}))


# --- life


def sessions_made_and_dropped_100_times(bench):
    model = bench.chain()
    expected = bench.plain(model).run(None, {"x": _sample()})
    for i in range(100):
        session = bench.session(model)
        if i % 10 == 0:
            compare(session.run(None, {"x": _sample()}), expected, f"session {i}: ")
        del session


def several_sessions_at_once(bench):
    model = bench.chain()
    sessions = [bench.session(model) for _ in range(8)]
    expected = [bench.plain(model).run(None, {"x": _sample(seed=i)}) for i in range(8)]
    for _ in range(3):
        for i, session in enumerate(sessions):
            compare(session.run(None, {"x": _sample(seed=i)}), expected[i], f"session {i}: ")
    del sessions[::2]
    compare(sessions[0].run(None, {"x": _sample(seed=1)}), expected[1], "after others are gone: ")


# --- concurrency


def _in_threads(work, count=4):
    problems = []

    def guarded(i):
        try:
            work(i)
        except BaseException as problem:  # noqa: BLE001 (told by the thread that waits)
            problems.append(problem)

    threads = [threading.Thread(target=guarded, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]


def one_session_in_four_threads(bench):
    model = bench.divided()
    session, plain = bench.session(model), bench.plain(model)
    expected = [plain.run(None, {"x": _sample(seed=i)}) for i in range(4)]

    def work(i):
        for _ in range(25):
            compare(session.run(None, {"x": _sample(seed=i)}), expected[i], f"thread {i}: ")

    _in_threads(work)


def sessions_made_in_four_threads(bench):
    model = bench.chain()
    expected = bench.plain(model).run(None, {"x": _sample()})

    def work(i):
        for _ in range(5):
            compare(bench.session(model).run(None, {"x": _sample()}), expected, f"thread {i}: ")

    _in_threads(work)


GROUPS = {
    "load": [loads, loads_again, runs_a_model_without_its_nodes],
    "copies": [
        divided_with_the_cpu,
        values_go_there_and_back,
        values_are_copied_within_the_device,
        constants_are_copied_when_the_model_is_loaded,
    ],
    "streams": [copies_on_a_stream, runs_one_after_the_other, results_stay_when_the_session_runs_again],
    "binding": [bound_on_the_device_without_copies, outputs_allocated_on_the_device, bound_on_the_host],
    "faults": [inputs_that_do_not_fit, more_memory_than_there_is, runs_that_are_stopped, options_that_it_does_not_know],
    "life": [sessions_made_and_dropped_100_times, several_sessions_at_once],
    "concurrency": [one_session_in_four_threads, sessions_made_in_four_threads],
}


def all_checks() -> dict:
    """Name to function, in the order in which they run."""
    checks = {f"load/{f.__name__}": f for f in GROUPS["load"]}
    checks.update({case.name: operator_check(case) for case in cases()})
    for group, functions in GROUPS.items():
        checks.update({f"{group}/{f.__name__}": f for f in functions})
    return checks
