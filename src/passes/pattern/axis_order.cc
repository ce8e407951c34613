#include "passes/pattern/axis_order.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "ops/tensor/transpose.h"

namespace rh::passes {

namespace {

/// Dimensions [from, from_end) of one shape that hold what [to, to_end) of another one do.
struct SharedDims {
  size_t from, from_end, to, to_end;
};

/// The fewest dimensions of both, from the given ones on, that hold as many elements.
std::optional<SharedDims> next_shared(const SymbolicShape& from, const SymbolicShape& to, size_t i, size_t j) {
  for (size_t count = 2; count <= from.size() - i + to.size() - j; ++count) {
    for (size_t of_from = 1; of_from < count; ++of_from) {
      const size_t of_to = count - of_from;
      if (i + of_from > from.size() || j + of_to > to.size()) continue;
      if (product(from, i, i + of_from) == product(to, j, j + of_to)) return SharedDims{i, i + of_from, j, j + of_to};
    }
  }
  return std::nullopt;
}

std::optional<std::vector<SharedDims>> shared_dims(const SymbolicShape& from, const SymbolicShape& to) {
  std::vector<SharedDims> groups;
  size_t i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    const auto next = next_shared(from, to, i, j);
    if (!next) break;
    groups.push_back(*next);
    i = next->from_end;
    j = next->to_end;
  }
  const auto is_one = [](const Dim& dim) { return dim.is_constant(1); };
  if (groups.empty() || !std::all_of(from.begin() + static_cast<int64_t>(i), from.end(), is_one) ||
      !std::all_of(to.begin() + static_cast<int64_t>(j), to.end(), is_one))
    return std::nullopt;
  groups.back().from_end = from.size();
  groups.back().to_end = to.size();
  return groups;
}

/// Ends, counted in elements from the last dimension on, of the dimensions [begin, end); nothing where a size is not known or 0.
std::optional<std::vector<int64_t>> steps_of(const SymbolicShape& dims, size_t begin, size_t end) {
  std::vector<int64_t> steps;
  int64_t step = 1;
  for (size_t i = end; i-- > begin; steps.push_back(step)) {
    if (!dims[i].is_constant() || dims[i].value() < 1) return std::nullopt;
    step *= dims[i].value();
  }
  return steps;
}

/// The dimensions of either side where the other is one, else those of the steps of both, which must divide each other in turn.
std::optional<SymbolicShape> common_dims_of(const SharedDims& group, const SymbolicShape& from, const SymbolicShape& to) {
  const auto part = [](const SymbolicShape& dims, size_t begin, size_t end) {
    return SymbolicShape(dims.begin() + static_cast<int64_t>(begin), dims.begin() + static_cast<int64_t>(end));
  };
  if (group.to_end - group.to == 1) return part(from, group.from, group.from_end);
  if (group.from_end - group.from == 1) return part(to, group.to, group.to_end);
  const auto a = steps_of(from, group.from, group.from_end), b = steps_of(to, group.to, group.to_end);
  if (!a || !b) return std::nullopt;
  std::vector<int64_t> steps(*a);
  steps.insert(steps.end(), b->begin(), b->end());
  std::ranges::sort(steps);
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  SymbolicShape dims;
  int64_t before = 1;
  for (int64_t step : steps) {
    if (step % before != 0) return std::nullopt;
    if (step > before) dims.insert(dims.begin(), Dim(step / before));
    before = step;
  }
  return dims.empty() ? SymbolicShape{Dim(1)} : dims;
}

/// Where dimensions [begin, end) of a shape begin among the common ones from `at` on; their sizes are products of those.
bool place(const SymbolicShape& dims, size_t begin, size_t end, const SymbolicShape& common, size_t at, std::vector<size_t>& places) {
  for (size_t i = begin; i < end; ++i) {
    places.push_back(at);
    const bool is_last = i + 1 == end;
    size_t next = at;
    while (next < common.size() && (is_last || !(product(common, at, next) == dims[i]))) ++next;
    if (!(product(common, at, next) == dims[i])) return false;
    at = next;
  }
  return true;
}

}  // namespace

Permutation inverse(const Permutation& permutation) {
  Permutation result(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) result[static_cast<size_t>(permutation[i])] = static_cast<int64_t>(i);
  return result;
}

std::optional<Permutation> permutation_of(const NodeView& transpose) {
  auto perm = ops::Transpose::read(transpose).perm;
  const TensorType& x = transpose.input_type(0).tensor();
  if (!perm) {
    if (!x.has_rank()) return std::nullopt;
    perm.emplace(static_cast<size_t>(x.rank()));
    std::iota(perm->rbegin(), perm->rend(), int64_t{0});
  }
  Permutation sorted = *perm;
  std::ranges::sort(sorted);
  for (size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i] != static_cast<int64_t>(i)) return std::nullopt;
  return perm;
}

bool is_axis(const AxisOrder& order, int64_t axis) {
  const int64_t rank = static_cast<int64_t>(order.permutation.size());
  return axis >= -rank && axis < rank;
}

int64_t moved_axis(const AxisOrder& order, int64_t axis) {
  return inverse(order.other())[static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(order.permutation.size()) : axis)];
}

bool keeps_last(const AxisOrder& order, int64_t axis) {
  if (!is_axis(order, axis)) return false;
  const Permutation other = order.other();
  for (size_t i = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(other.size()) : axis); i < other.size(); ++i)
    if (other[i] != static_cast<int64_t>(i)) return false;
  return true;
}

Tensor permuted(const Tensor& x, const Permutation& permutation) {
  const size_t rank = permutation.size(), own = x.shape().size();
  Shape dims(rank, 1), steps(rank, 0), shape;
  for (size_t i = 0; i < own; ++i) dims[rank - own + i] = x.shape()[i];
  for (size_t i = rank; i-- > 0;) steps[i] = i + 1 == rank ? 1 : steps[i + 1] * dims[i + 1];
  for (int64_t axis : permutation) shape.push_back(dims[static_cast<size_t>(axis)]);
  Tensor y(x.dtype(), shape);
  const size_t bytes = bytes_of(x.dtype(), 1);
  Shape index(rank, 0);
  for (int64_t i = 0, from = 0; i < y.elements(); ++i) {
    std::memcpy(static_cast<char*>(y.raw()) + static_cast<size_t>(i) * bytes,
                static_cast<const char*>(x.raw()) + static_cast<size_t>(from) * bytes, bytes);
    for (size_t axis = rank; axis-- > 0;) {
      const int64_t step = steps[static_cast<size_t>(permutation[axis])];
      from += step;
      if (++index[axis] < shape[axis]) break;
      from -= step * shape[axis];
      index[axis] = 0;
    }
  }
  return y;
}

SymbolicShape in_other_order(const AxisOrder& order, const SymbolicShape& dims) {
  SymbolicShape result;
  for (int64_t axis : order.other()) result.push_back(dims[static_cast<size_t>(axis)]);
  return result;
}

std::optional<AxisOrder> order_of_view(const AxisOrder& order, const SymbolicShape& from, const SymbolicShape& to) {
  const auto groups = shared_dims(from, to);
  if (!groups) return std::nullopt;
  const Permutation other = order.other();
  Permutation result;
  for (size_t i = 0; i < other.size();) {
    const auto group = std::ranges::find(*groups, static_cast<size_t>(other[i]), &SharedDims::from);
    if (group == groups->end()) return std::nullopt;
    for (size_t axis = group->from; axis < group->from_end; ++axis, ++i)
      if (i >= other.size() || other[i] != static_cast<int64_t>(axis)) return std::nullopt;
    for (size_t axis = group->to; axis < group->to_end; ++axis) result.push_back(static_cast<int64_t>(axis));
  }
  return AxisOrder{order.second ? inverse(result) : result, order.second};
}

std::optional<CommonDims> common_dims(const SymbolicShape& from, const SymbolicShape& to) {
  const auto groups = shared_dims(from, to);
  if (!groups) return std::nullopt;
  CommonDims common;
  for (const SharedDims& group : *groups) {
    const auto dims = common_dims_of(group, from, to);
    const size_t at = common.dims.size();
    if (!dims) return std::nullopt;
    common.dims.insert(common.dims.end(), dims->begin(), dims->end());
    if (!place(from, group.from, group.from_end, common.dims, at, common.from) ||
        !place(to, group.to, group.to_end, common.dims, at, common.to))
      return std::nullopt;
  }
  common.from.push_back(common.dims.size());
  common.to.push_back(common.dims.size());
  return common;
}

std::optional<std::vector<int64_t>> reshape_target(const SymbolicShape& from, const SymbolicShape& to) {
  std::vector<int64_t> target;
  bool is_open = false;
  for (size_t i = 0; i < to.size(); ++i) {
    const bool is_size = to[i].is_constant() && to[i].value() > 0;
    if (is_size || (i < from.size() && from[i] == to[i])) {
      target.push_back(is_size ? to[i].value() : 0);
    } else if (!is_open && !to[i].is_constant()) {
      target.push_back(-1);
      is_open = true;
    } else {
      return std::nullopt;
    }
  }
  return target;
}

}  // namespace rh::passes
