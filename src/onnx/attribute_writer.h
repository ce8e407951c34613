#pragma once

#include "base/function_ref.h"
#include "graph/graph.h"
#include "onnx/tensor_writer.h"

namespace rh::onnx {

/// The fields of an AttributeProto; write_graph writes the fields of a GraphProto. `sink` may be null.
void write_attribute_fields(WireWriter& message, const Attribute& attribute, ExternalSink* sink,
                            FunctionRef<void(WireWriter&, const Graph&)> write_graph);

}  // namespace rh::onnx
