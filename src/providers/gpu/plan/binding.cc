#include "providers/gpu/plan/binding.h"

#include <algorithm>

namespace rh::gpu {

namespace {

constexpr size_t kAlignment = 16;

size_t aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

/// Of the model's nodes, which several may have become one.
std::string names_of(const Launch& launch, const Graph& graph) {
  std::string names;
  const auto add = [&](const std::string& name) { names += (names.empty() ? "" : ",") + name; };
  for (const NodeId id : launch.nodes) {
    if (id == kNoNode) continue;
    const Node& node = graph.node(id);
    for (const auto& original : node.provenance) add(original->display_name());
    if (node.provenance.empty()) add(node.display_name());
  }
  return names;
}

class Binder {
 public:
  Binder(const Lowering& lowering, const MemoryPlan& memory, std::span<const ValueId> inputs, const std::map<ValueId, Tensor>& constants)
      : lowering_(lowering), memory_(memory), inputs_(inputs), constants_(constants) {}

  Binding take() && { return std::move(binding_); }

  void add(const Launch& launch) {
    const size_t at = append(launch.arguments);
    places_.push_back(at);
    if (launch.joins) {
      Binding::Step& step = binding_.steps.back();
      step.size.grid.x = std::max(step.size.grid.x, launch.size.grid.x);
      ++step.size.grid.y;
      step.stride = static_cast<unsigned>(aligned(launch.arguments.size()));
      step.nodes += "," + names_of(launch, lowering_.graph());
      return;
    }
    binding_.steps.push_back({launch.size, at, names_of(launch, lowering_.graph()), 0});
    binding_.kernels.push_back(launch.kernel);
  }

  // Values that the host knows stand behind the arguments of all launches.
  void add_addresses() {
    for (size_t i = 0; i < lowering_.launches().size(); ++i) {
      for (const Operand& operand : lowering_.launches()[i].operands) {
        if (operand.value != kNoValue) add_address(places_[i] + operand.at, operand);
      }
    }
  }

  std::vector<Shape>& outputs() { return binding_.outputs; }

 private:
  using Kind = Binding::Patch::Kind;

  size_t append(std::span<const std::byte> bytes) {
    const size_t at = binding_.arguments.size();
    binding_.arguments.resize(at + aligned(bytes.size()));
    std::ranges::copy(bytes, binding_.arguments.begin() + static_cast<std::ptrdiff_t>(at));
    return at;
  }

  void add_address(size_t at, const Operand& operand) {
    if (operand.output >= 0) return patch(at, Kind::output, static_cast<size_t>(operand.output), operand.offset);
    Root root = lowering_.root(operand.value);
    root.offset += operand.offset;
    if (const auto constant = constants_.find(root.value); constant != constants_.end()) {
      const char* address = static_cast<const char*>(constant->second.raw()) + root.offset;
      std::memcpy(binding_.arguments.data() + at, &address, sizeof address);
      return;
    }
    if (lowering_.is_host(root.value)) {
      auto [known, is_new] = data_.try_emplace(root.value, 0);
      if (is_new) known->second = append(lowering_.host_bytes(root.value));
      return patch(at, Kind::arguments, 0, static_cast<int64_t>(known->second) + root.offset);
    }
    if (const int output = lowering_.output_of(root.value); output >= 0) {
      return patch(at, Kind::output, static_cast<size_t>(output), root.offset);
    }
    if (const auto input = std::ranges::find(inputs_, root.value); input != inputs_.end()) {
      return patch(at, Kind::input, static_cast<size_t>(input - inputs_.begin()), root.offset);
    }
    patch(at, Kind::block, 0, static_cast<int64_t>(place_of(root.value)) + root.offset);
  }

  size_t place_of(ValueId value) const {
    const auto place = memory_.offsets.find(value);
    const size_t bytes = bytes_of(lowering_.dtype(value), lowering_.shape(value).elements());
    if (place == memory_.offsets.end() || bytes > memory_.sizes.at(value)) {
      fail(ErrorCode::ep_fail, "'{}' has no place in the plan of its class", lowering_.graph().value(value).name);
    }
    return place->second;
  }

  void patch(size_t at, Kind kind, size_t number, int64_t offset) { binding_.patches.push_back({at, kind, number, offset}); }

  const Lowering& lowering_;
  const MemoryPlan& memory_;
  std::span<const ValueId> inputs_;
  const std::map<ValueId, Tensor>& constants_;
  Binding binding_;
  std::map<ValueId, size_t> data_;
  std::vector<size_t> places_;  // of each launch's arguments
};

}  // namespace

Binding bind(const Lowering& lowering, const MemoryPlan& memory, std::span<const ValueId> inputs,
             const std::map<ValueId, Tensor>& constants) {
  Binder binder(lowering, memory, inputs, constants);
  for (const Launch& launch : lowering.launches()) binder.add(launch);
  binder.add_addresses();
  for (ValueId output : lowering.graph().outputs()) binder.outputs().push_back(lowering.shape(output));
  return std::move(binder).take();
}

}  // namespace rh::gpu
