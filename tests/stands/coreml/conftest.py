import os
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parents[1] / "kit"), str(HERE)]

from coreml_stand import EVALUATOR, STAND_IN  # noqa: E402
from hosts import COREML, dense, registered, session  # noqa: E402

import roundhouse  # noqa: E402


@pytest.fixture(autouse=True)
def evaluated(monkeypatch):
    """Predictions are computed by this folder's own operators, unless a test or the stand says otherwise."""
    if "RH_COREML_EVALUATOR" not in os.environ:
        monkeypatch.setenv("RH_COREML_EVALUATOR", EVALUATOR)
    monkeypatch.setenv("ROUNDHOUSE_COREML_LIBRARY", str(STAND_IN))  # for what hosts ask without a session's options


@pytest.fixture
def coreml_calls(tmp_path, monkeypatch):
    """Makes a session on the stand-in and gives the lines that it wrote; packages are kept in tmp_path."""
    record = tmp_path / "record.txt"
    monkeypatch.setenv("RH_COREML_RECORD", str(record))
    monkeypatch.setenv("RH_COREML_KEEP", str(tmp_path))

    def calls(settings=None, host=roundhouse, model=None, fault="", feed=None):
        record.write_text("")
        monkeypatch.setenv("RH_COREML_FAULT", fault)
        with registered(host, COREML):
            made = session(host, COREML, model or dense(), {"library_path": str(STAND_IN), **(settings or {})})
            if feed is not None:
                made.run(None, feed)
            del made
        return record.read_text().splitlines()

    return calls
