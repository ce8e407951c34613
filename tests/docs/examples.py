"""The examples of a document, and running them."""

import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("ROUNDHOUSE_LIBRARY_DIR", ROOT / "build/release/lib")).parent


def blocks(document, language=""):
    """The blocks of one language, in their order."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", (ROOT / document).read_text(), re.S | re.M)
    return [text for name, text in found if name == language]


def block(document, language, holding=""):
    """The one block that has the text in it."""
    found = [text for text in blocks(document, language) if holding in text]
    assert len(found) == 1, f"{document} has {len(found)} {language} blocks with '{holding}', expected 1"
    return found[0]


def run(command, folder, **variables):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, env={**os.environ, **variables})
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout
