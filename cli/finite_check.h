#pragma once

#include <roundhouse/roundhouse_c_api.h>

#include <map>

#include "numbers.h"
#include "terminal.h"

namespace rh::cli {

/// Watches a run for the nodes that make a NaN of inputs without one, or an infinity of finite inputs.
class FiniteCheck {
 public:
  explicit FiniteCheck(const std::vector<NamedValue>& inputs);
  void visit(const RhNodeRun& node);

  size_t nodes() const { return nodes_; }
  bool passed() const { return sources_.empty() && bad_inputs_.empty(); }
  /// {"passed", "inputs": [names of inputs that are not finite], "sources": [{"node", "operator", "originals", "output", "inputs"}]}.
  nlohmann::json report() const;
  static void print(const Globals& globals, const nlohmann::json& report);

 private:
  struct Seen {
    Contents tensor;  ///< without its bytes
    Range range;
  };
  /// null where a value is no tensor of numbers, or packed.
  const Seen* look(const char* name, const OrtValue* value);

  std::map<std::string, Seen> seen_;  ///< by name: the latest value
  std::vector<std::string> bad_inputs_;
  std::vector<nlohmann::json> sources_;
  size_t nodes_ = 0;
};

/// The names and operators of the model's nodes that a node stands for: [{"name", "operator"}].
nlohmann::json originals_of(const RhNodeRun& node);
/// "conv1 (Conv), bn1 (BatchNormalization)".
std::string originals_text(const nlohmann::json& originals);

}  // namespace rh::cli
