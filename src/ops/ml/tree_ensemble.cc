#include "ops/ml/tree_ensemble.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "ops/impossible_shapes.h"
#include "ops/registry.h"

namespace rh::ops {

namespace {

using Mode = TreeEnsemble::Mode;

/// Numbers given as a list of floats or, later, as a tensor of floats or doubles.
std::vector<double> numbers(const NodeView& node, const std::string& name, bool* is_double = nullptr) {
  if (const Tensor* tensor = node.tensor(name + "_as_tensor")) {
    if (tensor->dtype() != DType::float32 && tensor->dtype() != DType::float64) {
      node.fail("attribute '{}_as_tensor' holds {}, expected float or double", name, to_string(tensor->dtype()));
    }
    if (is_double && tensor->dtype() == DType::float64) *is_double = true;
    std::vector<double> values;
    values.reserve(static_cast<size_t>(tensor->elements()));
    for (int64_t i = 0; i < tensor->elements(); ++i) values.push_back(element_as_double(tensor->view(), i));
    return values;
  }
  const std::vector<float> floats = node.floats_or(name);
  return {floats.begin(), floats.end()};
}

std::vector<double> tensor_numbers(const NodeView& node, const char* name, bool required) {
  const Tensor* tensor = node.tensor(name);
  if (!tensor) {
    if (required) node.fail("attribute '{}' is missing", name);
    return {};
  }
  std::vector<double> values;
  for (int64_t i = 0; i < tensor->elements(); ++i) values.push_back(element_as_double(tensor->view(), i));
  return values;
}

void check_count(const NodeView& node, const char* name, size_t count, size_t expected) {
  if (count != expected) node.fail("attribute '{}' has {} values, expected {}, one for each entry", name, count, expected);
}

Mode mode_of(const NodeView& node, const std::string& name) {
  static constexpr std::pair<std::string_view, Mode> modes[] = {{"BRANCH_LEQ", Mode::leq}, {"BRANCH_LT", Mode::lt},
                                                                {"BRANCH_GTE", Mode::gte}, {"BRANCH_GT", Mode::gt},
                                                                {"BRANCH_EQ", Mode::eq},   {"BRANCH_NEQ", Mode::neq}};
  for (const auto& [text, mode] : modes) {
    if (name == text) return mode;
  }
  node.fail("attribute 'nodes_modes' holds '{}', expected LEAF, BRANCH_LEQ, BRANCH_LT, BRANCH_GTE, BRANCH_GT, BRANCH_EQ or BRANCH_NEQ",
            name);
}

void check_feature(const NodeView& node, TreeEnsemble& op, int64_t feature) {
  if (feature < 0 || feature > std::numeric_limits<int32_t>::max()) {
    node.fail("attribute 'nodes_featureids' holds {}, expected a column of the input", feature);
  }
  op.features = std::max(op.features, feature + 1);
}

// Every node has at most one parent, so that walking down ends; nodes that nothing leads to are roots.
void find_roots(const NodeView& node, TreeEnsemble& op, const std::vector<int32_t>& entries) {
  std::vector<int> parents(op.nodes.size());
  std::vector<int> leaf_parents(op.leaves.size());
  for (const TreeEnsemble::Node& branch : op.nodes) {
    for (int32_t child : {branch.when_true, branch.when_false}) {
      int& count = child >= 0 ? parents[static_cast<size_t>(child)] : leaf_parents[static_cast<size_t>(~child)];
      ++count;
    }
  }
  for (int32_t entry : entries) {
    const int count = entry >= 0 ? parents[static_cast<size_t>(entry)] : leaf_parents[static_cast<size_t>(~entry)];
    if (count > 1 && entry >= 0) node.fail("a tree node is the child of {} others, expected of one at most", count);
    if (count == 0) op.roots.push_back(entry);
  }
}

// With one parent each, a cycle is a component that no root reaches.
void check_reached(const NodeView& node, const TreeEnsemble& op) {
  std::vector<bool> seen(op.nodes.size());
  std::vector<int32_t> pending;
  size_t reached = 0;
  const auto visit = [&](int32_t entry) {
    if (entry < 0) return;
    if (seen[static_cast<size_t>(entry)]) node.fail("tree node {} is reached twice: the trees have a cycle or share nodes", entry);
    seen[static_cast<size_t>(entry)] = true;
    ++reached;
    pending.push_back(entry);
  };
  for (int32_t root : op.roots) {
    visit(root);
    while (!pending.empty()) {
      const TreeEnsemble::Node& branch = op.nodes[static_cast<size_t>(pending.back())];
      pending.pop_back();
      visit(branch.when_true);
      visit(branch.when_false);
    }
  }
  if (reached != op.nodes.size()) node.fail("{} tree nodes are in no tree: they form a cycle", op.nodes.size() - reached);
}

/// Where the nodes of trees stand, by the numbers of tree and node. Found at once where a tree numbers its nodes one after the other.
class NodePlaces {
 public:
  void reserve(size_t count) { rows_.reserve(count); }
  void add(int64_t tree, int64_t id, int32_t entry) { rows_.push_back({tree, id, entry}); }

  /// After the last one. The tree and number of a node that was added twice, where there is one.
  std::optional<std::pair<int64_t, int64_t>> settle() {
    const auto key = [](const Row& row) { return std::tie(row.tree, row.id); };
    const auto before = [&](const Row& a, const Row& b) { return key(a) < key(b); };
    if (!std::ranges::is_sorted(rows_, before)) std::ranges::sort(rows_, before);
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (i > 0 && key(rows_[i]) == key(rows_[i - 1])) return std::pair{rows_[i].tree, rows_[i].id};
      Range& range = trees_.try_emplace(rows_[i].tree, Range{i, i}).first->second;
      range.end = i + 1;
    }
    return {};
  }

  const int32_t* find(int64_t tree, int64_t id) const {
    const auto at = trees_.find(tree);
    if (at == trees_.end()) return nullptr;
    const auto [begin, end] = at->second;
    if (id < rows_[begin].id || id > rows_[end - 1].id) return nullptr;
    if (const uint64_t offset = static_cast<uint64_t>(id) - static_cast<uint64_t>(rows_[begin].id); offset < end - begin) {
      const Row& guess = rows_[begin + static_cast<size_t>(offset)];
      if (guess.id == id) return &guess.entry;
    }
    const auto first = rows_.begin() + static_cast<std::ptrdiff_t>(begin), last = rows_.begin() + static_cast<std::ptrdiff_t>(end);
    const auto found = std::lower_bound(first, last, id, [](const Row& row, int64_t wanted) { return row.id < wanted; });
    return found != last && found->id == id ? &found->entry : nullptr;
  }

 private:
  struct Row {
    int64_t tree, id;
    int32_t entry;
  };
  struct Range {
    size_t begin, end;
  };
  std::vector<Row> rows_;
  std::unordered_map<int64_t, Range> trees_;
};

/// The attributes that tree nodes are written in before TreeEnsemble: lists of equal length, children by (tree, node) numbers.
class ListedTrees {
 public:
  ListedTrees(const NodeView& node, TreeEnsemble& op) : node_(node), op_(op) {}

  void read(const std::string& prefix) {
    read_nodes();
    read_weights(prefix);
    find_roots(node_, op_, entries_);
    check_reached(node_, op_);
  }

 private:
  void read_nodes() {
    const auto trees = node_.ints_or("nodes_treeids"), ids = node_.ints_or("nodes_nodeids"), features = node_.ints_or("nodes_featureids");
    const auto when_true = node_.ints_or("nodes_truenodeids"), when_false = node_.ints_or("nodes_falsenodeids");
    const auto missing = node_.ints_or("nodes_missing_value_tracks_true");
    const auto modes = node_.strings_or("nodes_modes");
    const auto splits = numbers(node_, "nodes_values", &op_.is_double);
    const size_t count = ids.size();
    check_count(node_, "nodes_treeids", trees.size(), count);
    check_count(node_, "nodes_featureids", features.size(), count);
    check_count(node_, "nodes_truenodeids", when_true.size(), count);
    check_count(node_, "nodes_falsenodeids", when_false.size(), count);
    check_count(node_, "nodes_modes", modes.size(), count);
    check_count(node_, "nodes_values", splits.size(), count);
    if (!missing.empty()) check_count(node_, "nodes_missing_value_tracks_true", missing.size(), count);

    places_.reserve(count);
    entries_.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      int32_t entry;
      if (modes[i] == "LEAF") {
        entry = ~static_cast<int32_t>(op_.leaves.size());
        op_.leaves.emplace_back();
      } else {
        entry = static_cast<int32_t>(op_.nodes.size());
        check_feature(node_, op_, features[i]);
        op_.nodes.push_back({splits[i], features[i], 0, 0, mode_of(node_, modes[i]), !missing.empty() && missing[i] != 0, -1});
      }
      places_.add(trees[i], ids[i], entry);
      entries_.push_back(entry);
    }
    if (const auto twice = places_.settle()) node_.fail("tree {} has two nodes {}", twice->first, twice->second);
    for (size_t i = 0; i < count; ++i) {
      if (entries_[i] < 0) continue;
      TreeEnsemble::Node& branch = op_.nodes[static_cast<size_t>(entries_[i])];
      branch.when_true = child(trees[i], when_true[i]);
      branch.when_false = child(trees[i], when_false[i]);
    }
  }

  int32_t child(int64_t tree, int64_t id) const {
    const int32_t* entry = places_.find(tree, id);
    if (!entry) node_.fail("tree {} has no node {}, which is a child of another", tree, id);
    return *entry;
  }

  void read_weights(const std::string& prefix) {
    const auto trees = node_.ints_or(prefix + "_treeids"), ids = node_.ints_or(prefix + "_nodeids"),
               targets = node_.ints_or(prefix + "_ids");
    const auto values = numbers(node_, prefix + "_weights");
    check_count(node_, (prefix + "_treeids").c_str(), trees.size(), values.size());
    check_count(node_, (prefix + "_nodeids").c_str(), ids.size(), values.size());
    check_count(node_, (prefix + "_ids").c_str(), targets.size(), values.size());
    std::vector<int32_t> leaves(values.size());
    std::vector<int32_t> counts(op_.leaves.size());
    for (size_t i = 0; i < values.size(); ++i) {
      if (targets[i] < 0 || targets[i] >= op_.targets) {
        node_.fail("attribute '{}_ids' holds {}, expected a value in [0, {}]", prefix, targets[i], op_.targets - 1);
      }
      const int32_t entry = child(trees[i], ids[i]);
      if (entry >= 0) node_.fail("attribute '{}_nodeids' gives a weight to node {} of tree {}, which is no leaf", prefix, ids[i], trees[i]);
      leaves[i] = ~entry;
      // Of a leaf's weights for the only target the first one counts: converters write the number of a leaf once for each class.
      int32_t& count = counts[static_cast<size_t>(leaves[i])];
      if (op_.targets > 1 || count == 0) ++count;
    }
    int32_t first = 0;
    for (size_t i = 0; i < counts.size(); ++i) {
      op_.leaves[i] = {first, 0};
      first += counts[i];
    }
    op_.weights.resize(static_cast<size_t>(first));
    for (size_t i = 0; i < values.size(); ++i) {
      TreeEnsemble::Leaf& leaf = op_.leaves[static_cast<size_t>(leaves[i])];
      if (leaf.count == counts[static_cast<size_t>(leaves[i])]) continue;
      op_.weights[static_cast<size_t>(leaf.first + leaf.count++)] = {static_cast<int32_t>(targets[i]), values[i]};
    }
  }

  const NodeView& node_;
  TreeEnsemble& op_;
  NodePlaces places_;
  std::vector<int32_t> entries_;  // by place in the lists
};

void read_labels(const NodeView& node, TreeEnsemble& op) {
  op.classifies = true;
  op.int_labels = node.ints_or("classlabels_int64s");
  op.string_labels = node.strings_or("classlabels_strings");
  if (op.int_labels.empty() == op.string_labels.empty()) {
    node.fail("needs one of the attributes 'classlabels_int64s' and 'classlabels_strings'");
  }
  op.targets = static_cast<int64_t>(std::max(op.int_labels.size(), op.string_labels.size()));
}

// Member values of one set follow each other; NaN ends a set.
void read_members(const NodeView& node, TreeEnsemble& op) {
  const std::vector<double> values = tensor_numbers(node, "membership_values", false);
  size_t at = 0;
  for (TreeEnsemble::Node& branch : op.nodes) {
    if (branch.mode != Mode::member) continue;
    if (at >= values.size()) node.fail("attribute 'membership_values' has fewer sets than there are nodes of mode BRANCH_MEMBER");
    branch.members = static_cast<int32_t>(op.member_sets.size());
    auto& set = op.member_sets.emplace_back();
    for (; at < values.size() && !std::isnan(values[at]); ++at) set.push_back(values[at]);
    ++at;
  }
}

// TreeEnsemble: nodes and leaves lie in lists of their own, children are places in them.
void read_indexed(const NodeView& node, TreeEnsemble& op) {
  const auto features = node.required_ints("nodes_featureids"), when_true = node.required_ints("nodes_truenodeids"),
             when_false = node.required_ints("nodes_falsenodeids"), true_leaves = node.required_ints("nodes_trueleafs"),
             false_leaves = node.required_ints("nodes_falseleafs"), roots = node.required_ints("tree_roots"),
             targets = node.required_ints("leaf_targetids"), missing = node.ints_or("nodes_missing_value_tracks_true");
  const auto splits = tensor_numbers(node, "nodes_splits", true), modes = tensor_numbers(node, "nodes_modes", true),
             weights = tensor_numbers(node, "leaf_weights", true);
  const size_t count = features.size();
  check_count(node, "nodes_truenodeids", when_true.size(), count);
  check_count(node, "nodes_falsenodeids", when_false.size(), count);
  check_count(node, "nodes_trueleafs", true_leaves.size(), count);
  check_count(node, "nodes_falseleafs", false_leaves.size(), count);
  check_count(node, "nodes_splits", splits.size(), count);
  check_count(node, "nodes_modes", modes.size(), count);
  check_count(node, "leaf_targetids", targets.size(), weights.size());
  if (!missing.empty()) check_count(node, "nodes_missing_value_tracks_true", missing.size(), count);
  op.is_double = node.tensor("nodes_splits")->dtype() == DType::float64;
  op.targets = node.int_or("n_targets", 1);
  if (op.targets < 1 || op.targets > 1'000'000) node.fail("attribute 'n_targets' is {}, expected a value in [1, 1000000]", op.targets);

  const auto entry = [&](int64_t index, bool leaf) {
    const size_t limit = leaf ? weights.size() : count;
    if (index < 0 || static_cast<size_t>(index) >= limit) {
      node.fail("a child of a tree node is {} {}, expected a value in [0, {}]", leaf ? "leaf" : "node", index,
                static_cast<int64_t>(limit) - 1);
    }
    return leaf ? ~static_cast<int32_t>(index) : static_cast<int32_t>(index);
  };
  for (size_t i = 0; i < count; ++i) {
    if (!(modes[i] >= 0 && modes[i] <= 6)) node.fail("attribute 'nodes_modes' holds {}, expected a value in [0, 6]", modes[i]);
    check_feature(node, op, features[i]);
    op.nodes.push_back({splits[i], features[i], entry(when_true[i], true_leaves[i] != 0), entry(when_false[i], false_leaves[i] != 0),
                        static_cast<Mode>(static_cast<int>(modes[i])), !missing.empty() && missing[i] != 0, -1});
  }
  for (size_t i = 0; i < weights.size(); ++i) {
    if (targets[i] < 0 || targets[i] >= op.targets) {
      node.fail("attribute 'leaf_targetids' holds {}, expected a value in [0, {}]", targets[i], op.targets - 1);
    }
    op.leaves.push_back({static_cast<int32_t>(i), 1});
    op.weights.push_back({static_cast<int32_t>(targets[i]), weights[i]});
  }
  for (int64_t root : roots) op.roots.push_back(entry(root, false));
  check_reached(node, op);
  read_members(node, op);
  const int64_t aggregate = node.int_or("aggregate_function", 1), transform = node.int_or("post_transform", 0);
  if (aggregate < 0 || aggregate > 3) node.fail("attribute 'aggregate_function' is {}, expected a value in [0, 3]", aggregate);
  if (transform < 0 || transform > 4) node.fail("attribute 'post_transform' is {}, expected a value in [0, 4]", transform);
  op.aggregate = static_cast<TreeEnsemble::Aggregate>(aggregate);
  op.post_transform = static_cast<PostTransform>(transform);
}

TreeEnsemble::Aggregate read_aggregate(const NodeView& node) {
  static constexpr std::string_view names[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  const std::string name = node.string_or("aggregate_function", "SUM");
  const auto at = std::find(std::begin(names), std::end(names), name);
  if (at == std::end(names)) node.fail("attribute 'aggregate_function' is '{}', expected AVERAGE, SUM, MIN or MAX", name);
  return static_cast<TreeEnsemble::Aggregate>(at - std::begin(names));
}

}  // namespace

TreeEnsemble TreeEnsemble::read(const NodeView& node) {
  TreeEnsemble op;
  if (node.op_type() == "TreeEnsemble") {
    read_indexed(node, op);
    return op;
  }
  op.post_transform = read_post_transform(node);
  op.base_values = numbers(node, "base_values");
  if (node.op_type() == "TreeEnsembleClassifier") {
    read_labels(node, op);
    ListedTrees(node, op).read("class");
    const auto other = [&](const Weight& weight) { return weight.target != op.weights.front().target; };
    if (op.targets == 2 && !op.weights.empty() && std::ranges::none_of(op.weights, other)) op.weighted_class = op.weights.front().target;
    op.weights_positive = std::ranges::all_of(op.weights, [](const Weight& weight) { return weight.value >= 0; });
  } else {
    op.targets = node.int_or("n_targets", 1);
    if (op.targets < 1 || op.targets > 1'000'000) node.fail("attribute 'n_targets' is {}, expected a value in [1, 1000000]", op.targets);
    op.aggregate = read_aggregate(node);
    ListedTrees(node, op).read("target");
  }
  const size_t base = op.base_values.size();
  if (base > 1 && base != static_cast<size_t>(op.targets)) {
    node.fail("attribute 'base_values' has {} values, expected {}, one for each {}", base, op.targets, op.classifies ? "class" : "target");
  }
  return op;
}

void infer(const TreeEnsemble& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  std::optional<SymbolicShape> rows, scores;
  if (x.has_rank()) {
    constexpr auto kText = "input has rank {}, expected [rows, features]";
    if (x.rank() > 2 && context.node().opset() < 3) fail_when_run(context.node(), kText, x.rank());
    if (x.rank() != 1 && x.rank() != 2) context.node().fail(kText, x.rank());
    const Dim count = x.rank() == 2 ? (*x.dims)[0] : Dim(1);
    rows = SymbolicShape{count};
    scores = SymbolicShape{count, Dim(op.targets)};
  }
  if (op.classifies) {
    context.set_output(0, op.string_labels.empty() ? DType::int64 : DType::string, rows);
    context.set_output(1, DType::float32, scores);
  } else {
    context.set_output(0, context.node().op_type() == "TreeEnsemble" ? x.dtype : DType::float32, scores);
  }
}

}  // namespace rh::ops

RH_DEFINE_OP(TreeEnsemble)
