#!/usr/bin/env python3
"""Counts threads of a process whose sessions are a vendor's: how many there are, and how many of them run, as the system tells every 2 ms.

threads.py --provider OpenVINOExecutionProvider [--sessions 16] [--threads 2]
"""

import argparse
import os
import pathlib
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parent / "kit")]

import numpy as np  # noqa: E402
from vendor_runtime import HOSTS, PROVIDERS, VendorRuntime  # noqa: E402

SIZE = 512


def model():
    from hosts import model_of, tensor
    from onnx import helper

    names = ["x", *(f"p{i}" for i in range(19)), "y"]
    nodes = [helper.make_node("MatMul", [names[i], "w"], [names[i + 1]]) for i in range(20)]
    return model_of(nodes, [tensor("x", ["N", SIZE])], [tensor("y", ["N", SIZE])], {"w": np.ones((SIZE, SIZE), "f4") / SIZE})


def running():
    count = 0
    for task in pathlib.Path("/proc/self/task").iterdir():
        try:
            count += (task / "stat").read_text().rsplit(")", 1)[1].split()[0] == "R"
        except OSError:  # it ended
            continue
    return count - 1  # this one


def watched(work):
    """How many threads run while `work` does, on the average and at most."""
    counts, thread = [], threading.Thread(target=work)
    thread.start()
    while thread.is_alive():
        counts.append(running())
        time.sleep(0.002)
    return f"{sum(counts) / len(counts):.1f} run on the average, {max(counts)} at most"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--provider", required=True, choices=PROVIDERS)
    parser.add_argument("--host", default="roundhouse", choices=HOSTS)
    parser.add_argument("--library")
    parser.add_argument("--sessions", type=int, default=16)
    parser.add_argument("--threads", type=int, default=2, help="intra_op_num_threads of each session")
    args = parser.parse_args()
    runtime = VendorRuntime(args.host, args.provider, args.threads, path=args.library)
    feed = {"x": np.ones((256, SIZE), "f4")}

    def runs(session, seconds=2.0):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            session.run(None, feed)

    def all_at_once():
        callers = [threading.Thread(target=runs, args=(session,)) for session in sessions]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()

    sessions = []
    for count in (1, args.sessions):
        while len(sessions) < count:
            sessions.append(runtime.session(model()))
            runs(sessions[-1], 0)
        print(f"{count} sessions: {len(os.listdir('/proc/self/task'))} threads; one runs: {watched(lambda: runs(sessions[0]))}", flush=True)
    print(f"{args.sessions} sessions, all run, each called by a thread: {watched(all_at_once)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
