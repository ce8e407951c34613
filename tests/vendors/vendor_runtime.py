"""A vendor's provider in a host, for the cases of the official suite and for whole models."""

import collections
import json
import os
import pathlib
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "python/roundhouse"))  # not the package: the host may be another runtime
from backend_cases.runtime import Runtime  # noqa: E402

#: Provider: the key of its library, and of its list (KEY.toml): options of its sessions, and skips.
PROVIDERS = {
    "CoreMLExecutionProvider": "coreml",
    "CUDAExecutionProvider": "cuda",
    "MIGraphXExecutionProvider": "migraphx",
    "OpenVINOExecutionProvider": "openvino",
    "ROCMExecutionProvider": "rocm",
    "SampleExecutionProvider": "sample",
    "FakeDeviceExecutionProvider": "fake_device",
}
HOSTS = ["roundhouse", "onnxruntime"]
CPU = "CPUExecutionProvider"


def library(provider):
    folder = os.environ.get("ROUNDHOUSE_LIBRARY_DIR", ROOT / "build" / "release" / "lib")
    return pathlib.Path(folder) / f"roundhouse_provider_{PROVIDERS[provider]}.so"


def list_of(provider):
    path = pathlib.Path(__file__).with_name(f"{PROVIDERS[provider]}.toml")
    return tomllib.loads(path.read_text()) if path.exists() else {}


class VendorRuntime(Runtime):
    """Sessions with one provider before the CPU."""

    def __init__(self, module, provider, threads=1, options=None, path=None):
        super().__init__(module, threads)
        self.provider, self.options = provider, {**list_of(provider).get("options", {}), **(options or {})}
        self.module.register_execution_provider_library(provider, str(pathlib.Path(path or library(provider)).resolve()))
        self.devices = [d for d in self.module.get_ep_devices() if d.ep_name == provider]
        if not self.devices:
            raise RuntimeError(f"{provider} finds no device")

    def session(self, model, config=None):
        """`model`: bytes or a path."""
        options = self.session_options()
        options.graph_optimization_level = self.module.GraphOptimizationLevel.ORT_DISABLE_ALL
        if self.module.__name__ == "onnxruntime":
            options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
        for key, value in (config or {}).items():
            options.add_session_config_entry(key, value)
        options.add_provider_for_devices(self.devices[:1], self.options)
        session = self.module.InferenceSession(model, options)
        session.disable_fallback()
        return session

    def load(self, model):
        return self.session(model.SerializeToString())

    def cpu_session(self, model, plain=False):
        """`plain`: as the model has it. What ONNX Runtime fuses around int8 products saturates on some processors."""
        options = self.session_options()
        if plain:
            options.graph_optimization_level = self.module.GraphOptimizationLevel.ORT_DISABLE_ALL
        return self.module.InferenceSession(model, options, providers=[CPU])


def owners(session):
    """How many nodes each provider has."""
    if hasattr(session, "placement"):
        return collections.Counter(row["provider"] for row in session.placement())
    counts = collections.Counter()
    for part in session.get_provider_graph_assignment_info():
        counts[part.ep_name] += len(part.get_nodes())
    return counts


def refusals(session, provider):
    """Of Roundhouse's sessions: the operator and the reason of each node that the provider left."""
    if not hasattr(session, "placement"):
        return []
    return [
        (row["op_type"], refusal["reason"])
        for row in session.placement()
        for refusal in row["refusals"]
        if refusal["provider"] == provider and row["provider"] != provider
    ]


def skips_of(provider, what, host=None):
    """The provider's list: what cannot be told from what it does right, each with its reason."""
    lists = list_of(provider)
    return {**lists.get(what, {}), **lists.get(f"{what}_in_{host}", {})}


def write_counts(path, passed, failed):
    if path:
        pathlib.Path(path).write_text(json.dumps({"passed": passed, "failed": failed}))
