"""The process of `roundhouse check-provider --onnx`: the official cases on a provider, told as lines of JSON to a descriptor.

Run as ``python -m roundhouse.check_provider_onnx REQUEST_FILE DESCRIPTOR``. A case of which the provider takes no node says nothing.
"""

import fnmatch
import json
import os
import sys

from roundhouse.backend_cases.runtime import Runtime, run_case

# What no two runs agree on but by chance.
RANDOM = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}


class NodesAsTheyAre(Runtime):
    """Sessions in which nodes stay as the case has them, so that a type narrower than float32 is rounded to after each."""

    def __init__(self):
        super().__init__("roundhouse", 1)

    def session_options(self):
        options = super().session_options()
        options.graph_optimization_level = self.module.GraphOptimizationLevel.ORT_DISABLE_ALL
        return options


class ProviderRuntime(NodesAsTheyAre):
    """Sessions on the provider, the CPU behind it."""

    def __init__(self, library, ep, options):
        super().__init__()
        self.module.register_execution_provider_library("checked", library)
        listed = [d for d in self.module.get_ep_devices() if d.ep_name != "CPUExecutionProvider" and ep in ("", d.ep_name)]
        self.device, self.options, self.plain = listed[0], options, NodesAsTheyAre()
        self.session = None

    def load(self, model):
        options = self.session_options()
        options.add_provider_for_devices([self.device], self.options)
        self.session = None
        self.session = self.module.InferenceSession(model.SerializeToString(), options)
        return self.session

    def taken(self):
        return self.session.placement_summary().get(self.device.ep_name, 0)


def run_on_provider(runtime, case):
    """("pass", "fail" or "skip", why)."""
    if RANDOM.intersection(case.ops):
        return "skip", "its results are random"
    status, message = run_case(runtime, case)
    if runtime.session is not None and not runtime.taken():
        return "skip", "not taken"
    if status == "pass":
        return "pass", f"{runtime.taken()} nodes"
    if run_case(runtime.plain, case)[0] != "pass":
        return "skip", "it fails on the CPU as well"
    return "fail", message


def main():
    from roundhouse.backend_cases.cases import collect
    from roundhouse.backend_cases.workers import Pool

    with open(sys.argv[1], encoding="utf-8") as file:
        request = json.load(file)
    with os.fdopen(int(sys.argv[2]), "w") as out:

        def tell(**line):
            out.write(json.dumps(line) + "\n")
            out.flush()

        def told(key, verdict):
            # A worker that died or hung has a verdict of its own: "crash" or "timeout".
            status, detail = verdict if verdict[0] in ("pass", "skip", "fail") else ("fail", f"{verdict[0]}: {verdict[1]}")
            tell(name=f"onnx/{key}", status=status, detail=detail)

        tell(start="onnx/the suite")
        cases = [c for c in collect() if not request["only"] or any(fnmatch.fnmatchcase(f"onnx/{c.key}", p) for p in request["only"])]
        if cases:
            Pool(
                cases,
                lambda: ProviderRuntime(request["library"], request["ep"], request["options"]),
                os.cpu_count(),
                request["timeout"],
                run_on_provider,
                told,
            ).run()


if __name__ == "__main__":
    main()
