"""The wheel for Windows under Wine, in a Python for Windows: what it holds, a model, errors, the command."""

import os
import re
import shutil
import subprocess
import zipfile

import pytest
from conftest import ROOT, windows_path, wine

PYTHON = ROOT / "build/pythons/windows"


@pytest.fixture(scope="session")
def wheel():
    found = sorted((ROOT / "build/wheels").glob("roundhouse-*-cp312-abi3-win_amd64.whl"))
    return found[-1] if found else pytest.skip("there is no wheel for Windows: scripts/wheel windows")


@pytest.fixture(scope="session")
def python(wheel, tmp_path_factory):
    """A Python with the wheel. The one here lacks python3.dll, which hands on to python312.dll what modules for all versions ask for."""
    if not (PYTHON / "python.exe").exists():
        pytest.skip("there is no Python for Windows: scripts/wheel windows brings it")
    zig = os.environ.get("ZIG") or shutil.which("zig") or pytest.skip("ZIG does not name zig")
    if not (PYTHON / "python3.dll").exists():
        folder = tmp_path_factory.mktemp("python3")
        symbols = subprocess.run(["nm", PYTHON / "libs/python3.lib"], capture_output=True, text=True).stdout
        names = sorted(set(re.findall(r"__imp_(\w+)", symbols)))
        assert len(names) > 500
        (folder / "python3.def").write_text("EXPORTS\n" + "".join(f"  {name}=python312.{name}\n" for name in names))
        (folder / "empty.c").write_text("int DllMainCRTStartup(void* a, unsigned b, void* c) { return 1; }\n")
        link = [zig, "cc", "-target", "x86_64-windows-gnu", "-shared", "-nostdlib", "empty.c", "python3.def", "-o", "python3.dll"]
        subprocess.run(link, cwd=folder, check=True)
        shutil.copy(folder / "python3.dll", PYTHON)
    site = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    # What asks Windows about itself ends the process: Wine 8 lacks propsys.dll's VariantToString.
    (site / "sitecustomize.py").write_text("import sys\nsys.modules['_wmi'] = None\n")
    path = ";".join(map(windows_path, [site, PYTHON / "site", ROOT / "python/tests"]))

    def run(*words, **keywords):
        return wine(PYTHON / "python.exe", "-X", "utf8", *words, PYTHONPATH=path, PYTHONDONTWRITEBYTECODE="1", **keywords)

    return run


def test_what_the_wheel_holds(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert {"roundhouse/_native.pyd", "roundhouse/roundhouse.dll", "roundhouse/roundhouse.exe", "roundhouse/__init__.py"} <= names
    assert not [name for name in names if name.endswith((".so", ".so.1"))]


def test_it_is_imported_and_runs_a_model(python, model):
    code = f"""if True:
        import numpy as np, roundhouse as ort
        session = ort.InferenceSession({windows_path(model)!r}, providers=["CPUExecutionProvider"])
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        assert np.array_equal(session.run(None, {{"x": x, "y": x + 1}})[0], (x + x + 1) * (x + 1))
        try:
            ort.InferenceSession("none.onnx")
        except ort.NoSuchFile as error:
            print(error)
        print(ort.get_available_providers())
    """
    done = python("-c", code)
    assert done.returncode == 0, done
    assert "File doesn't exist" in done.stdout and "['CPUExecutionProvider']" in done.stdout


def test_the_command_of_the_package(python, model):
    done = python("-m", "roundhouse._command", "run", windows_path(model))
    assert done.returncode == 0, done
    done = python("-c", "from roundhouse._command import main; main()", "run", windows_path(model), "--json")
    assert done.returncode == 0 and '"outputs"' in done.stdout, done
