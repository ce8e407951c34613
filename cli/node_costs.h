#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "recording.h"

namespace rh::cli {

/// What the nodes of some runs took, as `profile` writes it to traces.
class NodeCosts {
 public:
  /// Throws std::runtime_error naming the file where it is no trace of `profile`.
  static NodeCosts of_trace(const std::string& path);
  static NodeCosts of(const std::vector<Recording>& recordings);

  /// Gives the nodes of a report of RhExplainModel "ms", that of the node which stands for them in a run, and "bytes", of their outputs.
  /// What was not run has the sizes that the model tells.
  void add_to(nlohmann::json& report) const;

 private:
  void add(const nlohmann::json& originals, double ms);
  void add_value(const std::string& name, double bytes);

  double runs_ = 0;
  std::map<std::string, double> ms_;     ///< by operator and name of a node of the model
  std::map<std::string, double> bytes_;  ///< by value
};

}  // namespace rh::cli
