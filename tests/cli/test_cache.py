"""`cache`: what providers compiled and keep on disk."""

import os

import numpy as np
import pytest
from command import ROOT, answer, constant, roundhouse, value, write_model
from onnx import helper

SAMPLE = "SampleExecutionProvider"
PLUGIN = ROOT / "build/release/lib/roundhouse_provider_sample.so"


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.onnx"
    nodes = [helper.make_node("Add", ["x", "w"], ["m"], "add"), helper.make_node("Mul", ["m", "w"], ["y"], "mul")]
    write_model(path, nodes, [value("x", ["N", 2])], [value("y", ["N", 2])], [constant("w", np.float32([[1, 2]]))])
    return path


def test_warm_list_clear(model, tmp_path):
    folder = tmp_path / "cache"
    assert answer("cache", "--dir", folder)["entries"] == []
    [added] = answer("cache", "warm", model, "--plugin", PLUGIN, "--dir", folder)["entries"]
    assert added["provider"] == SAMPLE and added["made_by"] == "the sample vendor's library 4"
    assert os.listdir(folder) == [added["file"]] and added["bytes"] == (folder / added["file"]).stat().st_size
    assert answer("cache", "warm", model, "--plugin", PLUGIN, "--dir", folder)["entries"] == []
    [listed] = answer("cache", "list", "--dir", folder)["entries"]
    assert listed["file"] == added["file"] and listed["unused_s"] < 60
    assert answer("cache", "clear", "--provider", "OtherExecutionProvider", "--dir", folder)["entries"] == []
    assert len(os.listdir(folder)) == 1
    [removed] = answer("cache", "clear", "--dir", folder)["entries"]
    assert removed["file"] == added["file"] and os.listdir(folder) == []


def test_the_folder_is_the_providers_own(model, tmp_path):
    for environment, folder in (
        ({"ROUNDHOUSE_CACHE_DIR": str(tmp_path / "a")}, "a"),
        ({"ROUNDHOUSE_CACHE_DIR": "", "XDG_CACHE_HOME": str(tmp_path / "b")}, "b/roundhouse"),
        ({"ROUNDHOUSE_CACHE_DIR": "", "XDG_CACHE_HOME": "", "HOME": str(tmp_path / "c")}, "c/.cache/roundhouse"),
    ):
        done = roundhouse("cache", "warm", model, "--plugin", PLUGIN, env=environment)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith(f"{tmp_path / folder}: 1 file, ") and " added\n" in done.stdout
        assert len(os.listdir(tmp_path / folder)) == 1


def test_what_is_missing_is_told(tmp_path):
    assert "name a model" in roundhouse("cache", "warm", "--dir", tmp_path).stderr
    nowhere = {"ROUNDHOUSE_CACHE_DIR": "", "XDG_CACHE_HOME": "", "HOME": ""}
    assert "the cache has no folder: set ROUNDHOUSE_CACHE_DIR" in roundhouse("cache", env=nowhere).stderr


@pytest.mark.parametrize("action", ["list", "clear", "warm"])
def test_what_is_no_folder_of_the_users_own_is_told(action, model, tmp_path):
    given = [action, model, "--plugin", PLUGIN] if action == "warm" else [action]
    file, folder = tmp_path / "file", tmp_path / "folder"
    file.write_text("a file")
    done = roundhouse("cache", *given, "--dir", file)
    assert done.returncode != 0 and done.stdout == ""
    assert done.stderr.count("\n") == 1, done.stderr
    assert f"cache: '{file}' is no folder: name a folder with --dir, or set ROUNDHOUSE_CACHE_DIR" in done.stderr
    assert file.read_text() == "a file"
    folder.mkdir()
    (folder / "a.artifact").write_text("kept")
    for mode in (0o777, 0o720):
        folder.chmod(mode)
        done = roundhouse("cache", *given, "--dir", folder)
        assert done.returncode != 0 and done.stdout == ""
        assert done.stderr.count("\n") == 1, done.stderr
        assert f"cache: '{folder}' is not used: it may be written by others (mode {mode:o}): run `chmod go-w` on it" in done.stderr
        assert (folder / "a.artifact").read_text() == "kept"
    folder.chmod(0o755)
    assert roundhouse("cache", *given, "--dir", folder).returncode == 0


def test_a_folder_of_another_user_is_told(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root gives folders away")
    os.chown(tmp_path, 4321, 4321)
    assert "it belongs to user 4321, not to user 0: name a folder of yours with --dir" in roundhouse("cache", "--dir", tmp_path).stderr


def test_clearing_all_removes_the_key_of_marks_too(tmp_path):
    for name in ("a.artifact", "a.key", "marks.secret", "other"):
        (tmp_path / name).write_text("x")
    assert roundhouse("cache", "clear", "--provider", SAMPLE, "--dir", tmp_path).returncode == 0
    assert len(os.listdir(tmp_path)) == 4
    assert roundhouse("cache", "clear", "--dir", tmp_path).returncode == 0
    assert os.listdir(tmp_path) == ["other"]
