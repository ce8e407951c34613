"""What sessions of one runtime choose among devices, by policies and by delegates; each set of providers in a process of its own.

`python selections.py onnxruntime` prints it as JSON.
"""

import importlib
import json
import os
import pathlib
import sys
import tempfile

import numpy as np
from onnx import TensorProto, helper

LIBRARIES = pathlib.Path(__file__).resolve().parents[2] / "build" / "release" / "lib"

# Registered in this order, as tests/plugins/devices_plugin.cc reads them.
PROVIDERS = {
    "a processor's": ["A/a:cpu"],
    "a processor's, of its vendor": ["A/a:cpu", "B/AMD:cpu", "C/Intel:cpu"],
    "a GPU": ["A/a:gpu,1,a"],
    "a GPU of another vendor": ["A/a:gpu,1,b"],
    "an NPU": ["A/a:npu,1,b"],
    "a GPU and an NPU": ["A/a:gpu,1,a", "B/b:npu,2,b"],
    "the vendor's own is better": ["A/a:gpu,1,b", "B/b:gpu,1,b"],
    "the name decides": ["Z/z:gpu,1,c", "Y/y:gpu,1,c"],
    "all kinds in one": ["A/a:gpu,1,a;gpu,2,b;npu,3,a;cpu"],
    "a processor's behind a GPU": ["A/a:cpu", "B/b:gpu,1,c"],
    "two NPUs": ["A/a:npu,1,c;npu,2,c", "B/b:npu,2,b"],
    "others' kinds": ["A/a:gpu,1,c;npu,2,a", "B/b:cpu;npu,5,c"],
    "a discrete GPU": ["A/a:gpu,1,a;gpu,2,b,1"],
    "a discrete GPU of another provider": ["A/a:gpu,1,a", "B/b:gpu,2,c,1"],
    "0 is not discrete": ["A/a:gpu,1,a,0;gpu,2,b,1", "B/b:gpu,2,b"],
}

# Which of the devices that are offered a delegate takes.
DELEGATES = {
    "all": lambda devices: devices,
    "none": lambda devices: [],
    "the last": lambda devices: devices[-1:],
    "the last first": lambda devices: devices[::-1],
    "every second": lambda devices: devices[::2],
}


def model():
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in "xy"]
    nodes = [helper.make_node("Relu", ["x"], ["a"]), helper.make_node("Exp", ["a"], ["y"])]
    graph = helper.make_graph(nodes, "g", values[:1], values[1:], doc_string="of the graph")
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, doc_string="of the model", domain="d")
    made.producer_name = "me"
    made.metadata_props.add(key="key", value="value")
    return made.SerializeToString()


class Sessions:
    """Sessions of one runtime: each says who is in it, and what the providers wrote."""

    def __init__(self, host, providers, folder):
        self.host, self.log = host, folder / "log"
        for provider in providers:
            host.register_execution_provider_library(provider, str(LIBRARIES / "devices_plugin.so"))

    def outcome(self, choose, entries=()):
        options = self.host.SessionOptions()
        options.log_severity_level = 4
        for key, value in [("devices.log", str(self.log)), *entries]:
            options.add_session_config_entry(key, value)
        choose(options)
        self.log.write_text("")
        try:
            session = self.host.InferenceSession(model(), options)
        except Exception as error:
            return type(error).__name__
        run_options = self.host.RunOptions()
        for provider in "ab":
            run_options.add_run_config_entry(f"ep.{provider}.run", provider * 2)
        y = session.run(None, {"x": np.ones((2, 3), np.float32)}, run_options)[0]
        assert np.allclose(y, np.e)
        return session.get_providers(), self.log.read_text().splitlines()

    def by_policy(self, number, entries=()):
        policy = self.host.OrtExecutionProviderDevicePolicy(number)
        return self.outcome(lambda options: options.set_provider_selection_policy(policy), entries)

    def by_delegate(self, pick):
        seen = []

        def choose(devices, facts, runtime, most):
            seen.append([[(d.ep_name, d.ep_metadata.get("text")) for d in devices], facts, runtime, most])
            return pick(devices)

        return seen, self.outcome(lambda options: options.set_provider_selection_policy_delegate(choose))


def outcomes(host, providers, folder):
    sessions = Sessions(host, providers, folder)
    listed = [
        (d.ep_name, d.ep_vendor, int(getattr(d.device.type, "value", d.device.type)), d.device.vendor_id) for d in host.get_ep_devices()
    ]
    return {
        "devices": listed,
        "policies": [sessions.by_policy(number) for number in range(7)],
        "with an entry of the session": sessions.by_policy(3, [("ep.a.speed", "9")]),
        "delegates": {name: sessions.by_delegate(pick) for name, pick in DELEGATES.items()},
    }


def in_child(work):
    """JSON of what `work` returns in a process of its own."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            with open(writing, "w") as pipe:
                json.dump(work(), pipe)
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    with open(reading) as pipe:
        text = pipe.read()
    assert os.waitpid(child, 0)[1] == 0
    return json.loads(text)


def main():
    host = importlib.import_module(sys.argv[1])
    host.set_default_logger_severity(4)
    with tempfile.TemporaryDirectory() as folder:
        found = {name: in_child(lambda: outcomes(host, specs, pathlib.Path(folder))) for name, specs in PROVIDERS.items()}
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
