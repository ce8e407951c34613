"""Small random graphs of what exporters write, so that passes find something to do."""

import random

import numpy as np
import onnx
from backend_cases.cases import walk
from onnx import TensorProto, helper, numpy_helper

TYPE = {TensorProto.FLOAT: np.float32, TensorProto.FLOAT16: np.float16}


class RandomGraph:
    """A model of one float input [batch, ...] and 4 to 14 steps. `quantized`: results may be a step off."""

    def __init__(self, seed: int):
        self.key, self.random, self.rng = seed, random.Random(seed), np.random.default_rng(seed)
        self.number = self.random.choice([TensorProto.FLOAT] * 4 + [TensorProto.FLOAT16])
        self.nodes, self.constants, self.count, self.quantized = [], [], 0, False
        shape = self.random.choice([[2, 8, 6, 6], [1, 16, 9, 7], [2, 5, 16], [1, 12, 32], [4, 24], [3, 4, 5, 8]])
        self.shapes = {"x": shape}
        for _ in range(self.random.randint(4, 14)):
            self.step(self.random.choice([*self.shapes, *list(self.shapes)[-2:] * 3]))
        names = [n for n in self.shapes if n != "x"]
        self.outputs = sorted({names[-1], *self.random.sample(names, min(len(names), self.random.choice([0, 0, 1, 2])))})
        self.feeds = {"x": self.rng.uniform(-2, 2, shape).astype(TYPE[self.number])}

    def model(self, outputs=None) -> onnx.ModelProto:
        """Pruned to what the outputs need."""
        outputs = outputs or self.outputs
        needed, nodes = set(outputs), []
        for node in reversed(self.nodes):
            if needed & set(node.output):
                nodes.insert(0, node)
                needed |= {name for inner in walk([node]) for name in inner.input}
        symbol = self.key % 2 == 0  # a symbolic batch half the time
        inputs = [helper.make_tensor_value_info("x", self.number, ["batch" if symbol else self.shapes["x"][0], *self.shapes["x"][1:]])]
        results = [helper.make_tensor_value_info(name, self.number, [None] * len(self.shapes[name])) for name in outputs]
        graph = helper.make_graph(nodes, "random", inputs, results, [c for c in self.constants if c.name in needed])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)

    def constant(self, values, dtype=None) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values, dtype or TYPE[self.number]), name))
        return name

    def weights(self, *shape) -> str:
        return self.constant(self.rng.uniform(-1, 1, shape) / max(1.0, np.sqrt(np.prod(shape[1:]))))

    def add(self, op: str, inputs, shape=None, outputs=1, **attributes):
        """A node; its value's name where it has one that the graph may go on with."""
        names = [f"v{self.count + i}" for i in range(outputs)]
        self.count += outputs
        self.nodes.append(helper.make_node(op, inputs, names, f"n{len(self.nodes)}", **attributes))
        if shape is not None:
            for name in names:
                self.shapes[name] = list(shape)
        return names[0] if outputs == 1 else names

    def step(self, x: str) -> None:
        shape, rank = self.shapes[x], len(self.shapes[x])
        steps = [self.activation, self.activation, self.binary, self.binary, self.residual, self.views, self.transposes, self.duplicate]
        steps += [self.normalize, self.softmax, self.slices, self.joins, self.shape_arithmetic, self.branch, self.reordered, self.reordered]
        if rank >= 2 and 0 not in shape:
            steps += [self.assignments, self.repeated_indices]
        if rank >= 2:
            steps += [self.normalized_batch, self.product, self.product, self.product, self.gemm if rank == 2 else self.product]
        if rank == 3:
            steps += [self.attention, self.attention]
        if rank == 4:
            steps += [self.convolution, self.convolution, self.convolution, self.pool, self.preactivation, self.normalize_channels]
            steps += [self.branches, self.scaled_inputs]
        if rank == 2:
            steps.append(self.scaled_inputs)
        if self.number == TensorProto.FLOAT:
            steps.append(self.quantization)
        self.random.choice(steps)(x, shape)

    def activation(self, x, s):
        form = self.random.randrange(8)
        if form < 3:
            self.add(self.random.choice(["Relu", "Sigmoid", "Tanh", "HardSwish", "LeakyRelu", "Elu", "Gelu", "Mish"]), [x], s)
        elif form == 3:  # SiLU
            self.add("Mul", [x, self.add("Sigmoid", [x])], s)
        elif form == 4:  # GELU by the error function
            scaled = self.add("Erf", [self.add("Div", [x, self.constant(1.4142135)])])
            inner = self.add("Mul", [x, self.add("Add", [scaled, self.constant(1)])])
            self.add("Mul", [inner, self.constant(0.5)], s)
        elif form == 5:  # hard swish in parts
            clipped = self.add("Clip", [self.add("Add", [x, self.constant(3)]), self.constant(0), self.constant(6)])
            self.add("Div", [self.add("Mul", [x, clipped]), self.constant(6)], s)
        elif form == 6:  # GELU by tanh
            cube = self.add("Pow", [x, self.constant(3)])
            inner = self.add("Add", [x, self.add("Mul", [cube, self.constant(0.044715)])])
            bent = self.add("Tanh", [self.add("Mul", [inner, self.constant(0.7978845)])])
            half = self.add("Mul", [x, self.constant(0.5)])
            self.add("Mul", [half, self.add("Add", [bent, self.constant(1)])], s)
        else:
            self.add("Clip", [x, self.constant(-0.5), self.constant(0.75)], s)

    def binary(self, x, s):
        one = self.random.choice([[], [s[-1]], [1] * len(s), [s[1], *[1] * (len(s) - 2)], s[1:]])
        values = self.constant(self.rng.uniform(0.5, 1.5, one) if self.random.random() < 0.8 else np.full(one, self.random.choice([0, 1])))
        inputs = [x, values] if self.random.random() < 0.7 else [values, x]
        self.add(self.random.choice(["Add", "Mul", "Sub"]), inputs, s)

    def residual(self, x, s):
        others = [name for name, shape in self.shapes.items() if shape == s]
        self.add(self.random.choice(["Add", "Add", "Mul", "Sub"]), [x, self.random.choice(others)], s)

    def views(self, x, s):
        form = self.random.randrange(5)
        if form == 0:
            self.add("Identity", [x], s)
        elif form == 1:
            self.add("Squeeze", [self.add("Unsqueeze", [x, self.constant([0], np.int64)]), self.constant([0], np.int64)], s)
        elif form == 2:
            self.add("Flatten", [x], [s[0], int(np.prod(s[1:]))], axis=1)
        elif form == 3:
            self.add("Reshape", [x, self.constant([0, -1, s[-1]], np.int64)], [s[0], int(np.prod(s[1:-1])), s[-1]])
        else:
            self.add("Cast", [x], s, to=self.number)

    def transposes(self, x, s):
        perm = self.random.sample(range(len(s)), len(s))
        moved = self.add("Transpose", [x], [s[p] for p in perm], perm=perm)
        if self.random.random() < 0.3 and 0 not in s:
            self.view_and_transpose(moved, [s[p] for p in perm])
        elif self.random.random() < 0.5:
            back = [perm.index(i) for i in range(len(s))]
            middle = self.add("Relu", [moved]) if self.random.random() < 0.5 else moved
            self.add("Transpose", [middle], s, perm=back)

    def view_and_transpose(self, x, s):
        """A dimension taken apart, or two joined, and all moved."""
        i = self.random.randrange(len(s))
        if s[i] % 2 == 0 and self.random.random() < 0.6:
            shape = [*s[:i], 2, s[i] // 2, *s[i + 1 :]]
        elif i + 1 < len(s) and len(s) > 2:
            shape = [*s[:i], s[i] * s[i + 1], *s[i + 2 :]]
        else:
            shape = [int(np.prod(s[:-1])), s[-1]]
        perm = self.random.sample(range(len(shape)), len(shape))
        self.add("Transpose", [self.add("Reshape", [x, self.constant(shape, np.int64)])], [shape[p] for p in perm], perm=perm)

    def reordered(self, x, s):
        """Between two Transposes what may work in either order of dimensions, now and then with all pixels of an image as rows."""
        rank = len(s)
        if rank < 3 or 0 in s:
            return self.transposes(x, s)
        ways = [[0, *range(2, rank), 1], [0, rank - 1, *range(1, rank - 1)], self.random.sample(range(rank), rank)]
        perm = self.random.choice(ways)
        y = self.add("Transpose", [x], [s[p] for p in perm], perm=perm)
        as_rows = rank == 4 and self.random.random() < 0.4 and perm in ways[:2]
        if as_rows:
            one, *image = [s[p] for p in perm]
            flat = [one, image[0] * image[1], image[2]] if perm == ways[0] else [one, image[0], image[1] * image[2]]
            y = self.add("Reshape", [y, self.constant([0, *flat[1:]], np.int64)], flat)
        for _ in range(self.random.randint(1, 4)):
            shape = self.shapes[y]
            if 0 in shape:
                return None
            steps = [self.activation, self.binary, self.residual, self.softmax, self.slices, self.joins, self.normalize]
            steps += [self.product, self.product] + [[self.line_convolution] * 2, [self.convolution, self.patches]][len(shape) == 4]
            self.random.choice(steps)(y, shape)
            y = list(self.shapes)[-1]
        shape = self.shapes[y]
        if as_rows and 0 not in shape and (perm == ways[0] and shape[1] == s[2] * s[3] or perm == ways[1] and shape[2] == s[1] * s[2]):
            shape = [shape[0], s[2], s[3], shape[2]] if perm == ways[0] else [shape[0], shape[1], s[1], s[2]]
            y = self.add("Reshape", [y, self.constant([0, *shape[1:]], np.int64)], shape)
        if len(shape) == rank:
            back = [perm.index(i) for i in range(rank)]
            self.add("Transpose", [y], [shape[p] for p in back], perm=back)
        return None

    def duplicate(self, x, s):
        """Two nodes that compute the same."""
        op = self.random.choice(["Sigmoid", "Tanh", "Neg"])
        self.add("Mul", [self.add(op, [x]), self.add(op, [x])], s)

    def normalize(self, x, s):
        if self.random.random() < 0.4:
            scale, bias = self.constant(self.rng.uniform(0.5, 1.5, s[-1])), self.constant(self.rng.uniform(-1, 1, s[-1]))
            self.add("LayerNormalization", [x, scale, bias], s, axis=-1)
            return
        scaled = self.add("Mul", [self.normalized(x, [-1]), self.constant(self.rng.uniform(0.5, 1.5, s[-1]))], s)
        if self.random.random() < 0.7:
            self.add("Add", [scaled, self.constant(self.rng.uniform(-1, 1, s[-1]))], s)

    def normalized(self, x, dimensions):
        """Written out, now and then without subtracting the mean."""
        axes = self.constant(dimensions, np.int64)
        centred = self.add("Sub", [x, self.add("ReduceMean", [x, axes], keepdims=1)])
        if self.random.random() < 0.3:
            centred = x  # without its mean: RMS
        square = self.random.choice([("Pow", [centred, self.constant(2)]), ("Mul", [centred, centred])])
        variance = self.add("ReduceMean", [self.add(*square), axes], keepdims=1)
        root = self.add("Sqrt", [self.add("Add", [variance, self.constant(1e-3)])])
        if self.random.random() < 0.5:
            return self.add("Div", [centred, root])
        return self.add("Mul", [centred, self.add("Reciprocal", [root])])

    def normalize_channels(self, x, s):
        """InstanceNormalization written out, or GroupNormalization as an operator of groups between two Reshapes."""
        if self.random.random() < 0.5 or 0 in s:
            y = self.normalized(x, self.random.choice([[2, 3], [-1, -2]]))
        else:
            groups = self.random.choice([g for g in range(1, s[1] + 1) if s[1] % g == 0])
            parameters = [self.constant(self.rng.uniform(0.5, 1.5, groups)), self.constant(self.rng.uniform(-1, 1, groups))]
            y = self.add("InstanceNormalization", [self.add("Reshape", [x, self.constant([0, groups, -1], np.int64)]), *parameters])
            y = self.add("Reshape", [y, self.random.choice([self.add("Shape", [x]), self.constant([-1, *s[1:]], np.int64)])])
        self.shapes[y] = s
        for op in self.random.sample(["Mul", "Add", "Sub"], self.random.randint(0, 3)):
            y = self.add(op, [y, self.constant(self.rng.uniform(0.5, 1.5, [s[1], 1, 1]))], s)

    def padded(self, x, pads, value=None):
        """A Pad of some of the pads, and those that are left to the operator behind it."""
        if self.random.random() < 0.6:
            return x, pads
        ahead = [self.random.choice([0, pad]) for pad in pads]
        begins, ends = ahead[: len(pads) // 2], ahead[len(pads) // 2 :]
        y = self.add("Pad", [x, self.constant([0, 0, *begins, 0, 0, *ends], np.int64)] + ([value] if value else []))
        return y, [pad - done for pad, done in zip(pads, ahead, strict=True)]

    def softmax(self, x, s):
        self.add(self.random.choice(["Softmax", "LogSoftmax"]), [x], s, axis=self.random.randint(-len(s), len(s) - 1))

    def slices(self, x, s):
        axis = self.random.randrange(1, len(s))
        if s[axis] % 2 == 0:
            a, b = self.add("Split", [x], outputs=2, axis=axis, num_outputs=2)
            self.add("Concat", [b, a] if self.random.random() < 0.5 else [a, b], s, axis=axis)
        else:
            ends = [self.constant([v], np.int64) for v in (1, 2**40, axis, 1)]
            self.add("Slice", [x, *ends], [d - 1 if a == axis else d for a, d in enumerate(s)])

    def joins(self, x, s):
        """Channels that grow by what is made of all before, joined one to the next or all anew."""
        if len(s) < 2 or s[1] == 0 or s[1] > 64:
            return
        pieces, anew, whole = [x], self.random.random() < 0.5, x
        for _ in range(self.random.randint(1, 3)):
            pieces.append(self.add(self.random.choice(["Relu", "Sigmoid", "Neg"]), [self.random.choice([whole, pieces[-1]])]))
            self.shapes[pieces[-1]] = list(self.shapes[self.nodes[-1].input[0]])
            s = [s[0], s[1] + self.shapes[pieces[-1]][1], *s[2:]]
            whole = self.add("Concat", list(pieces) if anew else [whole, pieces[-1]], s, axis=1)

    def shape_arithmetic(self, x, s):
        """[batch, everything else], computed from the shape as exporters do."""
        shape = self.add("Shape", [x])
        batch = self.add("Gather", [shape, self.constant(0, np.int64)], axis=0)
        first = self.add("Unsqueeze", [batch, self.constant([0], np.int64)])
        target = self.add("Concat", [first, self.constant([-1], np.int64)], axis=0)
        self.add("Reshape", [x, target], [s[0], int(np.prod(s[1:]))])

    def branch(self, x, s):
        """An If that a constant decides."""
        made = f"b{self.count}"
        port = helper.make_tensor_value_info(made, self.number, [None] * len(s))
        bodies = [helper.make_graph([helper.make_node(op, [x], [made])], op, [], [port]) for op in ("Relu", "Neg")]
        self.add("If", [self.constant(self.random.random() < 0.5, np.bool_)], s, then_branch=bodies[0], else_branch=bodies[1])

    def product(self, x, s):
        n = self.random.choice([1, 4, 8, 17, 32])
        y = self.add("MatMul", [x, self.weights(s[-1], n)], [*s[:-1], n])
        if self.random.random() < 0.7:
            bias = self.constant(self.rng.uniform(-1, 1, n))
            y = self.add("Add", [y, bias] if self.random.random() < 0.5 else [bias, y], [*s[:-1], n])
        if self.random.random() < 0.3:
            y = self.scaled_columns(y, [*s[:-1], n])
        if self.random.random() < 0.5:
            self.activation(y, [*s[:-1], n])

    def gemm(self, x, s):
        n, transposed = self.random.choice([3, 8, 16]), self.random.randint(0, 1)
        weights = self.weights(n, s[-1]) if transposed else self.weights(s[-1], n)
        bias = [self.constant(self.rng.uniform(-1, 1, self.random.choice([[], [n], [1, n]])))] if self.random.random() < 0.8 else []
        factors = {"alpha": self.random.choice([1.0, 0.5]), "beta": self.random.choice([1.0, 2.0])}
        y = self.add("Gemm", [x, weights, *bias], [s[0], n], transB=transposed, **factors)
        if self.random.random() < 0.5:
            self.scaled_columns(y, [s[0], n])

    def scaled_columns(self, y, s):
        """Scaling and shifting of a product's columns, now and then of its rows in one dimension, or with the columns moved."""
        n = s[-1]
        for _ in range(self.random.randint(1, 2)):
            form = self.random.randrange(4)
            if form == 0:
                rows = y if len(s) == 2 else self.add("Reshape", [y, self.constant([-1, n], np.int64)])
                normal = self.add("BatchNormalization", [rows, *(self.constant(self.rng.uniform(0.5, 1.5, n)) for _ in range(4))])
                y = self.add("Reshape", [normal, self.constant([-1, *s[1:]], np.int64)])
            elif form == 1 and len(s) == 3:
                moved = self.add("Mul", [self.add("Transpose", [y], perm=[0, 2, 1]), self.constant(self.rng.uniform(0.5, 1.5, [n, 1]))])
                y = self.add("Transpose", [moved], perm=[0, 2, 1])
            else:
                numbers = self.constant(self.rng.uniform(0.5, 1.5, self.random.choice([[], [n], [1, n]])))
                y = self.add(self.random.choice(["Mul", "Add", "Sub", "Div"]), [y, numbers])
        self.shapes[y] = s
        return y

    def attention(self, x, s):
        """Softmax(q k^T * scale + mask) v with two heads, from one value."""
        batch, length, width = s
        if width % 2 or width == 0 or length == 0:
            return self.product(x, s)
        heads, depth = 2, width // 2

        def head(perm):
            y = self.add("MatMul", [x, self.weights(width, width)])
            return self.add("Transpose", [self.add("Reshape", [y, self.constant([0, 0, heads, depth], np.int64)])], perm=perm)

        def keras_head():
            return self.add("Einsum", [x, self.weights(width, heads, depth)], equation="abc,cde->abde")

        as_keras = self.random.random() < 0.3
        if as_keras:
            scores = self.add("Einsum", [keras_head(), keras_head()], equation="aecd,abcd->acbe")
        else:
            scores = self.add("MatMul", [head([0, 2, 1, 3]), head([0, 2, 3, 1])])
        scores = self.add(
            *self.random.choice([("Div", [scores, self.constant(np.sqrt(depth))]), ("Mul", [scores, self.constant(depth**-0.5)])])
        )
        if self.random.random() < 0.6:
            scores = self.masked(scores, length)
        weights = self.add("Softmax", [scores], axis=-1)
        if as_keras:
            mixed = self.add("Einsum", [weights, keras_head()], equation="acbe,aecd->abcd")
            self.add("Einsum", [mixed, self.weights(heads, depth, width)], s, equation="abcd,cde->abe")
            return None
        merged = self.add("Transpose", [self.add("MatMul", [weights, head([0, 2, 1, 3])])], perm=[0, 2, 1, 3])
        self.add("Reshape", [merged, self.constant([0, 0, width], np.int64)], s)
        return None

    def masked(self, scores, length):
        left_out = self.rng.random([1, 1, length, length]) < 0.3
        left_out[..., 0] = False
        if self.random.random() < 0.5:
            return self.add("Add", [scores, self.constant(np.where(left_out, -1e4, 0))])
        least = self.constant(self.random.choice([-np.inf, np.finfo(TYPE[self.number]).min]))
        if self.random.random() < 0.5:
            return self.add("Where", [self.constant(left_out, np.bool_), least, scores])
        return self.add("Where", [self.constant(~left_out, np.bool_), scores, least])

    def convolution(self, x, s):
        batch, channels, height, width = s
        depthwise = self.random.random() < 0.3
        outer, kernel = (channels if depthwise else self.random.choice([4, 8, 19])), self.random.choice([1, 3, 5] if depthwise else [1, 3])
        weights = self.weights(outer, 1 if depthwise else channels, kernel, kernel)
        pad = kernel // 2
        x, pads = self.padded(x, [pad] * 4)
        inputs = [x, weights] + ([self.constant(self.rng.uniform(-1, 1, outer))] if self.random.random() < 0.6 else [])
        shape = [batch, outer, height, width]
        y = self.add("Conv", inputs, shape, pads=pads, group=channels if depthwise else 1)
        if self.random.random() < 0.4:
            parameters = [self.constant(self.rng.uniform(0.5, 1.5, outer)) for _ in range(4)]
            y = self.add("BatchNormalization", [y, *parameters], shape)
        if self.random.random() < 0.2:
            y = self.add("Relu", [y]) if self.random.random() < 0.5 else self.add("Clip", [y, self.constant(-0.5), self.constant(1)])
            for op in self.random.sample(["Mul", "Add", "Sub", "Div"], self.random.randint(1, 3)):
                y = self.add(op, [y, self.constant(self.random.choice([-1.5, -0.5, 0.75, 2]))], shape)
        if self.random.random() < 0.6:
            self.activation(y, shape)
        elif self.random.random() < 0.5:
            self.residual(y, shape)

    def scaled_inputs(self, x, s):
        """Scaling and shifting of channels before one or two convolutions or products."""
        y, channels = x, [s[1], 1, 1] if len(s) == 4 else [s[1]]
        for op in self.random.sample(["Mul", "Add", "Sub", "Div", "BatchNormalization"], self.random.randint(1, 2)):
            if op == "BatchNormalization":
                y = self.add(op, [y, *(self.constant(self.rng.uniform(0.5, 1.5, s[1])) for _ in range(4))])
            else:
                y = self.add(op, [y, self.constant(self.rng.uniform(0.5, 1.5, self.random.choice([[], channels])))])
        for _ in range(self.random.randint(1, 2)):
            outer, kernel = self.random.choice([3, 16]), self.random.choice([1, 1, 3])
            if len(s) == 4:
                pads = self.random.choice([0, kernel // 2]) if min(s[2:]) >= kernel else kernel // 2
                shape = [s[0], outer, *(size + 2 * pads - kernel + 1 for size in s[2:])]
                self.add("Conv", [y, self.weights(outer, s[1], kernel, kernel)], shape, pads=[pads] * 4)
            elif self.random.random() < 0.5:
                self.add("MatMul", [y, self.weights(s[1], outer)], [s[0], outer])
            else:
                self.add("Gemm", [y, self.weights(outer, s[1])], [s[0], outer], transB=1)

    def branches(self, x, s):
        """Convolutions of one value, of several kernels, and scaling of it, added up in any order."""
        channels, (height, width), stride = s[1], s[2:], self.random.choice([1, 1, 2])
        group, outer = self.random.choice([(1, channels), (channels, channels), (1, 6)])
        shape = [s[0], outer, (height - 1) // stride + 1, (width - 1) // stride + 1]
        terms = []
        for _ in range(self.random.randint(2, 4)):
            form = self.random.randrange(5)
            if form < 3 or stride > 1 or outer != channels:
                kernel = [self.random.choice([1, 3, 5]), self.random.choice([1, 3])]
                dilation = self.random.choice([1, 1, 1, 2])
                pads = {"pads": [(k // 2) * dilation for k in kernel] * 2} if self.random.random() < 0.7 else {"auto_pad": "SAME_UPPER"}
                inputs = [x, self.weights(outer, channels // group, *kernel), self.constant(self.rng.uniform(-1, 1, outer))]
                attributes = {"strides": [stride] * 2, "dilations": [dilation] * 2, "group": group}
                terms.append(self.add("Conv", inputs[: self.random.randint(2, 3)], **attributes, **pads))
            elif form == 3:
                terms.append(self.add("BatchNormalization", [x, *(self.constant(self.rng.uniform(0.5, 1.5, outer)) for _ in range(4))]))
            else:
                terms.append(self.random.choice([x, self.add("Mul", [x, self.constant(self.rng.uniform(0.5, 1.5, [outer, 1, 1]))])]))
        while len(terms) > 1:
            self.random.shuffle(terms)
            count = self.random.randint(2, len(terms))
            op = self.random.choice(["Add", "Sub"]) if count == 2 else "Sum"
            terms[:count] = [self.add(op, terms[:count])]
            self.shapes[terms[0]] = shape

    def patches(self, x, s):
        """A convolution of patches, most of which do not overlap."""
        down, across = (self.random.randint(1, 3) for _ in range(2))
        pad = self.random.choice([0, 0, 1])
        kernel = [down, across] if self.random.random() < 0.8 else [down + 1, across + 1]
        outer, sizes = (
            self.random.choice([4, 8, 19]),
            [(s[2] + 2 * pad - kernel[0]) // down + 1, (s[3] + 2 * pad - kernel[1]) // across + 1],
        )
        if min(sizes) > 0:
            inputs = [x, self.weights(outer, s[1], *kernel)]
            self.add("Conv", inputs, [s[0], outer, *sizes], strides=[down, across], pads=[pad] * 4)

    def line_convolution(self, x, s):
        if len(s) != 3:
            return self.product(x, s)
        depthwise, kernel = self.random.random() < 0.5, self.random.choice([1, 3, 5])
        outer = s[1] if depthwise else self.random.choice([4, 9])
        inputs = [x, self.weights(outer, 1 if depthwise else s[1], kernel)]
        inputs += [self.constant(self.rng.uniform(-1, 1, outer))] if self.random.random() < 0.6 else []
        self.add("Conv", inputs, [s[0], outer, s[2]], pads=[kernel // 2] * 2, group=s[1] if depthwise else 1)
        return None

    def preactivation(self, x, s):
        """Scaled channels and Relu before a convolution."""
        y = x
        if self.random.random() < 0.7:
            y = self.add("BatchNormalization", [y, *(self.constant(self.rng.uniform(0.5, 1.5, s[1])) for _ in range(4))])
        for op in self.random.sample(["Mul", "Add", "Sub"], self.random.randint(0, 2)):
            y = self.add(op, [y, self.constant(self.rng.uniform(0.5, 1.5, self.random.choice([[], [s[1], 1, 1]])))])
        outer, kernel = self.random.choice([3, 40]), self.random.choice([1, 1, 3])
        self.add("Conv", [self.add("Relu", [y]), self.weights(outer, s[1], kernel, kernel)], [s[0], outer, *s[2:]], pads=[kernel // 2] * 4)

    def normalized_batch(self, x, s):
        """BatchNormalization, a value of its shape that is added, and an activation."""
        y = self.add("BatchNormalization", [x, *(self.constant(self.rng.uniform(0.5, 1.5, s[1])) for _ in range(4))], s)
        if self.random.random() < 0.4:
            y = self.add("Add", self.random.sample([y, self.random.choice([n for n, shape in self.shapes.items() if shape == s])], 2), s)
        self.add(self.random.choice(["Relu", "LeakyRelu", "HardSwish", "Sigmoid", "Softplus", "Elu"]), [y], s)

    def assignments(self, x, s):
        """Slices along an axis that are assigned one by one, all of them or some."""
        axis, size = self.random.randrange(len(s)), self.random.choice([1, 1, 2])
        starts = list(range(0, s[axis] - size + 1, size))
        self.random.shuffle(starts)
        y = x
        for start in starts[: self.random.choice([len(starts), len(starts), 1])]:
            box = [size if a == axis else d for a, d in enumerate(s[: axis + 1])]
            indices = np.indices(box).transpose(*range(1, axis + 2), 0) + [start if a == axis else 0 for a in range(axis + 1)]
            updates = self.constant(self.rng.uniform(-1, 1, [*box, *s[axis + 1 :]]))
            y = self.add("ScatterND", [y, self.constant(indices, np.int64), updates], s)

    def repeated_indices(self, x, s):
        """Slices by indices that an Expand or a Tile repeats for all that lies behind the axis."""
        axis, count = self.random.randrange(len(s) - 1), self.random.randint(1, 5)
        ones = [1] * (len(s) - axis - 1)
        indices = self.constant(self.rng.integers(-s[axis], s[axis], [*s[:axis], count, *ones]), np.int64)
        repeats = [*[1] * (axis + 1), *s[axis + 1 :]]
        repeated = self.add(self.random.choice(["Expand", "Tile"]), [indices, self.constant(repeats, np.int64)])
        shape = [*s[:axis], count, *s[axis + 1 :]]
        if axis == 0 and self.random.random() < 0.5:
            updates = self.constant(self.rng.uniform(-1, 1, shape))
            self.add("ScatterElements", [x, repeated, updates], s, axis=0, reduction=self.random.choice(["add", "max"]))
        else:
            self.add("GatherElements", [x, repeated], shape, axis=axis)

    def pool(self, x, s):
        if self.random.random() < 0.5:
            kind = self.random.choice(["MaxPool", "AveragePool"])
            x, pads = self.padded(x, [1] * 4, self.constant(-np.inf if kind == "MaxPool" else 0))
            counted = {"count_include_pad": self.random.choice([0, 1])} if kind == "AveragePool" else {}
            self.add(kind, [x], s, kernel_shape=[3, 3], pads=pads, **counted)
            return
        pooled = self.add("GlobalAveragePool", [x])
        narrow = self.add("Conv", [pooled, self.weights(2, s[1], 1, 1)])
        gate = self.add("Sigmoid", [self.add("Conv", [self.add("Relu", [narrow]), self.weights(s[1], 2, 1, 1)])])
        self.add("Mul", [x, gate], s)

    def quantization(self, x, s):
        self.quantized = True
        scale, zero = self.constant(0.02, np.float32), self.constant(self.random.choice([0, 5]), np.int8)
        y = self.add("DequantizeLinear", [self.add("QuantizeLinear", [x, scale, zero]), scale, zero], s)
        if len(s) == 2 and self.random.random() < 0.7:
            n = self.random.choice([4, 9])
            codes = self.constant(self.rng.integers(-100, 100, [s[-1], n]), np.int8)
            w = self.add("DequantizeLinear", [codes, self.constant(0.01, np.float32), self.constant(0, np.int8)])
            self.add("MatMul", [y, w], [s[0], n])
