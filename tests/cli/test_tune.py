"""`tune`: what it measures, the file that it writes, and what a session makes of such a file."""

import numpy as np
import pytest
from command import answer, roundhouse, value, write_model
from onnx import helper, numpy_helper

import roundhouse as package


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("tune")
    weights = numpy_helper.from_array(np.random.default_rng(0).standard_normal((32, 32, 3, 3), np.float32), "w")
    node = helper.make_node("Conv", ["x", "w"], ["y"], "conv", pads=[1, 1, 1, 1])
    write_model(path / "conv.onnx", [node], [value("x", [1, 32, 20, 20])], [value("y", [1, 32, 20, 20])], [weights])
    return path


PROBLEM = "Conv float 32>32 groups 1, kernel 1x3x3 strides 1x1x1 dilations 1x1x1 pads 0x1x1, 1x20x20>1x20x20"


def test_tune(folder):
    report = answer("tune", "conv.onnx", "-n", "3", "--threads", "1", cwd=folder)
    [row] = report["problems"]
    assert row["problem"] == PROBLEM and row["usual"] == "winograd_pixels"
    assert {"winograd", "winograd_pixels", "gemm"} <= row["ms"].keys() and all(ms > 0 for ms in row["ms"].values())
    assert report["run_ms"].keys() == {"usual", "tuned"}
    lines = (folder / "conv.onnx.tuning").read_text().splitlines()
    assert lines[:3] == ["roundhouse tuning 1", f"machine {report['machine']}", "threads 1"]
    assert lines[3:] == ([f"{row['best']} | {PROBLEM}"] if row["best"] != row["usual"] else [])
    done = roundhouse("tune", "conv.onnx", "-n", "1", "--output", "t", cwd=folder)
    assert done.returncode == 0 and "of 1 problems" in done.stdout and (folder / "t").exists()


def test_tune_measures_products(folder):
    weights = numpy_helper.from_array(np.random.default_rng(0).standard_normal((64, 48), np.float32), "w")
    node = helper.make_node("MatMul", ["x", "w"], ["y"], "product")
    write_model(folder / "product.onnx", [node], [value("x", [2, 64])], [value("y", [2, 48])], [weights])
    report = answer("tune", "product.onnx", "-n", "3", "--threads", "1", cwd=folder)
    [row] = report["problems"]
    assert row["problem"] == "MatMul float 64>48, 2 rows" and row["usual"] == "gemm"
    assert {"gemv", "gemm"} <= row["ms"].keys()
    x = {"x": np.random.default_rng(1).standard_normal((2, 64), np.float32)}
    results = []
    for name in ("gemv", "gemm"):
        options = package.SessionOptions()
        options.add_session_config_entry("roundhouse.variant", name)
        session = package.InferenceSession(str(folder / "product.onnx"), options)
        assert chosen(session) == name
        results += session.run(None, x)
    np.testing.assert_allclose(*results, atol=1e-4)


def session_with(folder, text, threads=1):
    (folder / "given").write_text(text)
    options = package.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    options.add_session_config_entry("roundhouse.tuning", str(folder / "given"))
    return package.InferenceSession(str(folder / "conv.onnx"), options)


def chosen(session):
    [row] = session._report()["variants"]
    return row["variant"]


def test_a_session_takes_what_the_file_names(folder):
    plain = package.InferenceSession(str(folder / "conv.onnx"))
    machine = plain._report()["machine"]
    title = f"roundhouse tuning 1\nmachine {machine}\nthreads 1\n"
    assert chosen(plain) == "winograd_pixels" and plain._report()["variants"][0]["node"] == "conv"
    assert [node.variant for node in plain.get_placement()] == ["winograd_pixels"]
    tuned = session_with(folder, f"{title}gemm | {PROBLEM}\n")
    assert chosen(tuned) == "gemm"
    x = {"x": np.random.default_rng(1).standard_normal((1, 32, 20, 20), np.float32)}
    np.testing.assert_allclose(tuned.run(None, x)[0], plain.run(None, x)[0], atol=1e-4)
    assert chosen(session_with(folder, f"{title}gemm | another problem\n")) == "winograd_pixels"
    assert chosen(session_with(folder, f"{title}no such way | {PROBLEM}\n")) == "winograd_pixels"
    assert chosen(session_with(folder, f"{title}gemm | {PROBLEM}\n", threads=2)) == "winograd_pixels"
    assert chosen(session_with(folder, f"roundhouse tuning 1\nmachine other\nthreads 1\ngemm | {PROBLEM}\n")) == "winograd_pixels"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "begins with ''"),
        ("roundhouse tuning 9\n", "expected 'roundhouse tuning 1'"),
        ("roundhouse tuning 1\nthreads 1\n", "line 2"),
        ("roundhouse tuning 1\nmachine avx2\nthreads 1\nConv\n", "line 4: 'Conv' was found"),
    ],
)
def test_a_file_that_is_none_says_so(folder, text, says):
    with pytest.raises(package.InvalidArgument, match=says):
        session_with(folder, text)


def test_a_missing_file_says_so(folder):
    options = package.SessionOptions()
    options.add_session_config_entry("roundhouse.tuning", "/nowhere/file")
    with pytest.raises(RuntimeError, match="/nowhere/file"):
        package.InferenceSession(str(folder / "conv.onnx"), options)
