"""Completion scripts: the words that a shell offers."""

import shutil
import subprocess

import pytest
from command import roundhouse


def script(shell):
    done = roundhouse("completion", shell)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


# What stands before the cursor, and what is offered.
OFFERS = [
    (["com"], ["compare", "completion"]),
    (["bench", "--con"], ["--config", "--concurrency"]),
    (["bench", "--rou"], ["--rounds"]),
    (["run", "--precision", "f"], ["fp32", "fast"]),
    (["run", "--js"], ["--json"]),
    (["completion", ""], ["bash", "zsh", "fish"]),
    (["inspect", "mod"], ["model.onnx"]),
]


@pytest.mark.parametrize(("words", "wanted"), OFFERS, ids=[" ".join(words) for words, _ in OFFERS])
def test_bash(words, wanted, tmp_path):
    (tmp_path / "model.onnx").write_bytes(b"")
    line = " ".join(f"'{word}'" for word in ["roundhouse", *words])
    ask = f'{script("bash")}\nCOMP_WORDS=({line}) COMP_CWORD={len(words)}; _roundhouse; printf "%s\\n" "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "--norc", "-c", ask], capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(done.stdout.split()) == sorted(wanted)


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells(shell, tmp_path):
    text = script(shell)
    for word in ("compare", "other-precision", "strict", "Threads that run the one session at once"):
        assert word in text
    if shutil.which(shell):
        (tmp_path / "script").write_text(text)
        assert subprocess.run([shell, "-n", tmp_path / "script"], timeout=60).returncode == 0


def test_only_known_shells():
    done = roundhouse("completion", "csh")
    assert done.returncode == 2 and "csh" in done.stderr
