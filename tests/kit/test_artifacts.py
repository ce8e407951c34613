"""Compiled regions on disk: the cache, and models that are compiled ahead of time, in both hosts and from one to the other."""

import concurrent.futures
import subprocess
import sys

import numpy as np
import onnx
import onnx.parser
import onnxruntime
import pytest
from hosts import FAKE, HOSTS, SAMPLE, Vendor, branches, dense, devices_of, failure, floats, registered, session

import roundhouse

hosts = pytest.mark.parametrize("host", HOSTS, ids=lambda h: h.__name__)
FEEDS = {
    dense: {"x": floats(3, 4, seed=5), "x2": floats(3, 3, seed=6)},
    branches: {"x": floats(2, 4, seed=7), "c": np.array(False)},
}


def expected(make):
    return roundhouse.InferenceSession(make(), providers=["CPUExecutionProvider"]).run(None, FEEDS[make])[0]


def assert_right(given, make):
    np.testing.assert_allclose(given.run(None, FEEDS[make])[0], expected(make), rtol=1e-5, atol=1e-6)


@hosts
@pytest.mark.parametrize("make", FEEDS)
def test_a_second_session_compiles_nothing(host, make, tmp_path):
    vendor, settings = Vendor(), {"cache_dir": str(tmp_path / "cache")}
    with registered(host, SAMPLE):
        with vendor.counted() as first:
            assert_right(session(host, SAMPLE, make(), settings), make)
        with vendor.counted() as second:
            assert_right(session(host, SAMPLE, make(), settings), make)
        assert first["compile"] > 0 and first["load"] == 0
        assert second["compile"] == 0 and second["load"] > 0
        with vendor.counted() as off:
            assert_right(session(host, SAMPLE, make(), settings | {"cache": "0"}), make)
        assert off["compile"] == first["compile"] and off["load"] == 0


@hosts
@pytest.mark.parametrize("what", ["another vendor's version", "other weights"])
def test_what_it_depends_on_is_compiled_anew(host, what, tmp_path):
    vendor, settings = Vendor(), {"cache_dir": str(tmp_path)}
    model = onnx.load_from_string(dense())
    with registered(host, SAMPLE):
        session(host, SAMPLE, dense(), settings)
        if what == "other weights":
            weights = model.graph.initializer[0]
            weights.raw_data = weights.raw_data[:-1] + bytes([weights.raw_data[-1] ^ 1])
        with vendor.injected("version 5" if what == "another vendor's version" else ""), vendor.counted() as counts:
            session(host, SAMPLE, model.SerializeToString(), settings)
        assert counts["compile"] > 0


def damage(path):
    path.write_bytes(path.read_bytes()[:-1])


HARMS = {
    "damaged": damage,
    "foreign": lambda path: path.chmod(0o666),
    "gone": lambda path: path.unlink(),
    "another's": lambda path: path.write_bytes(b"no artifact"),
}


@hosts
@pytest.mark.parametrize("harm", HARMS)
def test_what_cannot_be_believed_is_compiled_anew(host, harm, tmp_path):
    vendor, settings = Vendor(), {"cache_dir": str(tmp_path)}
    with registered(host, SAMPLE):
        session(host, SAMPLE, dense(), settings)
        for path in tmp_path.glob("*.artifact"):
            HARMS[harm](path)
        with vendor.counted() as counts:
            assert_right(session(host, SAMPLE, dense(), settings), dense)
        assert counts["compile"] > 0
        with vendor.counted() as counts:
            assert_right(session(host, SAMPLE, dense(), settings), dense)
        assert counts["compile"] == 0


@hosts
def test_bytes_that_the_vendor_refuses_are_compiled_anew(host, tmp_path):
    vendor, settings = Vendor(), {"cache_dir": str(tmp_path)}
    with registered(host, SAMPLE):
        session(host, SAMPLE, dense(), settings)
        with vendor.injected("load"), vendor.counted() as counts:
            assert_right(session(host, SAMPLE, dense(), settings), dense)
        assert counts["compile"] > 0


@hosts
@pytest.mark.parametrize("folder", ["/proc/no_such/cache", __file__])
def test_without_a_folder_that_can_be_used_it_runs(host, folder):
    with registered(host, SAMPLE):
        assert_right(session(host, SAMPLE, dense(), {"cache_dir": folder}), dense)


def test_what_goes_wrong_with_the_cache_is_a_warning(tmp_path, capfd):
    with registered(roundhouse, SAMPLE):
        session(roundhouse, SAMPLE, dense(), {"cache_dir": str(tmp_path)})
        damage(next(tmp_path.glob("*.artifact")))
        capfd.readouterr()
        options = roundhouse.SessionOptions()
        options.add_provider_for_devices([d for d in roundhouse.get_ep_devices() if d.ep_name == SAMPLE], {"cache_dir": str(tmp_path)})
        options.graph_optimization_level = roundhouse.GraphOptimizationLevel.ORT_DISABLE_ALL
        roundhouse.InferenceSession(dense(), options)
    assert "of the cache is damaged: the region is compiled anew" in capfd.readouterr().err


def test_threads_race_for_the_cache(tmp_path):
    settings = {"cache_dir": str(tmp_path)}
    with registered(roundhouse, SAMPLE), concurrent.futures.ThreadPoolExecutor(8) as pool:
        for future in [pool.submit(session, roundhouse, SAMPLE, make(), settings) for _ in range(8) for make in FEEDS]:
            future.result()
        assert_right(session(roundhouse, SAMPLE, dense(), settings), dense)
    assert {path.suffix for path in tmp_path.iterdir()} == {".artifact"}


def test_processes_race_for_the_cache(tmp_path):
    program = f"""
import sys
sys.path[:0] = {sys.path!r}
import roundhouse
from test_artifacts import *
with registered(roundhouse, SAMPLE):
    for make in FEEDS:
        assert_right(session(roundhouse, SAMPLE, make(), {{"cache_dir": {str(tmp_path)!r}}}), make)
"""
    children = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(4)]
    assert [child.wait(120) for child in children] == [0] * 4
    assert {path.suffix for path in tmp_path.iterdir()} == {".artifact"}


def compiled(host, make, folder, embed):
    """The path of a model that the host compiled ahead of time."""
    source, target = folder / "model.onnx", folder / "model_ctx.onnx"
    source.write_bytes(make())
    entries = {"ep.context_enable": "1", "ep.context_embed_mode": embed, "ep.context_file_path": str(target)}
    with registered(host, SAMPLE):
        session(host, SAMPLE, str(source), {"cache": "0"}, config=entries)
    return target


@hosts
def test_a_compiled_model_that_is_there_stays(host, tmp_path):
    path = compiled(host, dense, tmp_path, "1")
    before = path.read_bytes()
    with pytest.raises(Exception, match="exists already. Please remove the EP context model if you want to re-generate it."):
        compiled(host, dense, tmp_path, "1")
    assert path.read_bytes() == before


def context_nodes(path):
    return [node for node in onnx.load(path).graph.node if node.op_type == "EPContext"]


@pytest.mark.parametrize("embed", "01")
@pytest.mark.parametrize("loader", HOSTS, ids=lambda h: f"to_{h.__name__}")
@pytest.mark.parametrize("writer", HOSTS, ids=lambda h: f"from_{h.__name__}")
@pytest.mark.parametrize("make", FEEDS)
def test_a_compiled_model_goes_from_host_to_host(make, writer, loader, embed, tmp_path):
    path, vendor = compiled(writer, make, tmp_path, embed), Vendor()
    nodes = context_nodes(path)
    assert nodes and all({a.name: a for a in node.attribute}["source"].s == SAMPLE.encode() for node in nodes)
    assert len(list(tmp_path.glob("*.bin"))) == (0 if embed == "1" else len(nodes))
    with registered(loader, SAMPLE), vendor.counted() as counts:
        assert_right(session(loader, SAMPLE, str(path), {"cache": "0"}), make)
    assert counts["compile"] == 0 and counts["load"] == len(nodes)


@hosts
def test_the_model_compiler_compiles(host, tmp_path):
    target = tmp_path / "compiled.onnx"
    with registered(host, SAMPLE):
        options = host.SessionOptions()
        options.add_provider_for_devices([d for d in host.get_ep_devices() if d.ep_name == SAMPLE], {})
        host.ModelCompiler(options, dense(), embed_compiled_data_into_model=True).compile_to_file(str(target))
        assert context_nodes(target)
        assert_right(session(host, SAMPLE, str(target)), dense)
        assert_right(session(host, SAMPLE, target.read_bytes()), dense)


def compile_through_functions(host, kept):
    options = host.SessionOptions()
    options.add_provider_for_devices([d for d in host.get_ep_devices() if d.ep_name == SAMPLE], {"cache": "0"})
    compiler = host.ModelCompiler(options, dense(), embed_compiled_data_into_model=False)
    compiler.set_ep_context_data_write_func(lambda name, data: kept.update({name: bytes(data.read())}))
    return compiler.compile_to_bytes()


def load_through_functions(host, model, kept):
    def read(name, buffer):
        buffer.allocate(len(kept[name]))
        buffer.write(kept[name], 0)

    options = host.SessionOptions()
    options.add_provider_for_devices([d for d in host.get_ep_devices() if d.ep_name == SAMPLE], {"cache": "0"})
    options.set_ep_context_data_read_func(read, 1 << 20)
    assert_right(host.InferenceSession(model, options), dense)


@hosts
def test_compiled_data_goes_through_the_callers_functions(host):
    kept, vendor = {}, Vendor()
    with registered(host, SAMPLE):
        model = compile_through_functions(host, kept)
        assert len(kept) == 2
        with vendor.counted() as counts:
            load_through_functions(host, model, kept)
        assert counts["compile"] == 0 and counts["load"] == 2


@hosts
def test_a_compiled_model_that_another_version_made_is_refused(host, tmp_path):
    path, vendor = compiled(host, dense, tmp_path, "1"), Vendor()
    with registered(host, SAMPLE):
        with vendor.injected("version 5"):
            assert "compile" in failure(lambda: session(host, SAMPLE, str(path)))
        assert_right(session(host, SAMPLE, str(path)), dense)
    said = {entry.key: entry.value for entry in onnx.load(path).metadata_props}
    assert said[f"ep_compatibility_info.{SAMPLE}"] == "the sample vendor's library 4"


def set_attribute(model, name, value):
    next(a for node in model.graph.node for a in node.attribute if a.name == name).s = value


BROKEN = {
    "damaged": (lambda data: data[:-1], "is damaged: compile the model anew"),
    "outside": (lambda _: b"../stolen.bin", "names the file '../stolen.bin' for its compiled data, expected one below the model's folder"),
    "absolute": (lambda _: b"/etc/passwd", "names the file '/etc/passwd' for its compiled data, expected one below the model's folder"),
    "missing": (lambda _: b"none.bin", "is not there"),
    "linked": (lambda _: b"link.bin", "names the file 'link.bin' for its compiled data, a link to '/etc/passwd', expected one below"),
    "data": (lambda _: b"first\nsecond\n", "has embed_mode 0 and 13 bytes that name no file for its compiled data"),
    "nothing": (lambda _: b"", "has embed_mode 0 and 0 bytes that name no file for its compiled data"),
}


@hosts
@pytest.mark.parametrize("what", BROKEN)
def test_compiled_data_that_is_not_right_is_one_sentence(host, what, tmp_path):
    path = compiled(host, dense, tmp_path, "1" if what == "damaged" else "0")
    model = onnx.load(path)
    change, message = BROKEN[what]
    data = next(a for a in context_nodes(path)[0].attribute if a.name == "ep_cache_context").s
    set_attribute(model, "ep_cache_context", change(data))
    onnx.save(model, path)
    (tmp_path / "link.bin").symlink_to("/etc/passwd")
    with registered(host, SAMPLE):
        said = failure(lambda: session(host, SAMPLE, str(path)))
        assert message in said and "first" not in said
        assert_right(session(host, SAMPLE, dense()), dense)


@hosts
def test_compiled_data_is_in_the_model_or_in_a_file(host, tmp_path):
    path = compiled(host, dense, tmp_path, "1")
    model = onnx.load(path)
    next(a for node in model.graph.node for a in node.attribute if a.name == "embed_mode").i = 7
    onnx.save(model, path)
    with registered(host, SAMPLE):
        said = failure(lambda: session(host, SAMPLE, str(path)))
    assert "has embed_mode 7, expected 1 (its compiled data is in the model) or 0 (it is in a file)" in said


@hosts
def test_a_model_and_its_compiled_data_may_be_links_to_one_folder(host, tmp_path):
    """As Hugging Face's cache has them."""
    blobs, snapshot = tmp_path / "blobs", tmp_path / "snapshots"
    blobs.mkdir(), snapshot.mkdir()
    for path in [compiled(host, dense, blobs, "0"), *blobs.glob("*.bin")]:
        (snapshot / path.name).symlink_to(path)
    with registered(host, SAMPLE):
        assert_right(session(host, SAMPLE, str(snapshot / "model_ctx.onnx"), {"cache": "0"}), dense)


def exchange(nodes):
    first, second = (next(a for a in node.attribute if a.name == "ep_cache_context") for node in nodes)
    first.s, second.s = second.s, first.s


def take_an_input(nodes):
    nodes[0].input.pop()


@hosts
@pytest.mark.parametrize("embed", "01")
@pytest.mark.parametrize("change", [exchange, take_an_input])
def test_compiled_data_of_another_region_is_refused(host, change, embed, tmp_path):
    path = compiled(host, dense, tmp_path, embed)
    model = onnx.load(path)
    change([node for node in model.graph.node if node.op_type == "EPContext"])
    onnx.save(model, path)
    with registered(host, SAMPLE):
        said = failure(lambda: session(host, SAMPLE, str(path)))
        assert "takes and gives '" in said and "compile the model anew" in said
        assert_right(session(host, SAMPLE, dense()), dense)


@hosts
def test_a_compiled_model_lies_beside_its_model_by_default(host, tmp_path):
    (tmp_path / "model.onnx").write_bytes(dense())
    with registered(host, SAMPLE):
        session(host, SAMPLE, str(tmp_path / "model.onnx"), {"cache": "0"}, config={"ep.context_enable": "1"})
        nodes = context_nodes(tmp_path / "model_ctx.onnx")
        assert len(nodes) == len(list(tmp_path.glob("*.bin"))) == 2
        assert_right(session(host, SAMPLE, str(tmp_path / "model_ctx.onnx"), {"cache": "0"}), dense)


def test_nodes_of_a_provider_that_writes_no_compiled_models_stay(tmp_path):
    host = roundhouse
    source, beside, target = (tmp_path / name for name in ("model.onnx", "model_ctx.onnx", "made.onnx"))
    source.write_bytes(dense())
    with registered(host, FAKE):
        entries = {"ep.context_enable": "1", "ep.context_file_path": str(beside)}
        assert_right(session(host, FAKE, str(source), {"claim": "0:100"}, config=entries), dense)
        assert not beside.exists()
        options = host.SessionOptions()
        options.add_provider_for_devices(devices_of(host, FAKE)[:1], {"claim": "0:100"})
        host.ModelCompiler(options, dense()).compile_to_file(str(target))
        assert not context_nodes(target)
        assert_right(session(host, FAKE, str(target), {"claim": "0:100"}), dense)
        strict = host.OrtCompileApiFlags.ERROR_IF_NO_NODES_COMPILED
        assert failure(lambda: host.ModelCompiler(options, dense(), flags=strict).compile_to_file(str(tmp_path / "none.onnx")))


def test_the_other_host_is_told_that_nothing_is_written(tmp_path):
    (tmp_path / "model.onnx").write_bytes(dense())
    entries = {"ep.context_enable": "1", "ep.context_file_path": str(tmp_path / "model_ctx.onnx")}
    with registered(onnxruntime, FAKE):
        said = failure(lambda: session(onnxruntime, FAKE, str(tmp_path / "model.onnx"), {"claim": "0:100"}, config=entries))
    assert "the provider writes no compiled models: leave 'ep.context_enable' out" in said


def test_it_is_said_why_nodes_stay(tmp_path):
    (tmp_path / "model.onnx").write_bytes(dense())
    program = WARNED.format(path=sys.path, model=str(tmp_path / "model.onnx"), target=str(tmp_path / "model_ctx.onnx"))
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stderr
    assert "stay as they are in the compiled model: the provider writes no compiled models" in said


WARNED = """
import sys
sys.path[:0] = {path!r}
from hosts import FAKE, devices_of, registered
import roundhouse

with registered(roundhouse, FAKE):
    options = roundhouse.SessionOptions()
    options.add_session_config_entry("ep.context_enable", "1")
    options.add_session_config_entry("ep.context_file_path", {target!r})
    options.add_provider_for_devices(devices_of(roundhouse, FAKE)[:1], {{"claim": "0:100"}})
    roundhouse.InferenceSession({model!r}, options)
"""


LARGE = 4200  # of a matrix of 67 MiB, which is known by another name than the hash of its bytes


def large_model(folder, weights):
    """A product by weights that lie in a file beside the model, within the branch of an If."""
    weights.tofile(folder / "w.bin")
    parsed = onnx.parser.parse_model(f"""<ir_version: 8, opset_import: ["" : 17]>
      main (float[1, {LARGE}] x, bool c) => (float[1, {LARGE}] y) {{
        y = If (c) <then_branch = t () => (float[1, {LARGE}] y1) {{ y1 = MatMul (x, w) }},
                    else_branch = e () => (float[1, {LARGE}] y2) {{ y2 = Add (x, x) }}>
      }}""")
    tensor = parsed.graph.node[0].attribute[0].g.initializer.add(name="w", data_type=1, dims=[LARGE, LARGE], data_location=1)
    for key, value in (("location", "w.bin"), ("offset", "0"), ("length", str(weights.nbytes))):
        tensor.external_data.add(key=key, value=value)
    (folder / "m.onnx").write_bytes(parsed.SerializeToString())
    return str(folder / "m.onnx")


def test_weights_that_a_session_replaces_are_not_those_of_the_file(tmp_path):
    weights = np.zeros((LARGE, LARGE), "f4")
    weights[1234, 77] = 1
    path, x = large_model(tmp_path, weights), np.ones((1, LARGE), "f4")
    other = weights.copy()
    other[1234, 77] = 2

    def run(replaced=None):
        options = roundhouse.SessionOptions()
        options.add_provider_for_devices(
            [d for d in roundhouse.get_ep_devices() if d.ep_name == SAMPLE], {"cache_dir": str(tmp_path / "c")}
        )
        if replaced is not None:
            options.add_external_initializers_from_files_in_memory(["w.bin"], [replaced], [len(replaced)])
        with vendor.counted() as counts:
            y = roundhouse.InferenceSession(path, options).run(None, {"x": x, "c": np.array(True)})[0]
        return counts["compile"], float(y[0, 77])

    vendor = Vendor()
    with registered(roundhouse, SAMPLE):
        assert run()[0] > 0
        names = set((tmp_path / "c").glob("*.key"))
        assert names and run() == (0, 1.0)
        compiled, value = run(other.tobytes())
        assert compiled > 0 and value == 2.0 and run() == (0, 1.0)
        others = set((tmp_path / "c").glob("*.key")) - names
        for file in others:  # another name's key
            file.write_bytes(min(names).read_bytes())
        assert others and run(other.tobytes()) == (0, 2.0)
