#pragma once

#include <roundhouse/roundhouse_c_api.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "array_io.h"

namespace rh::cli {

/// A tensor that a node gave, and where it lay.
struct RecordedTensor {
  std::string name;
  std::string type;  ///< "float[1, 64, 56, 56]"
  uintptr_t address = 0;
  size_t bytes = 0;
};

/// A node of a run.
struct RecordedNode {
  std::string name, op, provider;
  nlohmann::json originals;
  int64_t depth = 0;
  double flops = -1;
  uint64_t begin_ns = 0, end_ns = 0;
  double self_ms = 0;  ///< without the nodes of its subgraphs
  std::vector<std::string> input_names, input_types;
  std::vector<RecordedTensor> outputs;
};

/// What is alive after each node of a run.
struct MemoryTimeline {
  std::vector<size_t> bytes;  ///< by node: memory of the tensors made so far that are still to be used, shared memory counted once
  size_t peak = 0;
  size_t peak_node = 0;
  std::vector<RecordedTensor> at_peak;  ///< the largest first
};

/// Notes the nodes of one run.
class Recording {
 public:
  void visit(const RhNodeRun& node);
  const std::vector<RecordedNode>& nodes() const { return nodes_; }
  /// `kept`: names of values that live to the end, the outputs.
  MemoryTimeline memory(const std::vector<std::string>& kept) const;

 private:
  std::vector<RecordedNode> nodes_;
  std::vector<double> below_ms_;  ///< by depth: time of the nodes since the last one above them
};

/// Events in Chrome's trace format, which Perfetto and chrome://tracing open.
class Trace {
 public:
  explicit Trace(uint64_t start_ns);
  void span(const std::string& name, const std::string& category, uint64_t begin_ns, uint64_t end_ns, nlohmann::json args = {});
  void counter(const std::string& name, uint64_t at_ns, size_t bytes);
  void node(const RecordedNode& node);
  void write(const std::string& path, const nlohmann::json& about) const;

 private:
  double us(uint64_t at_ns) const { return static_cast<double>(static_cast<int64_t>(at_ns - start_ns_)) / 1e3; }
  uint64_t start_ns_;
  nlohmann::json events_ = nlohmann::json::array();
};

}  // namespace rh::cli
