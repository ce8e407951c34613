"""Runs cases in forked processes, so that one that crashes or hangs costs only itself."""

import collections
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import time
import warnings
from multiprocessing.connection import wait

import numpy as np

from .runtime import run_case

IMPORT_SECONDS = 120


def serve(connection, log, cases, make_runtime, run):
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.dup2(log, 1)
    os.dup2(log, 2)
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    try:
        runtime = make_runtime()
    except Exception as error:
        connection.send(("unusable", f"{type(error).__name__}: {error}"))
        return
    connection.send(("ready", None))
    while (index := connection.recv()) is not None:
        os.ftruncate(log, 0)
        connection.send((index, run(runtime, cases[index])))
    sys.stdout.flush()
    os._exit(0)


class Worker:
    def __init__(self, context, cases, make_runtime, seconds, run):
        self.seconds = seconds
        self.log = tempfile.TemporaryFile(mode="w+b", buffering=0)
        self.connection, child = context.Pipe()
        self.process = context.Process(target=serve, args=(child, self.log.fileno(), cases, make_runtime, run), daemon=True)
        self.process.start()
        child.close()
        self.case, self.served, self.idle = None, 0, False
        self.deadline = time.monotonic() + IMPORT_SECONDS

    def give(self, index):
        self.case, self.idle = index, False
        self.served += 1
        self.deadline = time.monotonic() + self.seconds
        self.connection.send(index)

    def how_it_died(self):
        self.process.join(5)
        code = self.process.exitcode
        what = signal.Signals(-code).name if code is not None and code < 0 else f"exit code {code}"
        self.log.seek(0)
        lines = self.log.read(4000).decode("utf-8", "replace").split("\n")
        return f"{what} {next((line.strip() for line in lines if line.strip()), '')[:160]}".strip()

    def stop(self):
        self.process.kill()
        self.process.join()
        self.connection.close()
        self.log.close()


class Pool:
    """`run` makes a verdict of a runtime and a case. A case whose worker died is tried once more; the second verdict counts.

    Each process makes a runtime of its own; `tell` hears of each case's key and verdict when it is final.
    """

    def __init__(self, cases, make_runtime, jobs, seconds, run=run_case, tell=lambda key, verdict: None):
        self.cases, self.jobs, self.tell = cases, jobs, tell
        self.start = lambda: Worker(multiprocessing.get_context("fork"), cases, make_runtime, seconds, run)
        self.todo = collections.deque(range(len(cases)))
        self.retried, self.results, self.workers = set(), {}, []

    def run(self):
        """{key: (status, message)}."""
        try:
            while len(self.results) < len(self.cases):
                while len(self.workers) < min(self.jobs, len(self.cases) - len(self.results)):
                    self.workers.append(self.start())
                self.step(wait([w.connection for w in self.workers], timeout=0.2))
        finally:
            for worker in self.workers:
                worker.stop()
        return {self.cases[i].key: result for i, result in sorted(self.results.items())}

    def step(self, ready):
        for worker in list(self.workers):
            if worker.connection in ready:
                self.receive(worker)
            elif time.monotonic() > worker.deadline:
                self.lost(worker, "timeout", f"no answer in {worker.seconds:g} s")
        for worker in self.workers:
            if worker.idle and self.todo:
                worker.give(self.todo.popleft())

    def receive(self, worker):
        try:
            what, result = worker.connection.recv()
        except (EOFError, OSError):
            self.lost(worker, "crash", worker.how_it_died())
            return
        if what == "unusable":
            raise SystemExit(f"a worker cannot start: {result}")
        if what != "ready":
            self.keep(what, result)
        worker.case, worker.idle, worker.deadline = None, True, float("inf")

    def keep(self, case, verdict):
        self.results[case] = verdict
        self.tell(self.cases[case].key, verdict)

    def lost(self, worker, status, message):
        case, alone = worker.case, worker.served == 1
        worker.stop()
        self.workers.remove(worker)
        if case is None:
            raise SystemExit(f"a worker died before it could start: {message}")
        if alone or case in self.retried:
            self.keep(case, (status, message))
        else:
            self.retried.add(case)
            self.todo.appendleft(case)
