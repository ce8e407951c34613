"""InferenceSession and IOBinding over the native session."""

import atexit
import collections.abc
import json
import os
import warnings

from roundhouse import _native
from roundhouse._device import OrtDevice
from roundhouse._info import get_all_providers
from roundhouse._native import OrtValue, OrtValueVector, SessionOptions
from roundhouse._placement import NodePlacement, OrtEpAssignedSubgraph, placement_of

# Callbacks need the interpreter: it ends after the last of them.
atexit.register(_native.finish_async_runs)


def _pair(entry) -> tuple[str, dict]:
    """(name, options) from a name or such a pair."""
    if isinstance(entry, str):
        return entry, {}
    if isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[0], str) and isinstance(entry[1], dict):
        return entry
    raise ValueError(f"an entry of providers is {entry!r}, expected a name or a tuple of a name and a dict of options")


CPU_NAMES = ("CPUExecutionProvider", "CPU")

#: What a provider that cannot be had means where the session options do not say: programs that run ``import onnxruntime`` know a warning.
default_fallback = "error"


def _provider_list(providers, provider_options, fallback, may_fall_back) -> list[tuple[str, dict[str, str]]]:
    """Names with options as text, duplicates left out; ValueError where the arguments contradict each other."""
    if providers is None:
        return []
    if not isinstance(providers, collections.abc.Sequence) or isinstance(providers, str):
        raise ValueError(f"providers is a {type(providers).__name__}, expected a sequence of names or (name, options) pairs")
    if provider_options is not None:
        if not isinstance(provider_options, collections.abc.Sequence):
            raise ValueError(f"provider_options is a {type(provider_options).__name__}, expected a sequence of dicts")
        if len(providers) != len(provider_options):
            raise ValueError(f"{len(provider_options)} provider_options are given for {len(providers)} providers")
        if not all(isinstance(name, str) for name in providers):
            raise ValueError("providers must be names where provider_options is given")
        if not all(isinstance(options, dict) for options in provider_options):
            raise ValueError("an entry of provider_options is no dict")
        pairs = list(zip(providers, provider_options, strict=True))
    else:
        pairs = [_pair(entry) for entry in providers]
    result: dict[str, dict[str, str]] = {}
    for name, options in pairs:
        if fallback == "warn" and (problem := _native.provider_problem(name)):
            if not may_fall_back and name not in get_all_providers():
                raise RuntimeError(problem)
            warnings.warn(problem, stacklevel=5)
        elif name in result:
            warnings.warn(f"provider '{name}' is named twice; the first one counts", stacklevel=5)
        else:
            result[name] = {str(k): str(v) for k, v in options.items()}
    return list(result.items())


def _names(output_names) -> list[str]:
    if isinstance(output_names, str):
        raise TypeError(f"output_names is the string '{output_names}', expected a list of names or None")
    return list(output_names or [])


class InferenceSession:
    """A model ready to run.

    ``path_or_bytes`` is a path or the bytes of an ONNX model.
    ``providers`` is a list of names or (name, options) pairs, most preferred first.
    """

    def __init__(self, path_or_bytes, sess_options=None, providers=None, provider_options=None, **kwargs):
        if isinstance(path_or_bytes, (str, os.PathLike)):
            self._model = os.fspath(path_or_bytes)
        elif isinstance(path_or_bytes, (bytes, bytearray, memoryview)):
            self._model = bytes(path_or_bytes)
        else:
            raise TypeError(f"the model is of type {type(path_or_bytes).__name__}, expected a path or bytes")
        # The name in ONNX Runtime's package, where optimum and sentence-transformers look for the folder of the model.
        self._model_path = None if isinstance(self._model, bytes) else self._model
        if sess_options is not None and not isinstance(sess_options, SessionOptions):
            raise TypeError(f"sess_options is of type {type(sess_options).__name__}, expected SessionOptions")
        self._options = sess_options if sess_options is not None else SessionOptions()
        disabled = kwargs.get("disabled_optimizers")
        if disabled:
            self._options.add_session_config_entry("optimization.disable_specified_optimizers", ";".join(disabled))
        self._may_fall_back = int(kwargs.get("enable_fallback", 1)) == 1
        self._create(providers, provider_options)

    def _create(self, providers, provider_options):
        fallback = self._options._config_or("roundhouse.fallback", default_fallback)
        asked = self._ask(providers, provider_options, fallback)
        if asked and self._options.has_providers():
            warnings.warn("both the session options and the arguments name providers; the arguments count", stacklevel=3)
        self._session = self._open(asked, fallback if self._may_fall_back else "error")
        self._asked = asked
        self._inputs = self._session.get_inputs()
        self._required = [i.name for i in self._inputs if not i.type.startswith("optional")]
        self._outputs = self._session.get_outputs()
        self._providers = None

    def _ask(self, providers, provider_options, fallback):
        """The providers asked for. Arguments that make no sense mean the CPU where ``fallback`` is "warn", as they do in ONNX Runtime."""
        try:
            return _provider_list(providers, provider_options, fallback, self._may_fall_back)
        except ValueError as problem:
            if not self._may_fall_back or fallback != "warn":
                raise
            warnings.warn(f"goes on with the CPU alone: {problem}", stacklevel=4)
            return [(CPU_NAMES[0], {})]

    def _native_session(self, asked, fallback):
        """The library is told what was written, or allows more: a written "error" forbids more than it does by default."""
        written = self._options._config_or("roundhouse.fallback", "")
        return _native.Session(self._model, self._options, asked, fallback if written or fallback == "warn" else "")

    def _open(self, asked, fallback):
        """A session with these providers, or without those that cannot be had where ``fallback`` is "warn"."""
        others = self._options.has_providers() or any(name not in CPU_NAMES for name, _ in asked)
        if fallback != "warn" or not others:
            return self._native_session(asked, fallback)
        try:
            session = self._native_session(asked, fallback)
        except RuntimeError as problem:
            try:
                session = self._native_session([(CPU_NAMES[0], {})], fallback)
            except RuntimeError:
                raise problem from None
            warnings.warn(f"goes on with the CPU alone: {problem}", stacklevel=4)
            return session
        for missing in json.loads(session.report())["missing_providers"]:
            warnings.warn(missing["reason"], stacklevel=4)
        return session

    # --- what the model is
    def get_inputs(self):
        return list(self._inputs)

    def get_outputs(self):
        return list(self._outputs)

    def get_overridable_initializers(self):
        return self._session.get_overridable_initializers()

    def get_modelmeta(self):
        return self._session.get_modelmeta()

    def get_session_options(self):
        return self._options

    # --- who runs it
    def get_providers(self) -> list[str]:
        if self._providers is None:
            self._providers = self._report()["providers"]
        return list(self._providers)

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        given = dict(self._asked)
        return {name: given.get(name, {}) for name in self.get_providers()}

    def set_providers(self, providers=None, provider_options=None):
        """Makes the session anew with other providers."""
        self._create(providers, provider_options)

    def disable_fallback(self):
        """From now on, providers that fail when a session is made, or in a run, are errors."""
        self._may_fall_back = False

    def enable_fallback(self):
        """From now on, providers that fail when a session is made, or in a run, are what "roundhouse.fallback" says."""
        self._may_fall_back = True

    def get_input_memory_infos(self):
        """The memory in which each input is taken without a copy."""
        return _native.session_memory_infos(self._session, False)

    def get_output_memory_infos(self):
        """The memory in which each output is made."""
        return _native.session_memory_infos(self._session, True)

    def get_input_epdevices(self):
        """For each input the provider's device that takes it."""
        return _native.session_input_ep_devices(self._session)

    def create_ortvalue_from_shape_and_type(
        self, shape, element_type, device_type: str, device_id: int = 0, vendor_id: int = -1
    ) -> OrtValue:
        """A tensor, not initialised, in memory of one of the session's devices; ``element_type`` is numpy's or ONNX's number."""
        return OrtValue.ortvalue_from_shape_and_type(list(shape), element_type, device_type, device_id, int(vendor_id))

    def set_ep_dynamic_options(self, options: dict[str, str]):
        """Options of its providers that may change while it lives."""
        self._session.set_ep_dynamic_options({str(k): str(v) for k, v in options.items()})

    def release_captured_graph(self, graph_annotation_id: int = 0):
        """Drops what a provider recorded of runs with this number; nothing where it records none."""
        self._session.release_captured_graph(graph_annotation_id)

    def get_placement(self) -> list[NodePlacement]:
        """For each node of the model as it was read: who runs it, as what, and why nobody else does."""
        return [placement_of(row) for row in self.placement()]

    def placement(self) -> list[dict]:
        """The same as dicts: the "nodes" of RhSessionGetReport."""
        return self._report()["nodes"]

    def placement_summary(self) -> dict[str, int]:
        """How many nodes of the model each provider runs."""
        return {name: count for name, count in self._report()["counts"]["providers"].items() if count}

    def get_provider_graph_assignment_info(self) -> list[OrtEpAssignedSubgraph]:
        """Which nodes each provider took together; the session needs the entry "session.record_ep_graph_assignment_info" of "1"."""
        return [OrtEpAssignedSubgraph(name, nodes) for name, nodes in self._session.assigned_subgraphs()]

    def statistics(self) -> dict:
        """Counters: nodes, plan_bindings, planned_peak_bytes, times of loading in ms, ..."""
        return self._report()["statistics"]

    def memory_plan(self, shapes=None, dimensions=None) -> dict:
        """What a run takes of memory, in bytes, before it: total, weights, arena, outputs, and the tensors that live at the peak.

        ``shapes`` maps names of inputs to shapes, or to arrays that have one; ``dimensions`` gives values to names of dimensions.
        """
        shapes = {name: list(getattr(value, "shape", value)) for name, value in (shapes or {}).items()}
        return json.loads(self._session.memory_plan(shapes, dict(dimensions or {})))

    def trim(self) -> int:
        """Gives back memory that no run in flight uses; returns how many bytes."""
        return self._session.trim()

    def _report(self):
        return json.loads(self._session.report())

    # --- running
    def _check(self, feed):
        if not isinstance(feed, collections.abc.Mapping):
            raise TypeError(f"the feed is a {type(feed).__name__}, expected a dict of input names and values")
        missing = [name for name in self._required if name not in feed]
        if missing:
            raise ValueError(f"required inputs {missing} are missing from the feed, which has {list(feed)}")

    def _fall_back(self, problem):
        """After a provider failed in a run: the CPU alone from here on, where "roundhouse.fallback" is "warn"; else the problem again."""
        if not self._may_fall_back or self._options._config_or("roundhouse.fallback", default_fallback) != "warn":
            raise problem
        warnings.warn(f"goes on with the CPU alone: {problem}", stacklevel=3)
        self.set_providers([CPU_NAMES[0]])
        self.disable_fallback()

    def run(self, output_names, input_feed, run_options=None):
        """Runs the model; no output names means all outputs.

        Values are numpy arrays or OrtValues, lists for sequences, dicts for maps, None for empty optionals.
        """
        self._check(input_feed)
        try:
            return self._session.run(_names(output_names), dict(input_feed), run_options)
        except _native.EPFail as problem:
            self._fall_back(problem)
        return self._session.run(_names(output_names), dict(input_feed), run_options)

    def run_with_ort_values(self, output_names, input_dict_ort_values, run_options=None):
        """The same from and to OrtValue objects."""
        self._check(input_dict_ort_values)
        try:
            return self._session.run_with_ort_values(_names(output_names), dict(input_dict_ort_values), run_options)
        except _native.EPFail as problem:
            self._fall_back(problem)
        return self._session.run_with_ort_values(_names(output_names), dict(input_dict_ort_values), run_options)

    def run_with_values(self, output_names, input_feed):
        """The outputs, and a dict of every tensor that a node of the main graph gave on the way, by the name of the value.

        What is computed stays the same: the values are copied as they are made.
        """
        self._check(input_feed)
        return self._session.run_with_values(_names(output_names), dict(input_feed))

    def run_async(self, output_names, input_feed, callback, user_data, run_options=None):
        """Runs in another thread, which then calls ``callback(results, user_data, error)``; no error is an empty string.

        Errors of the run go to the callback, with no results.
        """
        self._check(input_feed)
        self._session.run_async(_names(output_names), dict(input_feed), callback, user_data, run_options)

    def io_binding(self) -> "IOBinding":
        return IOBinding(self)

    def run_with_iobinding(self, iobinding: "IOBinding", run_options=None):
        if iobinding._session is not self:
            raise ValueError("the binding is another session's, expected one that io_binding() of this one made")
        iobinding._iobinding.run(run_options)

    def run_with_ortvaluevector(self, run_options, feed_names, feeds, fetch_names, fetches, fetch_devices):
        """Runs with values from one vector, results to another on the devices asked for; no device: the host."""
        binding = _native.SessionIOBinding(self._session)
        for name, value in zip(feed_names, feeds, strict=True):
            binding.bind_ortvalue_input(name, value)
        for i, name in enumerate(fetch_names):
            binding.bind_output(name, fetch_devices[i] if i < len(fetch_devices) else OrtDevice.make("cpu", 0))
        binding.run(run_options)
        for value in binding.get_outputs():
            fetches.push_back(value)

    # --- results of tuning, in the form of ONNX Runtime's providers; those of Roundhouse are files of ``roundhouse tune``
    def get_tuning_results(self) -> list[dict]:
        """None: no provider here keeps results of that form."""
        return []

    def set_tuning_results(self, results, *, error_on_invalid=False):
        """Takes none: each entry is an error where ``error_on_invalid`` says so, else a warning."""
        if not isinstance(results, list):
            raise TypeError(f"the results are a {type(results).__name__}, expected a list of dicts")
        for index, entry in enumerate(results):
            name, entries, _ = str(entry["ep"]), entry["results"], entry["validators"]
            for table in entries.values():
                for value in dict(table).values():
                    int(value)
            has = name in self.get_providers()
            problem = f"tuning results {index}: " + (f"'{name}' keeps none" if has else f"the session has no provider '{name}'")
            if error_on_invalid:
                raise RuntimeError(problem)
            warnings.warn(problem, stacklevel=2)

    # --- profiling
    def end_profiling(self) -> str:
        return self._session.end_profiling()

    def get_profiling_start_time_ns(self) -> int:
        return self._session.get_profiling_start_time_ns()


class IOBinding:
    """Inputs and outputs of a session, bound once for many runs.

    A device is named by kind ("cpu", "gpu", "cuda", ...), or is an OrtDevice. Values that live where the session takes and makes
    them are not copied; an input that lives elsewhere is copied once, when it is bound.
    """

    def __init__(self, session: InferenceSession):
        self._iobinding = _native.SessionIOBinding(session._session)
        self._session = session

    def bind_cpu_input(self, name, arr_on_cpu):
        self._iobinding.bind_input(name, arr_on_cpu)

    def bind_input(self, name, device_type, device_id, element_type, shape, buffer_ptr):
        self._iobinding.bind_input(name, _device(device_type, device_id), element_type, list(shape), buffer_ptr)

    def bind_ortvalue_input(self, name, ortvalue: OrtValue):
        self._iobinding.bind_ortvalue_input(name, ortvalue)

    def bind_output(self, name, device_type="cpu", device_id=0, element_type=None, shape=None, buffer_ptr=None):
        if buffer_ptr is None:
            self._iobinding.bind_output(name, _device(device_type, device_id))
            return
        if element_type is None or shape is None:
            raise ValueError("a buffer is given without element_type and shape")
        self._iobinding.bind_output(name, _device(device_type, device_id), element_type, list(shape), buffer_ptr)

    def bind_ortvalue_output(self, name, ortvalue: OrtValue):
        self._iobinding.bind_ortvalue_output(name, ortvalue)

    def synchronize_inputs(self):
        self._iobinding.synchronize_inputs()

    def synchronize_outputs(self):
        self._iobinding.synchronize_outputs()

    def get_outputs(self) -> list[OrtValue]:
        return list(self._iobinding.get_outputs())

    def get_outputs_as_ortvaluevector(self) -> OrtValueVector:
        return self._iobinding.get_outputs()

    def copy_outputs_to_cpu(self):
        return self._iobinding.copy_outputs_to_cpu()

    def clear_binding_inputs(self):
        self._iobinding.clear_binding_inputs()

    def clear_binding_outputs(self):
        self._iobinding.clear_binding_outputs()


def _device(device, device_id) -> OrtDevice:
    return device if isinstance(device, OrtDevice) else OrtDevice.make(device, device_id)
