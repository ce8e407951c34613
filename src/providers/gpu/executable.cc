#include "providers/gpu/executable.h"

#include <atomic>

#include "providers/kit/host/profiling.h"

namespace rh::gpu {

namespace {

using kit::PlanClass;

constexpr int64_t kTrialSize = 2;  ///< of symbols, whose class is compiled before a run

/// Numbers that stand one behind the other, read from the front.
class Reader {
 public:
  explicit Reader(const std::vector<int64_t>& numbers) : numbers_(numbers) {}
  int64_t next() { return numbers_[at_++]; }
  Shape shape() {
    Shape shape;
    for (int64_t rank = next(); rank > 0; --rank) shape.push_back(next());
    return shape;
  }

 private:
  const std::vector<int64_t>& numbers_;
  size_t at_ = 0;
};

/// Ranks and sizes of all inputs, then the bytes of those in host memory, eight in a number.
PlanClass exact_class(const RegionSource& source, std::span<const TensorView> inputs) {
  PlanClass plan{true, {}};
  for (const TensorView& input : inputs) {
    plan.sizes.push_back(input.rank());
    plan.sizes.insert(plan.sizes.end(), input.shape().begin(), input.shape().end());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!source.is_on_host(i)) continue;
    const size_t words = (inputs[i].bytes() + sizeof(int64_t) - 1) / sizeof(int64_t), at = plan.sizes.size();
    plan.sizes.resize(at + words, 0);
    if (words > 0) std::memcpy(plan.sizes.data() + at, inputs[i].raw(), inputs[i].bytes());
  }
  return plan;
}

std::shared_ptr<const ClassPlan> plan_of(const std::shared_ptr<const Shared>& shared, const std::shared_ptr<const RegionSource>& source,
                                         const std::vector<DType>& types, const PlanClass& plan) {
  std::vector<Shape> shapes;
  std::vector<Tensor> values(types.size());
  if (!plan.is_exact) {
    for (const auto& dims : source->sizes().inputs()) shapes.push_back(source->sizes().shape(dims.value(), plan.sizes).value());
    return std::make_shared<const ClassPlan>(shared, source, shapes, std::move(values));
  }
  Reader reader(plan.sizes);
  for (size_t i = 0; i < types.size(); ++i) shapes.push_back(reader.shape());
  for (size_t i = 0; i < types.size(); ++i) {
    if (!source->is_on_host(i)) continue;
    values[i] = Tensor(types[i], shapes[i]);
    for (size_t at = 0; at < values[i].bytes(); at += sizeof(int64_t)) {
      const int64_t word = reader.next();
      std::memcpy(values[i].data<char>() + at, &word, std::min(sizeof word, values[i].bytes() - at));
    }
  }
  return std::make_shared<const ClassPlan>(shared, source, shapes, std::move(values));
}

class GpuExecutable final : public kit::Executable {
 public:
  GpuExecutable(std::shared_ptr<const Shared> shared, const kit::Region& region)
      : shared_(std::move(shared)),
        source_(std::make_shared<const RegionSource>(region, shared_->recognises)),
        types_(types_of(region)),
        plans_(shared_->plan_bytes, [this](const PlanClass& plan) { return plan_of(shared_, source_, types_, plan); }) {
    if (source_->has_host_inputs()) return;
    const bool is_static = source_->sizes().symbols() == 0;
    try {
      plans_.get({false, std::vector<int64_t>(source_->sizes().symbols(), kit::bucket_end(kTrialSize))});
    } catch (const Error&) {  // of sizes that no run may bring
      if (is_static) throw;
    }
  }

  void run(std::span<const TensorView> inputs, kit::RunOutputs& outputs) const override {
    const auto [plan, binding] = find(inputs);
    std::vector<void*> addresses;
    for (size_t i = 0; i < binding->outputs.size(); ++i) addresses.push_back(outputs.make(i, binding->outputs[i]).raw());
    const kit::StreamHandle stream = outputs.stream();
    plan->run(*binding, inputs, addresses, stream);
    if (!stream) shared_->driver->wait(nullptr);
  }

 private:
  using Found = std::pair<std::shared_ptr<const ClassPlan>, std::shared_ptr<const Binding>>;

  static std::vector<DType> types_of(const kit::Region& region) {
    std::vector<DType> types;
    for (ValueId id : region.inputs) types.push_back(region.graph->value(id).type.tensor().dtype);
    return types;
  }

  // What does not fit its class, a size that has to divide another, is a class of its own.
  Found find(std::span<const TensorView> inputs) const {
    std::vector<Shape> shapes;
    for (const TensorView& input : inputs) shapes.push_back(input.shape());
    if (!source_->has_host_inputs() && !is_exact_) {
      const kit::PlanSizes::Found found = source_->sizes().find(inputs);
      try {
        if (!found.plan.is_exact) return get(found.plan, shapes);
      } catch (const Error&) {
        if (source_->sizes().symbols() == 0) throw;
        Found exact = get(exact_class(*source_, inputs), shapes);
        is_exact_ = true;
        return exact;
      }
    }
    return get(exact_class(*source_, inputs), shapes);
  }

  Found get(const PlanClass& plan_class, const std::vector<Shape>& shapes) const {
    auto plan = std::static_pointer_cast<const ClassPlan>(plans_.get(plan_class));
    auto binding = plan->binding(shapes);
    return {std::move(plan), std::move(binding)};
  }

  std::shared_ptr<const Shared> shared_;
  std::shared_ptr<const RegionSource> source_;
  std::vector<DType> types_;
  mutable kit::PlanCache plans_;
  mutable std::atomic<bool> is_exact_ = false;
};

}  // namespace

std::unique_ptr<kit::Executable> make_executable(std::shared_ptr<const Shared> shared, const kit::Region& region) {
  return std::make_unique<GpuExecutable>(std::move(shared), region);
}

}  // namespace rh::gpu
