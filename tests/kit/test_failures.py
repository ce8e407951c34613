"""What goes wrong in a vendor's library is one sentence; the process, and the next session, are as before."""

import re

import numpy as np
import pytest
from hosts import HOSTS, LIBRARIES, OPENVINO, SAMPLE, Vendor, branches, dense, failure, floats, registered, session

import roundhouse

hosts = pytest.mark.parametrize("host", HOSTS, ids=lambda h: h.__name__)
FEEDS = {
    dense: {"x": floats(3, 4, seed=5), "x2": floats(3, 3, seed=6)},
    branches: {"x": floats(2, 4, seed=7), "c": np.array(False)},
}
VENDOR = "the sample vendor's "

# What fails as a session is made, and what it says.
AT_LOAD = {
    "version 3": "libsample_vendor.so is of version 3, expected 4 or newer: install a newer one",
    "create": VENDOR + "sv_create failed",
    "add_constant": VENDOR + "sv_add_constant failed",
    "add_step": VENDOR + "sv_add_step failed",
    "add_branch": VENDOR + "sv_add_branch failed",
    "set_outputs": VENDOR + "sv_set_outputs failed",
    "wrong number": VENDOR + "sv_set_outputs failed",
    "throw at compile": "the vendor's compiler has no room",
}
# What fails as a model runs.
AT_RUN = {
    "run": VENDOR + "sv_run failed: the device is lost",
    "odd bytes": VENDOR + "sv_run failed: the device ? is lost",
    "silent run": VENDOR + "sv_run failed: it gives no reason",
    "throw at run": "memory",
    "no output": "the compiled region did not give '",
    "another output": "outputs, 7 was given",
    "more axes": "the shape ",
    "negative size": "the shape ",
    "huge size": "",  # who has no memory says so in his own words
}
# Paths of libraries that are none of ours.
PATHS = {
    "/no/such/vendor.so": "the sample vendor's library does not load: ",
    __file__: "the sample vendor's library does not load: ",
    str(LIBRARIES / "libroundhouse.so"): "has no function sv_version: install a newer version",
}


def assert_right(given, make):
    expected = roundhouse.InferenceSession(make(), providers=["CPUExecutionProvider"]).run(None, FEEDS[make])[0]
    np.testing.assert_allclose(given.run(None, FEEDS[make])[0], expected, rtol=1e-5, atol=1e-6)


def assert_one_sentence(text, message):
    assert message in text
    own = re.sub(r"(?<=[ ':])/\S+", "", text)  # a path is as long as the folder is deep
    assert "\n" not in text.strip() and len(own) < 600, text
    assert not re.search(r"0x[0-9a-f]{6,}|terminate called", text), text


def model_for(fault):
    return branches if fault in ("add_branch", "add_constant") else dense


@hosts
@pytest.mark.parametrize("fault", AT_LOAD)
def test_what_fails_as_a_session_is_made(host, fault, tmp_path):
    vendor, make = Vendor(), model_for(fault)
    with registered(host, SAMPLE):
        settings = {"cache_dir": str(tmp_path)}
        with vendor.injected(fault):
            assert_one_sentence(failure(lambda: session(host, SAMPLE, make(), settings)), AT_LOAD[fault])
        assert_right(session(host, SAMPLE, make(), settings), make)


@hosts
def test_what_cannot_be_written_down_runs_and_is_not_kept(host, tmp_path):
    (tmp_path / "model.onnx").write_bytes(dense())
    entries = {"ep.context_enable": "1", "ep.context_file_path": str(tmp_path / "model_ctx.onnx")}
    with registered(host, SAMPLE), Vendor().injected("wrong size"):
        assert_right(session(host, SAMPLE, dense(), {"cache_dir": str(tmp_path / "cache")}), dense)
        assert not list((tmp_path / "cache").glob("*"))
        said = failure(lambda: session(host, SAMPLE, str(tmp_path / "model.onnx"), config=entries))
        assert_one_sentence(said, VENDOR + "sv_save does not give the ")


def fail_and_run_on(given, fault):
    given.disable_fallback()  # to the CPU, which ONNX Runtime's package does with a session of its own
    with Vendor().injected(fault):
        assert_one_sentence(failure(lambda: given.run(None, FEEDS[dense])), AT_RUN[fault])
    assert_right(given, dense)


@hosts
@pytest.mark.parametrize("classes", ["0", "1"], ids=["as it is", "classes"])
@pytest.mark.parametrize("fault", AT_RUN)
def test_what_fails_as_a_model_runs(host, fault, classes):
    with registered(host, SAMPLE):
        given = session(host, SAMPLE, dense(), {"cache": "0", "plan_classes": classes})
        assert_right(given, dense)  # whose results are not those of the next run
        fail_and_run_on(given, fault)
        assert_right(session(host, SAMPLE, dense(), {"cache": "0"}), dense)


@hosts
@pytest.mark.parametrize("path", PATHS)
def test_libraries_that_are_none(host, path):
    with registered(host, SAMPLE):
        assert_one_sentence(failure(lambda: session(host, SAMPLE, dense(), {"library_path": path})), PATHS[path])
        assert_right(session(host, SAMPLE, dense()), dense)


@hosts
@pytest.mark.parametrize("content", [b"", b"no library"], ids=["empty", "text"])
def test_a_file_under_the_name_of_a_vendors_library(host, content, tmp_path):
    if OPENVINO in roundhouse.get_available_providers():
        pytest.skip("OpenVINO is here, and registered")
    (tmp_path / "libopenvino_c.so").write_bytes(content)
    with registered(host, OPENVINO):
        said = failure(lambda: session(host, OPENVINO, dense(), {"library_path": str(tmp_path)}))
    assert "/libopenvino_c.so') is damaged: it is no library: pip install --force-reinstall openvino" in said
