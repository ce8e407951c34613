#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "session/compile/compile.h"
#include "session/feeds.h"
#include "session/options.h"
#include "session/run_state.h"

namespace rh {

/// Runs of whole graphs that a provider records and replays: a recording is made by the first runs with its number (run option
/// "gpu_graph_id", 0 without one), and from then on the provider runs it alone, where inputs and outputs were. Thread-safe.
class Recordings {
 public:
  /// Looks for a provider that records. Throws Error{fail} where it does, but others run nodes of the graph too.
  void find_recorder(const CompiledModel& compiled);
  bool active() const { return recorder_ != nullptr; }

  bool has(int number) const { return recorder_->has_recorded(number); }
  /// A run is recorded where all that is asked for has memory that stays: Error{invalid_argument} otherwise.
  Status check_outputs(std::span<const Value> outputs) const;
  /// Keeps the memory of the run that was recorded, and where its inputs and outputs are.
  void keep(int number, std::unique_ptr<RunState> state, std::span<const Value> outputs);
  /// Error{invalid_argument} where inputs or outputs are elsewhere than they were; inputs that are copied to the device are copied anew.
  Status replay(int number, const CallSignature& signature, std::span<const char* const> input_names, std::span<const Value* const> inputs,
                std::span<const char* const> output_names, std::span<const Value> outputs);
  /// One that is not there is no error.
  Status forget(int number);

 private:
  struct Place {
    const void* data = nullptr;
    Shape shape;
  };
  struct Recording {
    std::unique_ptr<RunState> state;
    std::vector<Place> inputs, outputs;
  };
  Status bring_inputs(Recording& recording) const;

  std::shared_ptr<Provider> recorder_;
  std::mutex mutex_;
  std::map<int, Recording> recordings_;
};

}  // namespace rh
