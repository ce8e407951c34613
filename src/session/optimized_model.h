#pragma once

#include "graph/graph.h"
#include "session/options.h"

namespace rh {

/// Writes the model where `optimized_model_path` says. Weights from "session.optimized_model_external_initializers_min_size_in_bytes" on
/// go to the file "session.optimized_model_external_initializers_file_name" beside it; without that entry, and where one message does not
/// hold them, to one of the model's name that ends in ".data".
void write_optimized_model(const Model& model, const SessionOptions& options);

}  // namespace rh
