#include "providers/migraphx/executable.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>

#include "providers/kit/host/profiling.h"
#include "providers/kit/regions/host_session.h"
#include "providers/kit/shapes/fixed_symbols.h"
#include "providers/kit/shapes/padding.h"

namespace rh::migraphx {

namespace {

using kit::PlanClass, kit::PlanSizes, kit::Region;

constexpr int64_t kTrialSize = 16;  ///< of sizes that a run brings, where a region is tried

/// A region as MIGraphX reads it, and how its sizes follow from those of its inputs.
struct Sized {
  Sized(const Region& region, const kit::PrecisionSettings& precision) : source(source_of(region, precision)), sizes(sizes_of(region)) {}

  static PlanSizes sizes_of(const Region& region) {
    PlanSizes::Dims dims;
    for (ValueId id : region.inputs) dims.push_back(region.graph->value(id).type.tensor().dims);
    return PlanSizes(std::move(dims), kit::fixed_symbols(*region.graph));
  }

  std::vector<Shape> inputs(const std::vector<int64_t>& of_symbols) const {
    std::vector<Shape> shapes;
    for (const auto& dims : sizes.inputs()) shapes.push_back(sizes.shape(dims.value(), of_symbols).value());
    return shapes;
  }
  std::vector<Shape> outputs(const std::vector<int64_t>& of_symbols) const {
    std::vector<Shape> shapes;
    for (const Port& port : source.outputs) {
      const auto shape = sizes.shape(*port.type.dims, of_symbols);
      if (!shape)
        fail(ErrorCode::ep_fail, "the sizes of '{}', {}, do not follow from those of the inputs", port.name, port.type.to_string());
      shapes.push_back(*shape);
    }
    return shapes;
  }

  /// Parsed with some sizes, which shows what MIGraphX takes.
  Owned<Program> tried(const Runtime& runtime) const {
    const std::vector<int64_t> some(sizes.symbols(), kTrialSize);
    const std::vector<Shape> given = outputs(some);
    Owned<Program> parsed = parse(runtime, source, inputs(some));
    check_outputs(runtime, *parsed, source, given);
    return parsed;
  }

  Source source;
  PlanSizes sizes;
};

/// The region's sizes, and its programs by their classes.
class MiGraphXExecutable final : public kit::Executable {
 public:
  MiGraphXExecutable(std::shared_ptr<const Shared> shared, Sized sized) : shared_(std::move(shared)), sized_(std::move(sized)) {
    Owned<Program> parsed = sized_.tried(shared_->runtime);
    if (sized_.sizes.symbols() == 0)
      keep(std::make_shared<const CompiledProgram>(shared_, std::move(parsed), sized_.source, sized_.outputs({})));
  }

  MiGraphXExecutable(std::shared_ptr<const Shared> shared, Sized sized, std::string_view bytes)
      : shared_(std::move(shared)), sized_(std::move(sized)) {
    keep(std::make_shared<const CompiledProgram>(shared_, bytes, sized_.source, sized_.outputs({})));
  }

  std::string save() const {
    if (!only_) fail(ErrorCode::not_implemented, "sizes are open, for which MIGraphX compiles when a run brings them");
    return only_->save();
  }

  void run(std::span<const TensorView> inputs, kit::RunOutputs& outputs) const override {
    const PlanSizes::Found found = sized_.sizes.find(inputs);
    if (found.plan.is_exact) fail(ErrorCode::invalid_argument, "sizes of inputs contradict the model's");
    const std::vector<Shape> shapes = sized_.outputs(found.sizes);
    if (std::ranges::all_of(shapes, [](const Shape& shape) { return shape.elements() == 0; })) {
      for (size_t i = 0; i < shapes.size(); ++i) outputs.make(i, shapes[i]);
      return;
    }
    if (!only_ && !may_have(found.plan)) return on_the_cpu().run(inputs, outputs);
    const auto program = only_ ? only_ : std::static_pointer_cast<const CompiledProgram>(programs_.get(found.plan));
    std::vector<Tensor> room(inputs.size());
    std::vector<TensorView> padded;
    for (size_t i = 0; i < inputs.size(); ++i) padded.push_back(pad(inputs[i], *sized_.sizes.inputs()[i], found.plan.sizes, room[i]));
    program->run(padded, [&](size_t i, const TensorView& result) { kit::copy_common(result, outputs.make(i, shapes[i])); });
  }

 private:
  void keep(std::shared_ptr<const CompiledProgram> program) {
    only_ = std::move(program);
    sized_.source.model = {};  // of which MIGraphX has kept what it needs
  }

  /// Whether there is a program for these sizes, or may be one more: who brings other sizes in each run would wait for the compiler each
  /// time.
  bool may_have(const PlanClass& plan) const {
    const std::lock_guard lock(mutex_);
    if (known_.contains(plan)) return true;
    return known_.size() < shared_->settings.most_programs && known_.insert(plan).second;
  }
  const kit::HostSession& on_the_cpu() const {
    const std::lock_guard lock(mutex_);
    if (!cpu_) cpu_ = std::make_unique<kit::HostSession>(shared_->host, sized_.source.model);
    return *cpu_;
  }

  std::shared_ptr<const CompiledProgram> compile(const std::vector<int64_t>& sizes) const {
    using Clock = kit::ProfileEvent::Clock;
    const Clock::time_point begin = Clock::now();
    Owned<Program> parsed = parse(shared_->runtime, sized_.source, sized_.inputs(sizes));
    auto made = std::make_shared<const CompiledProgram>(shared_, std::move(parsed), sized_.source, sized_.outputs(sizes));
    if (kit::is_profiled()) kit::record_kernel("migraphx_compile", sized_.source.outputs[0].name, begin, Clock::now());
    return made;
  }

  // Values beyond the true sizes do not matter, but they are the same in each run.
  TensorView pad(const TensorView& input, const SymbolicShape& dims, const std::vector<int64_t>& sizes, Tensor& room) const {
    const Shape shape = *sized_.sizes.shape(dims, sizes);
    if (shape == input.shape()) return input;
    room = Tensor(input.dtype(), shape);
    std::memset(room.raw(), 0, room.bytes());
    kit::copy_common(input, room.mutable_view());
    return room.view();
  }

  std::shared_ptr<const Shared> shared_;
  Sized sized_;
  mutable kit::PlanCache programs_{shared_->settings.program_bytes, [this](const PlanClass& plan) { return compile(plan.sizes); }};
  mutable std::mutex mutex_;
  mutable std::set<PlanClass> known_;  ///< sizes that have, or had, a program
  mutable std::unique_ptr<kit::HostSession> cpu_;
  std::shared_ptr<const CompiledProgram> only_;  ///< where all sizes are known
};

}  // namespace

std::unique_ptr<kit::Executable> make_executable(std::shared_ptr<const Shared> shared, const Region& region) {
  Sized sized(region, shared->settings.precision);
  return std::make_unique<MiGraphXExecutable>(std::move(shared), std::move(sized));
}

void try_region(const Shared& shared, const Region& region) { Sized(region, shared.settings.precision).tried(shared.runtime); }

std::unique_ptr<kit::Executable> load_executable(std::shared_ptr<const Shared> shared, const Region& region, const kit::OwnedBytes& bytes) {
  return std::make_unique<MiGraphXExecutable>(std::move(shared), Sized(region, {}), bytes.view);
}

std::string save_executable(const kit::Executable& executable) { return static_cast<const MiGraphXExecutable&>(executable).save(); }

}  // namespace rh::migraphx
