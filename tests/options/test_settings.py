"""Nothing is accepted without an effect: the sweep (sweep.py) by kinds of setting, and that it has all keys of the installed library."""

import importlib.util
import pathlib
import re

import catalogue
import pytest
import sweep

LIBRARY_KEY = re.compile(rb"(?<![a-zA-Z0-9_.])(?:session|optimization|mlas|ep|memory)\.[a-z0-9_.]+[a-z0-9](?=\0)")


@pytest.fixture(scope="module")
def runtimes():
    return sweep.Runtime("roundhouse"), sweep.Runtime("onnxruntime")


@pytest.mark.parametrize("kind", sweep.KINDS)
def test_each_setting_has_an_effect_or_a_row_that_says_why_not(runtimes, kind):
    wrong = {}
    for name, values in sweep.KINDS[kind].items():
        *seen, problem = sweep.look_at(kind, name, values, *runtimes)
        if problem:
            wrong[name] = (problem, *seen)
    assert not wrong


def test_every_key_of_the_installed_library_is_looked_at():
    folder = pathlib.Path(importlib.util.find_spec("onnxruntime").submodule_search_locations[0])
    [library] = (folder / "capi").glob("onnxruntime_pybind11_state*")
    keys = {key.decode() for key in LIBRARY_KEY.findall(library.read_bytes())}
    assert len(keys) > 80
    assert keys - set(catalogue.SESSION_KEYS) - set(catalogue.RUN_KEYS) == set()
