#include "compute/trees.h"

#include <algorithm>
#include <cmath>

namespace rh::compute {

namespace {

constexpr int64_t kRowsAtOnce = 64;  // rows that walk one tree before the next: its nodes stay in the cache
constexpr uint32_t kNanHolds = uint32_t{1} << 31;
constexpr int32_t kStepsUnasked = 8;  // before it is asked whether all walks have ended

}  // namespace

template <typename T>
Trees<T>::Trees(std::vector<Node> nodes, std::vector<Leaf> leaves, std::vector<Weight> weights, std::vector<int32_t> roots,
                std::vector<std::vector<double>> member_sets, int64_t targets)
    : leaves_(std::move(leaves)), weights_(std::move(weights)), member_sets_(std::move(member_sets)), targets_(targets) {
  lay_out(nodes, roots);
  only_leq_ = std::ranges::all_of(nodes_, [](const Node& node) { return node.test == Test::leq; });
  for (auto& set : member_sets_) std::sort(set.begin(), set.end());
  lay_out_steps();
}

/// Tests become "less" or "less or equal", those that are the contrary with their branches changed over.
template <typename T>
void Trees<T>::lay_out_steps() {
  const auto is_less = [](const Node& node) { return node.test == Test::lt || node.test == Test::gte; };
  const auto is_leq = [](const Node& node) { return node.test == Test::leq || node.test == Test::gt; };
  steps_less_ = !nodes_.empty() && is_less(nodes_.front());
  if (!(steps_less_ ? std::ranges::all_of(nodes_, is_less) : std::ranges::all_of(nodes_, is_leq))) return;
  steps_.reserve(2 * nodes_.size() + roots_.size());
  std::vector<Pending> pending;
  for (int32_t root : roots_) {
    step_roots_.push_back(add_step(root, 0, pending));
    int32_t deepest = 0;
    while (!pending.empty()) {
      const auto [parent, side, child, depth] = pending.back();
      pending.pop_back();
      const int32_t at = add_step(child, depth, pending);
      steps_[static_cast<size_t>(parent)].children[static_cast<size_t>(side)] = at;
      deepest = std::max(deepest, depth);
    }
    step_depths_.push_back(deepest);
  }
  const auto holds = [](const Step& step) { return (step.feature & kNanHolds) != 0; };
  bool all = true, none = true;
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (steps_[i].children[0] == static_cast<int32_t>(i)) continue;
    all = all && holds(steps_[i]);
    none = none && !holds(steps_[i]);
  }
  steps_missing_ = none ? Missing::fails : all ? Missing::holds : Missing::mixed;
  if (steps_missing_ != Missing::mixed) {
    for (Step& step : steps_) step.feature &= ~kNanHolds;
  }
}

template <typename T>
int32_t Trees<T>::add_step(int32_t child, int32_t depth, std::vector<Pending>& pending) {
  const auto at = static_cast<int32_t>(steps_.size());
  if (child < 0) {
    steps_.push_back({T(0), 0, {at, at}});
    step_leaves_.push_back(~child);
    return at;
  }
  const Node& node = nodes_[static_cast<size_t>(child)];
  const bool contrary = node.test == Test::gte || node.test == Test::gt;
  const bool nan_holds = node.missing_is_true != contrary;
  steps_.push_back({node.split, static_cast<uint32_t>(node.feature) | (nan_holds ? kNanHolds : 0), {at, at}});
  step_leaves_.push_back(-1);
  pending.push_back({at, contrary ? 0 : 1, node.when_true, depth + 1});
  pending.push_back({at, contrary ? 1 : 0, node.when_false, depth + 1});
  return at;
}

template <typename T>
void Trees<T>::lay_out(const std::vector<Node>& nodes, const std::vector<int32_t>& roots) {
  std::vector<int32_t> place(nodes.size());
  std::vector<int32_t> order, pending;
  order.reserve(nodes.size());
  for (int32_t root : roots) {
    if (root >= 0) pending.push_back(root);
    while (!pending.empty()) {
      const int32_t at = pending.back();
      pending.pop_back();
      place[static_cast<size_t>(at)] = static_cast<int32_t>(order.size());
      order.push_back(at);
      const Node& node = nodes[static_cast<size_t>(at)];
      if (node.when_true >= 0) pending.push_back(node.when_true);
      if (node.when_false >= 0) pending.push_back(node.when_false);
    }
  }
  const auto moved = [&](int32_t child) { return child >= 0 ? place[static_cast<size_t>(child)] : child; };
  nodes_.reserve(order.size());
  for (int32_t at : order) {
    Node node = nodes[static_cast<size_t>(at)];
    node.when_true = moved(node.when_true);
    node.when_false = moved(node.when_false);
    nodes_.push_back(node);
  }
  for (int32_t root : roots) roots_.push_back(moved(root));
}

template <typename T>
template <bool kOnlyLeq>
int32_t Trees<T>::leaf_of(int32_t at, const T* row) const {
  while (at >= 0) {
    const Node& node = nodes_[static_cast<size_t>(at)];
    const T value = row[node.feature];
    bool holds;
    if constexpr (kOnlyLeq) {
      holds = value <= node.split;
    } else {
      switch (node.test) {
        case Test::leq: holds = value <= node.split; break;
        case Test::lt: holds = value < node.split; break;
        case Test::gte: holds = value >= node.split; break;
        case Test::gt: holds = value > node.split; break;
        case Test::eq: holds = value == node.split; break;
        case Test::neq: holds = value != node.split && !std::isnan(value); break;
        default: {
          const auto& set = member_sets_[static_cast<size_t>(node.members)];
          holds = !std::isnan(value) && std::binary_search(set.begin(), set.end(), static_cast<double>(value));
        }
      }
    }
    holds = holds || (node.missing_is_true && std::isnan(value));
    at = holds ? node.when_true : node.when_false;
  }
  return ~at;
}

template <typename T>
void Trees<T>::add_leaf(int32_t leaf, Aggregate aggregate, double* totals, bool* reached) const {
  const auto [first, count] = leaves_[static_cast<size_t>(leaf)];
  for (int32_t w = first; w < first + count; ++w) {
    const Weight& weight = weights_[static_cast<size_t>(w)];
    double& total = totals[weight.target];
    bool& seen = reached[weight.target];
    if (!seen || aggregate == Aggregate::sum) {
      total += weight.value;
    } else {
      total = aggregate == Aggregate::min ? std::min(total, weight.value) : std::max(total, weight.value);
    }
    seen = true;
  }
}

template <typename T>
void Trees<T>::add_rows(const T* x, int64_t rows, int64_t features, Aggregate aggregate, double* totals, bool* reached) const {
  for (int32_t root : roots_) {
    for (int64_t i = 0; i < rows; ++i) {
      const T* row = x + i * features;
      const int32_t leaf = only_leq_ ? leaf_of<true>(root, row) : leaf_of<false>(root, row);
      add_leaf(leaf, aggregate, totals + i * targets_, reached + i * targets_);
    }
  }
}

template <typename T>
template <bool kLess, typename Trees<T>::Missing kMissing>
void Trees<T>::walk_side_by_side(int32_t depth, std::array<int32_t, kWalks>& at, const std::array<const T*, kWalks>& rows) const {
  const Step* steps = steps_.data();
  for (bool goes_on = true; goes_on && depth > 0; depth -= kStepsUnasked) {
    const std::array<int32_t, kWalks> before = at;
    for (int32_t k = std::min(depth, kStepsUnasked); k > 0; --k) {
      for (size_t j = 0; j < kWalks; ++j) {
        const Step& step = steps[at[j]];
        const T value = rows[j][kMissing == Missing::mixed ? step.feature & ~kNanHolds : step.feature];
        bool holds;
        if constexpr (kMissing == Missing::holds) {
          holds = kLess ? !(value >= step.split) : !(value > step.split);
        } else {
          holds = kLess ? value < step.split : value <= step.split;
        }
        if constexpr (kMissing == Missing::mixed) {
          const uint32_t is_nan = std::isnan(value) ? 1 : 0;
          holds = (static_cast<uint32_t>(holds) | (is_nan & step.feature >> 31)) != 0;
        }
        at[j] = step.children[static_cast<size_t>(holds)];
      }
    }
    goes_on = before != at;
  }
}

template <typename T>
template <bool kLess, typename Trees<T>::Missing kMissing>
void Trees<T>::add_side_by_side(const T* x, int64_t rows, int64_t features, Aggregate aggregate, double* totals, bool* reached) const {
  std::array<int32_t, kWalks> at;
  std::array<const T*, kWalks> from;
  const int64_t together = rows / kWalks * kWalks;
  for (size_t tree = 0; tree < step_roots_.size(); ++tree) {
    for (int64_t i = 0; i < together; i += kWalks) {
      at.fill(step_roots_[tree]);
      for (size_t j = 0; j < kWalks; ++j) from[j] = x + (i + static_cast<int64_t>(j)) * features;
      walk_side_by_side<kLess, kMissing>(step_depths_[tree], at, from);
      for (size_t j = 0; j < kWalks; ++j) {
        const int64_t place = (i + static_cast<int64_t>(j)) * targets_;
        add_leaf(step_leaves_[static_cast<size_t>(at[j])], aggregate, totals + place, reached + place);
      }
    }
  }
  for (int64_t i = together; i < rows; ++i) {
    from.fill(x + i * features);
    for (size_t tree = 0; tree < step_roots_.size(); tree += kWalks) {
      const size_t count = std::min<size_t>(kWalks, step_roots_.size() - tree);
      at.fill(step_roots_[tree]);
      std::copy_n(step_roots_.begin() + static_cast<ptrdiff_t>(tree), count, at.begin());
      const auto depths = step_depths_.begin() + static_cast<ptrdiff_t>(tree);
      walk_side_by_side<kLess, kMissing>(*std::max_element(depths, depths + static_cast<ptrdiff_t>(count)), at, from);
      for (size_t j = 0; j < count; ++j) {
        add_leaf(step_leaves_[static_cast<size_t>(at[j])], aggregate, totals + i * targets_, reached + i * targets_);
      }
    }
  }
}

template <typename T>
void Trees<T>::add(const T* x, int64_t rows, int64_t features, Aggregate aggregate, double* totals, bool* reached) const {
  if (steps_.empty() || features == 0) return add_rows(x, rows, features, aggregate, totals, reached);
  const auto walk = [&]<bool kLess>() {
    switch (steps_missing_) {
      case Missing::fails: return add_side_by_side<kLess, Missing::fails>(x, rows, features, aggregate, totals, reached);
      case Missing::holds: return add_side_by_side<kLess, Missing::holds>(x, rows, features, aggregate, totals, reached);
      default: return add_side_by_side<kLess, Missing::mixed>(x, rows, features, aggregate, totals, reached);
    }
  };
  steps_less_ ? walk.template operator()<true>() : walk.template operator()<false>();
}

template <typename T>
void Trees<T>::run(const T* x, int64_t rows, int64_t features, Aggregate aggregate, double* totals, bool* reached,
                   const Parallel& parallel) const {
  const int64_t blocks = (rows + kRowsAtOnce - 1) / kRowsAtOnce;
  const double steps = 8.0 * static_cast<double>(roots_.size() * static_cast<size_t>(std::min(rows, kRowsAtOnce)));
  parallel.for_range(blocks, {.bytes = 0, .operations = 4 * steps}, [&](Range range) {
    for (int64_t block = range.begin; block < range.end; ++block) {
      const int64_t first = block * kRowsAtOnce, count = std::min(kRowsAtOnce, rows - first);
      double* part = totals + first * targets_;
      bool* seen = reached + first * targets_;
      std::fill(part, part + count * targets_, 0.0);
      std::fill(seen, seen + count * targets_, false);
      add(x + first * features, count, features, aggregate, part, seen);
    }
  });
}

template class Trees<float>;
template class Trees<double>;

}  // namespace rh::compute
