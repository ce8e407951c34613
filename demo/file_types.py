#!/usr/bin/env python3
"""file_types.py [FILE...]: the unmodified `magika` package, on Roundhouse, names the types of files of different kinds.

Without arguments the files are those beside this script and the runtime library itself; then each answer is checked.
"""

import pathlib
import sys
import time

import roundhouse

roundhouse.install_as_onnxruntime()
from magika import Magika  # noqa: E402  (asks for onnxruntime)

FILES = pathlib.Path(__file__).resolve().parent / "files"
EXPECTED = {
    "Client.java": "java",
    "backup.sh": "shell",
    "bundle.zip": "zip",
    "guide.md": "markdown",
    "histogram.c": "c",
    "inventory.py": "python",
    "measurements.csv": "csv",
    "page.html": "html",
    "schema.sql": "sql",
    "stations.json": "json",
    "tides.pdf": "pdf",
    "tile.png": "png",
    "words.rs": "rust",
}


def library_file():
    """The file of the loaded runtime: an ELF file at hand."""
    maps = pathlib.Path("/proc/self/maps").read_text().splitlines()
    return pathlib.Path(next(line.split()[-1] for line in maps if "libroundhouse.so" in line))


def placement(session):
    return ", ".join(f"{provider} runs {count} nodes" for provider, count in session.placement_summary().items())


def main():
    given = [pathlib.Path(a) for a in sys.argv[1:]]
    wanted = {} if given else {**{FILES / name: label for name, label in EXPECTED.items()}, library_file(): "elf"}
    started = time.perf_counter()
    magika = Magika()
    print(f"magika's model loaded in {(time.perf_counter() - started) * 1e3:.0f} ms; {placement(magika._onnx_session)}")
    wrong = 0
    for path in given or wanted:
        started = time.perf_counter()
        result = magika.identify_path(path)
        milliseconds = (time.perf_counter() - started) * 1e3
        label = result.output.label
        note = "" if wanted.get(path, label) == label else f"   expected {wanted[path]}"
        wrong += bool(note)
        print(f"  {path.name:20s} {label:10s} {result.output.description:28s} score {result.score:.3f}  {milliseconds:6.1f} ms{note}")
    print(f"{len(given or wanted) - wrong} files recognised" + (f", {wrong} not as expected" if wrong else ""))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
