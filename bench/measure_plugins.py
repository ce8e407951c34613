#!/usr/bin/env python3
"""Times one provider's library in Roundhouse and in onnxruntime, round by round, and prints a table.

measure_plugins.py LIBRARY MODEL... [--ep NAME] [--option KEY=VALUE]

Each host lives in a process of its own. Rounds alternate between the hosts, so that noise of the machine hits both alike: in each a session
is made, and the model is run for a while, on one thread. Times are those of the processor (--clock wall: of the clock), the least of the
rounds; a ratio is the median over the rounds of Roundhouse's time by the other's.
"""

import argparse
import importlib
import json
import pathlib
import statistics
import subprocess
import sys
import time

HOSTS = ("roundhouse", "onnxruntime")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--ep", default="", help="name of the provider, where the library has several")
    parser.add_argument("--option", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--registration", default="measured", help="name to register the library by")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.4, help="of runs in each round")
    parser.add_argument("--clock", default="processor", choices=["wall", "processor"])
    parser.add_argument("--worker", choices=HOSTS, help=argparse.SUPPRESS)
    return parser.parse_args()


def work(args):
    """Answers each line of stdin, the seconds to run for, with {"create", "run", "nodes"}."""
    from peer_worker import inputs

    now = time.process_time if args.clock == "processor" else time.perf_counter

    module = importlib.import_module(args.worker)
    module.register_execution_provider_library(args.registration, args.library)
    devices = [d for d in module.get_ep_devices() if d.ep_name != "CPUExecutionProvider" and args.ep in ("", d.ep_name)]
    if not devices:
        print(json.dumps({"error": "no device"}), flush=True)
        return
    [model] = args.models
    feeds = inputs(model, {})
    for line in sys.stdin:
        options = module.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        options.add_provider_for_devices(devices[:1], dict(pair.split("=", 1) for pair in args.option))
        started = now()
        session = module.InferenceSession(model, options)
        created = now() - started
        session.run(None, feeds)
        runs, started = 0, now()
        while (elapsed := now() - started) < float(line) or runs < 2:
            session.run(None, feeds)
            runs += 1
        answer = {"create": created, "run": elapsed / runs}
        if hasattr(session, "placement_summary"):
            counts = session.placement_summary()
            answer["nodes"] = f"{counts.get(devices[0].ep_name, 0)} of {sum(counts.values())}"
        print(json.dumps(answer), flush=True)
        del session


class Host:
    def __init__(self, name, args, model):
        command = [
            sys.executable,
            __file__,
            args.library,
            model,
            "--worker",
            name,
            "--registration",
            args.registration,
            "--clock",
            args.clock,
        ]
        command += ["--ep", args.ep, *(word for option in args.option for word in ("--option", option))]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.rounds = []

    def measure(self, seconds):
        self.process.stdin.write(f"{seconds}\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith("{"):
                self.rounds.append(json.loads(line))
                return
        raise SystemExit(f"a host died: {self.process.args}")

    def best(self, what):
        return min(r[what] for r in self.rounds)


def row(args, model):
    ours, other = (Host(name, args, model) for name in HOSTS)
    for _ in range(args.rounds):
        for host in (ours, other):
            host.measure(args.seconds)
            if "error" in host.rounds[-1]:
                raise SystemExit(f"{args.library}: {host.rounds[-1]['error']}")
    cells = [pathlib.Path(model).stem, ours.rounds[-1]["nodes"]]
    for what in ("create", "run"):
        ratio = statistics.median(a[what] / b[what] for a, b in zip(ours.rounds, other.rounds, strict=True))
        cells += [f"{ours.best(what) * 1e3:.3g} / {other.best(what) * 1e3:.3g}", f"{ratio:.2f}"]
    for host in (ours, other):
        host.process.stdin.close()
        host.process.wait()
    return "| " + " | ".join(cells) + " |"


def main():
    args = arguments()
    if args.worker:
        return work(args)
    print("| model | nodes that it took | session ms, Roundhouse / ONNX Runtime | ratio | run ms, Roundhouse / ONNX Runtime | ratio |")
    print("| --- | --- | --- | --- | --- | --- |")
    args.library = str(pathlib.Path(args.library).absolute())
    for model in args.models:
        print(row(args, model), flush=True)


if __name__ == "__main__":
    main()
