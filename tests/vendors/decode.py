#!/usr/bin/env python3
"""Growing steps of a decoder with a vendor's provider before the CPU: past keys are one longer in each, and logits are held to the CPU's.

decode.py --provider NAME [--model gpt2] [--steps 200]: the largest difference of the logits, who has which nodes, and how often the
vendor's compiler ran in the steps, by the session's profile.
"""

import argparse
import collections
import json
import pathlib
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parent / "models")]

import numpy as np  # noqa: E402
from models import error_of  # noqa: E402
from vendor_runtime import PROVIDERS, ROOT, VendorRuntime, owners, refusals  # noqa: E402


def first_feed(inputs):
    feed = {}
    for i in inputs:
        if i.name.startswith("past_key_values"):
            heads, size = i.shape[1], i.shape[3]
            feed[i.name] = np.zeros((1, heads, 1, size), "f4")
    feed["input_ids"], feed["attention_mask"], feed["position_ids"] = np.array([[464]]), np.ones((1, 2), "i8"), np.array([[1]])
    return feed


def next_feed(feed, names, outputs):
    token = int(outputs[0][0, -1].argmax())
    step = feed["attention_mask"].shape[1]
    taken = {"input_ids": np.array([[token]]), "attention_mask": np.ones((1, step + 1), "i8"), "position_ids": np.array([[step]])}
    past = {name.replace("present", "past_key_values"): value for name, value in zip(names[1:], outputs[1:])}
    return {**taken, **past}


def main():
    from materialize import materialize

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--provider", required=True, choices=PROVIDERS)
    parser.add_argument("--library")
    parser.add_argument("--model", default="gpt2")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--most", type=int, default=20, help="compilations of a region")
    args = parser.parse_args()
    path = str(materialize(args.model, ROOT / "build" / "models"))
    runtime = VendorRuntime("roundhouse", args.provider, args.threads, path=args.library)
    plain = runtime.session_options
    with tempfile.TemporaryDirectory() as folder:

        def profiled():
            options = plain()
            options.enable_profiling, options.profile_file_prefix = True, folder + "/profile"
            return options

        runtime.session_options = profiled
        made = runtime.session(path)
        runtime.session_options = plain
        reference = runtime.cpu_session(path)
        names, worst, begin = [o.name for o in made.get_outputs()], 0.0, time.monotonic()
        feed = first_feed(made.get_inputs())
        for _ in range(args.steps):
            expected = reference.run(None, feed)
            worst = max(worst, error_of(made.run(None, feed)[0], expected[0], False))
            feed = next_feed(feed, names, expected)
        events = json.loads(pathlib.Path(made.end_profiling()).read_text())
    compiled = collections.Counter(e["args"]["region"] for e in events if e["name"].endswith("_compile"))
    reasons = collections.Counter(reason.split(":")[0][:90] for _, reason in refusals(made, args.provider))
    print(f"{args.steps} steps in {time.monotonic() - begin:.0f} s, error {worst:.1e}, nodes {dict(owners(made))}")
    print(f"{sum(compiled.values())} compilations of {len(compiled)} regions, {max(compiled.values(), default=0)} at most of one")
    for reason, count in reasons.most_common(8):
        print(f"    {count:4} left: {reason}")
    return 0 if worst < 1e-3 and max(compiled.values(), default=0) <= args.most else 1


if __name__ == "__main__":
    sys.exit(main())
