#pragma once

#define ORT_API_MANUAL_INIT
#include "roundhouse/onnxruntime_lite_custom_op.h"

namespace rh::test {

/// Adds the operators made from functions and structs; they live as long as the process.
void add_lite_ops(Ort::CustomOpDomain& domain);

}  // namespace rh::test
