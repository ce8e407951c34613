"""A region and its kernels in the host's profile, by the names of the model's nodes."""

import json
import time

import pytest
from hosts import HOSTS, SAMPLE, dense, floats, registered

FEED = {"x": floats(300, 4), "x2": floats(300, 3)}
hosts = pytest.mark.parametrize("host", HOSTS, ids=lambda h: h.__name__)


def profile_of(host, folder, settings):
    """The events of a session that ran twice, and how long it took, in microseconds."""
    options = host.SessionOptions()
    options.graph_optimization_level = host.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.enable_profiling = True
    options.profile_file_prefix = str(folder / "profile")
    options.add_provider_for_devices([d for d in host.get_ep_devices() if d.ep_name == SAMPLE], settings)
    begin = time.perf_counter()
    session = host.InferenceSession(dense(), options)
    for _ in range(2):
        session.run(None, FEED)
    with open(session.end_profiling()) as file:
        return json.load(file), (time.perf_counter() - begin) * 1e6


@hosts
@pytest.mark.parametrize("settings", [{"cache": "0"}, {}, {}], ids=["compiled", "kept", "from the cache"])
def test_regions_and_kernels_have_the_names_of_nodes(host, settings, tmp_path):
    with registered(host, SAMPLE):
        events, took = profile_of(host, tmp_path, settings)
    ours = [event for event in events if event.get("args", {}).get("region")]
    assert all(0 <= event["ts"] and event["dur"] >= 0 and event["ts"] + event["dur"] <= took for event in ours)
    regions = {event["name"]: event for event in ours if event["name"] == event["args"]["region"]}
    assert sorted(event["args"]["nodes"] for event in regions.values()) == ["last", "product,sum,scaled"]
    kernels = [event for event in ours if event["name"] == "sv_step"]
    assert sorted(event["args"]["nodes"] for event in kernels) == sorted(["product", "sum", "scaled", "last"] * 2)
    for kernel in kernels:
        around = [e for e in ours if e["name"] == kernel["args"]["region"] and e["ts"] <= kernel["ts"]]
        assert any(kernel["ts"] + kernel["dur"] <= e["ts"] + e["dur"] + 1 for e in around)
