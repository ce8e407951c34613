#include "session/run_state.h"

#include <algorithm>

namespace rh {

namespace {

constexpr int kWindow = 64;

}  // namespace

void RunState::make_streams(std::span<const std::shared_ptr<Provider>> providers) {
  if (!streams.empty()) return;
  for (const auto& provider : providers) {
    owned_streams.push_back(provider->make_stream());
    streams.push_back(owned_streams.back().get());
  }
}

std::unique_ptr<RunState> RunStates::take(const Plan& plan, const std::shared_ptr<MemoryAccount>& account) {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto state = std::move(idle_.back());
      idle_.pop_back();
      unused_ = std::min(unused_, idle_.size());
      return state;
    }
  }
  return std::make_unique<RunState>(plan, account);
}

void RunStates::give_back(std::unique_ptr<RunState> state, bool keep) {
  std::fill(state->outputs.begin(), state->outputs.end(), Value());
  state->scalars.clear();
  if (!keep) return;
  std::vector<std::unique_ptr<RunState>> dropped;  // freed after the lock
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(state));
  if (++runs_in_window_ < kWindow) return;
  const auto end = idle_.begin() + static_cast<ptrdiff_t>(std::min(unused_, idle_.size() - 1));
  dropped.assign(std::make_move_iterator(idle_.begin()), std::make_move_iterator(end));
  idle_.erase(idle_.begin(), end);
  unused_ = idle_.size();
  runs_in_window_ = 0;
}

void RunStates::trim() {
  std::vector<std::unique_ptr<RunState>> dropped;
  const std::lock_guard lock(mutex_);
  dropped.swap(idle_);
  unused_ = 0;
}

void RunStates::count(SessionStatistics& statistics) const {
  const std::lock_guard lock(mutex_);
  for (const auto& state : idle_) {
    statistics.frame_bytes += state->frame.bytes();
    statistics.late_allocations += state->frame.allocations();
  }
}

// From the last step back to the first.
void mark_needed_steps(const Plan& plan, RunState& state) {
  std::vector<bool> needed(plan.slots.size(), false);
  for (size_t k = 0; k < plan.outputs.size(); ++k) {
    if (state.given[k] >= 0) needed[static_cast<size_t>(plan.outputs[k])] = true;
  }
  std::vector<bool>& steps = state.steps;
  steps.assign(plan.steps.size(), false);
  size_t subplans_end = plan.subplans.size();
  for (size_t s = plan.steps.size(); s-- > 0;) {
    const Step& step = plan.steps[s];
    for (int32_t o = 0; o < step.output_count; ++o) {
      const int32_t slot = plan.step_outputs[static_cast<size_t>(step.first_output + o)];
      if (slot != kNoSlot && needed[static_cast<size_t>(slot)]) steps[s] = true;
    }
    const auto need = [&](int32_t slot) {
      if (slot != kNoSlot) needed[static_cast<size_t>(slot)] = true;
    };
    if (steps[s]) {
      for (int32_t i = 0; i < step.input_count; ++i) need(plan.step_inputs[static_cast<size_t>(step.first_input + i)]);
      for (size_t k = static_cast<size_t>(step.first_subplan); k < subplans_end; ++k) {
        std::ranges::for_each(plan.subplans[k]->captured, need);
      }
    }
    subplans_end = static_cast<size_t>(step.first_subplan);
  }
}

}  // namespace rh
