"""Changed model files that Roundhouse refuses, or reads otherwise, on purpose; docs/differences.md has them."""


def always(model, message):
    return True


def differs(model, message):
    return message.startswith("output")


KNOWN = [
    ({"own_initializer_twice"}, differs, "the last initializer of a name counts; of large ones ONNX Runtime takes the first"),
    ({"attribute_without_name"}, always, "an attribute without a name is refused; of a Constant ONNX Runtime looks at its type alone"),
    ({"wrong_sizes_between"}, always, "ONNX Runtime folds sizes that the file has wrong into the graph"),
]


def reason(change: str, model: str, message: str) -> str | None:
    return next((why for changes, test, why in KNOWN if change in changes and test(model, message)), None)
