#include "session/node_memory.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/file.h"

namespace rh {

namespace {

size_t bytes_of(const Value* value) { return value && value->is_tensor() && value->tensor().defined() ? value->tensor().bytes() : 0; }

// Of a weight: also where its kernel has packed it.
size_t weight_bytes(const GraphValue& value) {
  if (!value.type.is_tensor() || !value.type.tensor().is_static()) return 0;
  return rh::bytes_of(value.type.tensor().dtype, value.type.tensor().shape().elements());
}

}  // namespace

void NodeMemory::add(const StepEvent& event) {
  Row now;
  for (size_t i = 0; i < event.inputs.size() && i < event.node.inputs.size(); ++i) {
    const ValueId id = event.node.inputs[i];
    if (id == kNoValue) continue;
    const GraphValue& value = event.graph.value(id);
    if (value.is_constant() || (!event.inputs[i] && value.producer == kNoNode)) {
      now.weights += weight_bytes(value);
    } else {
      now.inputs += bytes_of(event.inputs[i]);
    }
  }
  for (const Value* output : event.outputs) now.outputs += bytes_of(output);
  const std::lock_guard lock(mutex_);
  Row& row = rows_[event.node.display_name()];
  row.inputs = std::max(row.inputs, now.inputs);
  row.weights = std::max(row.weights, now.weights);
  row.outputs = std::max(row.outputs, now.outputs);
  row.scratch = std::max(row.scratch, event.scratch_bytes);
}

void NodeMemory::write() const {
  std::string text = "#name,input_sizes,initializers_sizes,total_dynamic_sizes,total_temp_allocations\n";
  const std::lock_guard lock(mutex_);
  for (const auto& [name, row] : rows_) {
    std::string plain = name;
    std::ranges::replace(plain, ',', '_');
    text += fmt::format("{},{},{},{},{}\n", plain, row.inputs, row.weights, row.outputs, row.scratch);
  }
  write_file(path_, text);
}

}  // namespace rh
