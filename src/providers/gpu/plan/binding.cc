#include "providers/gpu/plan/binding.h"

#include <algorithm>

namespace rh::gpu {

namespace {

constexpr size_t kAlignment = 16;

size_t aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

class Binder {
 public:
  Binder(const Lowering& lowering, const MemoryPlan& memory, std::span<const ValueId> inputs, const std::map<ValueId, Tensor>& constants)
      : lowering_(lowering), memory_(memory), inputs_(inputs), constants_(constants) {}

  Binding take() && { return std::move(binding_); }

  void add(const Launch& launch) {
    const size_t at = append(launch.arguments);
    binding_.steps.push_back({launch.size, at, launch.nodes});
    binding_.kernels.push_back(launch.kernel);
  }

  // Values that the host knows stand behind the arguments of all launches.
  void add_addresses() {
    for (size_t i = 0; i < lowering_.launches().size(); ++i) {
      for (const Operand& operand : lowering_.launches()[i].operands) {
        if (operand.value != kNoValue) add_address(binding_.steps[i].at + operand.at, operand);
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
    if (operand.output >= 0) return patch(at, Kind::output, static_cast<size_t>(operand.output), 0);
    const Root root = lowering_.root(operand.value);
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
};

}  // namespace

Binding bind(const Lowering& lowering, const MemoryPlan& memory, std::span<const ValueId> inputs, std::span<const ValueId> outputs,
             const std::map<ValueId, Tensor>& constants) {
  Binder binder(lowering, memory, inputs, constants);
  for (const Launch& launch : lowering.launches()) binder.add(launch);
  binder.add_addresses();
  for (ValueId output : outputs) binder.outputs().push_back(lowering.shape(output));
  return std::move(binder).take();
}

}  // namespace rh::gpu
