"""Operators of ai.onnx.ml and of the training preview generated from rules: trees, support vectors, linear models, features."""

import numpy as np
from onnx import TensorProto, helper
from recipe import Row

FLOAT, DOUBLE, INT32, INT64, STRING = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT32, TensorProto.INT64, TensorProto.STRING
TRANSFORMS = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"]
MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]
TRAINING = "ai.onnx.preview.training"


def rows(r, most_features=6):
    """The input of a model: [rows, features]; halves, so that values meet thresholds."""
    x = r.random.choice([1, 2, 7, 33]), r.few(most_features)
    return (np.round(r.plain(x, DOUBLE, -4, 4) * 2) / 2).astype(helper.tensor_dtype_to_np_dtype(r.number))


def class_labels(r, count: int) -> dict:
    if r.chance():
        return {"classlabels_strings": [f"class {i}" for i in range(count)]}
    return {"classlabels_int64s" if r.op == "TreeEnsembleClassifier" else "classlabels_ints": [2 * i + 1 for i in range(count)]}


def label_types(r) -> dict:
    return {0: STRING if "classlabels_strings" in r.attributes else INT64, 1: FLOAT}


class Forest:
    """Nodes of trees as the attributes of TreeEnsembleClassifier and TreeEnsembleRegressor."""

    def __init__(self, r, features: int, modes: list[str]):
        self.r, self.features, self.modes = r, features, modes
        self.nodes = {name: [] for name in ("treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids")}
        self.nodes["missing_value_tracks_true"], self.leaves = [], []

    def tree(self, number: int, depth: int) -> None:
        self.number, self.next = number, 0
        self.grow(depth)

    def grow(self, depth: int) -> int:
        """The number of the node that was made; its children come after it."""
        node, self.next = self.next, self.next + 1
        leaf = depth == 0 or self.r.chance(0.2)
        row = {"treeids": self.number, "nodeids": node, "featureids": 0, "modes": "LEAF", "values": 0.0}
        row |= {"truenodeids": 0, "falsenodeids": 0, "missing_value_tracks_true": 0}
        at = len(self.nodes["treeids"])
        for name, values in self.nodes.items():
            values.append(row[name])
        if leaf:
            self.leaves.append((self.number, node))
            return node
        inner = {"featureids": self.r.random.randrange(self.features), "modes": self.r.random.choice(self.modes)}
        inner |= {"values": self.r.random.randint(-8, 8) / 2, "missing_value_tracks_true": self.r.random.randint(0, 1)}
        inner |= {"truenodeids": self.grow(depth - 1), "falsenodeids": self.grow(depth - 1)}
        for name, value in inner.items():
            self.nodes[name][at] = value
        return node

    def attributes(self) -> dict:
        nodes = {f"nodes_{name}": values for name, values in self.nodes.items()}
        if self.r.chance():
            del nodes["nodes_missing_value_tracks_true"]
        return nodes


def voted(r, tree: int, targets: int, one: bool) -> list[int]:
    """The targets that a leaf votes for: all of them in the first tree, so that each has a score."""
    if one:
        return [0]
    return list(range(targets)) if tree == 0 else sorted(r.random.sample(range(targets), r.few(targets)))


def forest(r):
    x = rows(r)
    modes = MODES if r.chance(0.3) else [r.random.choice(MODES)]
    trees = Forest(r, x.shape[1], modes)
    for number in range(r.random.choice([1, 1, 3, 20])):
        trees.tree(number, r.random.randint(0, 5))
    if r.chance(0.2) and x.dtype.kind == "f" and "BRANCH_NEQ" not in modes:  # which ONNX Runtime takes for true, whatever is asked
        x.reshape(-1)[r.random.randrange(x.size)] = np.nan
    r.give(x)
    r.attributes |= trees.attributes()
    targets = r.random.randint(2, 4) if r.op == "TreeEnsembleClassifier" else r.few(3)
    prefix, ids = ("class", "class_ids") if r.op == "TreeEnsembleClassifier" else ("target", "target_ids")
    one = r.op == "TreeEnsembleClassifier" and targets == 2 and r.chance(0.7)  # all votes are for one of two classes
    votes = [(tree, node, target) for tree, node in trees.leaves for target in voted(r, tree, targets, one)]
    r.attributes[f"{prefix}_treeids"] = [tree for tree, _, _ in votes]
    r.attributes[f"{prefix}_nodeids"] = [node for _, node, _ in votes]
    r.attributes[ids] = [target for _, _, target in votes]
    low = 0.05 if r.chance() else -1.0
    r.attributes[f"{prefix}_weights"] = [float(np.float32(r.random.uniform(low, 1))) for _ in votes]
    r.attributes["post_transform"] = r.random.choice(["NONE", "LOGISTIC"] if one else TRANSFORMS[:4])
    if r.op == "TreeEnsembleClassifier":
        r.attributes |= class_labels(r, targets)
        r.outputs, r.output_types = 2, label_types(r)
    else:
        r.attributes["n_targets"] = targets
        r.attributes["aggregate_function"] = r.random.choice(["SUM", "AVERAGE", "MIN", "MAX"])
        r.output_types = {0: FLOAT}
        if targets == 1 and r.chance(0.1):
            r.attributes["post_transform"] = "PROBIT"
    if r.chance(0.4) and (one or targets != 2 or r.op == "TreeEnsembleRegressor"):
        r.attributes["base_values"] = [float(np.float32(r.random.uniform(-1, 1))) for _ in range(1 if one else targets)]


def support_vectors(r):
    x = rows(r)
    x = (x / 2).astype(x.dtype) if x.dtype.kind == "f" else x
    features = x.shape[1]
    r.give(x)
    r.attributes["kernel_type"] = r.random.choice(["LINEAR", "POLY", "RBF", "SIGMOID"])
    r.attributes["kernel_params"] = [0.25, 0.5, float(r.random.randint(1, 3))]
    numbers = lambda n: [float(np.float32(r.random.uniform(-1, 1))) for _ in range(n)]  # noqa: E731
    if r.op == "SVMRegressor":
        vectors = r.few(6)
        r.attributes |= {"n_supports": vectors, "support_vectors": numbers(vectors * features), "coefficients": numbers(vectors)}
        r.attributes["rho"] = numbers(1)
        r.maybe(one_class=1)
        return
    classes = r.random.randint(2, 4)
    each = [r.few(3) for _ in range(classes)]
    pairs = classes * (classes - 1) // 2
    r.attributes |= {"vectors_per_class": each, "support_vectors": numbers(sum(each) * features), "rho": numbers(pairs)}
    r.attributes["coefficients"] = numbers(sum(each) * (classes - 1))
    if r.chance():
        r.attributes |= {"prob_a": numbers(pairs), "prob_b": numbers(pairs)}
    else:
        r.maybe(post_transform=r.random.choice(TRANSFORMS[:4]))
    r.attributes |= class_labels(r, classes)
    r.outputs, r.output_types = 2, label_types(r)


def linear(r):
    x, classes = rows(r), r.random.randint(2 if r.op == "LinearClassifier" else 1, 4)
    r.give(x)
    numbers = lambda n: [float(np.float32(r.random.uniform(-1, 1))) for _ in range(n)]  # noqa: E731
    r.attributes |= {"coefficients": numbers(classes * x.shape[1]), "intercepts": numbers(classes)}
    r.attributes["post_transform"] = r.random.choice(TRANSFORMS[:4])
    if r.op == "LinearRegressor":
        r.attributes["targets"] = classes
        return
    r.attributes |= class_labels(r, classes)
    r.outputs, r.output_types = 2, label_types(r)


def scaler(r):
    x = rows(r)
    each = lambda: [r.random.randint(-8, 8) / 4 for _ in range(r.random.choice([1, x.shape[1]]))]  # noqa: E731
    r.give(x)
    one = r.chance(0.3)
    r.attributes |= {"offset": each()[:1] if one else [0.5] * x.shape[1], "scale": each()[:1] if one else [0.25] * x.shape[1]}
    r.output_types = {0: FLOAT}


def normalizer(r):
    r.give(rows(r))
    r.maybe(norm=r.random.choice(["MAX", "L1", "L2"]))
    r.output_types = {0: FLOAT}


def imputer(r):
    x = rows(r)
    floating = x.dtype.kind == "f"
    each = r.random.choice([1, x.shape[1]])
    r.give(x)
    if floating:
        r.attributes |= {
            "imputed_value_floats": [float(i) for i in range(each)],
            "replaced_value_float": r.random.choice([float("nan"), 1.0]),
        }
        if r.chance():
            x.reshape(-1)[0] = np.nan
    else:
        r.attributes |= {"imputed_value_int64s": list(range(each)), "replaced_value_int64": 1}


def binarizer(r):
    r.give(rows(r))
    r.maybe(threshold=r.random.randint(-4, 4) / 2)


def label_encoder(r):
    floats = lambda n: [float(i) / 2 for i in range(n)]  # noqa: E731
    forms = {STRING: lambda n: [f"w{i}" for i in range(n)], INT64: lambda n: list(range(n)), FLOAT: floats}
    names = {STRING: "strings", INT64: "int64s", FLOAT: "floats"}
    to, count = r.random.choice([STRING, INT64, FLOAT]), r.few(6)
    keys = forms[r.number](count)
    values = r.random.sample(keys + forms[r.number](count + 2)[count:], r.few(count))
    r.give(np.array(values * r.few(3), object if r.number == STRING else helper.tensor_dtype_to_np_dtype(r.number)))
    r.attributes |= {f"keys_{names[r.number]}": keys, f"values_{names[to]}": forms[to](count)}
    r.output_types = {0: to}
    if to == INT64:
        r.maybe(default_int64=-7)


def category_mapper(r):
    count = r.few(5)
    r.attributes |= {"cats_int64s": list(range(count)), "cats_strings": [f"w{i}" for i in range(count)]}
    given = [r.random.randint(0, count) for _ in range(r.few(6))]
    r.give(np.array([f"w{i}" for i in given], object) if r.number == STRING else np.array(given))
    r.output_types = {0: INT64 if r.number == STRING else STRING}


def one_hot_encoder(r):
    count, shape = r.few(5), [r.few(4) for _ in range(r.random.randint(1, 2))]
    given = r.whole(shape, 0, count - 1)
    if r.number == STRING:
        r.attributes["cats_strings"] = [f"w{i}" for i in range(count)]
        given = np.vectorize(lambda i: f"w{i}", otypes=[object])(given)
    else:
        r.attributes["cats_int64s"] = list(range(count))
        given = given.astype(helper.tensor_dtype_to_np_dtype(r.number))
    r.give(given)
    r.maybe(zeros=1)
    r.output_types = {0: FLOAT}


def features(r):
    """FeatureVectorizer: columns side by side."""
    parts = [r.few(3) for _ in range(r.few(3))]
    count = r.few(4)
    r.give(*(rows_of(r, count, part) for part in parts))
    r.attributes["inputdimensions"] = parts
    r.output_types = {0: FLOAT}


def rows_of(r, count: int, width: int):
    return r.whole([count, width], -5, 5, r.number)


def chosen_columns(r):
    shape = [r.few() for _ in range(r.random.randint(1, 3))]
    r.give(r.value(shape), r.whole([r.few(4)], 0, shape[-1] - 1))


def optimizer(r):
    """Adagrad, Adam and Momentum over one or two tensors."""
    count = r.few(2)
    shapes = [[r.few(4) for _ in range(r.random.randint(0, 3))] for _ in range(count)]
    tensors = lambda low, high: [r.plain(s, None, low, high) for s in shapes]  # noqa: E731
    r.give(r.scalar(0.1, r.number), r.scalar(r.random.randint(0, 3), INT64), *tensors(-2, 2), *tensors(-2, 2))
    for _ in range(2 if r.op == "Adam" else 1):
        r.give(*tensors(0, 2))
    r.outputs = count * (3 if r.op == "Adam" else 2)
    r.output_types = {i: r.number for i in range(r.outputs)}
    if r.op == "Momentum":
        r.attributes |= {"alpha": 0.9, "beta": 0.5, "norm_coefficient": 0.01, "mode": r.random.choice(["standard", "nesterov"])}
        return
    r.maybe(epsilon=1e-3, norm_coefficient=0.01)
    r.maybe(**({"alpha": 0.8, "beta": 0.9, "norm_coefficient_post": 0.1} if r.op == "Adam" else {"decay_factor": 0.1}))


NUMBERS = [FLOAT, DOUBLE, INT64, INT32]
KEYS = [STRING, INT64, FLOAT]

ML_RECIPES = [
    Row(*row[:2], domain="ai.onnx.ml", types=row[2])
    for row in [
        ("ArrayFeatureExtractor", chosen_columns, [FLOAT, DOUBLE, INT64, INT32, STRING]),
        ("Binarizer", binarizer, NUMBERS),
        ("CategoryMapper", category_mapper, [STRING, INT64]),
        ("FeatureVectorizer", features, NUMBERS),
        ("Imputer", imputer, [FLOAT, INT64]),
        ("LabelEncoder", label_encoder, KEYS),
        ("LinearClassifier", linear, NUMBERS),
        ("LinearRegressor", linear, [FLOAT]),
        ("Normalizer", normalizer, NUMBERS),
        ("OneHotEncoder", one_hot_encoder, [STRING, *NUMBERS]),
        ("SVMClassifier", support_vectors, NUMBERS),
        ("SVMRegressor", support_vectors, [FLOAT]),
        ("Scaler", scaler, NUMBERS),
        *[("TreeEnsembleClassifier", forest, NUMBERS)] * 3,
        *[("TreeEnsembleRegressor", forest, [FLOAT, DOUBLE])] * 3,
    ]
] + [Row(op, optimizer, domain=TRAINING, types=[FLOAT, DOUBLE]) for op in ("Adagrad", "Adam", "Momentum")]
