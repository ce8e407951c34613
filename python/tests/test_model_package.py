"""Model packages, beside ONNX Runtime's."""

import json
import os

import models
import numpy as np
import onnxruntime
import pytest

import roundhouse

BOTH = pytest.mark.parametrize("module", [roundhouse, onnxruntime], ids=lambda m: m.__name__)
CPU = "CPUExecutionProvider"


@pytest.fixture
def root(tmp_path):
    """One component in a file of its own, with two variants, and one in the manifest."""
    folder = tmp_path / "package"
    for variant in ("cpu", "cuda"):
        (folder / "decoder" / variant).mkdir(parents=True)
        (folder / "decoder" / variant / "model.onnx").write_bytes(models.add())
    info = {"model_file": "model.onnx", "session_options": {"session.use_deterministic_compute": "1"}}
    (folder / "decoder" / "cpu" / "ort.json").write_text(json.dumps(info))
    variants = {"cuda": {"ep": "CUDAExecutionProvider", "device": "gpu"}, "cpu": {"ep": CPU, "executor_info": {"ort": "ort.json"}}}
    (folder / "decoder" / "component.json").write_text(json.dumps({"variants": variants}))
    inline = {"a": {"variant_directory": "decoder/cpu", "ep": CPU, "device": "cpu", "executor_info": {"ort": {"model_file": "model.onnx"}}}}
    manifest = {
        "schema_version": "1.0",
        "package_name": "name",
        "description": "text",
        "components": {"decoder": "decoder", "encoder": {"variants": inline}},
        "additional_metadata": {"k": [1, 2]},
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return str(folder)


@pytest.fixture
def asset(tmp_path):
    folder = tmp_path / "asset"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.txt").write_text("hi")
    (folder / "sub" / "b.txt").write_text("yo")
    return str(folder)


def test_the_same_is_read(root):
    ours, theirs = roundhouse.ModelPackage.open(root), onnxruntime.ModelPackage.open(root)
    assert ours.get_info() == theirs.get_info()
    for component, variant in (("decoder", "cpu"), ("encoder", "a")):
        assert json.loads(ours.get_component_json(component)) == json.loads(theirs.get_component_json(component))
        assert json.loads(ours.get_variant_json(component, variant)) == json.loads(theirs.get_variant_json(component, variant))
    assert roundhouse.ModelPackage().get_info() == onnxruntime.ModelPackage().get_info()


def test_hashes_are_the_same(asset):
    assert roundhouse.ModelPackage.compute_directory_hash(asset) == onnxruntime.ModelPackage.compute_directory_hash(asset)


REFERENCES = ["decoder/cpu/model.onnx", "nowhere", "../up", "/absolute", "sha256:" + "0" * 64, "sha256:12"]


@pytest.mark.parametrize("text", REFERENCES)
@pytest.mark.parametrize("must_exist", [False, True])
def test_references(root, text, must_exist):
    answers = []
    for module in (roundhouse, onnxruntime):
        try:
            answers.append(module.ModelPackage.open(root).resolve_string_ref(text, None, must_exist))
        except (ValueError, OSError) as error:
            answers.append(type(error))
    assert answers[0] == answers[1]


def changed(module, root, asset):
    package = module.ModelPackage.open(root)
    package.set_metadata(version="2")
    package.remove_component("nothing")
    package.remove_variant("decoder", "nothing")
    package.set_additional_metadata_json("manifest", json='{"z": 2}')
    package.remove_variant("decoder", "cuda")
    os.makedirs(os.path.join(root, "decoder", "new"), exist_ok=True)
    package.set_variant("decoder", "new", json.dumps({"ep": CPU}))
    package.set_variant_executor_info_inline("decoder", "new", "ort", '{"model_file": "m"}')
    package.set_component_inline("third", '{"variants": {}}')
    uri = package.add_shared_asset(asset)
    assert package.resolve_string_ref(uri + "/sub/b.txt") == os.path.join(asset, "sub", "b.txt")
    package.commit()
    return package, uri


def test_the_same_is_written(root, asset, tmp_path):
    written = []
    for module in (roundhouse, onnxruntime):
        copy = str(tmp_path / module.__name__)
        os.system(f"cp -r '{root}' '{copy}'")
        _, uri = changed(module, copy, asset)
        files = {}
        for folder, _, names in os.walk(copy):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    files[os.path.relpath(path, copy)] = json.loads(file.read()) if name.endswith("json") else file.read()
        files["manifest.json"].pop("shared_assets", None)  # ONNX Runtime writes an empty one
        written.append(files)
        assert os.path.isfile(os.path.join(copy, "shared_assets", uri.replace(":", "-"), "sub", "b.txt"))
    assert written[0] == written[1]


@BOTH
def test_what_was_taken_away_is_pruned(module, root, asset):
    package, uri = changed(module, root, asset)
    assert os.path.isdir(os.path.join(root, "decoder", "cuda"))
    package.prune()
    assert not os.path.exists(os.path.join(root, "decoder", "cuda"))
    package.remove_shared_asset(uri)
    with package as same:
        assert same is package
    with pytest.raises(ValueError, match="closed"):
        package.get_info()


def test_save_as(root, asset, tmp_path):
    package, uri = changed(roundhouse, root, asset)
    package.commit(str(tmp_path / "copy"))
    assert package.resolve_asset_uri(uri).startswith(str(tmp_path / "copy"))
    assert onnxruntime.ModelPackage.open(str(tmp_path / "copy")).get_info() == package.get_info()
    with pytest.raises(RuntimeError, match="external executor_info 'ort'"):
        package.commit(str(tmp_path / "dense"), roundhouse.ModelPackageWriteMode.DENSE)
    package.set_variant_executor_info_inline("decoder", "cpu", "ort", '{"model_file": "model.onnx"}')
    package.commit(str(tmp_path / "dense"), roundhouse.ModelPackageWriteMode.DENSE)
    assert os.listdir(tmp_path / "dense" / "decoder") and not os.path.exists(tmp_path / "dense" / "decoder" / "component.json")
    assert onnxruntime.ModelPackage.open(str(tmp_path / "dense")).get_info() == package.get_info()
    with pytest.raises(RuntimeError, match="not an empty folder"):
        package.commit(root)


MANIFESTS = {
    "major": {"schema_version": "2.0", "components": {}},
    "no version": {"components": {}},
    "unknown field": {"schema_version": "1.0", "components": {}, "u": 1},
    "newer minor": {"schema_version": "1.9", "components": {}, "u": 1},
    "number": {"schema_version": 1, "components": {}},
    "absolute": {"schema_version": "1.0", "components": {"a": "/absolute"}},
    "up": {"schema_version": "1.0", "components": {"a": "../up"}},
    "no variants": {"schema_version": "1.0", "components": {"a": {}}},
    "no folder": {"schema_version": "1.0", "components": {"a": {"variants": {"v": {}}}}},
    "folder": {"schema_version": "1.0", "components": {"a": {"variants": {"v": {"variant_directory": "v"}}}}},
    "type": {"schema_version": "1.0", "components": {"a": {"variants": {"v": {"ep": 3}}}}},
    "layout": {"schema_version": "1.0", "components": {}, "layout": "x"},
    "installed": {"schema_version": "1.0", "components": {}, "layout": "installed"},
}


@pytest.mark.parametrize("name", MANIFESTS)
def test_manifests(name, tmp_path):
    (tmp_path / "manifest.json").write_text(json.dumps(MANIFESTS[name]))
    answers = []
    for module in (roundhouse, onnxruntime):
        try:
            answers.append(module.ModelPackage.open(str(tmp_path)).get_info())
        except (ValueError, OSError) as error:
            answers.append(type(error))
    assert answers[0] == answers[1]


WRONG = {
    "component": lambda p, a: p.get_component_json("x"),
    "variant": lambda p, a: p.get_variant_json("decoder", "x"),
    "json": lambda p, a: p.set_variant("decoder", "v", "{"),
    "array": lambda p, a: p.set_variant("decoder", "v", "[]"),
    "field": lambda p, a: p.set_variant("decoder", "v", '{"foo": 1}'),
    "folder": lambda p, a: p.set_variant("decoder", "v", '{"variant_directory": "nowhere"}'),
    "executor": lambda p, a: p.set_variant_executor_info_inline("decoder", "cpu", "k", "[1]"),
    "scope": lambda p, a: p.set_additional_metadata_json("package", json="1"),
    "scope without a name": lambda p, a: p.set_additional_metadata_json("component", json="1"),
    "layout": lambda p, a: p.set_layout("x"),
    "asset": lambda p, a: p.add_shared_asset(a + "x"),
    "another asset": lambda p, a: p.add_shared_asset(a, "sha256:" + "1" * 64),
    "asset outside": lambda p, a: p.add_shared_asset(a, None, False),
    "uri": lambda p, a: p.resolve_asset_uri("zz"),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors(name, root, asset):
    kinds = []
    for module in (roundhouse, onnxruntime):
        with pytest.raises((ValueError, OSError, RuntimeError)) as raised:
            WRONG[name](module.ModelPackage.open(root), asset)
        kinds.append(raised.type)
    assert kinds[0] is kinds[1]


@BOTH
def test_sessions(module, root, feed):
    context = module.ModelPackageContext(root)
    assert context.get_component_names() == ["decoder", "encoder"] and context.get_component_count() == 2
    assert context.get_schema_version() == 1
    assert set(context.get_variant_names("decoder")) == {"cpu", "cuda"} and context.get_variant_count("decoder") == 2
    assert context.get_variant_ep_name("decoder", "cpu") == CPU
    options = module.SessionOptions()
    options.add_provider(CPU, {})
    chosen = context.select_component("decoder", module.ModelPackageOptions(options))
    assert chosen.get_selected_variant_name() == "cpu"
    assert chosen.get_selected_variant_folder_path() == os.path.join(root, "decoder", "cpu")
    for session in (chosen.create_session(), chosen.create_session(module.SessionOptions())):
        np.testing.assert_array_equal(session.run(None, feed)[0], feed["a"] + feed["b"])
    for call in (
        lambda: context.get_variant_names("x"),
        lambda: context.get_variant_ep_name("decoder", "x"),
        lambda: context.select_component("x", module.ModelPackageOptions(options)),
        lambda: module.ModelPackageContext(root + "x"),
    ):
        with pytest.raises(RuntimeError):
            call()


def test_no_variant_fits(root):
    package = roundhouse.ModelPackage.open(root)
    package.remove_variant("decoder", "cpu")
    package.commit()
    with pytest.raises(RuntimeError, match="No suitable model variant"):
        roundhouse.ModelPackageContext(root).select_component("decoder", roundhouse.ModelPackageOptions(roundhouse.SessionOptions()))


def test_files_that_a_session_writes_are_not_for_packages(root):
    info = {"model_file": "model.onnx", "session_options": {"session.optimized_model_filepath": "x"}}
    with open(os.path.join(root, "decoder", "cpu", "ort.json"), "w", encoding="utf-8") as file:
        json.dump(info, file)
    for module in (roundhouse, onnxruntime):
        with pytest.raises(RuntimeError):
            module.ModelPackageContext(root)
