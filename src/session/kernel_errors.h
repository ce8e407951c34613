#pragma once

#include "base/error.h"
#include "graph/graph.h"

namespace rh {

/// The code that callers get where a kernel of the CPU ends with `code`. Kernels say invalid_argument for any input that they cannot
/// compute; programs that were written for ONNX Runtime expect its code of that operator, which this table knows.
ErrorCode code_of_kernel_error(const Node& node, ErrorCode code);

}  // namespace rh
