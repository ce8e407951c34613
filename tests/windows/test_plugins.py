"""Our providers as DLLs, from the same file in Roundhouse's library and in ONNX Runtime's own for Windows, which a package for Node has."""

import pathlib
import re
import shutil
import subprocess

import pytest
from conftest import LIBRARIES, ROOT, windows_path, wine

NODE = "1.30.0"  # as scripts/bindings.py takes it
OURS = {"sample": "SampleExecutionProvider", "fake_device": "FakeDeviceExecutionProvider", "example": "ExampleExecutionProvider"}


@pytest.fixture(scope="session")
def stock():
    """onnxruntime.dll of the package, kept beside the build."""
    folder = ROOT / "build/windows/stock" / NODE
    library = folder / "onnxruntime.dll"
    if not library.exists():
        folder.mkdir(parents=True, exist_ok=True)
        packed = subprocess.run(["npm", "pack", "--silent", f"onnxruntime-node@{NODE}"], cwd=folder, capture_output=True, text=True)
        if packed.returncode:
            pytest.skip(f"onnxruntime-node {NODE} cannot be had: {packed.stderr.strip()[-200:]}")
        archive = folder / packed.stdout.split()[-1]
        inside = "package/bin/napi-v6/win32/x64"
        subprocess.run(["tar", "-xzf", archive, inside], cwd=folder, check=True)
        for file in (folder / inside).glob("*.dll"):
            shutil.move(file, folder / file.name)
        archive.unlink()
    return library


@pytest.fixture(scope="session")
def host(programs):
    return programs.windows("host.c", flags=["-municode"])


@pytest.fixture(scope="session")
def vendor():
    return {"SAMPLE_VENDOR_LIBRARY": windows_path(LIBRARIES / "sample_vendor.dll")}


def given(host, library, provider, model, **variables):
    file = LIBRARIES / f"roundhouse_provider_{provider}.dll"
    done = wine(host, windows_path(library), windows_path(file), windows_path(model), **variables)
    said = done.stderr.replace("Failed to create DXGI factory.\n", "")  # of ONNX Runtime, where Wine has no display
    assert (done.returncode, said) == (0, ""), done
    lines = dict(line.partition(" ")[::2] for line in done.stdout.splitlines())
    assert "ended" in lines and lines["provider"] == OURS[provider]
    numbers = {what: [float(number) for number in lines[what].split()] for what in ("given", "expected")}
    assert numbers["given"] == numbers["expected"]
    return numbers["given"]


EXPECTED = [(x + y) * y for x, y in ((i % 7 - 3, i % 7 - 2) for i in range(6))]


@pytest.mark.parametrize("library", ["roundhouse.dll", "onnxruntime.dll"])
@pytest.mark.parametrize("provider", OURS)
def test_a_provider_in_our_library(host, vendor, model, provider, library):
    assert given(host, LIBRARIES / library, provider, model, **vendor) == EXPECTED


@pytest.mark.parametrize("provider", OURS)
def test_a_provider_in_onnx_runtime(host, vendor, stock, model, provider):
    assert given(host, stock, provider, model, **vendor) == EXPECTED


def test_a_vendor_that_is_not_there(host, model):
    """The provider's sentence, with the names that files have on Windows."""
    provider = LIBRARIES / "roundhouse_provider_sample.dll"
    done = wine(
        host, windows_path(LIBRARIES / "roundhouse.dll"), windows_path(provider), windows_path(model), SAMPLE_VENDOR_LIBRARY="none.dll"
    )
    assert done.returncode == 1 and re.search(r"the sample vendor's library does not load: cannot load library 'none\.dll'", done.stderr), (
        done
    )


def test_a_library_that_is_no_provider(host, model):
    no_provider = windows_path(LIBRARIES / "sample_vendor.dll")
    done = wine(host, windows_path(LIBRARIES / "roundhouse.dll"), no_provider, windows_path(model))
    assert done.returncode == 1 and "does not export CreateEpFactories" in done.stderr, done


def test_a_library_for_linux(host, model, tmp_path):
    wrong = tmp_path / "provider.dll"
    wrong.write_bytes(pathlib.Path("/bin/true").read_bytes())
    done = wine(host, windows_path(LIBRARIES / "roundhouse.dll"), windows_path(wrong), windows_path(model))
    assert done.returncode == 1 and "does not load" in done.stderr and "(Windows error" in done.stderr, done
