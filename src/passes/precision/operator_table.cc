#include "passes/precision/operator_table.h"

#include <algorithm>
#include <array>
#include <optional>

#include "ops/nn/pool.h"
#include "ops/reduction/reduce.h"

namespace rh::precision {

namespace {

constexpr int64_t kMostSummed = 256;  // values up to 255 then have a sum that float16 holds

bool never(const NodeView&) { return false; }

/// The product of the sizes for which is_summed holds; nothing where one is not known.
template <typename Predicate>
std::optional<int64_t> product_of(const SymbolicShape& dims, Predicate is_summed) {
  int64_t product = 1;
  for (int i = 0; i < static_cast<int>(dims.size()); ++i) {
    if (!is_summed(i)) continue;
    if (!dims[i].is_constant() || dims[i].value() > kMostSummed) return std::nullopt;
    product *= dims[i].value();
    if (product > kMostSummed) return std::nullopt;
  }
  return product;
}

std::optional<int64_t> reduced_elements(const NodeView& node, const SymbolicShape& dims) {
  const ops::Reduce op = ops::Reduce::read(node);
  std::vector<int64_t> axes = op.axes.value_or(std::vector<int64_t>{});
  if (op.axes_are_input && node.has_input(1)) {
    const Tensor* given = node.constant_input(1);
    if (!given || given->dtype() != DType::int64) return std::nullopt;
    axes.assign(given->span<int64_t>().begin(), given->span<int64_t>().end());
  }
  const ops::AxisMask reduced = op.reduced(axes, static_cast<int>(dims.size()));
  return product_of(dims, [&](int axis) { return reduced[axis]; });
}

/// Whether no result is a sum of more than kMostSummed elements.
bool sums_few(const NodeView& node) {
  const ValueType& type = node.input_type(0);
  if (node.op_type() == "AveragePool") {
    const std::vector<int64_t> kernel = node.ints_or("kernel_shape");
    return product_of(SymbolicShape(kernel.begin(), kernel.end()), [](int) { return true; }).has_value();
  }
  if (!type.is_tensor() || !type.tensor().has_rank()) return false;
  const SymbolicShape& dims = *type.tensor().dims;
  if (node.op_type() == "GlobalAveragePool") return product_of(dims, [](int axis) { return axis >= 2; }).has_value();
  return reduced_elements(node, dims).has_value();
}

/// Whether the exponents are from 0 to 1, with which no result is larger than the base or 1.
bool is_root(const NodeView& node) {
  const Tensor* exponent = node.constant_input(1);
  if (!exponent || exponent->dtype() != DType::float32) return false;
  return std::ranges::all_of(exponent->span<float>(), [](float x) { return x >= 0 && x <= 1; });
}

/// Whether the node gives weights.
bool dequantises_constant(const NodeView& node) { return node.constant_input(0) != nullptr; }

constexpr OperatorRow kRows[] = {
#define RH_PRECISION(domain, op_type, role, harmless, reason) {domain, op_type, Role::role, harmless, reason},
#include "passes/precision/operator_table.inc"
#undef RH_PRECISION
};

/// An input that keeps its type while the others change theirs.
struct HeldInput {
  std::string_view op_type;
  int first, last;
  std::string_view reason;
};

constexpr HeldInput kHeldInputs[] = {
    {"BatchNormalization", 1, 4, "is a statistic of a channel, which may be small"},
    {"GridSample", 1, 1, "has coordinates"},
    {"Resize", 1, 2, "has coordinates or scales"},
    {"Upsample", 1, 1, "has scales"},
};

constexpr OperatorRow kPlain{"", "", Role::plain, never, ""};

}  // namespace

std::span<const OperatorRow> operator_rows() { return kRows; }

const OperatorRow& operator_row(const Node& node) {
  const auto at = std::ranges::find_if(kRows, [&](const OperatorRow& r) { return r.op_type == node.op_type && r.domain == node.domain; });
  return at == std::end(kRows) ? kPlain : *at;
}

std::string_view why_lossy(const NodeView& node, DType half) {
  const OperatorRow& row = operator_row(node.node());
  const bool counts = row.role == Role::loses || (row.role == Role::overflows && half == DType::float16);
  return counts && !row.is_harmless(node) ? row.reason : std::string_view();
}

std::string_view why_held(const Node& node, int input) {
  for (const HeldInput& held : kHeldInputs) {
    if (node.domain.empty() && node.op_type == held.op_type && input >= held.first && input <= held.last) return held.reason;
  }
  return {};
}

Needed needed_elements(const Node& node, int input, const Tensor& constant) {
  const OperatorRow& row = operator_row(node);
  if (row.role == Role::gains && input >= 2) return Needed::finite;  // biases of sums
  if (!node.domain.empty()) return Needed::largest;
  const bool adds = node.op_type == "Add" || node.op_type == "Sub";
  if (adds && constant.elements() > 1) return Needed::finite;
  const bool divides = (node.op_type == "Div" && input == 1) || (node.op_type == "DequantizeLinear" && input == 1);
  return divides ? Needed::each : Needed::largest;
}

}  // namespace rh::precision
