#!/usr/bin/env python3
"""Looks for single operators that are slow in types, axes, strides and attributes that docs/operator_speed.md does not have.

Cells are drawn from the families of sweep_elements.py, sweep_moves.py and sweep_products.py, the same ones for a seed. Each runs on
Roundhouse and its peers by turns in one process; what takes more than `--bound` times the faster peer's time runs again alone for longer.
Cells that a runtime refuses, and those whose outputs differ, are listed apart.
"""

import argparse
import json
import random
import re
import sys

import numpy as np
from compare_operators import least_times, runner
from sweep_elements import ELEMENT_FAMILIES
from sweep_moves import MOVE_FAMILIES
from sweep_products import PRODUCT_FAMILIES

MOST = 3000
FAMILIES = [*ELEMENT_FAMILIES, *MOVE_FAMILIES, *PRODUCT_FAMILIES]
TOLERANCES = {"float16": 1e-2, "float32": 1e-3, "float64": 1e-6}


def cells(seed=0, most=MOST):
    """At most that many cells, as many of each family as its share says."""
    total, drawn = sum(share for _, share in FAMILIES), []
    for family, share in FAMILIES:
        known = list({cell.name: cell for cell in family()}.values())
        drawn += random.Random(f"{seed} {family.__name__}").sample(known, min(len(known), share * most // total))
    return drawn


def difference(own, peer, slack):
    """How a result differs from a peer's, None where it does not. `slack`: what integers may be off."""
    own, peer = np.asarray(own), np.asarray(peer)
    if own.shape != peer.shape or own.dtype != peer.dtype:
        return f"{own.dtype}{list(own.shape)}, expected {peer.dtype}{list(peer.shape)}"
    if own.dtype.kind not in "fiu":
        return None if np.array_equal(own, peer) else "other values"
    off = np.abs(own.astype("f8") - peer.astype("f8"))
    finite = np.isfinite(peer) & np.isfinite(own)
    bound = slack if own.dtype.kind in "iu" else TOLERANCES[own.dtype.name] * (1 + np.abs(peer[finite].astype("f8")).max(initial=0))
    wrong = np.where(finite, off > bound, ~((own == peer) | ((own != own) & (peer != peer))))
    if not wrong.any():
        return None
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"{int(wrong.sum())}/{own.size} values, first at {list(at)}: {own[at]}, expected {peer[at]}"


def answers(runners, feeds):
    """What each runner gives, a text where it refuses."""
    given = {}
    for name, run in runners.items():
        try:
            outputs = run(feeds) if run else "refuses the model"
        except Exception as problem:  # whatever a runtime throws
            outputs = " ".join(str(problem).split())[:160]
        given[name] = list(outputs.values()) if hasattr(outputs, "values") else outputs
    return given


def is_unordered(cell):
    """Whether the standard leaves the order of the first output open, and the others with it."""
    return cell.op == "TopK" and cell.attributes["sorted"] == 0


def looked_at(cell, runtimes, args, seconds):
    """A row: the cell, and its times in microseconds or why there are none."""
    data, feeds = cell.build()
    runners = {runtime: runner(runtime, data, 1) for runtime in runtimes}
    given = answers(runners, feeds)
    row = {"cell": cell.name, "refused": {name: text for name, text in given.items() if isinstance(text, str)}}
    if not row["refused"]:
        slack = 1 if "Q" in cell.op or "Quant" in cell.op else 0
        own, *peers = ([np.sort(out[0], cell.attributes["axis"])] if is_unordered(cell) else out for out in given.values())
        found = [difference(*pair, slack) for outputs in peers for pair in zip(own, outputs, strict=True)]
        row["differs"] = next((text for text in found if text), None)
        least = least_times(runners, feeds, seconds / args.rounds, args.rounds)
        row["microseconds"] = {name: round(1e6 * time, 2) for name, time in least.items() if time}
    return row


def ratio(row):
    """Of the first runtime's time to that of the fastest other one."""
    own, *peers = row.get("microseconds", {}).values() or [0]
    return own / min(peers) if peers else 0


def shown(row):
    return f"| {row['cell']} | {' / '.join(f'{t:.4g}' for t in row['microseconds'].values())} | {ratio(row):.2f} |"


def report(rows, bound):
    """What is slow both times, slowest first, and what could not be compared."""
    slow = sorted((r for r in rows if min(ratio(r), ratio(r.get("again", r))) > bound), key=lambda r: -ratio(r.get("again", r)))
    lines = [f"{len(rows)} cells, {len(slow)} above {bound}:", "", "| cell | microseconds | ratio |", "| --- | --- | --- |"]
    lines += [shown(row.get("again", row)) for row in slow]
    own = next((name for row in rows for name in row.get("microseconds", {})), "")
    for title, chosen in [
        ("differ", [(r["cell"], r["differs"]) for r in rows if r.get("differs")]),
        (f"are refused by {own}", [(r["cell"], r["refused"][own]) for r in rows if own in r["refused"]]),
        ("are refused by a peer", [(r["cell"], "") for r in rows if r["refused"] and own not in r["refused"]]),
    ]:
        lines += ["", f"{len(chosen)} {title}:", ""] + [f"- {name}{': ' if why else ''}{why}" for name, why in chosen]
    return "\n".join(lines)


def swept(chosen, runtimes, args):
    rows = []
    for cell in chosen:
        row = looked_at(cell, runtimes, args, args.seconds)
        if ratio(row) > args.bound:
            row["again"] = looked_at(cell, runtimes, args, args.again)
        rows.append(row)
        if args.results:
            with open(args.results, "a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
    return rows


def read_rows(path):
    """The newest row of each cell."""
    with open(path, encoding="utf-8") as file:
        return list({row["cell"]: row for row in map(json.loads, file)}.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runtimes", default="roundhouse,onnxruntime", help="openvino may be added; the first is compared with the others")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cells", type=int, default=MOST, help="at most")
    parser.add_argument("--seconds", type=float, default=0.02, help="of each runtime and cell")
    parser.add_argument("--again", type=float, default=0.4, help="seconds, of each runtime, for cells above the bound")
    parser.add_argument("--rounds", type=int, default=4, help="turns that these are divided into")
    parser.add_argument("--bound", type=float, default=1.5, help="what is listed: the ratio to the faster peer's time")
    parser.add_argument("--only", default="", help="cells in whose names this regular expression is found")
    parser.add_argument("--part", default="1/1", help="2/8: the second eighth of the cells")
    parser.add_argument("--results", help="a file to which a line of JSON is added for each cell")
    parser.add_argument("--report", help="prints what such a file says, and runs nothing")
    args = parser.parse_args()
    if args.report:
        print(report(read_rows(args.report), args.bound))
        return
    part, parts = map(int, args.part.split("/"))
    chosen = [cell for cell in cells(args.seed, args.cells) if re.search(args.only, cell.name)]
    print(report(swept(chosen[part - 1 :: parts], args.runtimes.split(","), args), args.bound))


if __name__ == "__main__":
    sys.exit(main())
