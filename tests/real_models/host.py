"""One host of run.py: loads a program or a file of packages, and runs, times and re-creates what it made as it is asked to.

host.py NAME OUTPUTS. Each line of the standard input is a command, each line of the standard output its answer:
`load` (writes the outputs of the first run), `run SECONDS`, `create`.
"""

import json
import os
import sys
import time

import numpy as np
import onnxruntime


def status(field):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(field + ":"))


class Watched(onnxruntime.InferenceSession):
    """A session on one thread that keeps how it was made, what it gives and how long that takes."""

    made, outputs, seconds, creation, before = [], None, 0.0, 0.0, None

    def __init__(self, path_or_bytes, sess_options=None, *others, **named):
        sess_options = sess_options or onnxruntime.SessionOptions()
        sess_options.intra_op_num_threads = sess_options.inter_op_num_threads = 1
        if Watched.before is None:
            with open("/proc/self/clear_refs", "w") as file:
                file.write("5")  # the peak of memory counts from here
            Watched.before = status("VmRSS")
        started = time.perf_counter()
        super().__init__(path_or_bytes, sess_options, *others, **named)
        Watched.creation += time.perf_counter() - started
        Watched.made.append(((path_or_bytes, sess_options, *others), named))

    def run(self, *args, **named):
        started = time.perf_counter()
        found = super().run(*args, **named)
        Watched.seconds += time.perf_counter() - started
        if Watched.outputs is not None:
            Watched.outputs += [np.asarray(value) for value in found]
        return found


def load(name, outputs):
    import files
    from programs import PROGRAMS

    program = files.load(name) if name in files.FILES else PROGRAMS[name]()
    Watched.outputs = []
    answer = program()
    memory = status("VmHWM") - Watched.before
    np.savez(outputs, *Watched.outputs)
    Watched.outputs = None
    return program, {"answer": answer, "sessions": len(Watched.made), "memory": memory, "runtime": onnxruntime.__file__}


def fastest(program, seconds):
    """Milliseconds in the sessions' runs, of the fastest of the program's runs."""
    until, best = time.perf_counter() + seconds, np.inf
    while True:
        Watched.seconds = 0.0
        program()
        best = min(best, Watched.seconds)
        if time.perf_counter() >= until:
            return best * 1e3


def create_again():
    total = 0.0
    for args, named in list(Watched.made):
        started = time.perf_counter()
        session = OfPackage(*args, **named)
        total += time.perf_counter() - started
        del session
    return total * 1e3


def main():
    name, outputs = sys.argv[1:]
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what packages print is no answer
    program = None
    for line in sys.stdin:
        command, *arguments = line.split()
        try:
            if command == "load":
                program, answer = load(name, outputs)
            else:
                answer = fastest(program, float(arguments[0])) if command == "run" else create_again()
        except Exception as error:
            answer = {"fails": type(error).__name__, "message": " ".join(str(error).split())}
        print(json.dumps(answer), file=answers, flush=True)


OfPackage = onnxruntime.InferenceSession
onnxruntime.InferenceSession = Watched
if __name__ == "__main__":
    main()
