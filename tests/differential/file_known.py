"""Changed model files that Roundhouse refuses, or reads otherwise, on purpose; docs/differences.md has them."""


def always(model, message):
    return True


def differs(model, message):
    return message.startswith("output")


def of_its_type_alone(model, message):
    """The initializer is the second input of a CastLike."""
    return "castlike" in model


BROKEN = {"raw_data_too_long", "raw_data_too_short", "typed_data_too_long", "typed_data_too_short", "dims_negative"}
BROKEN |= {"external_data_that_is_nowhere", "initializer_of_no_type"}
TWICE = {"own_initializer_twice", "own_initializer_as_constants", "own_constant_beside_an_initializer"}
KNOWN = [
    (BROKEN, of_its_type_alone, "ONNX Runtime does not read an initializer whose values nothing takes"),
    (TWICE, differs, "the last initializer of a name counts; of large ones ONNX Runtime takes the first"),
    ({"attribute_without_name"}, always, "an attribute without a name is refused; of a Constant ONNX Runtime looks at its type alone"),
    ({"wrong_sizes_between"}, always, "ONNX Runtime folds sizes that the file has wrong into the graph"),
]


def reason(change: str, model: str, message: str) -> str | None:
    return next((why for changes, test, why in KNOWN if change in changes and test(model, message)), None)
