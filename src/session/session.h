#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "graph/type.h"
#include "partition/copies.h"
#include "partition/placement.h"
#include "session/memory_forecast.h"
#include "session/options.h"
#include "tensor/value.h"

namespace rh {

struct Model;

/// An input, output or overridable initializer of a model.
struct ValueInfo {
  std::string name;
  ValueType type;
};

/// What the model file says about itself.
struct ModelMetadata {
  std::string producer_name;
  std::string graph_name;
  std::string domain;
  std::string description;
  std::string graph_description;
  int64_t version = 0;  ///< kNoModelVersion where the file says none
  std::vector<std::pair<std::string, std::string>> custom;
};

/// Counters for tests, `bench` and reports; those of the executor grow as the session runs.
struct SessionStatistics {
  int64_t nodes = 0;              ///< steps of the plan, those of subgraphs included
  int64_t plan_bindings = 0;      ///< times that sizes were computed anew because a symbol left the range bound before
  size_t planned_peak_bytes = 0;  ///< arena of the largest binding of the main graph
  size_t frame_bytes = 0;         ///< memory that idle frames hold: arenas, late-bound blocks, scratch, values that serve again
  int64_t late_allocations = 0;   ///< times that a value found no memory planned or cached for it
  int64_t runs = 0;
  int64_t input_copies = 0;   ///< inputs that the caller gave in another memory than the model takes them
  int64_t output_copies = 0;  ///< results that were made in another memory than the caller wanted them
  int64_t step_copies = 0;    ///< copies that the placement needs (Session::copies) as often as they ran
  int64_t copied_bytes = 0;   ///< of the three
  size_t constant_bytes = 0;  ///< initializers that the plan holds on to
  size_t memory_bytes = 0;    ///< all that counts towards the budget now
  double read_ms = 0, passes_ms = 0, partition_ms = 0, compile_ms = 0;
};

/// A provider that was asked for and that the session goes on without.
struct MissingProvider {
  std::string name, reason;
};

/// A model made ready to run. create() throws Error; run() may be called from any thread, many at a time.
class Session {
 public:
  static std::unique_ptr<Session> create(const std::string& path, const SessionOptions& options = {});
  static std::unique_ptr<Session> create(std::span<const std::byte> bytes, const SessionOptions& options = {});
  /// From a model built in memory, which the session takes over.
  static std::unique_ptr<Session> create(Model model, const SessionOptions& options = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const std::vector<ValueInfo>& inputs() const;
  const std::vector<ValueInfo>& outputs() const;
  const std::vector<ValueInfo>& overridable_initializers() const;
  const ModelMetadata& metadata() const;
  const std::map<std::string, int>& opset_imports() const;  ///< by domain
  const SessionOptions& options() const;

  /// Runs the model. `inputs` go with `input_names`; every input must be there, overridable initializers may be. `outputs` go with
  /// `output_names`: where a tensor is given it is written in place and must have the type and shape of the result, else a new value that
  /// owns its memory is put there. Inputs must stay unchanged until run returns. Errors: invalid_argument for what the caller gave wrongly,
  /// else those of the kernels, naming node, operator and tensors; outputs are then in no particular state.
  Status run(const RunOptions& options, std::span<const char* const> input_names, std::span<const Value* const> inputs,
             std::span<const char* const> output_names, std::span<Value> outputs);

  /// The value where run() takes input `name`: as it is, or, from another memory, a copy made now and counted. Throws Error.
  Value place_input(std::string_view name, const Value& value);

  /// The value on this device: as it is, or a copy made now and counted. Throws Error where no provider of the session copies it there.
  Value move_output(std::string_view name, const Value& value, Device device);

  /// The provider of the session that has this device; null for one of the host, or of nobody.
  std::shared_ptr<Provider> provider_on(Device device) const;
  /// Names of the providers in use, in order of preference.
  const std::vector<std::string>& providers() const;
  /// Those that were asked for and that it goes on without, as "roundhouse.fallback" allows.
  const std::vector<MissingProvider>& missing_providers() const;
  /// One entry for each node of the model as it was read.
  std::vector<NodePlacement> placement() const { return placement_record().nodes(); }
  const PlacementRecord& placement_record() const;
  /// Where inputs are expected (by input of inputs()) and outputs are made: a value elsewhere is copied when the model runs.
  const std::vector<Device>& input_devices() const;
  const std::vector<Device>& output_devices() const;
  /// Where the placement needs a value in another memory than it is made in.
  const std::vector<CopyPlacement>& copies() const;
  /// Of each node whose kernel has several: its name as observers of runs see it, those of subgraphs included.
  std::vector<std::pair<std::string, KernelVariant>> variants() const;
  SessionStatistics statistics() const;
  /// Threads that work on one operator, the caller included.
  int threads() const;
  /// Gives back what no run in flight uses: memory of runs, of threads while no session runs, and what the heap holds on to. Returns how
  /// many bytes of the first two.
  size_t trim();
  /// What a run takes, before it: see forecast_memory. Throws Error{invalid_argument}.
  MemoryForecast forecast(std::span<const InputShape> shapes, std::span<const std::pair<std::string, int64_t>> symbols) const;

  /// Lets the providers that take the model's inputs where they lie, or that make its outputs, wait until all that was submitted to their
  /// devices is done.
  Status synchronize_inputs();
  Status synchronize_outputs();

  /// Gives options that may change while the session lives to its providers; those that know none of them go on as before.
  void set_provider_options(const std::map<std::string, std::string>& options);

  /// Lets go of a run that a provider recorded (run option "gpu_graph_id"), where there is one.
  Status forget_recording(int number);

  /// Path of the trace file, which is closed; empty where profiling is off.
  std::string end_profiling();
  /// Nanoseconds since the epoch of the steady clock at which profiling began; 0 where it is off.
  uint64_t profiling_start_ns() const;

 private:
  struct Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace rh
