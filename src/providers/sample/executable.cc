#include "providers/sample/executable.h"

#include "providers/kit/host/profiling.h"

namespace rh::sample {

void SampleExecutable::run(std::span<const TensorView> inputs, kit::RunOutputs& outputs) const {
  std::vector<VendorTensor> tensors;
  for (const TensorView& input : inputs) tensors.push_back({input.raw(), input.shape().begin(), input.rank()});
  using Clock = kit::ProfileEvent::Clock;
  struct State {
    kit::RunOutputs& outputs;
    const std::vector<std::string>& steps;
    Status status;  // what went wrong in our own function, through which no exception goes
    Clock::time_point begin;
  } state{outputs, program_.steps, {}, Clock::now()};
  const MakeOutput make = [](void* raw, int index, const int64_t* dims, int rank) -> float* {
    auto& state = *static_cast<State*>(raw);
    try {
      return state.outputs.make(static_cast<size_t>(index), Shape(dims, dims + rank)).data<float>();
    } catch (...) {
      state.status = status_of_current_exception();
      return nullptr;
    }
  };
  const StepDone done = [](void* raw, int step) {
    auto& state = *static_cast<State*>(raw);
    const Clock::time_point begin = std::exchange(state.begin, Clock::now());
    const auto index = static_cast<size_t>(step);
    if (index < state.steps.size() && !state.steps[index].empty()) kit::record_kernel("sv_step", state.steps[index], begin, state.begin);
  };
  const char* message = nullptr;
  if (vendor_->run_watched(program_.program.get(), tensors.data(), make, kit::is_profiled() ? done : nullptr, &state, &message) >= 0)
    return;
  if (!state.status.ok()) throw Error(state.status.code(), std::string(state.status.message()));
  fail(ErrorCode::ep_fail, "the sample vendor's sv_run failed: {}", message ? message : "it gives no reason");
}

}  // namespace rh::sample
