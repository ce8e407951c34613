#include "providers/kit/regions/value_order.h"

#include <algorithm>

namespace rh::kit {

namespace {

/// The place of each of `wanted` in `given`.
std::vector<size_t> places_of(const std::vector<ValueId>& wanted, const std::vector<ValueId>& given) {
  std::vector<size_t> places;
  for (ValueId id : wanted) places.push_back(static_cast<size_t>(std::ranges::find(given, id) - given.begin()));
  return places;
}

/// An executable whose inputs and outputs stand in another order than the host's.
class Reordered final : public Executable {
 public:
  /// `inputs`, `outputs`: for each of the executable's, its place among the host's.
  Reordered(std::unique_ptr<Executable> executable, std::vector<size_t> inputs, std::vector<size_t> outputs)
      : executable_(std::move(executable)), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}

  void run(std::span<const TensorView> inputs, RunOutputs& outputs) const override {
    struct Places final : RunOutputs {
      Places(RunOutputs& of, const std::vector<size_t>& at) : whole(of), places(at) {}
      MutableView make(size_t index, const Shape& shape) override { return whole.make(places.at(index), shape); }
      StreamHandle stream() const override { return whole.stream(); }
      RhRunState state() const override { return whole.state(); }
      RunOutputs& whole;
      const std::vector<size_t>& places;
    } placed(outputs, outputs_);
    std::vector<TensorView> ordered;
    for (size_t place : inputs_) ordered.push_back(inputs[place]);
    executable_->run(ordered, placed);
  }

 private:
  std::unique_ptr<Executable> executable_;
  std::vector<size_t> inputs_, outputs_;
};

}  // namespace

Region sorted_by_name(Region region) {
  const auto name = [&](ValueId id) -> const std::string& { return region.graph->value(id).name; };
  std::ranges::sort(region.inputs, {}, name);
  std::ranges::sort(region.outputs, {}, name);
  return region;
}

std::unique_ptr<Executable> for_order_of(const Region& region, const Region& sorted, std::unique_ptr<Executable> executable) {
  if (region.inputs == sorted.inputs && region.outputs == sorted.outputs) return executable;
  return std::make_unique<Reordered>(std::move(executable), places_of(sorted.inputs, region.inputs),
                                     places_of(sorted.outputs, region.outputs));
}

}  // namespace rh::kit
