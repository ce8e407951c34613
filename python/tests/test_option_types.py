"""What fields of options take and refuse: as much as those of ONNX Runtime."""

import pathlib

import models
import numpy as np
import pytest

import roundhouse

onnxruntime = pytest.importorskip("onnxruntime")
if not hasattr(onnxruntime, "__file__") or "roundhouse" in onnxruntime.__file__:
    pytest.skip("the stock library is not there", allow_module_level=True)

VALUES = [0, 1, 2, -1, 2**40, True, False, np.bool_(True), np.bool_(False), np.int64(2), np.int32(1), np.float32(1), np.float64(1)]
VALUES += [np.array(1), np.array(True), np.array([1]), np.array([1, 2]), 1.0, 1j, None]
VALUES += ["", "a", "1", b"a", bytearray(b"a"), pathlib.Path("a"), [], {}]
FIELDS = [
    (kind, name)
    for kind in ("SessionOptions", "RunOptions")
    for name in sorted(dir(getattr(onnxruntime, kind)()))
    if not name.startswith("_") and not callable(getattr(getattr(onnxruntime, kind)(), name)) and not name.startswith("execution_")
    if name != "graph_optimization_level"
]
ENUMERATIONS = {
    "execution_mode": ("ExecutionMode", "ORT_PARALLEL"),
    "execution_order": ("ExecutionOrder", "PRIORITY_BASED"),
    "graph_optimization_level": ("GraphOptimizationLevel", "ORT_ENABLE_BASIC"),
}


def taken(call):
    """What it gives; the class of what it raises."""
    try:
        return call()
    except Exception as problem:
        return type(problem)


def after_setting(module, kind, name, value):
    options = getattr(module, kind)()
    setattr(options, name, value)
    return getattr(options, name)


@pytest.mark.parametrize(("kind", "name"), FIELDS)
def test_fields_take_and_refuse_the_same_values(kind, name):
    for value in VALUES:
        expected, given = (taken(lambda host=host: after_setting(host, kind, name, value)) for host in (onnxruntime, roundhouse))
        assert (type(given), given) == (type(expected), expected), f"{name} = {value!r}"


def test_there_are_fields():
    assert ("SessionOptions", "enable_profiling") in FIELDS
    assert ("RunOptions", "terminate") in FIELDS


@pytest.mark.parametrize("name", ENUMERATIONS)
def test_enumerations_take_their_own_members(name):
    enumeration, member = ENUMERATIONS[name]
    for host in (onnxruntime, roundhouse):
        own = getattr(getattr(host, enumeration), member)
        assert after_setting(host, "SessionOptions", name, own) == own
        for value in (*VALUES, 5, 99):
            assert taken(lambda host=host: after_setting(host, "SessionOptions", name, value)) is TypeError, f"{host.__name__}: {value!r}"


CALLS = {
    "a key and a value": lambda options: options.add_session_config_entry(b"a.key", bytearray(b"1")),
    "a value by its key": lambda options: (options.add_session_config_entry("a.key", "1"), options.get_session_config_entry(b"a.key"))[1],
    "a dimension": lambda options: options.add_free_dimension_override_by_name(b"N", np.bool_(True)),
    "a dimension by a float": lambda options: options.add_free_dimension_override_by_name("N", 2.0),
    "no dimension": lambda options: options.add_free_dimension_override_by_name("N", None),
    "a dimension by its denotation": lambda options: options.add_free_dimension_override_by_denotation(b"N", np.float32(2)),
    "a flag by None": lambda options: options.set_load_cancellation_flag(None),
    "a flag by a number": lambda options: options.set_load_cancellation_flag(0),
    "a flag by a text": lambda options: options.set_load_cancellation_flag("1"),
    "a delegate": lambda options: options.set_provider_selection_policy_delegate(len),
    "no delegate": lambda options: options.set_provider_selection_policy_delegate(None),
    "a delegate by a number": lambda options: options.set_provider_selection_policy_delegate(3),
    "a delegate by a text": lambda options: options.set_provider_selection_policy_delegate("len"),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_take_and_refuse_the_same_arguments(name):
    expected, given = (taken(lambda host=host: CALLS[name](host.SessionOptions())) for host in (onnxruntime, roundhouse))
    assert given == expected


def test_entries_of_runs_take_bytes():
    for host in (onnxruntime, roundhouse):
        options = host.RunOptions()
        options.add_run_config_entry(b"a.key", b"1")
        assert options.get_run_config_entry(b"a.key") == "1"


def test_names_of_initializers_and_libraries_may_be_bytes(feed):
    for host in (onnxruntime, roundhouse):
        options, value = host.SessionOptions(), host.OrtValue.ortvalue_from_numpy(feed["b"])  # which ONNX Runtime does not keep
        options.add_initializer(b"w", value)
        made = host.InferenceSession(models.add_with_default(), options, providers=["CPUExecutionProvider"])
        np.testing.assert_array_equal(made.run(None, {"a": feed["a"]})[0], feed["a"] + feed["b"])
        with pytest.raises(Exception, match="is-nowhere"):
            options.register_custom_ops_library(b"/is-nowhere.so")


def test_a_number_as_a_flag_has_effect(tmp_path, feed):
    options = roundhouse.SessionOptions()
    options.enable_profiling, options.profile_file_prefix = 1, str(tmp_path / "profile").encode()
    made = roundhouse.InferenceSession(models.add(), options, providers=["CPUExecutionProvider"])
    made.run(None, feed)
    assert pathlib.Path(made.end_profiling()).parent == tmp_path
