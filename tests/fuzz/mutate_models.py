#!/usr/bin/env python3
"""Changes node models at random, structure and inputs, and runs each in a child process. Reports crashes and hangs.

mutate_models.py [--count 10000] [--seed 1]     counts by family and outcome; exits 1 on a crash or a hang and says which
mutate_models.py --family ml                    mutants of one family of operators only
mutate_models.py --save FOLDER                  writes each such model there, its inputs beside its graph, as run_fuzz reads it
mutate_models.py --only 4711                    one of them again, in this process
"""

import argparse
import collections
import copy
import json
import os
import pathlib
import random
import resource
import sys
import threading
import time

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "python/roundhouse"))
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from backend_cases.cases import to_value, walk  # noqa: E402
from backend_cases.runtime import Runtime  # noqa: E402
from backend_cases.workers import Pool  # noqa: E402
from families import by_family, generated, official  # noqa: E402
from onnx import AttributeProto, numpy_helper  # noqa: E402

# The field of a model file that holds an input tensor for run_fuzz; ONNX does not use the number.
INPUT_FIELD = 4096
ADDRESS_SPACE = 2 << 30
STOP_SECONDS = 5

INTEGERS = [
    0,
    1,
    -1,
    2,
    -2,
    3,
    4,
    7,
    8,
    16,
    31,
    32,
    63,
    64,
    65,
    100,
    255,
    256,
    1000,
    65536,
    2**20,
    2**24,
    2**31 - 1,
    2**31,
    -(2**31),
    2**32,
]
INTEGERS += [2**40, 2**61, 2**62, 2**63 - 1, 2**63 - 2, -(2**63), -(2**63) + 1, -3, -5, -100]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e-40, 1e30, -1e30, float("inf"), float("-inf"), float("nan"), 4e9, 1e19, 3.5]
DIMS = [0, 1, 2, 3, 4, 5, 7, 8, 16, 33]


class Mutant:
    """A model and its inputs, changed step by step."""

    def __init__(self, case, seed):
        self.random = random.Random(seed)
        self.model = copy.deepcopy(case.model)
        self.read_inputs(case)
        self.raw = None
        changes = [self.dims, self.attribute, self.attribute, self.indices, self.indices, self.edges, self.types, self.array_shape]
        changes += [self.opset, self.values, self.op_type]
        for _ in range(self.random.choice([1, 1, 2, 3, 5])):
            self.random.choice(changes)()
        if self.random.random() < 0.05:
            self.bytes()

    def read_inputs(self, case):
        inputs = case.data()[0][0]
        self.feeds = dict(zip(case.input_names(len(inputs)), map(to_value, inputs)))

    def serialized(self):
        return self.raw if self.raw is not None else self.model.SerializeToString()

    def node(self):
        nodes = list(walk(self.model.graph.node))
        return self.random.choice(nodes) if nodes else None

    def array_name(self, integers=False):
        names = [n for n, v in self.feeds.items() if isinstance(v, np.ndarray) and (not integers or v.dtype.kind in "iu")]
        return self.random.choice(names) if names else None

    def dims(self):
        ports = [*self.model.graph.input, *self.model.graph.output, *self.model.graph.value_info]
        shapes = [p.type.tensor_type.shape for p in ports if p.type.HasField("tensor_type")]
        if not shapes:
            return
        shape = self.random.choice(shapes)
        what = self.random.randrange(5)
        if what == 0 and shape.dim:
            del shape.dim[self.random.randrange(len(shape.dim))]
        elif what == 1:
            shape.dim.add().dim_value = self.random.choice(INTEGERS + DIMS * 3)
        elif shape.dim:
            dim = self.random.choice(shape.dim)
            if self.random.random() < 0.3:
                dim.dim_param = self.random.choice("NMK")
            else:
                dim.dim_value = self.random.choice(INTEGERS + DIMS * 3)

    def integers(self, values):
        """A few of the numbers changed, or one more, or one fewer."""
        values = list(values)
        what = self.random.randrange(6)
        if what == 0 and values:
            del values[self.random.randrange(len(values))]
        elif what == 1:
            values.insert(self.random.randint(0, len(values)), self.random.choice(INTEGERS))
        elif values:
            for _ in range(self.random.choice([1, 1, 2])):
                values[self.random.randrange(len(values))] = self.random.choice(INTEGERS)
        return values

    def attribute(self):
        node = self.node()
        if node is None or not node.attribute:
            return self.indices()
        attribute = self.random.choice(node.attribute)
        if self.random.random() < 0.1:
            node.attribute.remove(attribute)
        elif attribute.type == AttributeProto.INT:
            attribute.i = self.random.choice(INTEGERS)
        elif attribute.type == AttributeProto.FLOAT:
            attribute.f = self.random.choice(FLOATS)
        elif attribute.type == AttributeProto.INTS:
            values = self.integers(attribute.ints)
            del attribute.ints[:]
            attribute.ints.extend(values)
        elif attribute.type == AttributeProto.FLOATS:
            values = [*attribute.floats, self.random.choice(FLOATS)][self.random.randint(0, 1) :]
            del attribute.floats[:]
            attribute.floats.extend(values)
        elif attribute.type == AttributeProto.STRING:
            others = [a.s for n in walk(self.model.graph.node) for a in n.attribute if a.type == AttributeProto.STRING]
            attribute.s = self.random.choice([*others, b"", b"linear", b"constant", b"SAME_UPPER", b"ij,jk->ik", attribute.s[:-1]])
        elif attribute.type == AttributeProto.TENSOR:
            tensor = attribute.t
            if tensor.dims and self.random.random() < 0.5:
                tensor.dims[self.random.randrange(len(tensor.dims))] = self.random.choice(INTEGERS)
            else:
                tensor.data_type = self.random.randint(0, 25)
        else:
            attribute.type = self.random.randint(0, 14)

    def indices(self):
        name = self.array_name(integers=True)
        if name is None:
            return self.array_shape()
        old = self.feeds[name]
        low, high = np.iinfo(old.dtype).min if old.dtype.kind in "iu" and old.dtype.itemsize else 0, 0
        try:
            high = np.iinfo(old.dtype).max
        except ValueError:
            return None
        flat = self.integers(old.ravel().tolist())
        array = np.array([min(max(v, low), high) for v in flat], dtype=old.dtype)
        self.feeds[name] = array.reshape(old.shape) if array.size == old.size else array
        if self.random.random() < 0.3:
            self.to_initializer(name)
        return None

    def to_initializer(self, name):
        """A value that is known when the model is loaded goes other ways than one that comes at run time."""
        ports = [p for p in self.model.graph.input if p.name == name]
        if ports and isinstance(self.feeds[name], np.ndarray):
            self.model.graph.initializer.append(numpy_helper.from_array(self.feeds.pop(name), name))
            self.model.graph.input.remove(ports[0])

    def array_shape(self):
        name = self.array_name()
        if name is None:
            return
        old = self.feeds[name]
        shape = list(old.shape)
        what = self.random.randrange(4)
        if what == 0 and shape:
            del shape[self.random.randrange(len(shape))]
        elif what == 1 and len(shape) < 9:
            shape.insert(self.random.randint(0, len(shape)), self.random.choice([0, 1, 1, 2]))
        elif shape:
            shape[self.random.randrange(len(shape))] = self.random.choice(DIMS)
        if np.prod(shape, dtype=np.float64) > 1e6:
            return
        self.feeds[name] = np.resize(old, shape) if old.size else np.zeros(shape, old.dtype)
        if self.random.random() < 0.8:  # say so in the model, or leave it open
            for port in self.model.graph.input:
                if port.name == name and port.type.HasField("tensor_type"):
                    port.type.tensor_type.ClearField("shape")
                    for d in shape if self.random.random() < 0.6 else []:
                        port.type.tensor_type.shape.dim.add().dim_value = d
            for port in self.model.graph.output:
                if port.type.HasField("tensor_type"):
                    port.type.tensor_type.ClearField("shape")

    def values(self):
        name = self.array_name()
        if name is not None and self.feeds[name].dtype.kind == "f" and self.feeds[name].size:
            flat = self.feeds[name] = self.feeds[name].copy()
            with np.errstate(all="ignore"):
                flat.ravel()[self.random.randrange(flat.size)] = self.random.choice(FLOATS)
                flat.reshape(-1)[self.random.randrange(flat.size)] = self.random.choice(FLOATS)

    def edges(self):
        node = self.node()
        if node is None:
            return
        names = [*self.feeds, *(n for other in walk(self.model.graph.node) for n in [*other.input, *other.output]), "", "nothing"]
        what = self.random.randrange(5)
        side = node.output if self.random.random() < 0.15 else node.input
        if what == 0 and side:
            del side[self.random.randrange(len(side))]
        elif what == 1:
            side.append(self.random.choice(names))
        elif side:
            side[self.random.randrange(len(side))] = self.random.choice(names)

    def types(self):
        ports = [p for p in [*self.model.graph.input, *self.model.graph.output] if p.type.HasField("tensor_type")]
        if not ports:
            return
        port = self.random.choice(ports)
        number = self.random.choice([1, 1, 2, 3, 5, 6, 7, 7, 8, 9, 10, 11, 12, 13, 16, 17, 21, 22])
        port.type.tensor_type.elem_type = number
        value = self.feeds.get(port.name)
        if isinstance(value, np.ndarray):
            with np.errstate(all="ignore"):
                try:
                    self.feeds[port.name] = value.astype(onnx.helper.tensor_dtype_to_np_dtype(number))
                except (TypeError, ValueError, OverflowError):
                    return
        for output in self.model.graph.output:
            if self.random.random() < 0.7 and output.type.HasField("tensor_type"):
                output.type.tensor_type.elem_type = number

    def opset(self):
        if self.model.opset_import:
            self.random.choice(self.model.opset_import).version = self.random.choice(
                [1, 6, 7, 9, 10, 11, 12, 13, 16, 18, 21, 23, 99, 0, -1]
            )

    def op_type(self):
        node = self.node()
        if node is not None:
            node.op_type = self.random.choice(OP_TYPES)

    def bytes(self):
        data = bytearray(self.model.SerializeToString())
        for _ in range(self.random.choice([1, 2, 8])):
            what, at = self.random.randrange(3), self.random.randrange(len(data))
            if what == 0:
                data[at] ^= 1 << self.random.randrange(8)
            elif what == 1 and len(data) > 20:
                del data[at : at + self.random.choice([1, 2, 10])]
            else:
                data[at:at] = bytes([self.random.randrange(256)])
        self.raw = bytes(data)

    def as_one_file(self):
        """The model with its inputs as tensors in a field that ONNX does not use."""
        data = self.serialized()
        for name, value in self.feeds.items():
            if isinstance(value, np.ndarray):
                tensor = numpy_helper.from_array(value, name).SerializeToString()
                data += varint(INPUT_FIELD << 3 | 2) + varint(len(tensor)) + tensor
        return data


def varint(number):
    data = b""
    while number > 127:
        data, number = data + bytes([number & 127 | 128]), number >> 7
    return data + bytes([number])


class MutantCase:
    """What the pool is given: made in the child, from a number."""

    def __init__(self, key):
        self.key = key

    def make(self):
        chance = random.Random(self.key)
        return Mutant(chance.choice(FAMILIES[self.family()]), self.key)

    def family(self):
        """Each family has as many mutants as any other."""
        return list(FAMILIES)[self.key % len(FAMILIES)]


class Serialized:
    """A model that is bytes and need not be readable as one."""

    def __init__(self, data):
        self.data = data

    def SerializeToString(self):  # noqa: N802  the name of protobuf's call
        return self.data


class Stoppable:
    """A session whose runs are asked to stop after a while: a model may loop without end."""

    def __init__(self, runtime, session):
        self.session, self.options = session, runtime.module.RunOptions()
        self.timer = threading.Timer(STOP_SECONDS, self.stop)

    def stop(self):
        self.options.terminate = True

    def timed(self, run, feeds):
        self.timer.start()
        try:
            return run(None, feeds, self.options)
        finally:
            self.timer.cancel()

    def run(self, _, feeds):
        return self.timed(self.session.run, feeds)

    def run_with_ort_values(self, _, feeds):
        return self.timed(self.session.run_with_ort_values, feeds)


def run_mutant(runtime, case):
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    try:
        mutant = case.make()
    except Exception as error:
        return "not made", f"{type(error).__name__}: {error}"
    try:
        session = runtime.load(Serialized(mutant.serialized()))
    except Exception as error:
        return "refused at load", str(error)
    stoppable = Stoppable(runtime, session)
    try:
        runtime.run(stoppable, mutant.model, mutant.feeds)
    except Exception as error:
        return "stopped as asked" if stoppable.options.terminate else "refused at run", str(error)
    return "ran", ""


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--module", default="roundhouse")
    parser.add_argument("--filter", default="^(node|simple)/", help="regular expression over kind/name of the official cases")
    parser.add_argument("--family", help="only mutants of a family of operators: a folder of src/ops, or com.microsoft")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1, help="of the first; each later one is one more")
    parser.add_argument("--only", type=int, help="the seed of one mutant, run in this process")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--threads", type=int, default=1, help="of the runtime")
    parser.add_argument("--timeout", type=float, default=20, help="seconds until a mutant counts as hanging")
    parser.add_argument("--save", type=pathlib.Path, help="folder for the models that crash or hang")
    parser.add_argument("--counts", type=pathlib.Path, help="a file for how many passed and failed")
    parser.add_argument("--verbose", "-v", action="store_true", help="print what each was refused with")
    return parser.parse_args()


def main():
    global FAMILIES, OP_TYPES
    args = arguments()
    bases = [*official(args.filter), *generated()]
    FAMILIES = by_family(bases)
    OP_TYPES = sorted({op.rpartition(".")[2] for case in bases for op in case.ops})
    if args.family:
        FAMILIES = {args.family: FAMILIES[args.family]}
    if args.only is not None:
        mutant = MutantCase(args.only).make()
        print(onnx.printer.to_text(mutant.model))
        for name, value in mutant.feeds.items():
            print(name, getattr(value, "dtype", type(value)), getattr(value, "shape", ""), str(value)[:300])
        if args.save:
            args.save.mkdir(parents=True, exist_ok=True)
            (args.save / f"mutant_{args.only}.onnx").write_bytes(mutant.as_one_file())
        print(*run_mutant(Runtime(args.module, args.threads), MutantCase(args.only)))
        return 0
    started = time.monotonic()
    cases = [MutantCase(seed) for seed in range(args.seed, args.seed + args.count)]
    results = Pool(cases, lambda: Runtime(args.module, args.threads), args.jobs, args.timeout, run_mutant).run()
    bad = [(seed, *result) for seed, result in results.items() if result[0] in ("crash", "timeout")]
    for seed, (status, message) in results.items():
        if args.verbose:
            print(seed, status, message)
    for seed, status, message in bad:
        mutant = MutantCase(seed).make()
        print(f"{status.upper()} seed {seed}: {message}; operators {', '.join(n.op_type for n in walk(mutant.model.graph.node))}")
        if args.save:
            args.save.mkdir(parents=True, exist_ok=True)
            (args.save / f"mutant_{seed}.onnx").write_bytes(mutant.as_one_file())
    counts = collections.Counter(status for status, _ in results.values())
    for family, cases in FAMILIES.items():
        outcomes = collections.Counter(results[seed][0] for seed in results if MutantCase(seed).family() == family)
        print(f"{family:22} {outcomes.total():6} of {len(cases):4} models: {', '.join(f'{s} {n}' for s, n in outcomes.most_common())}")
    print(
        f"{args.module}: {len(results)} mutants of {len(bases)} models in {time.monotonic() - started:.0f} s: "
        + ", ".join(f"{status} {count}" for status, count in counts.most_common())
    )
    if args.counts:
        args.counts.write_text(json.dumps({"passed": len(results) - len(bad), "failed": len(bad)}))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
