"""Keys of sessions and of runs that begin with `ep.<name>.` reach the provider, in both hosts."""

import pytest
from hosts import DUMP, HOSTS, SAMPLE, dense, failure, floats, registered, session

hosts = pytest.mark.parametrize("host", HOSTS, ids=lambda h: h.__name__)
FEED = {"x": floats(3, 4), "x2": floats(3, 3)}


@hosts
def test_keys_of_a_session(host):
    with registered(host, SAMPLE):
        key = f"ep.{SAMPLE.lower()}.least_nodes"
        session(host, SAMPLE, dense(), config={key: "2"})
        message = failure(lambda: session(host, SAMPLE, dense(), config={key: "none"}))
        assert f"option 'least_nodes' of {SAMPLE} is 'none', expected an integer" in message


def run_with_notes(host, given):
    given.disable_fallback()
    given.run(None, FEED)
    for note in ("first", "stop", "last"):
        options = host.RunOptions()
        options.add_run_config_entry(f"ep.{DUMP.lower()}.note", note)
        if note == "stop":
            assert "the note says stop" in failure(lambda options=options: given.run(None, FEED, options))
        else:
            given.run(None, FEED, options)


@hosts
def test_keys_of_a_run(host, tmp_path):
    path = tmp_path / "notes"
    with registered(host, DUMP):
        run_with_notes(host, session(host, DUMP, dense(), {"file": str(path)}))
    runs = [line.removeprefix("== run ") for line in path.read_text().splitlines() if line.startswith("== run ")]
    assert runs == ["without a note", "first", "stop", "last"]
