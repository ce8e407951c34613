"""The wheels on root file systems of other Debians, installed by pip without a network, and a program there."""

import shutil

import pytest
from support import PYTHONS, ROOT, WHEELS, numpy_wheel, required, root_file_system, run, write_models

# The system, its glibc, and the Python: the system's own, or one that is copied there.
ROWS = [
    ("bullseye", "2.31", "3.10", "copied"),
    ("bullseye", "2.31", "3.11", "copied"),
    ("bullseye", "2.31", "3.12", "copied"),
    ("bookworm", "2.36", "3.11", "its own"),
    ("bookworm", "2.36", "3.14", "copied"),
    ("trixie", "2.41", "3.13", "its own"),
]


@pytest.mark.parametrize("suite, glibc, version, whose", ROWS, ids=lambda value: value.replace(" ", "_"))
def test_a_program(suite, glibc, version, whose):
    root = root_file_system(suite)
    work = root / "work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    write_models(work)
    numpy_wheel(version, root / "wheels")
    python, variables = f"/usr/bin/python{version}", ""
    if whose == "copied":
        shutil.copytree(PYTHONS / version, root / "opt" / version, symlinks=True, dirs_exist_ok=True)
        python, variables = f"/opt/{version}/bin/python{version}", f"LD_LIBRARY_PATH=/opt/{version}"
    script = f"""
set -e
export {variables} HOME=/work
ldd --version | head -n 1 | grep -q ' {glibc}$'
{python} -m venv /work/venv
/work/venv/bin/pip install -q --disable-pip-version-check --no-index --find-links /wheels '{required()}'
cd /work && /work/venv/bin/python program.py /work
"""
    said = run([ROOT / "scripts/root", suite, "--", "bash", "-c", script])
    assert said.stdout == f"ran {version.replace('.', ' ')}\n", said
    assert WHEELS.is_dir()
