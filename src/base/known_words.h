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
inline constexpr char kTwice[] = "Duplicate";
inline constexpr char kAdded[] = "already been added";

}  // namespace rh::words
