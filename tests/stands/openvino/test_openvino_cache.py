"""What OpenVINO's regions are found by in the cache, and that they are imported with the session's settings, by the stand-in."""

import onnx
import pytest
from hosts import HOSTS, OPENVINO, dense, failure, registered, session
from recording import STAND_IN

import roundhouse

hosts = pytest.mark.parametrize("host", HOSTS, ids=lambda h: h.__name__)


def calls_of(lines):
    """What was made of models, in order: "compile", "export", "import"."""
    return [line.split("_")[0] for line in lines if line.startswith(("compile_model ", "export_model", "import_model "))]


@hosts
def test_a_second_session_imports(stand_in, tmp_path, host):
    settings = {"cache_dir": str(tmp_path / "cache"), "num_of_threads": "2"}
    assert calls_of(stand_in(settings, host)) == ["compile", "export"]
    second = stand_in(settings, host)
    assert calls_of(second) == ["import"]
    set_first = [line for line in second[: second.index("import_model CPU")] if line.startswith("set_property CPU ")]
    assert "set_property CPU INFERENCE_PRECISION_HINT=f32" in set_first
    assert "set_property CPU INFERENCE_NUM_THREADS=2" in set_first


def test_what_one_host_kept_serves_the_other(stand_in, tmp_path):
    settings = {"cache_dir": str(tmp_path / "cache")}
    first = calls_of(stand_in(settings, HOSTS[0])), calls_of(stand_in(settings, HOSTS[1]))
    assert first[0] == ["compile", "export"]
    assert first[1] in (["import"], ["compile", "export"])  # hosts may show other sizes of the values within
    assert calls_of(stand_in(settings, HOSTS[1])) == ["import"]


@pytest.mark.parametrize(
    ("settings", "variables"),
    [
        ({"device_type": "GPU"}, {}),
        ({"precision": "FP16"}, {}),
        ({"num_of_threads": "3"}, {}),
        ({"load_config": '{"CPU": {"PERF_COUNT": "YES"}}'}, {}),
        ({"reshape_input": "x[1..8,4],x2[1..8,3]"}, {}),
        ({}, {"RH_OPENVINO_VERSION": "2026.4.2-stand-in"}),
        ({}, {"RH_OPENVINO_DEVICE": "another processor"}),
    ],
    ids=str,
)
def test_what_it_depends_on_is_compiled_anew(stand_in, tmp_path, monkeypatch, settings, variables):
    kept = {"cache_dir": str(tmp_path / "cache")}
    stand_in(kept)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert calls_of(stand_in(kept | settings)) == ["compile", "export"]
    assert calls_of(stand_in(kept | settings)) == ["import"]


def test_a_file_of_properties_counts_by_its_content(stand_in, tmp_path):
    config = tmp_path / "config.json"
    settings = {"cache_dir": str(tmp_path / "cache"), "load_config": str(config)}
    config.write_text('{"CPU": {"PERF_COUNT": "YES"}}')
    assert calls_of(stand_in(settings)) == ["compile", "export"]
    assert calls_of(stand_in(settings)) == ["import"]
    config.write_text('{"CPU": {"PERF_COUNT": "NO"}}')
    assert calls_of(stand_in(settings)) == ["compile", "export"]


def test_other_weights_are_compiled(stand_in, tmp_path):
    settings = {"cache_dir": str(tmp_path / "cache")}
    stand_in(settings)
    model = onnx.load_from_string(dense())
    weights = model.graph.initializer[0]
    weights.raw_data = weights.raw_data[:-1] + bytes([weights.raw_data[-1] ^ 1])
    assert calls_of(stand_in(settings, model=model.SerializeToString())) == ["compile", "export"]


def test_nothing_is_kept_unless_it_is_asked_for(stand_in, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("ROUNDHOUSE_CACHE_DIR", raising=False)
    assert calls_of(stand_in()) == ["compile"]
    assert not (tmp_path / "roundhouse").exists()
    assert calls_of(stand_in({"cache": "1"})) == ["compile", "export"]
    assert list((tmp_path / "roundhouse").glob("*.artifact"))
    monkeypatch.setenv("ROUNDHOUSE_CACHE_DIR", str(tmp_path / "roundhouse"))
    assert calls_of(stand_in()) == ["import"]
    assert calls_of(stand_in({"cache": "0"})) == ["compile"]
    assert calls_of(stand_in({"cache": "0", "cache_dir": str(tmp_path / "roundhouse")})) == ["compile"]


@hosts
def test_what_does_not_import_is_compiled_anew(stand_in, tmp_path, host):
    settings = {"cache_dir": str(tmp_path / "cache")}
    stand_in(settings, host)
    assert calls_of(stand_in(settings, host, fault="ov_core_import_model: another format")) == ["compile", "export"]


@hosts
def test_what_cannot_be_exported_runs_and_is_not_kept(stand_in, tmp_path, host):
    settings = {"cache_dir": str(tmp_path / "cache")}
    for _ in range(2):
        assert calls_of(stand_in(settings, host, fault="ov_compiled_model_export_model: no room")) == ["compile"]


@hosts
def test_models_for_sizes_that_runs_bring_are_not_kept(stand_in, tmp_path, host):
    assert calls_of(stand_in({"cache_dir": str(tmp_path / "cache"), "disable_dynamic_shapes": "true"}, host)) == []
    assert not list((tmp_path / "cache").glob("*")) or not list((tmp_path / "cache").glob("*.artifact"))


def compile_ahead(stand_in, host, folder, embed, settings=None):
    source, target = folder / "model.onnx", folder / "model_ctx.onnx"
    source.write_bytes(dense())
    entries = {"ep.context_enable": "1", "ep.context_embed_mode": embed, "ep.context_file_path": str(target)}
    lines = stand_in(settings, host, model=str(source), config=entries)
    return target, lines


@pytest.mark.parametrize("embed", "01")
@pytest.mark.parametrize("loader", HOSTS, ids=lambda h: f"to_{h.__name__}")
@pytest.mark.parametrize("writer", HOSTS, ids=lambda h: f"from_{h.__name__}")
def test_a_compiled_model_is_imported(stand_in, tmp_path, writer, loader, embed):
    target, lines = compile_ahead(stand_in, writer, tmp_path, embed)
    assert calls_of(lines) == ["compile", "export"]
    nodes = [node for node in onnx.load(target).graph.node if node.op_type == "EPContext"]
    assert len(nodes) == 1
    assert calls_of(stand_in(host=loader, model=str(target))) == ["import"]


def test_a_compiled_model_is_made_beside_a_cache_that_has_it(stand_in, tmp_path):
    """OpenVINO cannot export what it imported."""
    settings = {"cache_dir": str(tmp_path / "cache")}
    stand_in(settings)
    assert calls_of(compile_ahead(stand_in, roundhouse, tmp_path, "1", settings)[1]) == ["compile", "export"]


@hosts
def test_a_compiled_model_of_another_version_is_refused(stand_in, tmp_path, monkeypatch, host):
    target, _ = compile_ahead(stand_in, host, tmp_path, "1")
    monkeypatch.setenv("RH_OPENVINO_VERSION", "2026.5.0-stand-in")
    with registered(host, OPENVINO):
        said = failure(lambda: session(host, OPENVINO, str(target), {"library_path": str(STAND_IN)}))
    assert "compile" in said


def test_several_devices_write_no_compiled_models(stand_in, tmp_path):
    target, lines = compile_ahead(stand_in, roundhouse, tmp_path, "1", {"device_type": "AUTO:CPU"})
    assert calls_of(lines) == ["compile"] and not target.exists()
