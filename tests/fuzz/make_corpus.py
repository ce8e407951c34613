#!/usr/bin/env python3
"""Writes the seeds of the fuzz targets: the smallest official node model of each operator with its inputs, and graphs of the passes' tests.

make_corpus.py                    into the archives of tests/fuzz/corpus
make_corpus.py --found [FOLDER]   keeps of the corpora that the targets grew in FOLDER (build/fuzz) what reaches more code, smallest first
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import corpus_archive  # noqa: E402
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
            if "=>" in part and i % 8 == 1:
                texts[f"{path.stem}_{i}.txt"] = part.strip().encode() + b"\n"
    return texts


def keep_found(grown):
    """What libFuzzer's merge picks beside the seeds and what was found before; counters and values would keep nearly everything."""
    environment = {**os.environ, "ASAN_OPTIONS": "allocator_may_return_null=1:max_allocation_size_mb=512:detect_leaks=0"}
    for target, folder in (("run_fuzz", "model"), ("load_fuzz", "model"), ("graph_text_fuzz", "graph_text")):
        corpus = corpus_archive.read(folder)
        found = corpus[f"found_{folder}"]
        with tempfile.TemporaryDirectory() as merged:
            for files in corpus.values():
                for name, data in files.items():
                    (pathlib.Path(merged) / name).write_bytes(data)
            known = set(os.listdir(merged))
            program = HERE.parents[1] / "build/asan/tests" / target
            options = ["-merge=1", "-use_counters=0", "-use_value_profile=0", "-max_len=4096", "-timeout=60", "-rss_limit_mb=4096"]
            subprocess.run(
                [program, *options, "-malloc_limit_mb=0", merged, grown / target], env=environment, stderr=subprocess.DEVNULL, check=True
            )
            new = [path for path in pathlib.Path(merged).iterdir() if path.name not in known]
            found.update((path.name, path.read_bytes()) for path in new)
        corpus_archive.write(folder, corpus)
        print(f"{target}: {len(new)} inputs more, {len(found)} found in all, {sum(map(len, found.values()))} bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--found", nargs="?", type=pathlib.Path, const=HERE.parents[1] / "build/fuzz", metavar="FOLDER")
    args = parser.parse_args()
    if args.found:
        return keep_found(args.found)
    for folder, files in (("model", models()), ("graph_text", graph_texts())):
        corpus_archive.write(folder, {**corpus_archive.read(folder), folder: files})
        print(f"{len(files)} seeds, {sum(map(len, files.values()))} bytes in {corpus_archive.archive(folder)}")


if __name__ == "__main__":
    main()
