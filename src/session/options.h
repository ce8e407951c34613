#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/thread_pool.h"
#include "settings/settings.h"
#include "tensor/value.h"

namespace rh {

class CustomOperators;
class RunObserver;
class Provider;
struct ModelInfo;

/// The numbers are those of OrtLoggingLevel.
enum class LogSeverity : int { verbose = 0, info = 1, warning = 2, error = 3, fatal = 4 };

/// Takes log messages. Thread-safe.
class LogSink {
 public:
  virtual ~LogSink() = default;
  /// Whether the level set for it lets messages of this severity through.
  virtual bool enabled(LogSeverity severity) const = 0;
  /// Writes the message, whatever the level.
  virtual void log(LogSeverity severity, std::string_view category, std::string_view message) = 0;
};

/// A provider that the user asked for, with options for it.
struct ProviderChoice {
  std::string name;  ///< "CPUExecutionProvider"
  std::map<std::string, std::string> options;
  /// Makes it, where it is none of the registry's; the model lives as long as the provider. Empty: the registry makes it by name.
  std::function<std::shared_ptr<Provider>(std::shared_ptr<const ModelInfo> model)> make = {};
};

/// How a session loads, places and runs its model. Entries of `config` that repeat a field ("session.intra_op_num_threads") win over it.
struct SessionOptions {
  // --- threads
  int intra_op_threads = 0;  ///< 0: all that the pool has; 1: the calling thread alone
  int inter_op_threads = 0;  ///< in parallel mode: a node has as many threads as the larger of both numbers
  ExecutionMode execution_mode = ExecutionMode::sequential;
  /// The environment's pool, used in place of the process-wide one; null where the session is to have its own threads.
  std::shared_ptr<ThreadPool> shared_pool;
  ThreadFunctions thread_functions;  ///< make the session's own threads; empty: ours do
  bool deterministic = false;

  // --- graph
  OptimizationLevel optimization_level = OptimizationLevel::all;
  std::vector<std::string> disabled_passes;
  std::vector<std::pair<std::string, int64_t>> dims_by_name;        ///< free dimension (symbol) → value
  std::vector<std::pair<std::string, int64_t>> dims_by_denotation;  ///< "DATA_BATCH" → value
  std::map<std::string, Value> initializers;                        ///< replace those of the model; shared, not copied
  std::string optimized_model_path;                                 ///< where to write the graph after the passes; empty: nowhere
  std::string external_data_folder;                                 ///< of a model given as bytes; empty: none
  /// External data files in memory, by the name that the model gives them; read while the session is made.
  std::map<std::string, std::span<const std::byte>, std::less<>> external_files;

  // --- providers
  std::vector<ProviderChoice> providers;  ///< in order of preference; the CPU always comes last, named or not
  /// Chooses them by the model, where `providers` has none; empty: nobody does.
  std::function<std::vector<ProviderChoice>(const ModelInfo& model)> choose_providers;

  std::shared_ptr<const CustomOperators> custom_operators;  ///< null: none
  bool record_placement = true;                             ///< of each node of the model; off to measure what that costs

  // --- memory
  bool memory_pattern = true;              ///< plan intermediate tensors ahead; otherwise each is allocated as it comes
  bool cpu_arena = true;                   ///< keep the memory of runs for later runs
  std::shared_ptr<Allocator> host_memory;  ///< gives the host memory of runs and of their results; null: the process does
  size_t memory_budget = 0;                ///< bytes that weights, intermediate tensors and outputs may take together; 0: any
  bool borrow_bytes = false;               ///< a model given as bytes is not copied; the caller keeps it as long as the session lives

  // --- logging and profiling
  std::shared_ptr<LogSink> log;  ///< null: no messages
  std::string log_id;
  int log_severity = -1;  ///< -1: the environment's
  int log_verbosity = 0;
  bool profiling = false;
  std::string profile_prefix;  ///< of the trace file: "<prefix>_<date>_<time>.json"

  /// Entries by key as the caller gave them, for apply_config(). Providers read them as they are; all else reads `settings`.
  ConfigEntries config;
  Settings settings;  ///< what the entries say
  /// Set from any thread to stop a load under way, which then throws Error{load_canceled}; null: never.
  std::shared_ptr<std::atomic<bool>> cancel_load;
};

struct RunOptions {
  std::string tag;
  int log_severity = -1;
  int log_verbosity = 0;
  ConfigEntries config;  ///< as the caller gave them, for apply_config()
  RunSettings settings;  ///< what they say
  /// Set from any thread to stop the run at the next step or piece of a kernel's loop; it then returns a failed Status. Null: never. Not
  /// owned.
  const std::atomic<bool>* terminate = nullptr;
  /// The run stops in the same way once it has taken so long.
  std::optional<std::chrono::milliseconds> time_limit;
  bool profiling = false;      ///< write a trace of this run alone; where the session writes one, the run stands in both
  std::string profile_prefix;  ///< of the trace file, as in SessionOptions
  /// Leave out the nodes on which none of the outputs asked for depends.
  bool only_execute_path_to_fetches = false;
  std::shared_ptr<RunObserver> observer;  ///< is told of each step; null: nobody
  /// By output asked for: the result stays on the device that made it. Empty: all come to the host.
  std::vector<bool> stay_on_device;
  const void* handle = nullptr;  ///< the caller's own form of these options (OrtRunOptions), for providers
  bool synchronize = true;       ///< providers are to have done all work when the run ends
};

/// Reads the entries (settings/settings.h), and folds those that repeat fields into them. Throws Error where an entry is wrong.
void apply_config(SessionOptions& options);
void apply_config(RunOptions& options);

/// Bytes that a tensor of a run may take, for what a model computes must not ask for more memory than there is.
size_t max_tensor_bytes(const SessionOptions& options);
/// The precision in force. Of options that apply_config() has seen, as the next one.
Precision precision_of(const SessionOptions& options);
/// Its name, as entries have it.
std::string_view precision_name(Precision precision);

}  // namespace rh
