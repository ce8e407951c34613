#include "session/recordings.h"

#include "partition/copies.h"
#include "settings/keys.h"

namespace rh {

namespace {

constexpr const char* kNumberKey = kKeyOf<&RunSettings::recording>;

bool is_tensor(const Value* value) { return value && value->is_tensor() && value->tensor().defined(); }

}  // namespace

void Recordings::find_recorder(const CompiledModel& compiled) {
  for (const auto& provider : compiled.providers) {
    if (!provider->records_runs()) continue;
    const Plan& plan = *compiled.plan;
    if (!plan.subplans.empty()) {
      fail(ErrorCode::fail, "{} is to record runs, but the model has control flow: switch the recording off", provider->name());
    }
    for (const Step& step : plan.steps) {
      const bool is_cpu = step.provider == compiled.providers.back()->name();
      if (step.provider == provider->name() || (is_cpu && provider->records_beside_cpu())) continue;
      throw Error(ErrorCode::fail,
                  fmt::format("{} is to record runs, but {} runs this node: switch the recording off", provider->name(), step.provider),
                  step.node->where());
    }
    recorder_ = provider;
    return;
  }
}

Status Recordings::check_outputs(std::span<const Value> outputs) const {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (is_tensor(&outputs[i]) && outputs[i].tensor().device() == recorder_->device()) continue;
    return error_status(ErrorCode::invalid_argument,
                        "{} records runs, which write where they wrote before: output {} has no memory on {}; bind it there, or set run "
                        "config entry '{}' to -1",
                        recorder_->name(), i, recorder_->device().to_string(), kNumberKey);
  }
  return {};
}

void Recordings::keep(int number, std::unique_ptr<RunState> state, std::span<const Value> outputs) {
  Recording recording;
  for (const Value* input : state->inputs) {
    recording.inputs.push_back(is_tensor(input) ? Place{input->tensor().raw(), input->tensor().shape()} : Place{});
  }
  for (const Value& output : outputs) recording.outputs.push_back({output.tensor().raw(), output.tensor().shape()});
  recording.state = std::move(state);
  const std::lock_guard lock(mutex_);
  recordings_[number] = std::move(recording);
}

Status Recordings::bring_inputs(Recording& recording) const {
  const Plan& plan = recording.state->frame.plan();
  for (size_t i = 0; i < recording.inputs.size(); ++i) {
    const Value* value = recording.state->inputs[i];
    if (!is_tensor(value)) continue;
    const Tensor& given = value->tensor();
    const Device wanted = plan.device_of(plan.inputs[i]);
    const bool elsewhere = given.device() == wanted && given.raw() != recording.inputs[i].data;
    if (elsewhere || !(given.shape() == recording.inputs[i].shape)) {
      return error_status(ErrorCode::invalid_argument,
                          "input '{}' has another place or shape than in the run that was recorded: give the same memory, or another '{}'",
                          plan.name_of(plan.inputs[i]), kNumberKey);
    }
    if (given.device() == wanted) continue;
    DataTransfer* transfer = find_transfer(plan.providers, given.device(), wanted);
    if (!transfer)
      return error_status(ErrorCode::ep_fail, "no provider copies from {} to {}", given.device().to_string(), wanted.to_string());
    RH_RETURN_IF_ERROR(transfer->copy(given, recording.state->frame.staged_input(i, given.dtype(), given.shape()), nullptr));
  }
  return {};
}

Status Recordings::replay(int number, const CallSignature& signature, std::span<const char* const> input_names,
                          std::span<const Value* const> inputs, std::span<const char* const> output_names, std::span<const Value> outputs) {
  const std::lock_guard lock(mutex_);
  const auto found = recordings_.find(number);
  if (found == recordings_.end()) {
    return error_status(ErrorCode::fail, "{} has a recording {} that is of no run of this session", recorder_->name(), number);
  }
  Recording& recording = found->second;
  RH_RETURN_IF_ERROR(signature.feed(*recording.state, input_names, inputs));
  RH_RETURN_IF_ERROR(signature.ask(*recording.state, output_names, outputs));
  for (size_t i = 0; i < outputs.size(); ++i) {
    const bool same = i < recording.outputs.size() && is_tensor(&outputs[i]) && outputs[i].tensor().raw() == recording.outputs[i].data;
    if (same) continue;
    return error_status(ErrorCode::invalid_argument,
                        "output '{}' has another place than in the run that was recorded: give the same memory, or another '{}'",
                        output_names[i], kNumberKey);
  }
  RH_RETURN_IF_ERROR(bring_inputs(recording));
  return recorder_->replay(number);
}

Status Recordings::forget(int number) {
  if (!recorder_) return {};
  const std::lock_guard lock(mutex_);
  RH_RETURN_IF_ERROR(recorder_->forget_recorded(number));
  recordings_.erase(number);
  return {};
}

}  // namespace rh
