#include "ops/control_flow/subgraph_types.h"

#include <algorithm>
#include <set>
#include <string>

#include "ops/dim_rules.h"

namespace rh::ops {

namespace {

constexpr int kRounds = 4;  // each one looks at the whole body; the last but one drops everything that still changes

void collect_symbols(const ValueType& type, std::set<std::string, std::less<>>& symbols) {
  if (type.kind() == ValueType::Kind::sequence || type.kind() == ValueType::Kind::optional) return collect_symbols(type.element(), symbols);
  if (!type.is_tensor() || !type.tensor().has_rank()) return;
  for (const Dim& d : *type.tensor().dims) d.for_each_symbol([&](std::string_view name) { symbols.emplace(name); });
}

// The type with the dimensions for which `keep` is false unknown.
ValueType filtered(const ValueType& type, FunctionRef<bool(const Dim&)> keep) {
  if (type.kind() == ValueType::Kind::sequence) return ValueType::sequence_of(filtered(type.element(), keep));
  if (type.kind() == ValueType::Kind::optional) return ValueType::optional_of(filtered(type.element(), keep));
  if (!type.is_tensor() || !type.tensor().has_rank()) return type;
  TensorType result = type.tensor();
  for (Dim& d : *result.dims) {
    if (!keep(d)) d = Dim();
  }
  return result;
}

bool same(const ValueType& a, const ValueType& b) {
  if (a.kind() != b.kind()) return false;
  if (a.kind() == ValueType::Kind::sequence || a.kind() == ValueType::Kind::optional) return same(a.element(), b.element());
  if (!a.is_tensor()) return true;
  const TensorType &x = a.tensor(), &y = b.tensor();
  if (x.dtype != y.dtype || x.has_rank() != y.has_rank()) return false;
  return !x.has_rank() || std::equal(x.dims->begin(), x.dims->end(), y.dims->begin(), y.dims->end(),
                                     [](const Dim& d, const Dim& e) { return d == e || (d.is_unknown() && e.is_unknown()); });
}

// True for an optional and a value that it can hold: a loop may begin with an empty optional and go on with what it holds.
bool holds(const ValueType& optional, const ValueType& value) {
  return optional.kind() == ValueType::Kind::optional && optional.element().kind() == value.kind();
}

// A carried input that has been given new symbols where its size changes: any size fits those.
class Carried {
 public:
  explicit Carried(ValueType type) : type_(std::move(type)) {}

  const ValueType& type() const { return type_; }

  // Takes in what the body gives back; true where the type had to be widened.
  bool take(const InferenceContext& context, const ValueType& given, bool drop_all) {
    if (given.is_unknown() || type_.is_unknown()) return false;
    if (holds(type_, given)) return false;
    if (holds(given, type_)) {
      type_ = given;
      return true;
    }
    if (!type_.is_tensor()) {
      ValueType both = either(context, type_, given, "a loop-carried value before and after an iteration");
      const bool widened = !same(both, type_);
      type_ = std::move(both);
      return widened;
    }
    if (!given.is_tensor())
      context.node().fail("a loop-carried value is a {} before and a {} after an iteration", type_.to_string(), given.to_string());
    TensorType& mine = type_.tensor();
    const TensorType& theirs = given.tensor();
    if (mine.dtype == DType::undefined) mine.dtype = theirs.dtype;
    if (theirs.dtype != DType::undefined && theirs.dtype != mine.dtype) {
      context.node().fail("a loop-carried value is {} before and {} after an iteration", mine.to_string(), theirs.to_string());
    }
    if (!mine.has_rank()) return false;
    if (!theirs.has_rank() || theirs.rank() != mine.rank()) {
      mine.dims.reset();
      return true;
    }
    bool widened = false;
    free_.resize(mine.dims->size());
    for (int k = 0; k < mine.rank(); ++k) {
      Dim& d = (*mine.dims)[k];
      if (free_[k] || (!drop_all && d == (*theirs.dims)[k])) continue;
      d = context.fresh_symbol();
      free_[k] = true;
      widened = true;
    }
    return widened;
  }

  // The type with unknown dimensions where the size changes.
  ValueType result() const {
    if (!type_.is_tensor() || !type_.tensor().has_rank()) return type_;
    TensorType type = type_.tensor();
    for (size_t k = 0; k < free_.size() && k < type.dims->size(); ++k) {
      if (free_[k]) (*type.dims)[k] = Dim();
    }
    return type;
  }

 private:
  ValueType type_;
  std::vector<bool> free_;
};

}  // namespace

ValueType visible_outside(const InferenceContext& context, const ValueType& type) {
  std::set<std::string, std::less<>> symbols;
  const Node& node = context.node().node();
  const Graph& graph = context.node().graph();
  for (ValueId id : node.inputs) {
    if (id != kNoValue) collect_symbols(graph.value(id).type, symbols);
  }
  for (ValueId id : node.implicit_inputs) collect_symbols(graph.value(id).type, symbols);
  return filtered(type, [&](const Dim& d) {
    bool known = !d.is_unknown();
    d.for_each_symbol([&](std::string_view name) { known = known && symbols.contains(name); });
    return known;
  });
}

CarriedTypes infer_loop_body(const InferenceContext& context, std::vector<ValueType> inputs, int first_input, int first_output, int count) {
  std::vector<Carried> carried;
  for (int i = 0; i < count; ++i) carried.emplace_back(inputs[first_input + i]);
  CarriedTypes types{std::move(inputs), {}};
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < count; ++i) types.inputs[first_input + i] = carried[i].type();
    types.outputs = context.infer_subgraph("body", types.inputs);
    if (static_cast<int>(types.outputs.size()) < first_output + count) {
      context.node().fail("body has {} outputs, expected at least {}", types.outputs.size(), first_output + count);
    }
    bool widened = false;
    for (int i = 0; i < count; ++i) {
      widened |= carried[i].take(context, types.outputs[first_output + i], round == kRounds - 2);
    }
    if (!widened) break;
  }
  for (int i = 0; i < count; ++i) types.inputs[first_input + i] = carried[i].result();
  return types;
}

ValueType after_loop(const InferenceContext& context, const CarriedTypes& types, int input, int output) {
  const ValueType &before = types.inputs[input], &after = types.outputs[output];
  const ValueType& type = before.is_unknown() || holds(before, after) ? after : before;
  return visible_outside(context, type);
}

}  // namespace rh::ops
