"""The models that mutants are made of, by family of operators: official cases, and generated ones for the domains that have few or none."""

import pathlib
import re
import sys
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "python/roundhouse"))
sys.path.append(str(ROOT / "tests/differential"))
import numpy as np  # noqa: E402
from backend_cases.cases import Case, collect, op_name  # noqa: E402
from contrib_recipes import CONTRIB_RECIPES  # noqa: E402
from ml_recipes import ML_RECIPES  # noqa: E402
from recipe import MICROSOFT, Recipe  # noqa: E402

MAX_BYTES = 200_000
GENERATED = 6  # models of each row


def official(pattern: str) -> list[Case]:
    return [case for case in collect(pattern) if case.model.ByteSize() < MAX_BYTES and case.sets]


def generated() -> list[Case]:
    cases = []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for i, row in enumerate([*ML_RECIPES, *CONTRIB_RECIPES]):
            for seed in range(GENERATED):
                made = Recipe(row, 1000 * i + seed)
                cases.append(Case(f"generated/{row.op}_{i}_{seed}", made.model, 0, 0, sets=[(list(made.feeds.values()), [])]))
    return cases


def family_of_operator() -> dict[str, str]:
    """By name with the domain: the folder of src/ops, and com.microsoft as one family."""
    found = {}
    for line in (ROOT / "src/ops/op_list.inc").read_text().splitlines():
        if row := re.match(r"RH_OP\((\w+), \w+, (.*)\)", line):
            for name in re.findall(r'"([^"]+)"', row[2]):
                domain, _, op = name.rpartition(":")
                found[op_name(domain, op)] = domain if domain == MICROSOFT else row[1]
    return found


def by_family(cases: list[Case]) -> dict[str, list[Case]]:
    """A model counts for the family of each of its operators, so that a subgraph's operators do not hide the node that runs it."""
    operators, families = family_of_operator(), {}
    for case in cases:
        for family in sorted({operators[op] for op in case.ops if op in operators}):
            families.setdefault(family, []).append(case)
    return dict(sorted(families.items()))
