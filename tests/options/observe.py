"""What a setting does: ``observe.py roundhouse|onnxruntime`` reads settings as lines of JSON and answers what was seen under each."""

import collections
import contextlib
import hashlib
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile

import numpy as np
import onnx

if __name__ == "__main__" and sys.argv[1] == "roundhouse":
    import roundhouse

    roundhouse.install_as_onnxruntime()
import onnxruntime as ort
from cases import CASES

MORE_THREADS = len(os.sched_getaffinity(0)) + 1  # than the process has: a session gets its own
SETTLED_FACTS = ("mem_in_use_delta", "mem_arena_held", "parameter_size", "activation_size", "output_size", "op_name", "provider")


def given(value):
    """A member of an enumeration by its name, else the value itself."""
    if isinstance(value, str) and "." in value and hasattr(ort, value.partition(".")[0]):
        return getattr(getattr(ort, value.partition(".")[0]), value.partition(".")[2])
    return value


def options_for(settings, profile=False):
    options, run_options = ort.SessionOptions(), ort.RunOptions()
    options.intra_op_num_threads, options.log_severity_level = MORE_THREADS, 3
    options.enable_profiling = profile
    for kind, name, value in settings:
        if kind == "session key":
            options.add_session_config_entry(name, value)
        elif kind == "session field":
            setattr(options, name, given(value))
        elif kind == "run key":
            run_options.add_run_config_entry(name, value)
        elif kind == "run field":
            setattr(run_options, name, given(value))
    return options, run_options


def digest(value) -> str:
    return hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()[:12] if isinstance(value, np.ndarray) else repr(value)


def outcome(action):
    """What it gives, or the class of what it raises."""
    try:
        return action()
    except Exception as problem:
        return type(problem).__name__


def threads() -> dict[str, str]:
    """The processors that each may be on."""
    found = {}
    for task in pathlib.Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):
            found[task.name] = re.search("Cpus_allowed_list:\\s*(.*)", (task / "status").read_text())[1]
    return found


def register_arena():
    """An arena of the environment that does not hold the largest of the models, for sessions that ask for it."""
    memory = ort.OrtMemoryInfo("Cpu", ort.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, ort.OrtMemType.DEFAULT)
    ort.create_and_register_allocator(memory, ort.OrtArenaCfg({"max_mem": 600_000, "initial_chunk_size_bytes": 65536}))


@contextlib.contextmanager
def captured_messages(lines: list):
    """What is written to standard output and error, the numbers in it left out."""
    sys.stdout.flush()
    with tempfile.TemporaryFile() as file:
        kept = [os.dup(1), os.dup(2)]
        os.dup2(file.fileno(), 1), os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            sys.stdout.flush()
            for number, descriptor in enumerate(kept, start=1):
                os.dup2(descriptor, number)
                os.close(descriptor)
            file.seek(0)
            text = file.read().decode(errors="replace")
            lines += [re.sub(r"0x[0-9a-f]+|[0-9]+", "#", line) for line in text.splitlines()]


def files_of(folder: pathlib.Path):
    """By name without numbers: size in steps, and of models the operators and how many weights lie outside."""
    found = {}
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        name = re.sub("[0-9]+", "#", str(path.relative_to(folder)))
        if path.suffix == ".onnx":
            model = outcome(lambda path=path: onnx.load(path, load_external_data=False))
            if not isinstance(model, str):
                outside = sum(bool(t.external_data) for t in model.graph.initializer)
                found[name] = [sorted(collections.Counter(n.op_type for n in model.graph.node).items()), outside]
                continue
        found[name] = path.stat().st_size.bit_length() if path.suffix != ".json" else "a trace"
    return found


def trace_of(text):
    events = json.loads(text)
    nodes = [e for e in events if e.get("cat") == "Node"]
    facts = [[e["args"].get(key) for key in SETTLED_FACTS] for e in nodes]
    return [e["name"] for e in nodes], facts


def observe_case(name, settings, folder):
    """One model under settings, in an empty working folder."""
    model, feed = CASES[name]()
    seen = {}
    before = threads()
    options, run_options = options_for(settings)
    session = outcome(lambda: ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"]))
    if isinstance(session, str):
        return {"creation": session}
    seen["threads"] = sorted(allowed for task, allowed in threads().items() if task not in before)
    seen["assignment"] = outcome(lambda: len(session.get_provider_graph_assignment_info()))
    seen["outputs"] = outcome(lambda: [digest(v) for v in session.run(None, feed, run_options)])
    if hasattr(session, "memory_plan"):
        plan = session.memory_plan(feed)
        seen["memory"] = [plan[key] for key in ("packed_bytes", "arena_bytes", "weight_bytes")]
        seen["held"] = session.statistics()["frame_bytes"]
    session = None
    seen["files"] = files_of(folder)
    return seen


def observe_trace(name, settings):
    model, feed = CASES[name]()
    options, run_options = options_for(settings, profile=True)
    session = outcome(lambda: ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"]))
    if isinstance(session, str):
        return session
    outcome(lambda: session.run([model.graph.output[0].name], feed, run_options))
    path = session.end_profiling()
    return trace_of(pathlib.Path(path).read_text()) if path else "no trace"


def observe(settings):
    """Everything that is seen under settings, each of them a kind, a name and a value."""
    changed = [(name, value) for kind, name, value in settings if kind == "environment"]
    os.environ.update(changed)
    messages: list[str] = []
    seen = {}
    home = os.getcwd()
    try:
        with captured_messages(messages):
            for name in CASES:
                folder = pathlib.Path(tempfile.mkdtemp())
                os.chdir(folder)
                seen[name] = observe_case(name, settings, folder)
                seen[f"{name}, traced"] = observe_trace(name, settings)
                os.chdir(home)
                shutil.rmtree(folder)
    finally:
        os.chdir(home)
        for name, _ in changed:
            del os.environ[name]
    seen["messages"] = sorted(set(messages))
    return seen


def flat(seen, prefix=""):
    if isinstance(seen, dict):
        return {path: value for key, part in seen.items() for path, value in flat(part, f"{prefix}{key}: ").items()}
    return {prefix.removesuffix(": "): json.dumps(seen)}


if __name__ == "__main__":
    ort.set_default_logger_severity(3)
    register_arena()
    for line in sys.stdin:
        print("ANSWER " + json.dumps(flat(observe(json.loads(line)))), flush=True)
