#include "providers/migraphx/executable.h"

#include <algorithm>
#include <cstring>

#include "providers/kit/shapes/fixed_symbols.h"
#include "providers/kit/shapes/padding.h"

namespace rh::migraphx {

namespace {

using kit::PlanClass, kit::PlanSizes, kit::Region;

constexpr int64_t kTrialSize = 16;  ///< of sizes that a run brings, where a region is tried

PlanSizes sizes_of(const Region& region) {
  PlanSizes::Dims dims;
  for (ValueId id : region.inputs) dims.push_back(region.graph->value(id).type.tensor().dims);
  return PlanSizes(std::move(dims), kit::fixed_symbols(*region.graph));
}

/// The region's sizes, and its programs by their classes.
class MiGraphXExecutable final : public kit::Executable {
 public:
  MiGraphXExecutable(std::shared_ptr<const Shared> shared, const Region& region)
      : MiGraphXExecutable(std::move(shared), sizes_of(region), source_of(region, shared_of(shared).settings.precision)) {
    const std::vector<int64_t> sizes(sizes_.symbols(), kTrialSize);
    Owned<Program> parsed = parse(shared_->runtime, source_, input_shapes(sizes));
    check_outputs(shared_->runtime, *parsed, source_, output_shapes(sizes));
    if (sizes_.symbols() > 0) return;
    only_ = std::make_shared<const CompiledProgram>(shared_, std::move(parsed), source_, output_shapes({}));
    source_.model = {};
  }

  MiGraphXExecutable(std::shared_ptr<const Shared> shared, const Region& region, std::string_view bytes)
      : MiGraphXExecutable(std::move(shared), sizes_of(region), source_of(region, {})) {
    only_ = std::make_shared<const CompiledProgram>(shared_, bytes, source_, output_shapes({}));
    source_.model = {};
  }

  std::string save() const {
    if (!only_) fail(ErrorCode::not_implemented, "sizes are open, for which MIGraphX compiles when a run brings them");
    return only_->save();
  }

  void run(std::span<const TensorView> inputs, kit::RunOutputs& outputs) const override {
    const PlanSizes::Found found = sizes_.find(inputs);
    if (found.plan.is_exact) fail(ErrorCode::invalid_argument, "sizes of inputs contradict the model's");
    const std::vector<Shape> shapes = output_shapes(found.sizes);
    if (std::ranges::all_of(shapes, [](const Shape& shape) { return shape.elements() == 0; })) {
      for (size_t i = 0; i < shapes.size(); ++i) outputs.make(i, shapes[i]);
      return;
    }
    const auto program = only_ ? only_ : std::static_pointer_cast<const CompiledProgram>(programs_.get(found.plan));
    std::vector<Tensor> room(inputs.size());
    std::vector<TensorView> padded;
    for (size_t i = 0; i < inputs.size(); ++i) padded.push_back(pad(inputs[i], *sizes_.inputs()[i], found.plan.sizes, room[i]));
    program->run(padded, [&](size_t i, const TensorView& result) { kit::copy_common(result, outputs.make(i, shapes[i])); });
  }

 private:
  MiGraphXExecutable(std::shared_ptr<const Shared> shared, PlanSizes sizes, Source source)
      : shared_(std::move(shared)),
        sizes_(std::move(sizes)),
        source_(std::move(source)),
        programs_(shared_->settings.program_bytes, [this](const PlanClass& plan) { return compile(plan.sizes); }) {}

  static const Shared& shared_of(const std::shared_ptr<const Shared>& shared) { return *shared; }

  std::shared_ptr<const CompiledProgram> compile(const std::vector<int64_t>& sizes) const {
    return std::make_shared<const CompiledProgram>(shared_, parse(shared_->runtime, source_, input_shapes(sizes)), source_, output_shapes(sizes));
  }

  std::vector<Shape> input_shapes(const std::vector<int64_t>& sizes) const { return shapes_of(source_.inputs, sizes); }
  std::vector<Shape> output_shapes(const std::vector<int64_t>& sizes) const { return shapes_of(source_.outputs, sizes); }
  std::vector<Shape> shapes_of(const std::vector<Port>& ports, const std::vector<int64_t>& sizes) const {
    std::vector<Shape> shapes;
    for (size_t i = 0; i < ports.size(); ++i) {
      const bool is_input = &ports == &source_.inputs;
      const auto shape = sizes_.shape(is_input ? *sizes_.inputs()[i] : *ports[i].type.dims, sizes);
      if (!shape) fail(ErrorCode::ep_fail, "the sizes of '{}', {}, do not follow from those of the inputs", ports[i].name, ports[i].type.to_string());
      shapes.push_back(*shape);
    }
    return shapes;
  }

  // Values beyond the true sizes do not matter, but they are the same in each run.
  TensorView pad(const TensorView& input, const SymbolicShape& dims, const std::vector<int64_t>& sizes, Tensor& room) const {
    const Shape shape = *sizes_.shape(dims, sizes);
    if (shape == input.shape()) return input;
    room = Tensor(input.dtype(), shape);
    std::memset(room.raw(), 0, room.bytes());
    kit::copy_common(input, room.mutable_view());
    return room.view();
  }

  std::shared_ptr<const Shared> shared_;
  PlanSizes sizes_;
  Source source_;
  mutable kit::PlanCache programs_;
  std::shared_ptr<const CompiledProgram> only_;  ///< where all sizes are known
};

}  // namespace

std::unique_ptr<kit::Executable> make_executable(std::shared_ptr<const Shared> shared, const Region& region) {
  return std::make_unique<MiGraphXExecutable>(std::move(shared), region);
}

std::unique_ptr<kit::Executable> load_executable(std::shared_ptr<const Shared> shared, const Region& region, const kit::OwnedBytes& bytes) {
  return std::make_unique<MiGraphXExecutable>(std::move(shared), region, bytes.view);
}

std::string save_executable(const kit::Executable& executable) { return static_cast<const MiGraphXExecutable&>(executable).save(); }

}  // namespace rh::migraphx
