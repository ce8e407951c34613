"""set_default_logger_callback."""

import sys
import threading

import models
import onnxruntime
import pytest

import roundhouse

BOTH = pytest.mark.parametrize("module", [roundhouse, onnxruntime], ids=lambda m: m.__name__)
CPU = ["CPUExecutionProvider"]


@pytest.fixture(autouse=True)
def usual_logger():
    yield
    for module in (roundhouse, onnxruntime):
        module.set_default_logger_callback(None)
        module.set_default_logger_severity(2)


def make(module):
    module.InferenceSession(models.add(), module.SessionOptions(), providers=CPU)


@BOTH
def test_messages_come_as_they_are(module):
    messages = []
    module.set_default_logger_callback(lambda *message: messages.append(message), 0)
    make(module)
    assert messages
    for severity, category, logid, location, text in messages:
        assert severity in range(5) and category and isinstance(logid, str) and isinstance(location, str) and text
    known = len(messages)
    module.set_default_logger_callback(None)
    module.set_default_logger_severity(2)
    make(module)
    assert len(messages) == known


@BOTH
def test_the_severity_holds(module):
    messages = []
    module.set_default_logger_callback(lambda *message: messages.append(message), 3)
    make(module)
    assert not messages


@BOTH
def test_what_fails_is_reported_and_the_message_goes_to_stderr(module, monkeypatch, capfd):
    raised = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: raised.append(unraisable.exc_value))

    def fail(*_):
        raise ValueError("no")

    module.set_default_logger_callback(fail, 0)
    make(module)
    assert raised and all(isinstance(error, ValueError) for error in raised)
    assert "[V:" in capfd.readouterr().err


def test_messages_inside_a_callback_go_to_stderr(capfd):
    depth, deepest = 0, 0

    def again(*_):
        nonlocal depth, deepest
        depth += 1
        deepest = max(deepest, depth)
        if depth == 1:
            make(roundhouse)
        depth -= 1

    roundhouse.set_default_logger_callback(again, 0)
    make(roundhouse)
    assert deepest == 1
    assert "[V:" in capfd.readouterr().err


def test_messages_of_several_threads():
    messages = []
    roundhouse.set_default_logger_callback(lambda *message: messages.append(message), 0)
    threads = [threading.Thread(target=make, args=(roundhouse,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(messages) >= 4


@pytest.mark.parametrize("severity", [2, 3])
def test_a_session_keeps_to_its_severity(severity, tmp_path, capfd):
    (tmp_path / "order.json").write_text("{}")
    options = roundhouse.SessionOptions()
    options.log_severity_level = severity
    options.add_session_config_entry("session.node_partition_config_file", str(tmp_path / "order.json"))
    roundhouse.InferenceSession(models.identity(), options, providers=["CPUExecutionProvider"])
    assert ("[W:" in capfd.readouterr().err) == (severity == 2)


@BOTH
@pytest.mark.parametrize(("callback", "severity"), [(print, 9), (print, -1), (3, 2), (None, 9)])
def test_wrong_arguments(module, callback, severity):
    with pytest.raises(RuntimeError):
        module.set_default_logger_callback(callback, severity)
