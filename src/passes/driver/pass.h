#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "graph/edit.h"
#include "ops/inference.h"
#include "passes/driver/rewrite_settings.h"

namespace rh {

/// Runs one node on constants, for constant folding: the session implements it over the CPU kernels.
class ConstantEvaluator {
 public:
  virtual ~ConstantEvaluator() = default;
  /// Values of the node's outputs, empty where an output is left out; `inputs` go with the node's inputs, empty where one is left out.
  /// Nothing where the node has no kernel. May throw Error where the kernel refuses, or asks for an output or working memory of more than
  /// `max_bytes`: the node then stays, and the run reports it.
  virtual std::vector<Value> evaluate(const Graph& graph, const Node& node, std::span<const Value> inputs, size_t max_bytes) = 0;
};

/// What a pass may know and use besides the graph.
class PassContext {
 public:
  /// Contents of small integer values where inference knows them; only of the main graph, null in subgraphs.
  const KnownContents* contents = nullptr;
  ConstantEvaluator* evaluator = nullptr;  ///< null: nothing is evaluated
  /// Results of folding that are larger than this are kept only where the inputs are as large. The driver raises it to a part of the
  /// model's constants.
  size_t fold_limit_bytes = size_t{1} << 20;
  /// What all results of folding may take together, of every pass and round, but those that only nodes take that are folded too: nodes that
  /// double their input in a row must not fill the memory.
  size_t fold_budget_bytes = size_t{1} << 30;
  /// The same for results that nothing but matrix products and convolutions take as weights, each and together: those are held at run time
  /// anyway, and packed once when they are constant.
  size_t weight_budget_bytes = size_t{2} << 30;
  /// No constant that is larger takes the place of a node's output, whatever the others say.
  size_t most_folded_bytes = static_cast<size_t>(-1);
  /// The graph goes into a file of the basic level, in which tools look for patterns (onnxruntime.transformers, onnxruntime.quantization):
  /// what ONNX Runtime has in such a file stays.
  bool for_tools = false;
  /// With `for_tools`: equal constants of up to 8 elements are one, as ONNX Runtime's ConstantSharing has it.
  bool shares_constants = true;

  /// Asked once for each place before it is rewritten. False where as many rewrites as the options allow are done: the place must be left
  /// as it is.
  bool admit() {
    if (rewrites_left == 0) return false;
    if (rewrites_left > 0) --rewrites_left;
    ++rewrites;
    return true;
  }

  /// For passes that take what all others leave: false, and to be asked again, where another pass of the list changed something in this
  /// round.
  bool is_settled() {
    postponed |= changing;
    return !changing;
  }

  bool changing = false;       ///< a pass of the list changed something in this round
  bool postponed = false;      ///< the pass is asked again, whatever it proposes now
  int64_t rewrites_left = -1;  ///< negative: no limit
  int64_t rewrites = 0;        ///< of this run of this pass
};

/// The numbers are those of GraphOptimizationLevel.
enum class PassLevel : int { required = 0, basic = 1, extended = 2, all = 99 };

/// A row of a list of passes. `run` proposes; the driver applies.
struct Pass {
  std::string_view name;
  PassLevel level = PassLevel::all;
  Edit (*run)(const Graph& graph, PassContext& context) = nullptr;
  bool (*may_run)(const RewriteSettings& settings) = nullptr;  ///< null: under any settings
};

/// Null where there is no pass of that name.
const Pass* find_pass(std::span<const Pass> passes, std::string_view name);

}  // namespace rh
