#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "session/frame.h"
#include "session/session.h"

namespace rh {

/// A run in flight: its frame, and lists that go with the plan's inputs and outputs.
struct RunState {
  RunState(const Plan& plan, std::shared_ptr<MemoryAccount> account)
      : frame(plan, std::move(account)), inputs(plan.inputs.size()), outputs(plan.outputs.size()), given(plan.outputs.size()) {}

  /// Streams of the providers that have them, for all runs of this state.
  void make_streams(std::span<const std::shared_ptr<Provider>> providers);

  std::vector<std::unique_ptr<Stream>> owned_streams;  ///< by provider; outlive the frame
  std::vector<Stream*> streams;
  Frame frame;
  std::vector<const Value*> inputs;
  std::vector<Value> scalars;  ///< by input: what was given in dimensions of 1 and is declared a scalar, without them; empty until needed
  std::vector<Value> outputs;
  std::vector<int32_t> given;                       ///< by output: position in what the caller asks for; -1: not asked for
  std::vector<std::pair<size_t, size_t>> repeated;  ///< positions that ask for one output: the first, and one more
  std::vector<bool> stay;                           ///< by output: the result may stay on the device that made it
  std::vector<bool> steps;                          ///< of the main graph: those that the outputs asked for need
};

/// The run states of a session that are not in use, kept for later runs; what 64 runs in a row have no use for is let go. Thread-safe.
class RunStates {
 public:
  std::unique_ptr<RunState> take(const Plan& plan, const std::shared_ptr<MemoryAccount>& account);
  /// Lets go of the caller's values; where not `keep`, of the memory too.
  void give_back(std::unique_ptr<RunState> state, bool keep);
  /// Lets go of all that are here.
  void trim();
  /// Adds what the frames here hold and have allocated.
  void count(SessionStatistics& statistics) const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<RunState>> idle_;  // the one used last at the end
  size_t unused_ = 0;                            // of the first ones: not taken in this window of runs
  int runs_in_window_ = 0;
};

/// Steps on which the outputs asked for depend, to RunState::steps.
void mark_needed_steps(const Plan& plan, RunState& state);

}  // namespace rh
