#include "providers/kit/shapes/sized_executable.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "providers/kit/host/profiling.h"
#include "providers/kit/shapes/fixed_symbols.h"
#include "providers/kit/shapes/padding.h"

namespace rh::kit {

namespace {

constexpr int64_t kTrialSize = 16;
constexpr size_t kAtOnce = 4, kMostSeen = 1024;

PlanSizes plan_of(const Region& region) {
  PlanSizes::Dims dims;
  for (ValueId id : region.inputs) dims.push_back(region.graph->value(id).type.tensor().dims);
  return PlanSizes(std::move(dims), fixed_symbols(*region.graph));
}

/// Values beyond the true sizes do not matter, but they are the same in each run.
TensorView padded(const TensorView& input, const Shape& shape, Tensor& room) {
  if (shape == input.shape()) return input;
  room = Tensor(input.dtype(), shape);
  std::memset(room.raw(), 0, room.bytes());
  copy_common(input, room.mutable_view());
  return room.view();
}

std::string text_of(const std::vector<int64_t>& sizes) { return fmt::format("sizes {}", fmt::join(sizes, ",")); }

}  // namespace

RegionSizes::RegionSizes(const Region& region) : plan_(plan_of(region)) {
  for (ValueId id : region.outputs) outputs_.push_back(region.graph->value(id).type.tensor());
}

std::vector<int64_t> RegionSizes::trial() const { return std::vector<int64_t>(open(), kTrialSize); }

PlanSizes::Found RegionSizes::find(std::span<const TensorView> inputs) const {
  PlanSizes::Found found = plan_.find(inputs);
  if (found.plan.is_exact) fail(ErrorCode::invalid_argument, "sizes of inputs contradict the model's");
  return found;
}

Shape RegionSizes::shape(const TensorType& type, const std::vector<int64_t>& of_open) const {
  const auto known = type.has_rank() ? plan_.shape(*type.dims, of_open) : std::nullopt;
  if (!known) fail(ErrorCode::ep_fail, "the sizes {} do not follow from those of the inputs", type.to_string());
  return *known;
}

std::vector<Shape> RegionSizes::inputs(const std::vector<int64_t>& of_open) const {
  std::vector<Shape> shapes;
  for (const auto& dims : plan_.inputs()) shapes.push_back(plan_.shape(dims.value(), of_open).value());
  return shapes;
}

std::vector<Shape> RegionSizes::outputs(const std::vector<int64_t>& of_open) const {
  std::vector<Shape> shapes;
  for (const TensorType& type : outputs_) shapes.push_back(shape(type, of_open));
  return shapes;
}

SizedExecutable::SizedExecutable(Host host, const Region& region, const Settings& settings, std::shared_ptr<KeptPrograms> kept)
    : host_(std::move(host)),
      sizes_(region),
      most_programs_(settings.most_programs),
      compile_event_(settings.compile_event),
      name_(region.graph->value(region.outputs.at(0)).name),
      kept_(std::move(kept)),
      programs_(settings.program_bytes, [this](const PlanClass& plan) { return make(plan); }) {}

void SizedExecutable::run(std::span<const TensorView> inputs, RunOutputs& outputs) const {
  const PlanSizes::Found found = sizes_.find(inputs);
  const std::vector<Shape> shapes = sizes_.outputs(found.sizes);
  if (std::ranges::all_of(shapes, [](const Shape& shape) { return shape.elements() == 0; })) {
    for (size_t i = 0; i < shapes.size(); ++i) outputs.make(i, shapes[i]);
    return;
  }
  const Made program = only_ ? only_ : program_for(found.plan);
  if (!program) return on_the_cpu().run(inputs, outputs);
  const std::vector<Shape> taken = sizes_.inputs(found.plan.sizes);
  std::vector<Tensor> room(inputs.size());
  std::vector<TensorView> given;
  for (size_t i = 0; i < inputs.size(); ++i) given.push_back(padded(inputs[i], taken[i], room[i]));
  program->run(given, [&](size_t i, const TensorView& result) { give(result, outputs.make(i, shapes[i])); });
}

SizedExecutable::Made SizedExecutable::program_for(const PlanClass& plan) const {
  {
    const std::lock_guard lock(mutex_);
    if (refused_.contains(plan)) return nullptr;
    if (!known_.contains(plan) && !may_compile(plan)) return nullptr;
    known_.insert(plan);
  }
  try {
    return std::static_pointer_cast<const SizedProgram>(programs_.get(plan));
  } catch (const Error&) {
    const std::lock_guard lock(mutex_);
    refused_.insert(plan);
    return nullptr;
  }
}

bool SizedExecutable::may_compile(const PlanClass& plan) const {
  if (known_.size() >= most_programs_) return false;
  if (known_.size() < kAtOnce) return true;
  if (seen_.size() >= kMostSeen) seen_.clear();
  return !seen_.insert(plan).second;
}

SizedExecutable::Made SizedExecutable::make(const PlanClass& plan) const {
  using Clock = ProfileEvent::Clock;
  const std::string kept_name = text_of(plan.sizes);
  if (const auto bytes = kept_ ? kept_->find(kept_name) : std::nullopt) {
    try {
      return load(*bytes, plan.sizes);
    } catch (const Error& error) {
      kept_->warn(kept_name, error.message());
    }
  }
  const Clock::time_point begin = Clock::now();
  Made made = compile(plan.sizes);
  if (is_profiled()) record_kernel(compile_event_, name_, begin, Clock::now());
  if (kept_) {
    if (std::string bytes = save(*made); !bytes.empty()) kept_->keep(kept_name, std::move(bytes));
  }
  return made;
}

const HostSession& SizedExecutable::on_the_cpu() const {
  const std::lock_guard lock(mutex_);
  if (!cpu_) cpu_ = std::make_unique<HostSession>(host_, model());
  return *cpu_;
}

void SizedExecutable::give(const TensorView& result, const MutableView& to) const { copy_common(result, to); }

std::string SizedExecutable::save(const SizedProgram&) const { return {}; }

SizedExecutable::Made SizedExecutable::load(const OwnedBytes&, const std::vector<int64_t>&) const {
  fail(ErrorCode::not_implemented, "this provider keeps no programs of open sizes");
}

}  // namespace rh::kit
