"""Each call that a host makes of a provider, in ONNX Runtime and in Roundhouse: the records must be the same, but for what is listed.

A provider of the tests' own writes down all that it is handed (recorder_plugin); of others a library that stands before theirs does
(relay_plugin). ``python tests/plugins/test_recorder.py LIBRARY PROVIDER`` shows the differences for any library of providers.
"""

import ctypes
import difflib
import gc
import os
import pathlib
import re
import sys

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import roundhouse

LIBRARIES = pathlib.Path(
    os.environ.get("ROUNDHOUSE_LIBRARY_DIR", pathlib.Path(__file__).resolve().parents[2] / "build" / "release" / "lib")
)
#: Providers that stand behind the relay: the library, and who it gives.
RELAYED = {
    "example": ("roundhouse_provider_example.so", "ExampleExecutionProvider"),
    "fake_device": ("roundhouse_provider_fake_device.so", "FakeDeviceExecutionProvider"),
    "sample": ("roundhouse_provider_sample.so", "SampleExecutionProvider"),
    "template that compiles": ("template_plugin.so", "TemplateCompilingProvider"),
    "template with kernels": ("template_plugin.so", "TemplateKernelProvider"),
}
X = np.arange(6, dtype=np.float32).reshape(2, 3)
Y = np.full((2, 3), 2, np.float32)


def tensor(name, kind=TensorProto.FLOAT, shape=(2, 3)):
    return helper.make_tensor_value_info(name, kind, shape)


def model_of(nodes, inputs, outputs=("y",), weights=()):
    graph = helper.make_graph(nodes, "graph", inputs, [tensor(name) for name in outputs], list(weights))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def mul(a, b, y):
    return helper.make_node("Mul", [a, b], [y], f"{y}_mul")


def branches():
    bodies = {
        f"{side}_branch": helper.make_graph([mul("x", "z", side), mul(side, "z", f"{side}_2")], side, [], [tensor(f"{side}_2")])
        for side in ("then", "else")
    }
    nodes = [mul("x", "z", "m"), helper.make_node("If", ["c"], ["i"], "choice", **bodies), mul("i", "m", "y")]
    return model_of(nodes, [tensor("x"), tensor("z"), tensor("c", TensorProto.BOOL, [])])


MODELS = {
    "one": (model_of([mul("x", "z", "y")], [tensor("x"), tensor("z")]), {"x": X, "z": Y}),
    "weights": (
        model_of([mul("x", "w", "y")], [tensor("x")], weights=[numpy_helper.from_array(Y, "w")]),
        {"x": X},
    ),
    "between": (
        model_of(
            [mul("x", "z", "m"), helper.make_node("Exp", ["m"], ["e"], "exp"), mul("e", "m", "y")],
            [tensor("x"), tensor("z")],
        ),
        {"x": X, "z": Y},
    ),
    "on both": (  # x is wanted by the host as well
        model_of([helper.make_node("Exp", ["x"], ["e"], "exp"), mul("x", "e", "y")], [tensor("x")]),
        {"x": X},
    ),
    "back": (
        model_of([mul("x", "z", "m"), helper.make_node("Exp", ["m"], ["y"], "exp")], [tensor("x"), tensor("z")]),
        {"x": X, "z": Y},
    ),
    "none": (model_of([helper.make_node("Exp", ["x"], ["y"], "exp")], [tensor("x")]), {"x": X}),
    "branches": (branches(), {"x": X, "z": Y, "c": np.array(True)}),
}
FEATURES = ["", "memory,sync", "memory,streams,sync", "kernels", "kernels,memory,sync"]


class Recorder:
    """A provider in one host, with its record: what the host calls it, its library, and whom that gives."""

    def __init__(self, host, features, library="recorder_plugin.so", provider="RecorderExecutionProvider"):
        self.host, self.name, self.provider = host, f"recorder/{features}", provider
        self.path = str(LIBRARIES / library)
        self.library = ctypes.CDLL(self.path)
        self.library.RhRecorderTake.restype = ctypes.c_char_p

    def __enter__(self):
        self.library.RhRecorderTake()
        self.host.register_execution_provider_library(self.name, self.path)
        return self

    def __exit__(self, *_):
        gc.collect()
        self.host.unregister_execution_provider_library(self.name)

    def take(self):
        return self.library.RhRecorderTake().decode().splitlines()

    def device(self):
        """Some libraries call their provider what they are registered as."""
        return next(d for d in self.host.get_ep_devices() if d.ep_name in (self.provider, self.name))

    def session(self, model, config=None):
        options = self.host.SessionOptions()
        options.log_severity_level = 4
        options.graph_optimization_level = self.host.GraphOptimizationLevel.ORT_DISABLE_ALL
        for key, value in (config or {}).items():
            options.add_session_config_entry(key, value)
        options.add_provider_for_devices([self.device()], {})
        return self.host.InferenceSession(model, options)


def record_of(recorder, model, feed):
    """The lines of each phase, and the results of the runs."""
    phases, results = {}, []
    with recorder:
        phases["register"] = recorder.take()
        session = recorder.session(model)
        phases["load"] = recorder.take()
        for number in range(2):
            results.append(session.run(None, feed)[0])
            phases[f"run {number}"] = recorder.take()
        binding = session.io_binding()
        for name, value in feed.items():
            binding.bind_cpu_input(name, value)
        binding.bind_output("y")
        binding.synchronize_inputs()
        phases["synchronize inputs"] = recorder.take()
        session.run_with_iobinding(binding)
        phases["bound run"] = recorder.take()
        binding.synchronize_outputs()
        phases["synchronize outputs"] = recorder.take()
        results.append(binding.copy_outputs_to_cpu()[0])
        phases["copy out"] = recorder.take()
        session.set_ep_dynamic_options({"key": "value"})
        phases["dynamic options"] = recorder.take()
        del binding, session
        gc.collect()
        phases["release"] = recorder.take()
    phases["unregister"] = recorder.take()
    return phases, results


#: Calls that one host makes and the other does not, or at another time; docs/bindings.md has the reasons.
DIFFERENCES = [
    r"factory\d* (Create|Release)Allocator ",  # shared allocators are made when first asked for
    r"ep\d CreateAllocator (pinned|memory2)",  # so is pinned memory
    r"factory ReleaseAllocator pinned",
    r"CopyTensors ",  # each host copies where its placement wants it; ONNX Runtime leaves results of the CPU in pinned memory
    r"Stream\.|ep\d CreateSyncStreamForDevice",  # here a stream is made before the run and ends before the provider is told
    r"factory\d (CreateDataTransfer|IsStreamAware)",  # here asked once, there for each session as well
    r"factory\d GetCustomOpDomains given 0",  # here not where there are none
    r"ep\d CreateProfiler",  # here where the session is profiled
    r"factory\d ValidateCompiledModelCompatibilityInfo",  # in ONNX Runtime its C interface asks, and Python does not
]


def compared(lines, has_bodies):
    """What has to be the same: without numbers of allocators and names of threads, and of a model with bodies in any order."""
    kept = [re.sub(r"(allocator|stream)\d+", r"\1", line) for line in lines]
    kept = [line.removeprefix("[thread] ") if re.search(" CreateEp | GetSupportedDevices ", line) else line for line in kept]
    kept = [re.sub(r"(GetSupportedDevices given \d+ given) \d+", r"\1", line) for line in kept]  # for how many devices there is room
    kept = [line for line in kept if not any(re.match(difference, line) for difference in DIFFERENCES)]
    if has_bodies:  # here the graph is asked first, then the bodies of nodes that are left
        kept = sorted(line for line in kept if not re.search("GetCapability a body", line))
    return kept


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("model", MODELS)
def test_calls_are_those_of_onnxruntime(features, model):
    hold_equal(model, *(record_of(Recorder(host, features), *MODELS[model]) for host in (onnxruntime, roundhouse)))


@pytest.mark.parametrize("relayed", RELAYED)
@pytest.mark.parametrize("model", MODELS)
def test_calls_of_other_providers_are_those_of_onnxruntime(relayed, model, monkeypatch):
    library, provider = RELAYED[relayed]
    monkeypatch.setenv("RH_RELAYED", str(LIBRARIES / library))
    hosts = (onnxruntime, roundhouse)
    theirs, ours = (record_of(Recorder(host, "", "relay_plugin.so", provider), *MODELS[model]) for host in hosts)
    if (relayed, model) == ("fake_device", "branches"):  # ONNX Runtime's results are NaN in a third of the runs, without the relay as well
        theirs = theirs[0], ours[1]
    if (relayed, model) == ("fake_device", "on both"):  # ONNX Runtime counts a provider's own kernel for copies as one that takes the input
        assert theirs[0].pop("synchronize inputs") == ["ep1 Sync"]
    hold_equal(model, theirs, ours)


def hold_equal(model, stock, own):
    (theirs, expected), (ours, results) = stock, own
    for one, other in zip(expected, results, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
    for phase, lines in theirs.items():
        assert compared(ours[phase], model == "branches") == compared(lines, model == "branches"), phase


def without_a_line(lines):
    del lines[1]


def twice(lines):
    lines.insert(1, lines[1])


def in_another_order(lines):
    lines[0], lines[1] = lines[1], lines[0]


def on_another_thread(lines):
    lines[1] = f"[thread] {lines[1]}"


def with_another_object(lines):
    lines[0] = lines[0].replace("ep1", "other")


@pytest.mark.parametrize("fault", [without_a_line, twice, in_another_order, on_another_thread, with_another_object])
@pytest.mark.parametrize("phase", ["run 0", "run 1", "bound run"])
def test_a_planted_fault_is_found(fault, phase):
    phases, results = record_of(Recorder(roundhouse, "memory,streams,sync"), *MODELS["between"])
    lines = [line for line in phases[phase] if not any(re.match(difference, line) for difference in DIFFERENCES)]
    changed = list(lines)
    fault(changed)
    assert changed != lines
    with pytest.raises(AssertionError):
        hold_equal("between", (phases, results), (phases | {phase: changed}, results))


WEIGHTLESS = [
    ("", {}, None),
    ("", {"ep.enable_weightless": "1"}, "NotImplemented"),
    ("weightless", {"ep.enable_weightless": "1"}, None),
    ("weightless", {"ep.enable_weightless_mode": "2"}, "EPFail"),  # its device does not say so
    ("weightless", {"ep.enable_weightless_mode": "9"}, "InvalidArgument"),
]


@pytest.mark.parametrize(("features", "config", "failure"), WEIGHTLESS)
@pytest.mark.parametrize("host", [onnxruntime, roundhouse], ids=lambda host: host.__name__)
def test_models_without_weights_need_a_provider_that_makes_them(features, config, failure, host):
    with Recorder(host, features) as recorder:
        thrown = None
        try:
            recorder.session(MODELS["one"][0], config)
        except Exception as error:  # noqa: BLE001 - each host has its own
            thrown = type(error).__name__
        gc.collect()
        asked = any(line.startswith("GetWeightlessSupport") for line in recorder.take())
    assert thrown == failure
    assert asked == (features == "weightless" and config.get("ep.enable_weightless") == "1")


def show(library, provider):
    """What differs with the models above, phase by phase; whether nothing does."""
    os.environ["RH_RELAYED"], same = os.path.abspath(library), True
    for model, (given, feed) in MODELS.items():
        records = [record_of(Recorder(host, "", "relay_plugin.so", provider), given, feed)[0] for host in (onnxruntime, roundhouse)]
        for phase in records[0]:
            theirs, ours = (compared(record[phase], model == "branches") for record in records)
            changes = [line for line in difflib.ndiff(theirs, ours) if line[0] in "+-"]
            same = same and not changes
            print(f"{model}, {phase}: {len(theirs)} calls", *changes, sep="\n    ")
    return same


if __name__ == "__main__":
    sys.exit(0 if show(*sys.argv[1:]) else 1)
