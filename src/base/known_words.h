#pragma once

namespace rh::words {

// Words of ONNX Runtime's messages that programs look for, as fmt has them. Ours go on behind them with node, expected, found and remedy.
// Those of the Python package stand in its code; tests/errors/test_known_words.py holds all to both libraries.
inline constexpr char kTerminated[] =
    "Exiting due to terminate flag being set to true. The run was stopped: the terminate flag of its run options is set";
inline constexpr char kInputType[] = "Unexpected input data type. Actual: ({}) , expected: ({})";
inline constexpr char kExternalPath[] = "External data path validation failed";
inline constexpr char kEmptyKey[] = "Config key is empty";
inline constexpr char kNoModelData[] = "Model data pointer is null.";
inline constexpr char kNoRegister[] = "Failed to get symbol RegisterCustomOps";
inline constexpr char kVariadic[] = "Only the last {} to a custom op may be marked variadic.";
inline constexpr char kPackedElements[] = "this API does not support sub-byte packed types (e.g., int4).";
inline constexpr char kPortType[] = "Type Error: Type '{}' of input parameter ({}) of operator ({}) in node ({}) is invalid";
inline constexpr char kNoOperator[] = "No Op registered for {} with domain_version of {}";  // of the standard's domains
inline constexpr char kNotRegistered[] = "{}:{}(-1) is not a registered function/op";       // of others
inline constexpr char kTellsNoAssignment[] =
    "Session configuration entry '{}' must be set to \"1\" to retrieve EP graph assignment information.";
inline constexpr char kNoImport[] = "Error No opset import for domain '{}'";
inline constexpr char kNoSource[] =
    "This is an invalid model. Node input '{}' is not a graph input, initializer, or output of a previous node.";
inline constexpr char kDimension[] = "dim_values must be -1 (symbolic dimension) or larger.";
inline constexpr char kContextThere[] = "exists already. Please remove the EP context model if you want to re-generate it.";
inline constexpr char kTwice[] = "Duplicate";
inline constexpr char kAdded[] = "already been added";

}  // namespace rh::words
