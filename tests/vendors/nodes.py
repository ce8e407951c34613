#!/usr/bin/env python3
"""Runs generated models of one node with a vendor's provider before the CPU, and holds them to Roundhouse's CPU alone.

Each node is run with the sizes of its inputs in the model and with open ones, with one thread and with two: what a vendor gets wrong with
sizes that only a run tells is refused. An error of a run counts as wrong, as another result does. Values are finite. What the host refuses
with the same words on its CPU alone is the host's own doing: it is counted apart.

nodes.py --provider NAME [--count 120] [--seed 1] [--family pool] [--only "pool 1000004"] [--verbose]
"""

import argparse
import collections
import os
import sys
import time

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

from vendor_runtime import HOSTS, PROVIDERS, VendorRuntime, owners, refusals, write_counts  # noqa: E402, I001
import attention_nodes  # noqa: E402
import dense_nodes  # noqa: E402
import element_nodes  # noqa: E402
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from backend_cases.workers import Pool  # noqa: E402
from draws import Draw, Fixed  # noqa: E402
from onnx import helper, numpy_helper  # noqa: E402

FAMILIES = {**attention_nodes.FAMILIES, **dense_nodes.FAMILIES, **element_nodes.FAMILIES}
BOUNDS = {"float16": 2e-2, "float32": 3e-4}
OPEN, CLOSED = True, False


class Node:
    """A drawn node. `key`: its family and its seed."""

    def __init__(self, family, seed):
        self.key, self.family, self.seed = f"{family} {seed}", family, seed

    def draw(self):
        return FAMILIES[self.family](Draw(self.seed))

    def model(self, drawn, is_open):
        names, inputs, constants, feeds = [], [], [], {}
        for i, value in enumerate(drawn.inputs):
            names.append("" if value is None else f"x{i}")
            if isinstance(value, Fixed):
                constants.append(numpy_helper.from_array(np.ascontiguousarray(value.value).reshape(value.value.shape), names[-1]))
            elif value is not None:
                feeds[names[-1]] = np.asarray(value)
                shape = [f"{names[-1]}_{axis}" for axis in range(value.ndim)] if is_open else value.shape
                inputs.append(helper.make_tensor_value_info(names[-1], helper.np_dtype_to_tensor_dtype(value.dtype), shape))
        results = [f"y{i}" for i in range(drawn.outputs)]
        node = helper.make_node(drawn.op, names, results, domain=drawn.domain, **drawn.attributes)
        graph = helper.make_graph([node], "main", inputs, [helper.make_empty_tensor_value_info(name) for name in results], constants)
        opsets = [helper.make_opsetid("", drawn.opset)] + ([helper.make_opsetid(drawn.domain, 1)] if drawn.domain else [])
        return helper.make_model(graph, opset_imports=opsets, ir_version=8), feeds


def steps_of(drawn):
    """How many steps a quantized value may be off, which is a value half way between two."""
    return 1 if drawn.op in ("QuantizeLinear", "QLinearConv", "QLinearMatMul") else 0


def difference(expected, actual, steps):
    """How an output departs from the CPU's; None where it does not."""
    if expected.shape != actual.shape or expected.dtype != actual.dtype:
        return f"{actual.dtype}{list(actual.shape)}, expected {expected.dtype}{list(expected.shape)}"
    if expected.dtype.kind in "OUSTb" or expected.size == 0:
        return None if np.array_equal(expected, actual) else "other values"
    if expected.dtype.kind in "iu":
        off = int(np.abs(expected.astype("O") - actual.astype("O")).max())
        return f"off by {off}" if off > steps else None
    e, a = expected.astype("f8"), actual.astype("f8")
    with np.errstate(invalid="ignore"):
        bad = ~((np.abs(e - a) <= BOUNDS.get(expected.dtype.name, 1e-6) * (np.abs(e) + 1)) | (e == a) | (np.isnan(e) & np.isnan(a)))
    return f"{int(bad.sum())} of {e.size} elements, as {a[bad][0]:.6g}, expected {e[bad][0]:.6g}" if bad.any() else None


class Runtimes:
    """A provider's sessions with one thread and with two."""

    def __init__(self, host, provider, library):
        self.one = VendorRuntime(host, provider, path=library)
        self.provider = provider
        self.reference = self.one if host == "roundhouse" else VendorRuntime("roundhouse", provider, path=library)

    def session(self, model, threads):
        self.one.threads = threads
        return self.one.session(model)

    def host_refuses(self, model, message):
        """Whether the host says the same of the model where it has its CPU alone."""
        try:
            self.one.cpu_session(model, plain=True)
        except Exception as error:
            return str(error) == message
        return False


def verdict(runtimes, case):
    """`run`, `left`, `invalid` where Roundhouse's CPU refuses, `refused` where the host does without the provider, `fails` or `error` where
    the provider does when it is loaded or in a run, else how it differs."""
    try:
        drawn = case.draw()
        (model, feeds), (with_open, _) = (case.model(drawn, is_open) for is_open in (CLOSED, OPEN))
        runtimes.reference.cpu_session(with_open.SerializeToString(), plain=True).run(None, feeds)
        expected = runtimes.reference.cpu_session(model.SerializeToString(), plain=True).run(None, feeds)
    except Exception as error:
        return "invalid", str(error)[:120]
    ran, reasons, errors, refused = False, set(), [], ""
    for is_open, threads in ((CLOSED, 1 + case.seed % 2), (OPEN, 2 - case.seed % 2)):
        data = case.model(drawn, is_open)[0].SerializeToString()
        where = f"{'open' if is_open else 'fixed'} sizes, {threads} threads"
        try:
            session = runtimes.session(data, threads)
        except Exception as error:
            said = f"{drawn.op}, {where}: {error}"[:900]
            if runtimes.host_refuses(data, str(error)):
                refused = said
                continue
            return "fails", said
        if not owners(session)[runtimes.provider]:
            reasons |= {reason for _, reason in refusals(session, runtimes.provider)}
            continue
        ran = True
        for _ in range(2):
            try:
                actual = session.run(None, feeds)
            except Exception as error:
                errors.append(f"{drawn.op}, {where}: {error}"[:900])
                break
            for i, (e, a) in enumerate(zip(expected, actual, strict=True)):
                if found := difference(np.asarray(e), np.asarray(a), steps_of(drawn)):
                    return "differs", f"{drawn.op}-{drawn.opset} {drawn.attributes}, {where}, output {i}: {found}"
    if errors:
        return "error", errors[0]
    if refused:
        return "refused", refused
    return ("run", "") if ran else ("left", f"{drawn.op}: {'; '.join(sorted(reasons))}"[:200])


def show(made, text):
    family, _, seed = text.rpartition(" ")
    case = Node(family, int(seed))
    for is_open in (CLOSED, OPEN):
        print(onnx.printer.to_text(case.model(case.draw(), is_open)[0]))
    print(*verdict(made(), case))
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--provider", required=True, choices=PROVIDERS)
    parser.add_argument("--host", default="roundhouse", choices=HOSTS)
    parser.add_argument("--library")
    parser.add_argument("--count", type=int, default=120, help="of each family")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--family", choices=FAMILIES)
    parser.add_argument("--only", help="the text of one node's models, and its verdict")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--counts")
    parser.add_argument("--verbose", "-v", action="store_true")
    args = parser.parse_args()
    made = lambda: Runtimes(args.host, args.provider, args.library)  # noqa: E731
    if args.only:
        return show(made, args.only)
    started, first = time.monotonic(), args.seed * 1_000_000
    cases = [Node(family, first + i) for family in ([args.family] if args.family else FAMILIES) for i in range(args.count)]
    results = Pool(cases, made, args.jobs, 60, run=verdict).run()
    tally = collections.Counter(status for status, _ in results.values())
    for key, (status, message) in results.items():
        if status not in ("run", "left", "invalid", "refused") or args.verbose:
            print(f"{status:8}{key}  {message}")
    good = tally["run"] + tally["left"]
    bad = len(results) - good - tally["invalid"] - tally["refused"]
    print(f"{args.provider} in {args.host}: {dict(tally)} of {len(results)} in {time.monotonic() - started:.0f} s")
    if not tally["run"]:
        print(f"NOTHING RAN on {args.provider}")
        bad += 1
    write_counts(args.counts, good, bad)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
