import os
import pathlib
import shutil
import sys
import tempfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / folder) for folder in ("tests/kit", "tests/models", "tests/differential", "python/roundhouse")]


@pytest.fixture(scope="session", autouse=True)
def cache_folder():
    """What providers keep on disk by themselves is no business of the user's cache."""
    folder = tempfile.mkdtemp(prefix="rh_kit_cache_")
    os.environ["ROUNDHOUSE_CACHE_DIR"] = folder
    yield pathlib.Path(folder)
    shutil.rmtree(folder)
