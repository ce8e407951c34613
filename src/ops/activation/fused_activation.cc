#include "ops/activation/fused_activation.h"

#include <algorithm>
#include <limits>

#include "ops/activation/activation.h"
#include "ops/activation/prelu.h"
#include "ops/math/clip.h"

namespace rh::ops {

namespace {

using F = FusedActivation::Function;

struct Known {
  std::string_view name;
  F function;
  size_t numbers;  // that it takes, with these defaults
  float alpha = 0, beta = 0;
};

constexpr std::string_view kPRelu = "PRelu";
constexpr float kInfinity = std::numeric_limits<float>::infinity();

constexpr Known kKnown[] = {
    {"Relu", F::relu, 0},
    {"Clip", F::clip, 2, -kInfinity, kInfinity},
    {"LeakyRelu", F::leaky_relu, 1, 0.01f},
    {"HardSigmoid", F::hard_sigmoid, 2, 0.2f, 0.5f},
    {"HardSwish", F::hard_swish, 0},
    {"HardSwishAffine", F::hard_swish_affine, 2, 1.0f, 0.0f},  // no operator of the standard
    {"Sigmoid", F::sigmoid, 0},
    {"Tanh", F::tanh, 0},
    {"Elu", F::elu, 1, 1.0f},
    {"Softplus", F::softplus, 0},
    {"Softsign", F::softsign, 0},
    {"ThresholdedRelu", F::thresholded_relu, 1, 1.0f},
    {"Swish", F::swish, 1, 1.0f},
    {"Gelu", F::gelu, 0},
    {"FastGelu", F::gelu_tanh, 0},
    {"Mish", F::mish, 0},
};

const Known& known(F function) {
  return *std::find_if(std::begin(kKnown), std::end(kKnown), [&](const Known& entry) { return entry.function == function; });
}

std::optional<F> fused(Activation::Function function) {
  using A = Activation::Function;
  switch (function) {
    case A::relu: return F::relu;
    case A::leaky_relu: return F::leaky_relu;
    case A::elu: return F::elu;
    case A::hard_sigmoid: return F::hard_sigmoid;
    case A::hard_swish: return F::hard_swish;
    case A::softplus: return F::softplus;
    case A::softsign: return F::softsign;
    case A::thresholded_relu: return F::thresholded_relu;
    case A::gelu: return F::gelu;
    case A::gelu_tanh: return F::gelu_tanh;
    case A::mish: return F::mish;
    case A::swish: return F::swish;
    default: return std::nullopt;
  }
}

/// Where the bounds are floats; where they cross, the upper one is both.
std::optional<FusedActivation> clip(const NodeView& node) {
  const Clip op = Clip::read(node);
  const DType dtype = node.input_type(0).tensor().dtype;
  const std::optional<float> attributes[2] = {op.min, op.max};
  float bounds[2];
  for (int i = 0; i < 2; ++i) {
    double bound = (i == 0 ? -1 : 1) * op.most(dtype);
    if (op.bounds_are_inputs && node.has_input(i + 1)) {
      const Tensor* constant = node.constant_input(i + 1);
      if (!constant || constant->elements() != 1) return std::nullopt;
      bound = constant->dtype() == DType::float64 ? *constant->data<double>() : static_cast<double>(element_as_float(constant->view(), 0));
    } else if (attributes[i]) {
      bound = static_cast<double>(*attributes[i]);
    }
    bounds[i] = static_cast<float>(bound);
    if (static_cast<double>(bounds[i]) != bound) return std::nullopt;  // NaN, too, which bounds nothing
  }
  if (bounds[0] == 0 && bounds[1] == kInfinity) return FusedActivation{F::relu};
  return FusedActivation{F::clip, bounds[0] > bounds[1] ? bounds[1] : bounds[0], bounds[1]};
}

/// Of a PRelu of a floating type.
const Tensor* constant_slopes(const NodeView& node) {
  const Tensor* slopes = node.domain().empty() && node.op_type() == kPRelu ? node.constant_input(1) : nullptr;
  return slopes && is_floating(slopes->dtype()) ? slopes : nullptr;
}

}  // namespace

FusedActivation FusedActivation::read_of_channels(const NodeView& node, std::string_view attribute) {
  const std::string prefix(attribute);
  if (node.string_or(prefix, "") != kPRelu) return read(node, attribute);
  FusedActivation made{.function = F::prelu, .slopes = node.floats_or(prefix + "_params")};
  if (made.slopes.empty()) node.fail("{}_params has no numbers, expected one for each output channel for the activation PRelu", prefix);
  return made;
}

FusedActivation FusedActivation::read(const NodeView& node, std::string_view attribute) {
  const std::string prefix(attribute), name = node.string_or(prefix, "");
  if (name.empty()) return {};
  const auto at = std::find_if(std::begin(kKnown), std::end(kKnown), [&](const Known& entry) { return entry.name == name; });
  if (at == std::end(kKnown)) {
    std::string names;
    for (const Known& entry : kKnown) names += (names.empty() ? "" : ", ") + std::string(entry.name);
    node.fail("{} '{}' is not known, expected one of: {}", prefix, name, names);
  }
  std::vector<float> numbers = node.floats_or(prefix + "_params");
  if (numbers.empty()) numbers = {node.float_or(prefix + "_alpha", at->alpha), node.float_or(prefix + "_beta", at->beta)};
  if (numbers.size() < at->numbers)
    node.fail("{}_params has {} numbers, expected {} for the activation {}", prefix, numbers.size(), at->numbers, name);
  numbers.resize(2, 0);
  return {at->function, at->numbers > 0 ? numbers[0] : 0, at->numbers > 1 ? numbers[1] : 0};
}

std::optional<FusedActivation> FusedActivation::of(const NodeView& node) {
  if (!node.domain().empty()) return std::nullopt;
  const std::string_view op = node.op_type();
  if (op == "Sigmoid") return FusedActivation{F::sigmoid};
  if (op == "Tanh") return FusedActivation{F::tanh};
  if (op == "Clip") return clip(node);
  if (const Tensor* slopes = constant_slopes(node); slopes && slopes->elements() == 1)
    return FusedActivation{F::leaky_relu, element_as_float(slopes->view(), 0)};
  const auto at = std::find_if(std::begin(kKnown), std::end(kKnown), [&](const Known& entry) { return entry.name == op; });
  if (at == std::end(kKnown)) return std::nullopt;
  const Activation single = Activation::read(node);
  const auto function = fused(single.function);
  return function ? std::optional(FusedActivation{*function, single.alpha, single.beta}) : std::nullopt;
}

std::optional<FusedActivation> FusedActivation::of_channels(const NodeView& node, int64_t channels, int rank) {
  if (auto usual = of(node)) return usual;
  const auto slopes = constant_slopes(node);
  if (!slopes || slopes->elements() != channels) return std::nullopt;
  const Shape& shape = slopes->shape();
  const int axis = PRelu::read(node).slope_by_channel && shape.rank() == 1 ? 0 : shape.rank() - rank + 1;
  if (axis < 0 || shape.rank() > rank || shape[axis] != channels) return std::nullopt;
  FusedActivation found{.function = F::prelu};
  for (int64_t i = 0; i < channels; ++i) found.slopes.push_back(element_as_float(slopes->view(), i));
  return found;
}

std::vector<Attribute> FusedActivation::attributes(std::string_view attribute) const {
  if (function == F::none) return {};
  if (function == F::prelu) return {{std::string(attribute), std::string(kPRelu)}, {std::string(attribute) + "_params", slopes}};
  const Known& entry = known(function);
  std::vector<Attribute> list{{std::string(attribute), std::string(entry.name)}};
  std::vector<float> numbers{alpha, beta};
  numbers.resize(entry.numbers);
  if (!numbers.empty()) list.push_back({std::string(attribute) + "_params", std::move(numbers)});
  return list;
}

std::vector<Attribute> FusedActivation::separate_attributes() const {
  if (function == F::none) return {};
  const Known& entry = known(function);
  std::vector<Attribute> list{{"activation", std::string(entry.name)}};
  if (entry.numbers > 0) list.push_back({"activation_alpha", alpha});
  if (entry.numbers > 1) list.push_back({"activation_beta", beta});
  return list;
}

}  // namespace rh::ops
