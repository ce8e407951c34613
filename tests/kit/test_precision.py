"""Regions that compute in half precision or on int8: as a model that `roundhouse convert` wrote, on the same host."""

import gc
import json
import pathlib
import subprocess

import numpy as np
import pytest
from fake_device import count
from hosts import FAKE, HOSTS, LIBRARIES, failure, floats, registered, session
from test_device import model_of, plain

import roundhouse

hosts = pytest.mark.parametrize("host", HOSTS, ids=lambda h: h.__name__)
BINARY = LIBRARIES.parent / "bin" / "roundhouse"

MODEL = """<ir_version: 8, opset_import: ["" : 17]>
main (float[N, 64] x) => (float[N, 32] y)
<float[64, 64] w, float[64] k, float[64, 32] v>
{
  a = MatMul (x, w)
  b = Add (a, k)
  c = Relu (b)
  d = Softmax (c)
  y = MatMul (d, v)
}"""
SCALES = {name: {"low": -4, "high": 4} for name in ("x", "a", "b", "c", "y")} | {"d": {"low": -0.25, "high": 0.25}}
FEEDS = [{"x": floats(n, 64, seed=n)} for n in (1, 5)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("precision")
    (folder / "model.onnx").write_bytes(model_of(MODEL).SerializeToString())
    (folder / "scales.json").write_text(json.dumps(SCALES))
    return folder


def converted(folder, *arguments):
    output = folder / "converted.onnx"
    command = [str(BINARY), "convert", str(folder / "model.onnx"), str(output), *arguments]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return output.read_bytes()


WAYS = {
    "fp16": ({"precision": "fp16"}, ["-p", "float16"]),
    "bf16": ({"precision": "bf16"}, ["-p", "bfloat16"]),
    "but": ({"precision": "fp16", "keep_float32": "Relu,y,Conv"}, ["-p", "float16", "--keep-operator", "Relu", "--keep-node", "y"]),
    "int8": ({"calibration": "scales.json"}, ["-p", "int8", "--calibration", "scales.json"]),
}


@hosts
@pytest.mark.parametrize("way", WAYS)
def test_results_are_those_of_a_converted_model(host, way, folder, monkeypatch):
    monkeypatch.chdir(folder)
    settings, arguments = WAYS[way]
    model, other = (folder / "model.onnx").read_bytes(), converted(folder, *arguments)
    if way == "bf16" and host is not roundhouse:
        pytest.skip("ONNX Runtime's CPU has no bfloat16")
    with registered(host, FAKE):
        before = count("bytes")
        given = session(host, FAKE, model, {"claim": "0:100", **settings})
        assert count("bytes") - before < 0.8 * (64 * 64 + 64 + 64 * 32) * 4
        for feed in FEEDS:
            actual, expected, exact = (s.run(None, feed)[0] for s in (given, plain(host, other), plain(host, model)))
            np.testing.assert_allclose(actual, expected, atol=1e-5)  # float32 sums go in another order with weights that are inputs
            assert not np.array_equal(actual, exact)
            np.testing.assert_allclose(actual, exact, atol=0.5 if way == "int8" else 0.1)
        del given
        gc.collect()


@hosts
def test_what_is_kept_stays(host, folder):
    model = (folder / "model.onnx").read_bytes()
    with registered(host, FAKE):
        given = session(host, FAKE, model, {"claim": "0:100", "precision": "fp16", "keep_float32": "MatMul"})
        for feed in FEEDS:
            np.testing.assert_allclose(given.run(None, feed)[0], plain(host, model).run(None, feed)[0], atol=1e-6)
        del given
        gc.collect()


@hosts
def test_regions_of_one_session_have_their_own_weights(host, folder):
    """Converted constants are none of the host's, whose addresses tell which were uploaded."""
    model = (folder / "model.onnx").read_bytes()
    with registered(host, FAKE):
        given = session(host, FAKE, model, {"claim": "=a,d,y", "precision": "fp16"})
        for feed in FEEDS:
            np.testing.assert_allclose(given.run(None, feed)[0], plain(host, model).run(None, feed)[0], atol=0.02)
        del given
        gc.collect()


@hosts
def test_a_table_that_is_none_ends_the_session(host, folder, tmp_path):
    model = (folder / "model.onnx").read_bytes()
    (tmp_path / "wrong.json").write_text('{"x": {"low": 1}}')
    with registered(host, FAKE):
        for table, said in (("wrong.json", "'x'"), ("none.json", "none.json")):
            settings = {"claim": "0:100", "calibration": str(pathlib.Path(tmp_path) / table)}
            assert said in failure(lambda: session(host, FAKE, model, settings))  # noqa: B023
