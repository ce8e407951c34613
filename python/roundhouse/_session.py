"""InferenceSession over the native session."""

import atexit
import collections.abc
import json
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from roundhouse import _native, _providers
from roundhouse._binding import IOBinding
from roundhouse._device import OrtDevice
from roundhouse._memory import OrtMemoryInfo
from roundhouse._native import (
    ExecutionMode,
    GraphOptimizationLevel,
    ModelMetadata,
    NodeArg,
    OrtEpDevice,
    OrtValue,
    OrtValueVector,
    RunOptions,
    SessionOptions,
)
from roundhouse._native_session import InferenceSession as NativeSession
from roundhouse._placement import NodePlacement, OrtEpAssignedSubgraph, placement_of

# Callbacks need the interpreter: it ends after the last of them.
atexit.register(_native.finish_async_runs)


def _names(output_names) -> list[str]:
    if isinstance(output_names, str):
        raise TypeError(f"output_names is the string '{output_names}', expected a list of names or None")
    return list(output_names or [])


def _take_model_config(options: SessionOptions, metadata: dict[str, str]) -> None:
    """What the session took from its model counts in what it tells of its options. The library has checked it."""
    config = json.loads(metadata.get("ort_config", "{}")).get("session_options", {})
    types = {"execution_mode": ExecutionMode, "graph_optimization_level": GraphOptimizationLevel, "enable_profiling": bool}
    for name in ("intra_op_num_threads", "inter_op_num_threads", *types):
        if name in config:
            setattr(options, name, types.get(name, int)(config[name]))


class Session:
    """What a session tells, and how it runs. ``_sess`` is the native session."""

    _sess: Any
    _sess_options: SessionOptions
    _inputs_meta: list[NodeArg]
    _outputs_meta: list[NodeArg]
    _overridable_initializers: list[NodeArg]
    _model_meta: ModelMetadata
    _providers: list[str]
    _provider_options: dict[str, dict[str, str]]
    _input_meminfos: list[OrtMemoryInfo]
    _output_meminfos: list[OrtMemoryInfo]
    _input_epdevices: list[OrtEpDevice | None]
    _fallback_providers: list[str]
    _required: list[str]

    def __init__(self, enable_fallback: bool = True):
        self._sess = None
        self._enable_fallback = enable_fallback

    # --- what the model is
    def get_inputs(self) -> list[NodeArg]:
        """Name, element type and shape of each input that a run must be given, in the model's order."""
        return list(self._inputs_meta)

    def get_outputs(self) -> list[NodeArg]:
        """Name, element type and shape of each output, in the model's order."""
        return list(self._outputs_meta)

    def get_overridable_initializers(self) -> list[NodeArg]:
        """Inputs with a default in the model, which a run may be given."""
        return list(self._overridable_initializers)

    def get_modelmeta(self) -> ModelMetadata:
        """Producer, graph name, domain, version, description and custom entries of the model."""
        return self._model_meta

    def get_session_options(self) -> SessionOptions:
        """A copy of those that the session was made with."""
        return self._sess_options

    # --- who runs it
    def get_providers(self) -> list[str]:
        """The names of the providers that the session has, most preferred first."""
        return list(self._providers)

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        """The options of each provider, by its name."""
        return {name: dict(options) for name, options in self._provider_options.items()}

    def set_providers(
        self, providers: Sequence[str | tuple[str, dict]] | None = None, provider_options: Sequence[dict] | None = None
    ) -> None:
        """Makes the session anew with other providers. One that is not known, or that fails, is an error."""
        self._reset_session(providers, provider_options)

    def disable_fallback(self) -> None:
        """From now on, providers that fail when a session is made, or in a run, are errors."""
        self._enable_fallback = False

    def enable_fallback(self) -> None:
        """From now on, providers that fail when a session is made, or in a run, are what "roundhouse.fallback" says."""
        self._enable_fallback = True

    def get_input_memory_infos(self) -> list[OrtMemoryInfo]:
        """The memory in which each input is taken without a copy."""
        return self._input_meminfos

    def get_output_memory_infos(self) -> list[OrtMemoryInfo]:
        """The memory in which each output is made."""
        return self._output_meminfos

    def get_input_epdevices(self) -> list[OrtEpDevice | None]:
        """For each input the provider's device that takes it."""
        return self._input_epdevices

    def create_ortvalue_from_shape_and_type(
        self, shape: Sequence[int], element_type: Any, device_type: str, device_id: int = 0, vendor_id: int = -1
    ) -> OrtValue:
        """A tensor, not initialised, in memory of one of the session's devices; ``element_type`` is numpy's or ONNX's number."""
        device = OrtDevice.make(device_type, device_id, int(vendor_id))
        return self._sess.create_ortvalue_from_shape_and_type(shape, element_type, device)

    def set_ep_dynamic_options(self, options: dict[str, str]) -> None:
        """Options of its providers that may change while it lives."""
        self._sess.set_ep_dynamic_options({str(k): str(v) for k, v in options.items()})

    def release_captured_graph(self, graph_annotation_id: int = 0) -> None:
        """Drops what a provider recorded of runs with this number; nothing where it records none."""
        self._sess.release_captured_graph(graph_annotation_id)

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
        return self._sess.get_provider_graph_assignment_info()

    def statistics(self) -> dict:
        """Counters: nodes, plan_bindings, planned_peak_bytes, times of loading in ms, ..."""
        return self._report()["statistics"]

    def memory_plan(self, shapes: Mapping[str, Any] | None = None, dimensions: Mapping[str, int] | None = None) -> dict:
        """What a run takes of memory, in bytes, before it: total, weights, arena, outputs, and the tensors that live at the peak.

        ``shapes`` maps names of inputs to shapes, or to arrays that have one; ``dimensions`` gives values to names of dimensions.
        """
        shapes = {name: list(getattr(value, "shape", value)) for name, value in (shapes or {}).items()}
        return json.loads(self._sess.memory_plan(shapes, dict(dimensions or {})))

    def trim(self) -> int:
        """Gives back memory that no run in flight uses; returns how many bytes."""
        return self._sess.trim()

    def _report(self):
        return json.loads(self._sess.report())

    # --- running
    def _validate_input(self, feed_input_names):
        missing = [name for name in self._required if name not in feed_input_names]
        if missing:
            raise ValueError(f"Required inputs ({missing}) are missing from input feed ({list(feed_input_names)}).")

    def _check(self, feed):
        if not isinstance(feed, collections.abc.Mapping):
            raise TypeError(f"the feed is a {type(feed).__name__}, expected a dict of input names and values")
        self._validate_input(feed)

    def _fall_back(self, problem):
        """After a provider failed in a run: the CPU alone from here on, where "roundhouse.fallback" is "warn"; else the problem again."""
        if not self._enable_fallback or self._fallback() != "warn":
            raise problem
        warnings.warn(f"goes on with the CPU alone: {problem}", stacklevel=3)
        self.set_providers(self._fallback_providers)
        self.disable_fallback()

    def run(self, output_names: Sequence[str] | None, input_feed: Mapping[str, Any], run_options: RunOptions | None = None) -> list[Any]:
        """Runs the model; no output names means all outputs.

        Values are numpy arrays or OrtValues, lists for sequences, dicts for maps, None for empty optionals; shapes are those of
        get_inputs(), an open dimension taking any size. Raises ValueError where a required input is missing, InvalidArgument where a
        type or shape does not fit.
        """
        self._check(input_feed)
        try:
            return self._sess.run(_names(output_names), dict(input_feed), run_options)
        except _native.EPFail as problem:
            self._fall_back(problem)
        return self._sess.run(_names(output_names), dict(input_feed), run_options)

    def run_with_ort_values(
        self, output_names: Sequence[str] | None, input_dict_ort_values: Mapping[str, OrtValue], run_options: RunOptions | None = None
    ) -> list[OrtValue]:
        """The same from and to OrtValue objects."""
        self._check(input_dict_ort_values)
        try:
            return list(self._sess.run_with_ort_values(dict(input_dict_ort_values), _names(output_names), run_options))
        except _native.EPFail as problem:
            self._fall_back(problem)
        return list(self._sess.run_with_ort_values(dict(input_dict_ort_values), _names(output_names), run_options))

    def run_with_values(self, output_names: Sequence[str] | None, input_feed: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """The outputs, and a dict of every tensor that a node of the main graph gave on the way, by the name of the value.

        What is computed stays the same: the values are copied as they are made.
        """
        self._check(input_feed)
        return self._sess.run_with_values(_names(output_names), dict(input_feed))

    def run_async(
        self,
        output_names: Sequence[str] | None,
        input_feed: Mapping[str, Any],
        callback: Callable[[list[Any], Any, str], None],
        user_data: Any,
        run_options: RunOptions | None = None,
    ) -> None:
        """Runs in another thread, which then calls ``callback(results, user_data, error)``; no error is an empty string.

        Errors of the run go to the callback, with no results.
        """
        self._check(input_feed)
        self._sess.run_async(_names(output_names), dict(input_feed), callback, user_data, run_options)

    def io_binding(self) -> IOBinding:
        """An empty binding of inputs and outputs to memory."""
        return IOBinding(self)

    def run_with_iobinding(self, iobinding: IOBinding, run_options: RunOptions | None = None) -> None:
        """Runs on what is bound. Raises ValueError where the binding is another session's."""
        if iobinding._session is not self._sess:
            raise ValueError("the binding is another session's, expected one that io_binding() of this one made")
        iobinding._iobinding.run(run_options)

    def run_with_ortvaluevector(
        self,
        run_options: RunOptions | None,
        feed_names: Sequence[str],
        feeds: OrtValueVector,
        fetch_names: Sequence[str],
        fetches: OrtValueVector,
        fetch_devices: Sequence[OrtDevice],
    ) -> None:
        """Runs with values from one vector, results to another on the devices asked for; no device: the host."""
        self._sess.run_with_ortvaluevector(run_options, feed_names, feeds, fetch_names, fetches, fetch_devices)

    # --- results of tuning, in the form of ONNX Runtime's providers
    def get_tuning_results(self) -> list[dict]:
        """None: no provider here keeps results of that form."""
        return self._sess.get_tuning_results()

    def set_tuning_results(self, results: list[dict], *, error_on_invalid: bool = False) -> None:
        """Takes none: each entry is an error where ``error_on_invalid`` says so, else a warning."""
        self._sess.set_tuning_results(results, error_on_invalid)

    # --- profiling
    def end_profiling(self) -> str:
        """Ends the profile that "enable_profiling" began; the path of its file."""
        return self._sess.end_profiling()

    def get_profiling_start_time_ns(self) -> int:
        """When the profile began, in nanoseconds of the monotonic clock."""
        return self._sess.get_profiling_start_time_ns


class InferenceSession(Session):
    """A model ready to run.

    ``path_or_bytes`` is a path or the bytes of an ONNX model.
    ``providers`` is a list of names or (name, options) pairs, most preferred first.
    Raises NoSuchFile, InvalidProtobuf, InvalidGraph, NotImplemented where the model cannot be had, read, or run.
    """

    def __init__(
        self,
        path_or_bytes: str | os.PathLike | bytes | bytearray | memoryview,
        sess_options: SessionOptions | None = None,
        providers: Sequence[str | tuple[str, dict]] | None = None,
        provider_options: Sequence[dict] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(enable_fallback=int(kwargs.get("enable_fallback", 1)) == 1)
        self._model_path = self._model_bytes = None
        if isinstance(path_or_bytes, (str, os.PathLike)):
            self._model_path = os.fspath(path_or_bytes)
        elif isinstance(path_or_bytes, (bytes, bytearray, memoryview)):
            self._model_bytes = bytes(path_or_bytes)
        else:
            raise TypeError(f"the model is of type {type(path_or_bytes).__name__}, expected a path or bytes")
        if sess_options is not None and not isinstance(sess_options, SessionOptions):
            raise TypeError(f"sess_options is of type {type(sess_options).__name__}, expected SessionOptions")
        self._sess_options = self._sess_options_initial = sess_options
        by_environment = os.environ.get("ORT_LOAD_CONFIG_FROM_MODEL") == "1"
        self._read_config_from_model = int(kwargs.get("read_config_from_model", by_environment)) == 1
        self._fallback_providers = [_providers.CPU_NAMES[0]]
        self._create_inference_session(providers, provider_options, kwargs.get("disabled_optimizers"))

    def _fallback(self) -> str:
        return _providers.fallback_of(self._sess_options)

    def _create_inference_session(self, providers, provider_options, disabled_optimizers=None):
        options = self._sess_options if self._sess_options is not None else SessionOptions()
        asked = self._ask(providers, provider_options, self._enable_fallback and self._sess is None)
        if asked and options.has_providers():
            warnings.warn("both the session options and the arguments name providers; the arguments count", stacklevel=3)
        sess = self._open(options, asked, set(disabled_optimizers or ()))
        self._sess = sess
        self._sess_options = sess.session_options
        self._inputs_meta = sess.inputs_meta
        self._required = [i.name for i in self._inputs_meta if not i.type.startswith("optional")]
        self._outputs_meta = sess.outputs_meta
        self._overridable_initializers = sess.overridable_initializers
        self._input_meminfos = sess.input_meminfos
        self._output_meminfos = sess.output_meminfos
        self._input_epdevices = sess.input_epdevices
        self._model_meta = sess.model_meta
        if self._read_config_from_model:
            _take_model_config(self._sess_options, self._model_meta.custom_metadata_map)
        self._providers = sess.get_providers()
        self._provider_options = sess.get_provider_options()
        self._profiling_start_time_ns = sess.get_profiling_start_time_ns
        if asked and self._providers[0] not in _providers.CPU_NAMES and [name for name, _ in asked] == _native.get_available_providers():
            self._tell_takers()

    def _tell_takers(self):
        """Who passes on all available providers may not know which there are."""
        counts = self.placement_summary()
        taken = ", ".join(f"{name} runs {counts.get(name, 0)}" for name in self._providers if name not in _providers.CPU_NAMES)
        warnings.warn(f"the providers asked for are all that are available: {taken} of {sum(counts.values())} nodes", stacklevel=4)

    def _reset_session(self, providers, provider_options):
        self._sess_options = self._sess_options_initial
        self._create_inference_session(providers, provider_options)

    def _ask(self, providers, provider_options, may_fall_back):
        """The providers asked for. Arguments that make no sense mean the CPU where a fallback is allowed, as they do in ONNX Runtime."""
        try:
            return _providers.provider_list(providers, provider_options, self._fallback(), may_fall_back)
        except ValueError as problem:
            if not may_fall_back or self._fallback() != "warn":
                raise
            warnings.warn(f"goes on with the CPU alone: {problem}", stacklevel=4)
            return [(_providers.CPU_NAMES[0], {})]

    def _make(self, options, asked, disabled_optimizers, fallback):
        is_path = self._model_path is not None
        sess = NativeSession(options, self._model_path if is_path else self._model_bytes, is_path, self._read_config_from_model)
        sess.initialize_session([name for name, _ in asked], [given for _, given in asked], disabled_optimizers, fallback)
        return sess

    def _open(self, options, asked, disabled_optimizers):
        """A session with these providers, or without those that cannot be had where a fallback is allowed."""
        fallback = self._fallback() if self._enable_fallback and self._sess is None else "error"
        others = options.has_providers() or any(name not in _providers.CPU_NAMES for name, _ in asked)
        if fallback != "warn" or not others or options.has_selection_delegate():  # whose exceptions are the application's
            return self._make(options, asked, disabled_optimizers, fallback)
        try:
            sess = self._make(options, asked, disabled_optimizers, fallback)
        except RuntimeError as problem:
            try:
                sess = self._make(options, [(_providers.CPU_NAMES[0], {})], disabled_optimizers, fallback)
            except RuntimeError:
                raise problem from None
            warnings.warn(f"goes on with the CPU alone: {problem}", stacklevel=4)
            return sess
        for missing in json.loads(sess.report())["missing_providers"]:
            warnings.warn(missing["reason"], stacklevel=4)
        return sess
