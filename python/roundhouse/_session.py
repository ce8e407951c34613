"""InferenceSession and IOBinding over the native session."""

import collections.abc
import json
import os
import threading
import warnings

import numpy as np

from roundhouse import _native
from roundhouse._native import OrtValue, SessionOptions


def _dtype(type_text: str):
    """The numpy type of "tensor(...)"; None, numpy's own choice, where numpy has none."""
    element = type_text[len("tensor(") : -1]
    try:
        return np.dtype({"float": "float32", "double": "float64", "string": "object"}.get(element, element))
    except TypeError:
        return None


def _provider_list(providers, provider_options) -> list[tuple[str, dict[str, str]]]:
    """Names with options as text, duplicates left out; ValueError where the arguments contradict each other."""
    if providers is None:
        if provider_options:
            raise ValueError("provider_options are given without providers")
        return []
    if not isinstance(providers, collections.abc.Sequence) or isinstance(providers, str):
        raise ValueError(f"providers is a {type(providers).__name__}, expected a sequence of names or (name, options) pairs")
    if provider_options is not None:
        if len(providers) != len(provider_options):
            raise ValueError(f"{len(provider_options)} provider_options are given for {len(providers)} providers")
        if not all(isinstance(name, str) for name in providers):
            raise ValueError("providers must be names where provider_options is given")
        pairs = list(zip(providers, provider_options, strict=True))
    else:
        pairs = [(p, {}) if isinstance(p, str) else (p[0], p[1]) for p in providers]
    result: dict[str, dict[str, str]] = {}
    known = set(_native.get_available_providers())
    for name, options in pairs:
        if name not in known:
            warnings.warn(f"provider '{name}' is not available; available: {', '.join(sorted(known))}", stacklevel=4)
        elif name in result:
            warnings.warn(f"provider '{name}' is named twice; the first one counts", stacklevel=4)
        else:
            result[name] = {str(k): str(v) for k, v in dict(options).items()}
    return list(result.items())


class InferenceSession:
    """A model ready to run.

    ``path_or_bytes`` is a path or the bytes of an ONNX model. ``providers`` is a list of names or (name, options) pairs, most preferred
    first.
    """

    def __init__(self, path_or_bytes, sess_options=None, providers=None, provider_options=None, **kwargs):
        if isinstance(path_or_bytes, (str, os.PathLike)):
            self._model = os.fspath(path_or_bytes)
        elif isinstance(path_or_bytes, (bytes, bytearray, memoryview)):
            self._model = bytes(path_or_bytes)
        else:
            raise TypeError(f"the model is a {type(path_or_bytes).__name__}, expected a path or bytes")
        self._options = sess_options if sess_options is not None else SessionOptions()
        disabled = kwargs.get("disabled_optimizers")
        if disabled:
            self._options.add_session_config_entry("optimization.disable_specified_optimizers", ";".join(disabled))
        self._create(providers, provider_options)

    def _create(self, providers, provider_options):
        self._asked = _provider_list(providers, provider_options)
        self._session = _native.Session(self._model, self._options, self._asked)
        self._inputs = self._session.get_inputs()
        self._required = [i.name for i in self._inputs]
        self._dtypes = {i.name: _dtype(i.type) for i in self._inputs if i.type.startswith("tensor(")}
        self._outputs = self._session.get_outputs()

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
        return self._report()["providers"]

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        given = dict(self._asked)
        return {name: given.get(name, {}) for name in self.get_providers()}

    def set_providers(self, providers=None, provider_options=None):
        """Makes the session anew with other providers."""
        self._create(providers, provider_options)

    def disable_fallback(self):
        """Accepted; a failing provider is an error here."""

    def enable_fallback(self):
        """Accepted; a failing provider is an error here."""

    def placement(self) -> list[dict]:
        """For each node of the model as it was read: provider, kernel, and why it is not elsewhere."""
        return self._report()["nodes"]

    def placement_summary(self) -> dict[str, int]:
        """How many nodes of the model each provider runs."""
        counts: dict[str, int] = {}
        for node in self.placement():
            if node["provider"]:
                counts[node["provider"]] = counts.get(node["provider"], 0) + 1
        return counts

    def statistics(self) -> dict:
        """Counters: nodes, plan_bindings, planned_peak_bytes, times of loading in ms, ..."""
        return self._report()["statistics"]

    def _report(self):
        return json.loads(self._session.report())

    # --- running
    def _check(self, feed):
        missing = [name for name in self._required if name not in feed]
        if missing:
            raise ValueError(f"required inputs {missing} are missing from the feed, which has {sorted(feed)}")

    def _with_arrays(self, feed):
        """Lists and Python numbers given for tensor inputs become arrays of the declared type."""
        plain = [name for name, value in feed.items() if name in self._dtypes and isinstance(value, (list, tuple, int, float, str))]
        return {**feed, **{name: np.asarray(feed[name], self._dtypes[name]) for name in plain}} if plain else feed

    def run(self, output_names, input_feed, run_options=None):
        """Runs the model; no output names means all outputs.

        Gives numpy arrays, lists for sequences, dicts for maps, None for empty optionals.
        """
        self._check(input_feed)
        return self._session.run(list(output_names or []), self._with_arrays(input_feed), run_options)

    def run_with_ort_values(self, output_names, input_dict_ort_values, run_options=None):
        """The same from and to OrtValue objects."""
        self._check(input_dict_ort_values)
        return self._session.run_with_ort_values(list(output_names or []), input_dict_ort_values, run_options)

    def run_async(self, output_names, input_feed, callback, user_data, run_options=None):
        """Runs in a thread of its own and calls ``callback(results, user_data, error)``; the error is empty where it went well."""

        def work():
            try:
                results, error = self.run(output_names, input_feed, run_options), ""
            except Exception as failure:  # whatever went wrong goes to the callback
                results, error = [], str(failure)
            callback(results, user_data, error)

        threading.Thread(target=work, daemon=True).start()

    def io_binding(self) -> "IOBinding":
        return IOBinding(self)

    def run_with_iobinding(self, iobinding: "IOBinding", run_options=None):
        iobinding._binding.run(run_options)

    # --- profiling
    def end_profiling(self) -> str:
        return self._session.end_profiling()

    def get_profiling_start_time_ns(self) -> int:
        return self._session.get_profiling_start_time_ns()


class IOBinding:
    """Inputs and outputs of a session, bound once for many runs."""

    def __init__(self, session: InferenceSession):
        self._binding = _native.SessionIOBinding(session._session)

    def bind_cpu_input(self, name, arr_on_cpu):
        self._binding.bind_input(name, arr_on_cpu)

    def bind_input(self, name, device_type, device_id, element_type, shape, buffer_ptr):
        _check_device(device_type)
        self._binding.bind_input_pointer(name, element_type, list(shape), buffer_ptr)

    def bind_ortvalue_input(self, name, ortvalue: OrtValue):
        self._binding.bind_input(name, ortvalue)

    def bind_output(self, name, device_type="cpu", device_id=0, element_type=None, shape=None, buffer_ptr=None):
        _check_device(device_type)
        if buffer_ptr is None:
            self._binding.bind_output(name, device_type)
            return
        if element_type is None or shape is None:
            raise ValueError("a buffer is given without element_type and shape")
        self._binding.bind_output_pointer(name, element_type, list(shape), buffer_ptr)

    def bind_ortvalue_output(self, name, ortvalue: OrtValue):
        self._binding.bind_output_value(name, ortvalue)

    def synchronize_inputs(self):
        self._binding.synchronize_inputs()

    def synchronize_outputs(self):
        self._binding.synchronize_outputs()

    def get_outputs(self) -> list[OrtValue]:
        return self._binding.get_outputs()

    def copy_outputs_to_cpu(self):
        return self._binding.copy_outputs_to_cpu()

    def clear_binding_inputs(self):
        self._binding.clear_binding_inputs()

    def clear_binding_outputs(self):
        self._binding.clear_binding_outputs()


def _check_device(name: str):
    if name != "cpu":
        raise ValueError(f"device type '{name}' is not available, expected cpu")
