"""The session of the native module, which programs find behind ``InferenceSession._sess`` and make themselves."""

import warnings

from roundhouse import _native
from roundhouse._device import OrtDevice
from roundhouse._native import OrtValue
from roundhouse._placement import OrtEpAssignedSubgraph
from roundhouse._providers import fallback_of, is_fallback_written

__all__ = ["InferenceSession"]


class InferenceSession(_native.InferenceSession):
    """Made of session options, a path or bytes, which of both it is, and whether the model brings options; then initialised."""

    def initialize_session(self, providers, provider_options=(), disabled_optimizers=(), fallback=None) -> None:
        """Makes it ready. ``fallback``: what a provider that cannot be had means, else what the options and the package say."""
        fallback = fallback or fallback_of(self.session_options)
        # The library is told what was written, or allows more: a written "error" forbids more than it does by default.
        told = fallback if fallback == "warn" or is_fallback_written(self.session_options) else None
        super().initialize_session(list(providers), list(provider_options), set(disabled_optimizers), told)

    @property
    def input_meminfos(self):
        """The memory in which each input is taken without a copy."""
        return _native.session_memory_infos(self, False)

    @property
    def output_meminfos(self):
        """The memory in which each output is made."""
        return _native.session_memory_infos(self, True)

    @property
    def input_epdevices(self):
        """For each input the provider's device that takes it."""
        return _native.session_input_ep_devices(self)

    def get_provider_graph_assignment_info(self) -> list[OrtEpAssignedSubgraph]:
        return [OrtEpAssignedSubgraph(name, nodes) for name, nodes in self.assigned_subgraphs()]

    def create_ortvalue_from_shape_and_type(self, shape, element_type, device: OrtDevice) -> OrtValue:
        """A tensor, not initialised; ``element_type`` is numpy's or ONNX's number."""
        return OrtValue.ortvalue_from_shape_and_type(list(shape), element_type, device)

    create_ortvalue_from_shape_and_onnx_type = create_ortvalue_from_shape_and_type

    def run_with_iobinding(self, binding, run_options=None) -> None:
        binding.run(run_options)

    def run_with_ortvaluevector(self, run_options, feed_names, feeds, fetch_names, fetches, fetch_devices) -> None:
        """With values from one vector, results to another on the devices asked for; no device: the host."""
        binding = _native.SessionIOBinding(self)
        for name, value in zip(feed_names, feeds, strict=True):
            binding.bind_ortvalue_input(name, value)
        for i, name in enumerate(fetch_names):
            binding.bind_output(name, fetch_devices[i] if i < len(fetch_devices) else OrtDevice.make("cpu", 0))
        binding.run(run_options)
        for value in binding.get_outputs():
            fetches.push_back(value)

    # Results of tuning in the form of ONNX Runtime's providers; those of Roundhouse are files of ``roundhouse tune``.
    def get_tuning_results(self) -> list[dict]:
        """None: no provider here keeps results of that form."""
        return []

    def set_tuning_results(self, results, error_on_invalid=False) -> None:
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
            warnings.warn(problem, stacklevel=3)

    # No provider here is WebGPU's; programs ask before they record a graph with it.
    def is_webgpu_graph_capture_enabled(self) -> bool:
        return False

    def webgpu_context_id(self) -> int:
        """-1: the session has none."""
        return -1
