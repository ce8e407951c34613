#include "recording.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <stdexcept>

#include "finite_check.h"
#include "print.h"
#include "system.h"

namespace rh::cli {

namespace {

RecordedTensor tensor_of(const char* name, const OrtValue* raw) {
  RecordedTensor tensor{name, "", 0, 0};
  if (!raw) return tensor;
  const Ort::ConstValue value(raw);
  if (!value.HasValue() || !value.IsTensor()) {
    tensor.type = "no tensor";
    return tensor;
  }
  const auto info = value.GetTensorTypeAndShapeInfo();
  tensor.type = element_name(info.GetElementType()) + shape_text(info.GetShape());
  if (info.GetElementType() == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) return tensor;
  tensor.bytes = value.GetTensorSizeInBytes();
  tensor.address = reinterpret_cast<uintptr_t>(value.GetTensorRawData());
  return tensor;
}

/// Bytes of the union of the tensors' memory.
size_t covered(std::vector<RecordedTensor> tensors) {
  std::sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) { return a.address < b.address; });
  size_t total = 0;
  uintptr_t end = 0;
  for (const RecordedTensor& t : tensors) {
    const uintptr_t begin = std::max(t.address, end), stop = t.address + t.bytes;
    if (stop > begin) total += stop - begin;
    end = std::max(end, stop);
  }
  return total;
}

}  // namespace

void Recording::visit(const RhNodeRun& node) {
  RecordedNode record{.name = node.name,
                      .op = *node.domain ? std::string(node.domain) + "::" + node.op_type : node.op_type,
                      .provider = node.provider,
                      .originals = originals_of(node),
                      .depth = node.depth,
                      .flops = node.flops,
                      .begin_ns = node.begin_ns,
                      .end_ns = node.end_ns};
  const size_t depth = static_cast<size_t>(node.depth);
  const double ms = static_cast<double>(node.end_ns - node.begin_ns) / 1e6;
  below_ms_.resize(std::max(below_ms_.size(), depth + 2));
  record.self_ms = std::max(0.0, ms - below_ms_[depth + 1]);
  below_ms_[depth + 1] = 0;
  below_ms_[depth] += ms;
  for (size_t i = 0; i < node.input_count; ++i) {
    record.input_names.push_back(node.input_names[i]);
    record.input_types.push_back(node.inputs[i] ? tensor_of("", node.inputs[i]).type : *node.input_names[i] ? "packed" : "none");
  }
  for (size_t i = 0; i < node.output_count; ++i) {
    if (*node.output_names[i]) record.outputs.push_back(tensor_of(node.output_names[i], node.outputs[i]));
  }
  nodes_.push_back(std::move(record));
}

MemoryTimeline Recording::memory(const std::vector<std::string>& kept) const {
  std::map<std::string, size_t> last_use;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    for (const RecordedTensor& t : nodes_[i].outputs) last_use.insert_or_assign(t.name, i);
    for (const std::string& name : nodes_[i].input_names) last_use.insert_or_assign(name, i);
  }
  for (const std::string& name : kept) last_use.insert_or_assign(name, nodes_.size());
  MemoryTimeline timeline;
  std::map<std::string, RecordedTensor> alive;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    for (const RecordedTensor& t : nodes_[i].outputs) alive.insert_or_assign(t.name, t);
    std::vector<RecordedTensor> list;
    for (const auto& [name, tensor] : alive) list.push_back(tensor);
    timeline.bytes.push_back(covered(list));
    if (timeline.bytes.back() > timeline.peak) {
      timeline.peak = timeline.bytes.back();
      timeline.peak_node = i;
      timeline.at_peak = std::move(list);
    }
    std::erase_if(alive, [&](const auto& entry) { return last_use[entry.first] <= i; });
  }
  std::stable_sort(timeline.at_peak.begin(), timeline.at_peak.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return timeline;
}

Trace::Trace(uint64_t start_ns) : start_ns_(start_ns) {
  events_.push_back({{"ph", "M"}, {"name", "process_name"}, {"pid", 1}, {"tid", 1}, {"args", {{"name", "roundhouse"}}}});
  events_.push_back({{"ph", "M"}, {"name", "thread_name"}, {"pid", 1}, {"tid", 1}, {"args", {{"name", "run"}}}});
}

void Trace::span(const std::string& name, const std::string& category, uint64_t begin_ns, uint64_t end_ns, nlohmann::json args) {
  nlohmann::json event{{"ph", "X"},
                       {"name", name},
                       {"cat", category},
                       {"pid", 1},
                       {"tid", 1},
                       {"ts", us(begin_ns)},
                       {"dur", static_cast<double>(end_ns - begin_ns) / 1e3}};
  if (!args.is_null()) event["args"] = std::move(args);
  events_.push_back(std::move(event));
}

void Trace::counter(const std::string& name, uint64_t at_ns, size_t bytes) {
  events_.push_back({{"ph", "C"}, {"name", name}, {"pid", 1}, {"tid", 1}, {"ts", us(at_ns)}, {"args", {{"bytes", bytes}}}});
}

void Trace::node(const RecordedNode& node) {
  nlohmann::json outputs = nlohmann::json::array(), names = nlohmann::json::array(), sizes = nlohmann::json::array();
  size_t bytes = 0;
  for (const RecordedTensor& t : node.outputs) {
    outputs.push_back(t.type);
    names.push_back(t.name);
    sizes.push_back(t.bytes);
    bytes += t.bytes;
  }
  nlohmann::json args{
      {"operator", node.op},    {"provider", node.provider},   {"inputs", node.input_types},       {"outputs", std::move(outputs)},
      {"output_bytes", bytes},  {"originals", node.originals}, {"output_names", std::move(names)}, {"bytes", std::move(sizes)},
      {"self_ms", node.self_ms}};
  if (node.flops >= 0) args["flops"] = node.flops;
  span(node.name, node.op, node.begin_ns, node.end_ns, std::move(args));
}

void Trace::write(const std::string& path, const nlohmann::json& about) const {
  const nlohmann::json trace{{"displayTimeUnit", "ms"}, {"otherData", about}, {"traceEvents", events_}};
  std::ofstream stream(as_path(path), std::ios::binary);
  stream << trace.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  if (!stream.flush()) throw std::runtime_error(path + ": cannot be written");
}

}  // namespace rh::cli
