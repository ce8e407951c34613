#!/usr/bin/env python3
"""Writes the seeds of the fuzz targets: the smallest official node model of each operator with its inputs, and graphs of the passes' tests.

make_corpus.py          into tests/fuzz/corpus
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from families import official  # noqa: E402
from mutate_models import Mutant  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
MAX_BYTES = 6000


class Unchanged(Mutant):
    def __init__(self, case):
        self.model, self.raw = case.model, None
        self.read_inputs(case)


def models():
    smallest = {}
    for case in official("^node/"):
        data = Unchanged(case).as_one_file()
        key = "_".join(case.ops[:3]) if len(case.ops) <= 3 else ""
        if key and len(data) < MAX_BYTES and len(data) < len(smallest.get(key, (data + b"x",))[0]):
            smallest[key] = (data,)
    return {f"{key}.onnx": data for key, (data,) in smallest.items()}


def graph_texts():
    texts = {}
    for path in sorted((HERE.parent / "passes").glob("*.txt")):
        for i, part in enumerate(re.split(r"^(?:---|===|###).*$", path.read_text(), flags=re.MULTILINE)):
            if "=>" in part and i % 4 == 1:
                texts[f"{path.stem}_{i}.txt"] = part.strip().encode() + b"\n"
    return texts


def main():
    for folder, files in (("model", models()), ("graph_text", graph_texts())):
        to = HERE / "corpus" / folder
        to.mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            (to / name).write_bytes(data)
        print(f"{len(files)} seeds, {sum(map(len, files.values()))} bytes in {to}")


if __name__ == "__main__":
    main()
