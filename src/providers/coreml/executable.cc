#include "providers/coreml/executable.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "onnx/writer.h"
#include "providers/coreml/lowering.h"
#include "providers/kit/host/profiling.h"
#include "providers/kit/regions/host_session.h"
#include "providers/kit/shapes/fixed_symbols.h"
#include "providers/kit/shapes/padding.h"

namespace rh::coreml {

namespace {

using kit::PlanClass, kit::PlanSizes, kit::Region;

constexpr int64_t kTrialSize = 16;  ///< of sizes that a run brings, where a region is tried
constexpr size_t kProgramBytes = size_t{1} << 30;

/// A region in the session's precision, and how its sizes follow from those of its inputs.
struct Sized {
  Sized(const Region& given, const kit::PrecisionSettings& precision)
      : region(kit::in_precision(given, precision)), sizes(sizes_of(region)) {}

  static PlanSizes sizes_of(const Region& region) {
    PlanSizes::Dims dims;
    for (ValueId id : region.inputs) dims.push_back(region.graph->value(id).type.tensor().dims);
    return PlanSizes(std::move(dims), kit::fixed_symbols(*region.graph));
  }

  Shape shape(const TensorType& type, const std::vector<int64_t>& of_symbols) const {
    const auto known = type.has_rank() ? sizes.shape(*type.dims, of_symbols) : std::nullopt;
    if (!known) fail(ErrorCode::ep_fail, "the sizes {} do not follow from those of the inputs", type.to_string());
    return *known;
  }
  std::vector<Shape> outputs(const std::vector<int64_t>& of_symbols) const {
    std::vector<Shape> shapes;
    for (ValueId id : region.outputs) shapes.push_back(shape(region.graph->value(id).type.tensor(), of_symbols));
    return shapes;
  }
  Program program(const std::vector<int64_t>& of_symbols) const {
    return lower(region, [&](const TensorType& type) { return shape(type, of_symbols); });
  }
  Program trial() const { return program(std::vector<int64_t>(sizes.symbols(), kTrialSize)); }

  /// Constants look into the host's memory only while it compiles.
  void own_constants() {
    const std::shared_ptr<Graph> graph = region.graph->clone();
    for (ValueId id = 0; id < graph->value_count(); ++id) {
      if (const Tensor* constant = graph->value(id).constant_tensor()) graph->set_initializer(id, Value(constant->clone()));
    }
    region.graph = graph;
  }
  /// The region as ONNX has it, for the CPU.
  std::string model() const {
    const std::shared_ptr<Graph> graph = region.graph->clone();
    graph->set_outputs(region.outputs);
    graph->set_inputs(region.inputs);
    if (graph->name.empty()) graph->name = "region";
    return onnx::write_model(ModelInfo(), *graph, {.value_info = false});
  }

  Region region;
  PlanSizes sizes;
};

class CoreMlExecutable final : public kit::Executable {
 public:
  CoreMlExecutable(std::shared_ptr<const Shared> shared, const Region& region)
      : shared_(std::move(shared)), sized_(region, shared_->settings.precision) {
    const Program program = sized_.trial();
    if (sized_.sizes.symbols() == 0) {
      only_ = std::make_shared<const LoadedProgram>(shared_, program);
    } else {
      sized_.own_constants();
    }
  }

  void run(std::span<const TensorView> inputs, kit::RunOutputs& outputs) const override {
    const PlanSizes::Found found = sized_.sizes.find(inputs);
    if (found.plan.is_exact) fail(ErrorCode::invalid_argument, "sizes of inputs contradict the model's");
    const std::vector<Shape> shapes = sized_.outputs(found.sizes);
    if (std::ranges::all_of(shapes, [](const Shape& shape) { return shape.elements() == 0; })) {
      for (size_t i = 0; i < shapes.size(); ++i) outputs.make(i, shapes[i]);
      return;
    }
    const auto program = only_ ? only_ : program_for(found.plan);
    if (!program) return on_the_cpu().run(inputs, outputs);
    std::vector<Tensor> room(inputs.size());
    std::vector<TensorView> padded;
    for (size_t i = 0; i < inputs.size(); ++i) padded.push_back(pad(inputs[i], i, found.plan.sizes, room[i]));
    program->run(padded, [&](size_t i, const TensorView& result) { give(result, outputs.make(i, shapes[i])); });
  }

 private:
  using Loaded = std::shared_ptr<const LoadedProgram>;

  /// Null where there are programs enough, or Core ML takes none of these sizes: then the run is the CPU's.
  Loaded program_for(const PlanClass& plan) const {
    {
      const std::lock_guard lock(mutex_);
      if (refused_.contains(plan)) return nullptr;
      if (!known_.contains(plan) && known_.size() >= shared_->settings.most_programs) return nullptr;
      known_.insert(plan);
    }
    try {
      return std::static_pointer_cast<const LoadedProgram>(programs_.get(plan));
    } catch (const Error&) {
      const std::lock_guard lock(mutex_);
      refused_.insert(plan);
      return nullptr;
    }
  }
  const kit::HostSession& on_the_cpu() const {
    const std::lock_guard lock(mutex_);
    if (!cpu_) cpu_ = std::make_unique<kit::HostSession>(shared_->host, sized_.model());
    return *cpu_;
  }

  Loaded load(const std::vector<int64_t>& sizes) const {
    using Clock = kit::ProfileEvent::Clock;
    const Clock::time_point begin = Clock::now();
    auto made = std::make_shared<const LoadedProgram>(shared_, sized_.program(sizes));
    if (kit::is_profiled())
      kit::record_kernel("coreml_load", sized_.region.graph->value(sized_.region.outputs[0]).name, begin, Clock::now());
    return made;
  }

  // Values beyond the true sizes do not matter, but they are the same in each run.
  TensorView pad(const TensorView& input, size_t i, const std::vector<int64_t>& sizes, Tensor& room) const {
    const Shape shape = sized_.shape(sized_.region.graph->value(sized_.region.inputs[i]).type.tensor(), sizes);
    if (shape == input.shape()) return input;
    room = Tensor(input.dtype(), shape);
    std::memset(room.raw(), 0, room.bytes());
    kit::copy_common(input, room.mutable_view());
    return room.view();
  }

  /// A feature's elements as those of the region's output, without what a larger program gives beyond.
  static void give(const TensorView& result, const MutableView& to) {
    Tensor same(to.dtype(), result.shape());
    const auto count = static_cast<size_t>(result.elements());
    switch (to.dtype()) {
      case DType::float32:
      case DType::int32: return kit::copy_common(result, to);
      case DType::float16:
        for (size_t i = 0; i < count; ++i) same.data<Float16>()[i] = Float16(result.data<float>()[i]);
        break;
      case DType::boolean:
        for (size_t i = 0; i < count; ++i) same.data<bool>()[i] = result.data<int32_t>()[i] != 0;
        break;
      default:
        for (size_t i = 0; i < count; ++i) same.data<int64_t>()[i] = result.data<int32_t>()[i];
    }
    kit::copy_common(same.view(), to);
  }

  std::shared_ptr<const Shared> shared_;
  Sized sized_;
  mutable kit::PlanCache programs_{kProgramBytes, [this](const PlanClass& plan) { return load(plan.sizes); }};
  mutable std::mutex mutex_;
  mutable std::set<PlanClass> known_, refused_;  ///< sizes that have, or had, a program; those of which Core ML takes none
  mutable std::unique_ptr<kit::HostSession> cpu_;
  Loaded only_;  ///< where all sizes are known
};

}  // namespace

std::unique_ptr<kit::Executable> make_executable(std::shared_ptr<const Shared> shared, const Region& region) {
  return std::make_unique<CoreMlExecutable>(std::move(shared), region);
}

void try_region(const Shared& shared, const Region& region) { Sized(region, shared.settings.precision).trial(); }

}  // namespace rh::coreml
