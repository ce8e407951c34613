"""Who runs each node of a model, and why not somebody else."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Refusal:
    """A provider that was asked for a node and does not run it.

    ``code`` is op, opset, type, shape, attribute, layout, claimed_earlier, unit, cost, forced or unstated; ``reason`` a sentence.
    """

    provider: str
    code: str
    reason: str


@dataclass(frozen=True)
class NodePlacement:
    """What became of a node of the model as it was read.

    ``fate`` is runs, removed (by the pass ``pass_name``), divided (a call of a function that several providers run) or unassigned.
    ``runs_as`` is the node of the final graph that stands for it, ``fused_from`` all nodes of the model for which that one stands where
    there are others, ``unit`` the compiled unit that it is part of. ``function`` is the call in whose model-local function it stands.
    ``variant`` is the way in which it computes where its operator has several ("winograd", "fip", "blocked"), of a session.
    """

    name: str
    op_type: str
    domain: str
    opset: int
    function: str
    fate: str
    provider: str
    kernel: str
    runs_as: str
    fused_from: tuple[str, ...]
    unit: str
    pass_name: str
    reason: str
    refusals: tuple[Refusal, ...]
    variant: str = ""


def placement_of(row: dict) -> NodePlacement:
    """A row of the native report."""
    same = {key: row[key] for key in ("op_type", "domain", "opset", "function", "fate", "provider", "kernel", "runs_as", "unit", "reason")}
    refusals = tuple(Refusal(**refusal) for refusal in row["refusals"])
    return NodePlacement(
        name=row["node"],
        fused_from=tuple(row["fused_from"]),
        pass_name=row["pass"],
        refusals=refusals,
        variant=row.get("variant", ""),
        **same,
    )


class OrtEpAssignedNode:
    """A node that a provider took."""

    def __init__(self, name: str, domain: str, op_type: str):
        self.name, self.domain, self.op_type = name, domain, op_type


class OrtEpAssignedSubgraph:
    """Nodes that a provider took together: those of a compiled unit, or one that it has a kernel for."""

    def __init__(self, ep_name: str, nodes: list[tuple[str, str, str]]):
        self.ep_name = ep_name
        self._nodes = [OrtEpAssignedNode(*node) for node in nodes]

    def get_nodes(self) -> list[OrtEpAssignedNode]:
        """Its nodes, in the order in which they run."""
        return list(self._nodes)
