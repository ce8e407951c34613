"""What a program that imports onnxruntime sees of providers that it chooses itself, and of options that its model brings: the same from
both libraries."""

import json
import os
import subprocess
import sys

import models
import onnx
import pytest

PROGRAM = """
import json, os, sys, warnings
if sys.argv[1] == "roundhouse":
    import roundhouse
    roundhouse.install_as_onnxruntime()
import onnxruntime as ort
warnings.simplefilter("ignore")
CPU, model = ["CPUExecutionProvider"], open(sys.argv[3], "rb").read()

def outcome(call):
    try:
        return call()
    except Exception as error:
        return [any(t.__name__ == "RuntimeError" for t in type(error).__mro__), "of mine" in str(error)]

def delegate(how):
    def choose(*_):
        if how == "raises":
            raise ValueError("of mine")
        return []
    options = ort.SessionOptions()
    options.set_provider_selection_policy_delegate(choose)
    return outcome(lambda: ort.InferenceSession(model, options).get_providers())[-1]

def set_providers(names):
    session = ort.InferenceSession(model, providers=CPU)
    result = outcome(lambda: session.set_providers(names))
    return result or session.get_providers()

def from_model():
    session = ort.InferenceSession(model, providers=CPU)
    o = session.get_session_options()
    session.end_profiling()
    return [o.intra_op_num_threads, o.inter_op_num_threads, o.execution_mode.name, o.graph_optimization_level.name, o.enable_profiling]

CASES = {
    "a delegate that raises": lambda: delegate("raises"),
    "a delegate that chooses nothing": lambda: delegate("chooses nothing"),
    "an unknown provider": lambda: set_providers(["InvalidProvider"])[0],
    "the processor": lambda: set_providers(CPU),
    "an unknown provider for a new session": lambda: ort.InferenceSession(model, providers=["InvalidProvider"]).get_providers(),
    "options of the model": from_model,
}
print(json.dumps(CASES[sys.argv[2]]()))
"""

CASES = {
    "a delegate that raises": True,
    "a delegate that chooses nothing": False,
    "an unknown provider": True,
    "the processor": ["CPUExecutionProvider"],
    "an unknown provider for a new session": ["CPUExecutionProvider"],
    "options of the model": [5, 2, "ORT_SEQUENTIAL", "ORT_ENABLE_ALL", True],
}
CONFIG = {
    "session_options": {
        "intra_op_num_threads": 5,
        "inter_op_num_threads": 2,
        "execution_mode": 0,
        "graph_optimization_level": 99,
        "enable_profiling": 1,
    }
}


@pytest.mark.parametrize("host", ["onnxruntime", "roundhouse"])
@pytest.mark.parametrize("case", CASES)
def test_both_libraries_do(case, host, tmp_path):
    model = onnx.load_from_string(models.add())
    if case == "options of the model":
        onnx.helper.set_model_props(model, {"ort_config": json.dumps(CONFIG)})
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    environment = dict(os.environ, ORT_LOAD_CONFIG_FROM_MODEL="1" if case == "options of the model" else "0")
    command = [sys.executable, "-c", PROGRAM, host, case, str(tmp_path / "model.onnx")]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout.splitlines()[-1]) == CASES[case]
