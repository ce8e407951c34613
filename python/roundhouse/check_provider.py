"""Checks a provider's library: operators against the CPU, copies, streams, binding, faults, life and concurrency.

``python -m roundhouse.check_provider LIBRARY`` prints a line for each check and ends with 0 where none failed. Each check runs in a
process that may die or hang without taking the others along.
"""

import argparse
import fnmatch
import json
import os
import signal
import subprocess
import sys
import tempfile
import time


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(prog="python -m roundhouse.check_provider", description=__doc__.split("\n")[0])
    parser.add_argument("library", help="the provider's shared library")
    parser.add_argument("--ep", help="name of the provider, where the library has several")
    parser.add_argument("--option", action="append", default=[], metavar="KEY=VALUE", help="option of the provider; may stand repeatedly")
    parser.add_argument("--skip", metavar="FILE", help="checks to leave out, a line each: PATTERN: REASON")
    parser.add_argument("--only", action="append", default=[], metavar="PATTERN", help="only these checks, as in 'operators/Conv*'")
    parser.add_argument("--timeout", type=float, default=120, metavar="SECONDS", help="of one check (%(default)s)")
    parser.add_argument("--json", action="store_true", help="the report as JSON")
    parser.add_argument("--list", action="store_true", help="names of the checks, without running them")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def read_skips(path):
    """[(pattern, reason)]. ValueError for a line without a reason."""
    skips = []
    if path is None:
        return skips
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            text = line.strip()
            if not text or text.startswith("#"):
                continue
            pattern, _, reason = (part.strip() for part in text.partition(":"))
            if not reason:
                raise ValueError(f"{path}:{number}: '{text}' gives no reason, expected PATTERN: REASON")
            skips.append((pattern, reason))
    return skips


def provider_options(pairs):
    options = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise ValueError(f"option '{pair}', expected KEY=VALUE")
        options[key] = value
    return options


# --- the process that runs checks


def work(arguments):
    """Runs the checks whose names stand on stdin; a line of JSON before and after each goes to the file named by --worker."""
    from roundhouse import _provider_checks as checks

    with open(arguments.worker, "a", encoding="utf-8") as file:

        def tell(**entry):
            file.write(json.dumps(entry) + "\n")
            file.flush()

        tell(start="load/the library")
        try:
            bench = checks.Bench(os.path.abspath(arguments.library), arguments.ep, provider_options(arguments.option))
        except Exception as problem:  # noqa: BLE001 (becomes a line of the report)
            tell(name="load/the library", status="fail", detail=text_of(problem))
            return 0
        tell(name="load/the library", status="pass", detail=bench.name)
        known = checks.all_checks()
        for name in sys.stdin.read().split():
            tell(start=name)
            try:
                known[name](bench)
                tell(name=name, status="pass", detail="")
            except checks.Skip as reason:
                tell(name=name, status="skip", detail=text_of(reason))
            except Exception as problem:  # noqa: BLE001
                tell(name=name, status="fail", detail=text_of(problem))
    return 0


def text_of(problem):
    text = " ".join(str(problem).split()) or type(problem).__name__
    return text if isinstance(problem, (RuntimeError, AssertionError, ValueError)) or str(problem) else type(problem).__name__


# --- the process that reports


def run_worker(arguments, names, results, report):
    """One process; returns the names that it has not come to."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "results")
        command = [sys.executable, "-m", "roundhouse.check_provider", arguments.library, "--worker", path]
        command += ["--ep", arguments.ep] if arguments.ep else []
        for option in arguments.option:
            command += ["--option", option]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        process.stdin.write("\n".join(names))
        process.stdin.close()
        started, seen, now_at, hung = time.monotonic(), 0, None, False
        while True:
            ended = process.poll() is not None
            lines = open(path, encoding="utf-8").read().splitlines() if os.path.exists(path) else []
            for line in lines[seen:]:
                entry = json.loads(line)
                started, seen = time.monotonic(), seen + 1
                if "start" in entry:
                    now_at = entry["start"]
                    continue
                now_at = None
                if entry["name"] not in results:
                    results[entry["name"]] = entry
                    report(entry)
            if ended:
                break
            if time.monotonic() - started > arguments.timeout:
                hung = True
                process.kill()
            time.sleep(0.02)
        said = process.stderr.read().strip().splitlines()
        process.wait()
    if now_at is None and process.returncode != 0 and not hung:
        now_at = next((n for n in names if n not in results), "load/the library")
    if now_at is not None:
        entry = {"name": now_at, "status": "fail", "detail": how_it_ended(process.returncode, hung, arguments.timeout, said)}
        results[now_at] = entry
        report(entry)
    if results.get("load/the library", {}).get("status") == "fail":
        return []
    return [name for name in names if name not in results]


def how_it_ended(code, hung, timeout, said):
    if hung:
        return f"it did not end in {timeout:g} s"
    if code < 0:
        return f"the process died of {signal.Signals(-code).name}" + (f": {said[-1]}" if said else "")
    return f"the process ended with {code}" + (f": {said[-1]}" if said else "")


def skip_reason(name, skips):
    return next((reason for pattern, reason in skips if fnmatch.fnmatchcase(name, pattern)), None)


def apply_skips(results, skips):
    """What the skip list names may fail; where it passes, the entry is to go."""
    for name, entry in results.items():
        reason = skip_reason(name, skips)
        if reason is None:
            continue
        if entry["status"] == "pass":
            entry.update(status="fail", detail=f"it passes, but the skip list has it ({reason}): take it out")
        else:
            entry.update(status="skip", detail=f"skip list: {reason}")


def print_line(entry):
    detail = f"  {entry['detail']}" if entry["detail"] else ""
    print(f"{entry['status']:4}  {entry['name']}{detail}", flush=True)


def main(arguments=None) -> int:
    arguments = parse_arguments(arguments)
    if arguments.worker:
        return work(arguments)
    from roundhouse._provider_checks import all_checks

    try:
        skips = read_skips(arguments.skip)
        provider_options(arguments.option)
    except (OSError, ValueError) as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    names = [n for n in all_checks() if not arguments.only or any(fnmatch.fnmatchcase(n, p) for p in arguments.only)]
    if arguments.list:
        print("\n".join(names))
        return 0

    def report(entry):
        apply_skips({entry["name"]: entry}, skips)
        if not arguments.json:
            print_line(entry)

    results = {}
    left = names
    while left:
        left = run_worker(arguments, left, results, report)
    counts = {status: sum(e["status"] == status for e in results.values()) for status in ("pass", "fail", "skip")}
    taken = sum(e["status"] == "pass" for n, e in results.items() if n.startswith("operators/"))
    if not taken and not arguments.only and not counts["fail"]:
        entry = {"name": "operators", "status": "fail", "detail": "the provider takes none of the operator cases: nothing was checked"}
        results["operators"] = entry
        counts["fail"] += 1
        report(entry)
    if arguments.json:
        print(json.dumps({"library": arguments.library, "counts": counts, "checks": list(results.values())}, indent=1))
    else:
        print(f"{counts['pass']} passed, {counts['fail']} failed, {counts['skip']} skipped; {taken} operator cases ran on the provider")
    return 1 if counts["fail"] else 0


if __name__ == "__main__":
    sys.exit(main())
