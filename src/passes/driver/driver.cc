#include "passes/driver/driver.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <unordered_set>

#include "base/file.h"
#include "base/paths.h"
#include "graph/check.h"
#include "graph/text_print.h"
#include "ops/impossible_shapes.h"

namespace rh {

namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kMostFoldedBytes = size_t{16} << 20;  // of one result, however large the model

// Tables of relative positions and the like may be larger than the limit where they are small beside the model's weights.
size_t fold_limit(const Graph& graph, size_t limit) { return std::max(limit, std::min(kMostFoldedBytes, graph.constant_bytes() / 16)); }

double milliseconds_since(Clock::time_point start) { return std::chrono::duration<double, std::milli>(Clock::now() - start).count(); }

class Driver {
 public:
  Driver(Graph& graph, std::span<const Pass> passes, const PassOptions& options, ConstantEvaluator* evaluator)
      : main_(graph), options_(options) {
    context_.evaluator = evaluator;
    context_.fold_limit_bytes = fold_limit(graph, options.fold_limit_bytes);
    context_.weight_budget_bytes = options.weight_budget_bytes;
    context_.most_folded_bytes = options.most_folded_bytes;
    context_.for_tools = options.for_tools;
    context_.shares_constants = options.shares_constants;
    context_.fold_budget_bytes = 32 * options.fold_limit_bytes + 8 * graph.constant_bytes();
    context_.rewrites_left = options.max_rewrites;
    for (const std::string& name : options.disabled) {
      if (!find_pass(passes, name)) fail(ErrorCode::invalid_argument, "passes: there is no pass '{}' to switch off", name);
    }
    for (const Pass& pass : passes) {
      const bool off = std::find(options.disabled.begin(), options.disabled.end(), pass.name) != options.disabled.end();
      const bool may_run = !pass.may_run || pass.may_run(options.rewrite);
      if (!off && may_run && static_cast<int>(pass.level) <= options.level) passes_.push_back(pass);
    }
    for (const Pass& pass : passes_) report_.times.push_back({pass.name, 0, 0});
  }

  PassReport run() {
    infer();
    std::vector<int64_t> looked_at(passes_.size(), -1);  // the version in which a pass found nothing to do
    bool changed = true;
    while (changed && report_.rounds < options_.max_rounds) {
      changed = false;
      for (size_t i = 0; i < passes_.size(); ++i) {
        if (looked_at[i] == version_) continue;
        const int64_t before = version_;
        context_.changing = changed;
        context_.postponed = false;
        run_pass(i);
        changed |= version_ != before;
        if (version_ == before && !context_.postponed) looked_at[i] = version_;
      }
      if (inferred_version_ != version_) infer();
      ++report_.rounds;
    }
    report_.reached_fixed_point = !changed;
    drop_unused(main_);
    list_eliminated();
    return std::move(report_);
  }

 private:
  void infer() {
    const auto start = Clock::now();
    contents_ = options_.for_runs ? infer_types_for_runs(main_, options_.inference) : infer_types(main_, options_.inference);
    inferred_version_ = version_;
    report_.inference_ms += milliseconds_since(start);
  }

  void run_pass(size_t pass) {
    const auto start = Clock::now();
    const int64_t before = version_;
    nodes_added_ = false;
    try {
      run_on(main_, pass);
      if (version_ != before && options_.check) check(main_);
    } catch (const Error& error) {
      throw Error(ErrorCode::fail, "pass '" + std::string(passes_[pass].name) + "' failed: " + error.message(), error.where());
    }
    report_.times[pass].milliseconds += milliseconds_since(start);
    if (nodes_added_) infer();
  }

  // Subgraphs first, so that what they no longer use is free in the graph around them.
  void run_on(Graph& graph, size_t pass) {
    for (NodeId id : graph.nodes()) {
      const int64_t before = version_;
      Graph::for_each_subgraph(graph.mutable_node(id), [&](Graph& subgraph) { run_on(subgraph, pass); });
      if (version_ != before) release_captures(graph, id);
    }
    context_.contents = &graph == &main_ ? &contents_ : nullptr;
    context_.rewrites = 0;
    Edit edit = passes_[pass].run(graph, context_);
    if (!edit.empty()) apply(graph, pass, std::move(edit));
  }

  static void release_captures(Graph& graph, NodeId id) {
    Graph::for_each_subgraph(graph.mutable_node(id), [](Graph& subgraph) { subgraph.drop_unused_values(); });
    graph.refresh_implicit_inputs(id);
  }

  void apply(Graph& graph, size_t pass, Edit edit) {
    report_.times[pass].rewrites += context_.rewrites;
    report_.edits.push_back({passes_[pass].name, graph.name, report_.rounds, context_.rewrites, edit.size()});
    ++version_;
    dump(pass, "before");
    for (NodeId id : edit.removals()) {
      if (const Node* node = graph.find_node(id)) list_removed(*node, pass);
    }
    nodes_added_ |= edit.adds_nodes();
    std::move(edit).apply(graph);
    dump(pass, "after");
  }

  void list_removed(const Node& node, size_t pass) {
    for (const auto& original : node.provenance) report_.eliminated.push_back({original, passes_[pass].name});
    Graph::for_each_subgraph(node, [&](const Graph& subgraph) {
      for (NodeId id : subgraph.nodes()) list_removed(subgraph.node(id), pass);
    });
  }

  void dump(size_t pass, const char* when) const {
    if (options_.dump_folder.empty()) return;
    const std::string path =
        fmt::format("{}/{:04}_{}.{}.txt", options_.dump_folder, options_.edits_before + version_, passes_[pass].name, when);
    std::error_code ignored;
    std::filesystem::create_directories(as_path(options_.dump_folder), ignored);
    write_file(path, print(main_, {.types = true}));
  }

  static void list_live(const Graph& graph, std::unordered_set<const OriginalNode*>& live) {
    for (NodeId id : graph.nodes()) {
      for (const auto& original : graph.node(id).provenance) live.insert(original.get());
      Graph::for_each_subgraph(graph.node(id), [&](const Graph& subgraph) { list_live(subgraph, live); });
    }
  }

  // Keeps those for which no node of the result stands; the first pass that removed one counts.
  void list_eliminated() {
    if (report_.eliminated.empty()) return;
    std::unordered_set<const OriginalNode*> seen;
    list_live(main_, seen);
    std::erase_if(report_.eliminated, [&](const EliminatedNode& entry) { return !seen.insert(entry.node.get()).second; });
  }

  Graph& main_;
  const PassOptions& options_;
  std::vector<Pass> passes_;
  PassContext context_;
  KnownContents contents_;
  PassReport report_;
  bool nodes_added_ = false;
  int64_t version_ = 0;
  int64_t inferred_version_ = 0;
};

}  // namespace

PassReport run_passes(Graph& graph, std::span<const Pass> passes, const PassOptions& options, ConstantEvaluator* evaluator) {
  return Driver(graph, passes, options, evaluator).run();
}

}  // namespace rh
