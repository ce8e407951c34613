#pragma once

#include <string_view>

#include "graph/graph.h"
#include "onnx/reader.h"
#include "onnx/tensor_reader.h"

namespace rh::onnx {

/// Whether the bytes are a model in ONNX Runtime's own format (.ort), a FlatBuffer.
bool is_ort_format(std::string_view bytes);

/// Reads a model in that format, versions 1 to 6. Optimisations that ONNX Runtime put off to load time are left out: the nodes that they
/// were to replace are in the file. Throws Error{fail} where the data is damaged, else what read_model throws.
Model read_ort_format(std::string_view bytes, TensorReader& tensors, const ReadLimits& limits);

}  // namespace rh::onnx
