#pragma once

#include <memory>
#include <string>
#include <vector>

#include "passes/driver/pass.h"

namespace rh {

struct PassOptions {
  int level = 99;                                      ///< passes of a higher level do not run
  std::vector<std::string> disabled;                   ///< by name
  RewriteSettings rewrite;                             ///< passes whose condition does not hold do not run
  int64_t max_rewrites = -1;                           ///< stop after so many, to find the one that breaks a model; negative: no limit
  std::string dump_folder;                             ///< text of the graph before and after each edit goes here; empty: nowhere
  int64_t edits_before = 0;                            ///< by earlier lists: the numbers of dumps go on from there
  bool check = true;                                   ///< check the graph after each pass that changed it
  int max_rounds = 8;                                  ///< over the whole list
  size_t fold_limit_bytes = size_t{1} << 20;           ///< at least; see PassContext
  size_t weight_budget_bytes = size_t{2} << 30;        ///< see PassContext
  size_t most_folded_bytes = static_cast<size_t>(-1);  ///< see PassContext
  InferenceOptions inference;
  bool shares_constants = true;  ///< see PassContext
  bool for_tools = false;        ///< see PassContext
  bool for_runs = false;         ///< nodes whose shapes cannot be are errors when they run (ops/impossible_shapes.h)
};

/// One edit that was applied.
struct AppliedEdit {
  std::string_view pass;
  std::string graph;  ///< its name
  int round = 0;
  int64_t rewrites = 0;
  size_t changes = 0;  ///< nodes added and removed, replacements, changed inputs and attributes
};

struct PassTime {
  std::string_view pass;
  double milliseconds = 0;
  int64_t rewrites = 0;
};

struct PassReport {
  std::vector<AppliedEdit> edits;
  std::vector<PassTime> times;             ///< one a pass that is on, in the order of the list
  std::vector<EliminatedNode> eliminated;  ///< nodes of the model that no node of the result stands for
  int rounds = 0;
  bool reached_fixed_point = true;
  double inference_ms = 0;
};

/// Infers types, then runs the passes of the list in order over the graph and its subgraphs until none changes anything, infers again where
/// needed, and drops what has no use left. Throws Error{invalid_argument} for an unknown name in `disabled`, what inference throws, and,
/// naming the pass, Error{fail} where a pass breaks the graph.
PassReport run_passes(Graph& graph, std::span<const Pass> passes, const PassOptions& options = {}, ConstantEvaluator* evaluator = nullptr);

}  // namespace rh
