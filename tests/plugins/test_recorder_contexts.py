"""Models that are compiled ahead of time, in ONNX Runtime and in Roundhouse: the provider gets the same calls, and each host runs what the
other compiled. The provider is written as the guide for authors has it (template_plugin)."""

import gc
import pathlib

import numpy as np
import onnx
import onnxruntime
import pytest
from test_recorder import LIBRARIES, MODELS, Recorder, compared

import roundhouse

PROVIDER = "TemplateCompilingProvider"
HOSTS = (onnxruntime, roundhouse)
#: Where what was compiled goes: the options of the session, and whether it is in the model itself.
FORMS = {
    "in the model": ({}, True),
    "in files": ({}, False),
    "by functions": ({}, False),
    "in the model, with functions": ({}, True),
    "without weights": ({"ep.enable_weightless": "1"}, True),
    "without weights, in files": ({"ep.enable_weightless": "1"}, False),
}


@pytest.fixture(autouse=True)
def relayed(monkeypatch):
    monkeypatch.setenv("RH_RELAYED", str(LIBRARIES / "template_plugin.so"))


class Host(Recorder):
    """The provider in one host, which compiles models and runs what was compiled."""

    def __init__(self, host, form):
        super().__init__(host, "", "relay_plugin.so", PROVIDER)
        self.config, self.embeds = FORMS[form]
        self.uses_functions, self.kept = "functions" in form, {}

    def options(self):
        options = self.host.SessionOptions()
        options.log_severity_level = 4
        for key, value in self.config.items():
            options.add_session_config_entry(key, value)
        options.add_provider_for_devices([self.device()], {})
        return options

    def compile(self, model, path):
        compiler = self.host.ModelCompiler(self.options(), model, embed_compiled_data_into_model=self.embeds)
        if self.uses_functions:
            compiler.set_ep_context_data_write_func(lambda name, data: self.kept.__setitem__(name, data.read()))
        compiler.compile_to_file(str(path))
        del compiler
        gc.collect()
        return self.take()

    def run(self, path, feed, kept):
        options = self.options()
        if self.uses_functions:
            options.set_ep_context_data_read_func(lambda name, buffer: (buffer.allocate(len(kept[name])), buffer.write(kept[name])), 1000)
        session = self.host.InferenceSession(str(path), options)
        result = session.run(None, feed)[0]
        del session, options
        gc.collect()
        return self.take(), result


def nodes_of(path):
    """Each node; of a compiled unit what its provider wrote, but for names that hosts make and the defaults that ONNX Runtime adds."""
    found = []
    for node in onnx.load(path).graph.node:
        written = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute if node.op_type == "EPContext"}
        own = ["embed_mode", "main_context", "source", *(["ep_cache_context"] if written.get("embed_mode") else [])]
        found.append((node.op_type, len(node.input), len(node.output), [written.get(name) for name in own]))
    return sorted(found, key=str)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("model", [name for name in MODELS if name != "none"])
def test_compiled_models_are_those_of_onnxruntime(form, model, tmp_path):
    given, feed = MODELS[model]
    plain = onnxruntime.InferenceSession(given, providers=["CPUExecutionProvider"]).run(None, feed)[0]
    files, written, kept = [], [], {}
    for host in HOSTS:
        folder = tmp_path / host.__name__
        folder.mkdir()
        files.append(folder / "model_ctx.onnx")
        with Host(host, form) as provider:
            written.append(compared(provider.compile(given, files[-1]), model == "branches"))
            kept[files[-1]] = provider.kept
        assert bool(provider.kept) == (form == "by functions")
        assert bool(list(folder.glob("*.bin"))) == ("files" in form)
    assert written[1] == written[0]
    assert nodes_of(files[1]) == nodes_of(files[0])
    assert any(op == "EPContext" for op, *_ in nodes_of(files[0])) or model == "branches"
    for file in files:  # each host what either compiled
        records = []
        for host in HOSTS:
            with Host(host, form) as provider:
                calls, result = provider.run(file, feed, kept[file])
            np.testing.assert_allclose(result, plain, rtol=1e-6)
            records.append(compared(calls, model == "branches"))
        assert records[1] == records[0]


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.__name__)
def test_data_that_is_not_there_is_an_error(host, tmp_path):
    path = tmp_path / "model_ctx.onnx"
    with Host(host, "in files") as provider:
        provider.compile(MODELS["weights"][0], path)
        for file in pathlib.Path(tmp_path).glob("*.bin"):
            file.unlink()
        with pytest.raises(Exception, match="compiled data"):
            provider.run(path, MODELS["weights"][1], {})
        gc.collect()
