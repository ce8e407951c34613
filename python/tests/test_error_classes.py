"""What programs catch: a handler that was written for the onnxruntime package sees the same misuse here.

Each row is run on both packages. Roundhouse's exception must be caught by a handler of the class that the other one raises; its own
classes are RuntimeErrors besides, as errors of the other package's bindings are.
"""

import builtins

import models
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import roundhouse

CPU = ["CPUExecutionProvider"]
STATE = onnxruntime.capi.onnxruntime_pybind11_state
F, I32, I64, U8, STRING, BOOL = (getattr(TensorProto, name) for name in ("FLOAT", "INT32", "INT64", "UINT8", "STRING", "BOOL"))
FEED = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.array([10, 20, 30], np.float32)}


def zeros(*shape, dtype=np.float32):
    return np.zeros(shape, dtype)


def ints(*values):
    return np.array(values, np.int64)


def any_shape(name, element=F):
    return helper.make_tensor_value_info(name, element, None)


def unchecked(nodes, inputs, outputs, initializers=(), imports=(("", 18),), ir_version=9):
    graph = helper.make_graph(nodes, "g", inputs, outputs, initializer=list(initializers))
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid(*pair) for pair in imports], ir_version=ir_version)
    return made.SerializeToString()


def one(op, inputs=("a",), types=None, output=None, initializers=(), **attributes):
    """A model of one node; inputs and outputs are float[N] unless said."""
    types = types or [models.tensor("a")]
    return unchecked([helper.make_node(op, list(inputs), ["c"], **attributes)], types, [output or models.tensor("c")], initializers)


def changed(change):
    made = onnx.load_from_string(models.add())
    change(made)
    return made.SerializeToString()


def with_weight(tensor):
    return one("Add", ["a", "w"], [models.tensor("a", F, (2,))], models.tensor("c", F, (2,)), [tensor])


def external(folder, size=None, **entries):
    tensor = helper.make_tensor("w", F, [2], [1, 2])
    tensor.ClearField("float_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in ({"location": "w.bin", "length": 8} | entries).items():
        tensor.external_data.add(key=key, value=str(value))
    if size is not None:
        (folder / "w.bin").write_bytes(bytes(size))
    (folder / "model.onnx").write_bytes(with_weight(tensor))
    return str(folder / "model.onnx")


def broken_initializer(**fields):
    tensor = numpy_helper.from_array(zeros(2), "w")
    for field, value in fields.items():
        setattr(tensor, field, value)
    return with_weight(tensor)


def file_of(folder, content):
    (folder / "model.onnx").write_bytes(content)
    return str(folder / "model.onnx")


def pair_of(first, second):
    return [models.tensor("a", F, first), models.tensor("b", F, second)]


TWO = models.tensor("c", F, (2,))

# name: folder -> model
LOAD = {
    "missing file": lambda d: str(d / "nothing.onnx"),
    "broken file": lambda d: file_of(d, b"not a model at all"),
    "truncated file": lambda d: file_of(d, models.add()[:50]),
    "empty file": lambda d: file_of(d, b""),
    "empty bytes": lambda d: b"",
    "broken bytes": lambda d: b"not a model",
    "truncated bytes": lambda d: models.add()[:50],
    "number": lambda d: 3,
    "None": lambda d: None,
    "unknown operator": lambda d: one("Nope"),
    "unknown operator of a domain": lambda d: unchecked(
        [helper.make_node("Nope", ["a"], ["c"], domain="who.knows")],
        [models.tensor("a")],
        [models.tensor("c")],
        (),
        [("", 18), ("who.knows", 1)],
    ),
    "domain not imported": lambda d: one("Nope", domain="who.knows"),
    "no opset": lambda d: changed(lambda m: m.ClearField("opset_import")),
    "opset too new": lambda d: unchecked(
        [helper.make_node("Relu", ["a"], ["c"])], [models.tensor("a")], [models.tensor("c")], (), [("", 99)]
    ),
    "IR too new": lambda d: changed(lambda m: setattr(m, "ir_version", 99)),
    "no IR": lambda d: changed(lambda m: m.ClearField("ir_version")),
    "no graph": lambda d: changed(lambda m: m.ClearField("graph")),
    "input from nowhere": lambda d: one("Add", ["a", "z"]),
    "output from nowhere": lambda d: one("Relu", output=models.tensor("z")),
    "cycle": lambda d: unchecked(
        [helper.make_node("Add", ["a", "d"], ["c"]), helper.make_node("Relu", ["c"], ["d"])], [models.tensor("a")], [models.tensor("c")]
    ),
    "name given twice": lambda d: unchecked([helper.make_node("Relu", ["a"], ["c"])] * 2, [models.tensor("a")], [models.tensor("c")]),
    "types that differ": lambda d: one("Add", ["a", "b"], [models.tensor("a"), models.tensor("b", I64)]),
    "output of another type": lambda d: one("Relu", output=models.tensor("c", I64)),
    "type not allowed": lambda d: one("MatMul", ["a", "a"], [models.tensor("a", STRING, (2, 2))], models.tensor("c", STRING, (2, 2))),
    "too many inputs": lambda d: one("Relu", ["a", "a"]),
    "too few inputs": lambda d: one("Add"),
    "attribute missing": lambda d: one("Cast"),
    "attribute unknown": lambda d: one("Relu", nope=3),
    "attribute of another type": lambda d: one("Softmax", axis="x"),
    "axis out of range": lambda d: one("Softmax", axis=7),
    "ranks that differ": lambda d: one("Concat", ["a", "b"], pair_of((2,), (2, 2)), axis=0),
    "product that does not fit": lambda d: one("MatMul", ["a", "b"], pair_of((2, 3), (4, 5)), models.tensor("c", F, (2, 5))),
    "no matrix": lambda d: one("Gemm", ["a", "b"], pair_of((2, 3, 4), (4, 5)), models.tensor("c", F, (2, 5))),
    "no broadcast": lambda d: one("Add", ["a", "b"], pair_of((2,), (3,)), models.tensor("c", F, (3,))),
    "external data too short": lambda d: external(d, size=4),
    "external data past the end": lambda d: external(d, size=8, offset=100),
    "external data of another length": lambda d: external(d, size=8, length=4),
    "external data of a model in bytes": lambda d: open(external(d), "rb").read(),
    "initializer of another size": lambda d: broken_initializer(raw_data=b"123"),
    "initializer of no type": lambda d: broken_initializer(data_type=77),
}


def options(**values):
    def use(m, _):
        made = m.SessionOptions()
        for name, value in values.items():
            setattr(made, name, value)
        m.InferenceSession(models.add(), made, providers=CPU)

    return use


def config(key, value):
    def use(m, _):
        made = m.SessionOptions()
        made.add_session_config_entry(key, value)
        m.InferenceSession(models.add(), made, providers=CPU)

    return use


def twice(m, _):
    made, value = m.SessionOptions(), m.OrtValue.ortvalue_from_numpy(zeros(3))
    made.add_initializer("w", value)
    made.add_initializer("w", value)


def cancelled(m, _):
    made = m.SessionOptions()
    made.set_load_cancellation_flag(True)
    m.InferenceSession(models.add(), made, providers=CPU)


def terminated(m, _):
    run = m.RunOptions()
    run.terminate = True
    add(m).run(None, FEED, run)


def junk(folder, name):
    (folder / name).write_bytes(b"z" * 40)
    return str(folder / name)


# name: (package, folder) -> misuse
SETTINGS = {
    "threads as text": options(intra_op_num_threads="x"),
    "threads as fraction": options(intra_op_num_threads=1.5),
    "level as text": options(graph_optimization_level="x"),
    "severity out of range": options(log_severity_level=9),
    "severity below all": options(log_severity_level=-2),
    "severity as text": options(log_severity_level="x"),
    "unknown attribute": options(nope=1),
    "number as name": options(logid=1),
    "no pools to share": options(use_per_session_threads=False),
    "key of no characters": config("", "1"),
    "key too long": config("x" * 1025, "1"),
    "value that is no text": config("k", 3),
    "accuracy out of range": config("session.qdq_matmulnbits_accuracy_level", "9"),
    "accuracy below all": config("session.qdq_matmulnbits_accuracy_level", "-1"),
    "accuracy as text": config("session.qdq_matmulnbits_accuracy_level", "best"),
    "accuracy of no characters": config("session.qdq_matmulnbits_accuracy_level", ""),
    "affinities that are none": config("session.intra_op_thread_affinities", "x"),
    "entry that is not there": lambda m, _: m.SessionOptions().get_session_config_entry("nope"),
    "initializer that is no value": lambda m, _: m.SessionOptions().add_initializer("w", 3),
    "initializer given twice": twice,
    "fewer values than names": lambda m, _: m.SessionOptions().add_external_initializers(["a"], []),
    "operators of no file": lambda m, _: m.SessionOptions().register_custom_ops_library("/nowhere/lib.so"),
    "operators of no library": lambda m, d: m.SessionOptions().register_custom_ops_library(junk(d, "lib.so")),
    "load that is cancelled": cancelled,
    "run that is terminated": terminated,
    "run entry that is not there": lambda m, _: m.RunOptions().get_run_config_entry("nope"),
    "run severity out of range": lambda m, _: add(m).run(None, FEED, with_severity(m, 77)),
    "run severity below all": lambda m, _: add(m).run(None, FEED, with_severity(m, -2)),
    "bound run severity out of range": lambda m, _: run_bound_with_severity(m, 5),
    "run entry of no name": lambda m, _: m.RunOptions().add_run_config_entry("", "1"),
    "default severity out of range": lambda m, _: m.set_default_logger_severity(9),
    "provider of no file": lambda m, _: m.register_execution_provider_library("x", "/nowhere/lib.so"),
    "provider of no library": lambda m, d: m.register_execution_provider_library("x", junk(d, "lib.so")),
    "provider that is not registered": lambda m, _: m.unregister_execution_provider_library("nope"),
    "provider that nobody knows": lambda m, _: m.InferenceSession(models.add(), providers=["Nope"], enable_fallback=0),
    "adapter of no file": lambda m, d: m.LoraAdapter().Load(str(d / "nothing")),
    "adapter that is none": lambda m, d: m.LoraAdapter().Load(junk(d, "adapter")),
    "adapter file that is not there": lambda m, d: m.AdapterFormat.read_adapter(str(d / "nothing")),
    "assignment that was not recorded": lambda m, _: add(m).get_provider_graph_assignment_info(),
    "nothing to compile": lambda m, _: m.ModelCompiler(m.SessionOptions(), b"").compile_to_bytes(),
    "nonsense to compile": lambda m, _: m.ModelCompiler(m.SessionOptions(), b"nonsense").compile_to_bytes(),
    "stream that fails": lambda m, _: m.ModelCompiler(m.SessionOptions(), models.add()).compile_to_stream(lambda _: 1 / 0),
    "location that fails": lambda m, _: m.ModelCompiler(
        m.SessionOptions(), models.add_with_default(), get_initializer_location_func=lambda *_: 1 / 0
    ).compile_to_bytes(),
    "data of contexts to nobody": lambda m, _: m.ModelCompiler(m.SessionOptions(), models.add()).set_ep_context_data_write_func(None),
    "data of contexts to a number": lambda m, _: m.ModelCompiler(m.SessionOptions(), models.add()).set_ep_context_data_write_func(3),
    "data of contexts from nobody": lambda m, _: m.SessionOptions().set_ep_context_data_read_func(None, 9),
    "data of contexts from a number": lambda m, _: m.SessionOptions().set_ep_context_data_read_func(3, 9),
    "data of contexts without limit": lambda m, _: m.SessionOptions().set_ep_context_data_read_func(lambda *_: None),
    "data of contexts of no size": lambda m, _: m.SessionOptions().set_ep_context_data_read_func(lambda *_: None, 0),
    "data of contexts of a negative size": lambda m, _: m.SessionOptions().set_ep_context_data_read_func(lambda *_: None, -1),
    "views that nobody makes": lambda m, _: m.OrtEpContextData(),
    "tuning that is no list": lambda m, _: add(m).set_tuning_results({}),
    "tuning of nobody": lambda m, _: add(m).set_tuning_results([{"results": {}, "validators": {}}]),
    "tuning without validators": lambda m, _: add(m).set_tuning_results([{"ep": "x", "results": {}}]),
    "tuning that is no number": lambda m, _: add(m).set_tuning_results([{"ep": "x", "results": {"a": {"b": "c"}}, "validators": {}}]),
    "tuning of another provider": lambda m, _: add(m).set_tuning_results(
        [{"ep": "Nope", "results": {}, "validators": {}}], error_on_invalid=True
    ),
    "tuning of the CPU": lambda m, _: add(m).set_tuning_results([{"ep": CPU[0], "results": {}, "validators": {}}], error_on_invalid=True),
    "threads of the process as text": lambda m, _: m.set_global_thread_pool_sizes("2"),
}


def with_severity(module, level):
    made = module.RunOptions()
    made.log_severity_level = level
    return made


def run_bound_with_severity(module, level):
    session = add(module)
    binding = session.io_binding()
    for name, value in FEED.items():
        binding.bind_cpu_input(name, value)
    binding.bind_output("sum")
    session.run_with_iobinding(binding, with_severity(module, level))


def add(module):
    made = module.SessionOptions()
    made.log_severity_level = 4
    return module.InferenceSession(models.add(), made, providers=CPU)


def fed(outputs=None, **changes):
    return lambda m, _: add(m).run(outputs, {k: v for k, v in (FEED | changes).items() if v is not ...})


def bound(use):
    def misuse(m, _):
        session = add(m)
        return use(m, session, session.io_binding())

    return misuse


def run_bound(m, session, binding, sum_=None, **inputs):
    for name, value in (FEED | inputs).items():
        binding.bind_cpu_input(name, value)
    binding.bind_output("sum") if sum_ is None else binding.bind_ortvalue_output("sum", m.OrtValue.ortvalue_from_numpy(sum_))
    session.run_with_iobinding(binding)


def elsewhere(m, _, binding):
    other = m.InferenceSession(models.identity(), providers=CPU)
    other.run_with_iobinding(binding)


def value(make):
    return lambda m, _: make(m.OrtValue)


POINTER = FEED["a"].ctypes.data

USES = {
    "wrong name": fed(a=..., q=FEED["a"]),
    "extra name": fed(q=FEED["a"]),
    "missing": fed(b=...),
    "double": fed(a=zeros(2, 3, dtype=np.float64)),
    "integers": fed(a=zeros(2, 3, dtype=np.int64)),
    "text": fed(a=np.array([["x", "y", "z"]])),
    "objects": fed(a=np.array([[object()] * 3])),
    "complex numbers": fed(a=zeros(2, 3, dtype=np.complex64)),
    "dates": fed(a=zeros(2, 3, dtype="M8[s]")),
    "rank too low": fed(a=zeros(3)),
    "rank too high": fed(a=zeros(1, 2, 3)),
    "scalar": fed(a=np.float32(3)),
    "dimension": fed(b=zeros(4)),
    "word for a tensor": fed(a="x"),
    "dict for a tensor": fed(a={1: 2}),
    "ragged list": fed(a=[[1.0], [1.0, 2.0]]),
    "value of another type": lambda m, _: add(m).run(None, FEED | {"a": m.OrtValue.ortvalue_from_numpy(zeros(2, 3, dtype=np.int64))}),
    "value of another shape": lambda m, _: add(m).run(None, FEED | {"a": m.OrtValue.ortvalue_from_numpy(zeros(2, 4))}),
    "unknown output": fed(["nope"]),
    "outputs as text": fed("sum"),
    "outputs as numbers": fed([3]),
    "output of no name": fed([""]),
    "input as output": fed(["a"]),
    "no values": lambda m, _: add(m).run_with_ort_values(None, {}),
    "list for a tensor": fed(a=[zeros(2), zeros(2)]),
    "tensor for a sequence": lambda m, _: m.InferenceSession(models.identity_sequence(), providers=CPU).run(None, {"x": zeros(2)}),
    "sequence of another type": lambda m, _: m.InferenceSession(models.identity_sequence(), providers=CPU).run(None, {"x": [ints(1)]}),
    "sequence of two types": lambda m, _: m.InferenceSession(models.identity_sequence(), providers=CPU).run(
        None, {"x": [zeros(2), ints(1)]}
    ),
    "asynchronous without feed": lambda m, _: add(m).run_async(None, {}, lambda *_: None, None),
    "binding of an unknown input": bound(lambda m, s, b: b.bind_cpu_input("q", zeros(3))),
    "binding of another type": bound(lambda m, s, b: run_bound(m, s, b, a=zeros(2, 3, dtype=np.int64))),
    "binding of another shape": bound(lambda m, s, b: run_bound(m, s, b, a=zeros(2, 4))),
    "binding of nothing": bound(lambda m, s, b: s.run_with_iobinding(b)),
    "binding without outputs": bound(lambda m, s, b: [b.bind_cpu_input(*pair) for pair in FEED.items()] and s.run_with_iobinding(b)),
    "binding without an input": bound(lambda m, s, b: (b.bind_cpu_input("a", FEED["a"]), b.bind_output("sum"), s.run_with_iobinding(b))),
    "binding to an output of another shape": bound(lambda m, s, b: run_bound(m, s, b, zeros(9, 3))),
    "binding to an output of another type": bound(lambda m, s, b: run_bound(m, s, b, zeros(2, 3, dtype=np.int64))),
    "binding of no element type": bound(lambda m, s, b: b.bind_output("sum", "cpu", 0, None, [2, 3], POINTER)),
    "binding of no shape": bound(lambda m, s, b: b.bind_output("sum", "cpu", 0, np.float32, None, POINTER)),
    "binding of an unknown element type": bound(lambda m, s, b: b.bind_input("a", "cpu", 0, 99, [2, 3], POINTER)),
    "binding of a negative dimension": bound(lambda m, s, b: b.bind_input("a", "cpu", 0, np.float32, [2, -3], POINTER)),
    "binding of nobody": lambda m, _: add(m).run_with_iobinding(None),
    "binding of another session": bound(elsewhere),
    "binding of no session": lambda m, _: m.IOBinding(3),
    "value of dates": value(lambda v: v.ortvalue_from_numpy(zeros(2, dtype="M8[s]"))),
    "value on a device that is not there": value(lambda v: v.ortvalue_from_numpy(zeros(2), "cuda", 0)),
    "value of a negative dimension": value(lambda v: v.ortvalue_from_shape_and_type([-1], np.float32)),
    "value of no shape": value(lambda v: v.ortvalue_from_shape_and_type(None, np.float32)),
    "value of an unknown type": value(lambda v: v.ortvalue_from_shape_and_type([2], 99)),
    "value of no type": value(lambda v: v.ortvalue_from_shape_and_type([2], 0)),
    "value of text without content": value(lambda v: v.ortvalue_from_shape_and_type([2], np.str_)),
    "value of bits of another width": value(lambda v: v.ortvalue_from_numpy_with_onnx_type(zeros(2), TensorProto.INT8)),
    "value of bits of no type": value(lambda v: v.ortvalue_from_numpy_with_onnx_type(zeros(2), 99)),
    "update of another shape": value(lambda v: v.ortvalue_from_numpy(zeros(2)).update_inplace(zeros(3))),
    "view of no sparse tensor": value(lambda v: v.ortvalue_from_numpy(zeros(2)).as_sparse_tensor()),
    "exchange of text": value(lambda v: v.ortvalue_from_numpy(np.array(["a"])).__dlpack__()),
    "device of no number": lambda m, _: m.OrtDevice.make("cpu", "x"),
    "fewer targets than sources": lambda m, _: m.copy_tensors([m.OrtValue.ortvalue_from_numpy(zeros(2))], []),
}

SHAPE = (("a", F), ("s", I64))
PRODUCT = (("a", F), ("b", F))

# name: (operator, inputs and their element types, feed, attributes)
KERNELS = {
    "Gather": ("Gather", (("a", F), ("i", I64)), {"a": zeros(3), "i": ints(7)}, {}),
    "Gather, axis": ("Gather", (("a", F), ("i", I64)), {"a": zeros(3), "i": ints(0)}, {"axis": 4}),
    "GatherElements": ("GatherElements", (("a", F), ("i", I64)), {"a": zeros(3), "i": ints(7)}, {}),
    "GatherND": ("GatherND", (("a", F), ("i", I64)), {"a": zeros(3), "i": ints(7).reshape(1, 1)}, {}),
    "ScatterElements": ("ScatterElements", (("a", F), ("i", I64), ("u", F)), {"a": zeros(3), "i": ints(7), "u": zeros(1)}, {}),
    "ScatterND": ("ScatterND", (("a", F), ("i", I64), ("u", F)), {"a": zeros(3), "i": ints(7).reshape(1, 1), "u": zeros(1)}, {}),
    "Reshape": ("Reshape", SHAPE, {"a": zeros(6), "s": ints(4, 2)}, {}),
    "Reshape, two unknown": ("Reshape", SHAPE, {"a": zeros(6), "s": ints(-1, -1)}, {}),
    "Expand": ("Expand", SHAPE, {"a": zeros(3), "s": ints(2)}, {}),
    "Tile": ("Tile", SHAPE, {"a": zeros(3), "s": ints(2, 2)}, {}),
    "Pad": ("Pad", SHAPE, {"a": zeros(2), "s": ints(1, 1, 1)}, {}),
    "Squeeze": ("Squeeze", SHAPE, {"a": zeros(2, 3), "s": ints(0)}, {}),
    "Squeeze, axis": ("Squeeze", SHAPE, {"a": zeros(2, 3), "s": ints(5)}, {}),
    "Unsqueeze": ("Unsqueeze", SHAPE, {"a": zeros(2, 3), "s": ints(0, 0)}, {}),
    "Unsqueeze, axis": ("Unsqueeze", SHAPE, {"a": zeros(2, 3), "s": ints(9)}, {}),
    "ReduceSum, axis": ("ReduceSum", SHAPE, {"a": zeros(2, 3), "s": ints(5)}, {}),
    "ConstantOfShape": ("ConstantOfShape", (("s", I64),), {"s": ints(-3)}, {}),
    "MatMul": ("MatMul", PRODUCT, {"a": zeros(2, 3), "b": zeros(4, 5)}, {}),
    "MatMul of vectors": ("MatMul", PRODUCT, {"a": zeros(2), "b": zeros(3)}, {}),
    "Gemm": ("Gemm", PRODUCT, {"a": zeros(2, 3), "b": zeros(4, 5)}, {}),
    "Add": ("Add", PRODUCT, {"a": zeros(2), "b": zeros(3)}, {}),
    "Mul": ("Mul", PRODUCT, {"a": zeros(2), "b": zeros(3)}, {}),
    "Pow": ("Pow", PRODUCT, {"a": zeros(2), "b": zeros(3)}, {}),
    "PRelu": ("PRelu", PRODUCT, {"a": zeros(2), "b": zeros(3)}, {}),
    "Concat": ("Concat", PRODUCT, {"a": zeros(2, 3), "b": zeros(4, 5)}, {"axis": 0}),
    "Concat, axis": ("Concat", PRODUCT, {"a": zeros(2, 3), "b": zeros(2, 3)}, {"axis": 5}),
    "Conv": ("Conv", PRODUCT, {"a": zeros(1, 3, 8, 8), "b": zeros(4, 5, 3, 3)}, {}),
    "ConvTranspose": ("ConvTranspose", PRODUCT, {"a": zeros(1, 3, 8, 8), "b": zeros(4, 5, 3, 3)}, {}),
    "LayerNormalization": ("LayerNormalization", PRODUCT, {"a": zeros(2, 3), "b": zeros(4)}, {}),
    "Einsum": ("Einsum", PRODUCT, {"a": zeros(2, 3), "b": zeros(4, 5)}, {"equation": "ij,jk->ik"}),
    "Upsample by nothing": ("Resize", (("a", F), ("", F), ("b", F)), {"a": zeros(1, 1, 2, 2), "b": zeros(4)}, {}),
    "MaxPool": ("MaxPool", (("a", F),), {"a": zeros(2, 3)}, {"kernel_shape": [2, 2]}),
    "Softmax, axis": ("Softmax", (("a", F),), {"a": zeros(2, 3)}, {"axis": 3}),
    "Flatten, axis": ("Flatten", (("a", F),), {"a": zeros(2, 3)}, {"axis": 5}),
    "Transpose": ("Transpose", (("a", F),), {"a": zeros(2, 3)}, {"perm": [0, 1, 2]}),
    "DepthToSpace": ("DepthToSpace", (("a", F),), {"a": zeros(1, 3, 2, 2)}, {"blocksize": 2}),
    "ArgMax of nothing": ("ArgMax", (("a", F),), {"a": zeros(0, 3)}, {"axis": 0}),
    "Cast": ("Cast", (("a", STRING),), {"a": np.array(["abc"])}, {"to": F}),
    "CumSum, axis": ("CumSum", (("a", F), ("x", I64)), {"a": zeros(2, 3), "x": np.array(5)}, {}),
    "OneHot": ("OneHot", (("i", I64), ("d", I64), ("v", F)), {"i": ints(2), "d": ints(-5), "v": zeros(2)}, {}),
    "Range": (
        "Range",
        (("a", F), ("b", F), ("c_", F)),
        {"a": zeros(1)[0:1].reshape(()), "b": np.array(5, np.float32), "c_": np.array(0, np.float32)},
        {},
    ),
    "ReverseSequence": ("ReverseSequence", (("a", F), ("i", I64)), {"a": zeros(2, 3), "i": ints(9, 9, 9)}, {}),
    "DequantizeLinear": (
        "DequantizeLinear",
        (("a", U8), ("b", F), ("z", U8)),
        {"a": zeros(3, dtype=np.uint8), "b": zeros(2), "z": zeros(2, dtype=np.uint8)},
        {"axis": 0},
    ),
    "NonMaxSuppression": ("NonMaxSuppression", PRODUCT, {"a": zeros(1, 2, 4), "b": zeros(1, 1, 5)}, {}),
    "Attention": (
        "Attention",
        (("a", F), ("b", F), ("v", F)),
        {"a": zeros(1, 2, 4), "b": zeros(5, 12), "v": zeros(12)},
        {"num_heads": 2, "domain": "com.microsoft"},
    ),
    "FusedMatMul": ("FusedMatMul", PRODUCT, {"a": zeros(2, 3), "b": zeros(4, 5)}, {"domain": "com.microsoft"}),
}


def kernel(name):
    op, inputs, feed, attributes = KERNELS[name]
    element = I64 if op in ("ArgMax", "NonMaxSuppression") else F
    types = [any_shape(*pair) for pair in inputs if pair[0]]
    made = one(op, [pair[0] for pair in inputs], types, any_shape("c", element), **attributes)

    def misuse(m, _):
        quiet = m.SessionOptions()
        quiet.log_severity_level = 4
        return m.InferenceSession(made, quiet, providers=CPU).run(None, feed)

    return misuse


def raised(misuse, module, folder):
    with pytest.raises(Exception) as caught:  # noqa: PT011 (any: its class is what is asked)
        misuse(module, folder)
    return caught.value


def check(misuse, folder):
    theirs = raised(misuse, onnxruntime, folder)
    name = type(theirs).__name__
    handler = getattr(roundhouse if hasattr(STATE, name) else builtins, name)
    ours = raised(misuse, roundhouse, folder)
    assert isinstance(ours, handler), f"{theirs!r} there, {ours!r} here"


@pytest.mark.parametrize("name", LOAD)
def test_load(name, tmp_path):
    check(lambda m, d: m.InferenceSession(LOAD[name](d), providers=CPU), tmp_path)


@pytest.mark.parametrize("name", SETTINGS)
def test_settings(name, tmp_path):
    check(SETTINGS[name], tmp_path)


@pytest.mark.parametrize("name", USES)
def test_uses(name, tmp_path):
    check(USES[name], tmp_path)


@pytest.mark.parametrize("name", KERNELS)
def test_kernels(name, tmp_path):
    check(kernel(name), tmp_path)


# What Roundhouse raises on purpose in the place of another class (docs/bindings.md), or refuses where the other takes it.
DIFFERENT = {
    "external data that is not there": (lambda m, d: m.InferenceSession(external(d), providers=CPU), "NoSuchFile"),
    "feed that is no dict": (lambda m, _: add(m).run(None, None), "TypeError"),
    "options that are none": (lambda m, _: m.InferenceSession(models.add(), 3, providers=CPU), "TypeError"),
    "more than there is memory for": (lambda m, _: m.OrtValue.ortvalue_from_shape_and_type([2**50], np.float32), "RuntimeException"),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_differences(name, tmp_path):
    misuse, wanted = DIFFERENT[name]
    assert type(raised(misuse, roundhouse, tmp_path)).__name__ == wanted
    assert type(raised(misuse, onnxruntime, tmp_path)).__name__ != wanted


def test_messages_begin_with_the_code_in_the_place_of_the_other_package(tmp_path):
    import subprocess
    import sys

    program = (
        "import roundhouse\nroundhouse.install_as_onnxruntime()\nimport onnxruntime\n"
        "try:\n    onnxruntime.InferenceSession('/nowhere/model.onnx')\nexcept Exception as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.stdout.startswith("[ONNXRuntimeError] : 3 : NO_SUCHFILE : "), done.stderr
    assert "ONNXRuntimeError" not in str(raised(lambda m, _: m.InferenceSession("/nowhere/model.onnx"), roundhouse, tmp_path))
