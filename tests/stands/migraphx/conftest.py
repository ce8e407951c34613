import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parents[1] / "kit"), str(HERE)]

from hosts import MIGRAPHX, dense, registered, session  # noqa: E402
from migraphx_recording import STAND_IN  # noqa: E402

import roundhouse  # noqa: E402


@pytest.fixture
def migraphx_calls(tmp_path, monkeypatch):
    """Makes a session on the stand-in and gives the lines that it wrote."""
    record = tmp_path / "record.txt"
    monkeypatch.setenv("RH_MIGRAPHX_RECORD", str(record))
    monkeypatch.setenv("ROUNDHOUSE_MIGRAPHX_LIBRARY", str(STAND_IN))  # for what hosts ask without a session's options
    monkeypatch.delenv("ROUNDHOUSE_CACHE_DIR", raising=False)

    def calls(settings=None, host=roundhouse, model=None, fault="", config=None):
        record.write_text("")
        monkeypatch.setenv("RH_MIGRAPHX_FAULT", fault)
        with registered(host, MIGRAPHX):
            made = session(host, MIGRAPHX, model or dense(), {"library_path": str(STAND_IN), **(settings or {})}, config=config)
            del made
        return record.read_text().splitlines()

    return calls
