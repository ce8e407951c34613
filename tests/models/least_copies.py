"""The least number of copies that a run from host to host needs, counted from a model file and from who runs its nodes."""

import collections
import json

import onnx

import roundhouse


def body_of(call):
    """The nodes by which the standard defines the operator of a node, in its place."""
    function = onnx.defs.get_schema(call.op_type).function_body
    names = dict(zip([*function.input, *function.output], [*call.input, *call.output]))
    nodes = []
    for inner in function.node:
        made = onnx.NodeProto(name=call.name, op_type=inner.op_type)
        made.input.extend(names.get(value, f"{call.output[0]}/{value}") for value in inner.input)
        made.output.extend(names.get(value, f"{call.output[0]}/{value}") for value in inner.output)
        nodes.append(made)
    return nodes


class Scope:
    """A graph or subgraph with its placement: `nodes` are (node, place, its subgraphs), `runs` how often a run of the model executes it.

    `rows` has (place, whether it is a row of a body) of each node, those of a body after the node that stands for it.
    """

    def __init__(self, graph, rows, executions):
        self.nodes = []
        self.made = {}  # value: the place where a node of this graph makes it
        self.taken = {(output.name, "host") for output in graph.output}  # (value, place), by nodes of this graph
        counts = []
        constants = {i.name for i in graph.initializer}
        self.made.update((i.name, "host") for i in graph.input if i.name not in constants)
        for node in graph.node:
            place, _ = rows.popleft()
            if rows and rows[0][1]:
                for inner in body_of(node):
                    self.add(inner, rows.popleft()[0], [], counts, executions)
                continue
            subgraphs = [Scope(a.g, rows, executions) for a in node.attribute if a.type == onnx.AttributeProto.GRAPH]
            self.add(node, place, subgraphs, counts, executions)
        self.runs = counts[0] if counts else 0
        assert set(counts) <= {self.runs}

    def add(self, node, place, subgraphs, counts, executions):
        self.nodes.append((node, place, subgraphs))
        if not place:  # its value is a constant, and costs a run nothing
            return
        counts.append(executions[node.name])
        self.taken.update((value, place) for value in node.input)
        self.made.update((value, place) for value in node.output)

    def needs(self, conditional=False):
        """Where values must be whenever this graph runs, or, if `conditional`, whenever any of its branches is taken."""
        needs = set(self.taken)
        for node, _, subgraphs in self.nodes:
            if not subgraphs:
                continue
            outside = [sub.outer_needs(conditional or node.op_type != "If") for sub in subgraphs]
            needs |= set.union(*outside) if conditional else set.intersection(*outside)
        return needs

    def outer_needs(self, conditional):
        return {(value, place) for value, place in self.needs(conditional) if value not in self.made}

    def copies(self, there=None):
        """`there`: the places in which outer values are.

        A loop copies what it captures once, before it; a branch copies for itself what only it needs.
        """
        there = {value: set(places) for value, places in (there or {}).items()} | {value: {place} for value, place in self.made.items()}
        missing = {(value, place) for value, place in self.needs() if value in there and place not in there[value]}
        for value, place in missing:
            there[value].add(place)
        return self.runs * len(missing) + sum(sub.copies(there) for _, _, subgraphs in self.nodes for sub in subgraphs)


def executions_of(path, options, feeds, folder):
    """How often a run on the CPU executes each node, by name."""
    options.enable_profiling = True
    options.profile_file_prefix = str(folder / "profile")
    session = roundhouse.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    session.run(None, feeds)
    with open(session.end_profiling()) as file:
        events = json.load(file)
    suffix = "_kernel_time"
    return collections.Counter(e["name"].removesuffix(suffix) for e in events if e.get("cat") == "Node" and e["name"].endswith(suffix))


def least_copies(graph, placement, device_provider, executions):
    """One for each value and each memory, not its own, in which it is needed; `placement` lists all nodes in the model's order."""
    places = ["device" if node["provider"] == device_provider else "host" if node["provider"] else "" for node in placement]
    rows = collections.deque(zip(places, [bool(node["function"]) for node in placement], strict=True))
    scope = Scope(graph, rows, executions)
    assert not rows
    return scope.copies()
