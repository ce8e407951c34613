#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "abi/key_values.h"
#include "base/shared_bytes.h"
#include "base/thread_pool.h"
#include "roundhouse/roundhouse_c_api.h"
#include "tensor/value.h"

/// How the threads of a pool are made: the caller's functions, or ours where they are null.
struct OrtThreadFunctions {
  OrtCustomCreateThreadFn create = nullptr;
  OrtCustomJoinThreadFn join = nullptr;
  void* creation_options = nullptr;
};

struct OrtThreadingOptions {
  int intra_op_threads = 0;  ///< 0: as many as there are processors
  int inter_op_threads = 0;
  bool allow_spinning = true;
  bool flush_denormals = false;
  std::string intra_op_affinity;
  OrtThreadFunctions functions;
};

struct OrtArenaCfg {
  std::map<std::string, int64_t> values;  ///< by key: "max_mem", "arena_extend_strategy", ...
};

struct OrtPrepackedWeightsContainer {
  rh::KeptBytes kept;  ///< packed weights of the sessions made with it, and of those to come
};

struct OrtCustomOpDomain {
  std::string name;
  std::vector<const OrtCustomOp*> ops;  ///< owned by the caller
};

struct OrtSessionOptions {
  struct Provider {
    std::string name;  ///< "CPUExecutionProvider"
    std::map<std::string, std::string> options;
    std::vector<const OrtEpDevice*> devices = {};  ///< of a plugin's provider; none: it is found by name
  };
  struct FileInMemory {
    std::basic_string<ORTCHAR_T> name;
    const char* data = nullptr;  ///< the caller's
    size_t bytes = 0;
  };

  ExecutionMode execution_mode = ORT_SEQUENTIAL;
  GraphOptimizationLevel optimization_level = ORT_ENABLE_ALL;
  std::basic_string<ORTCHAR_T> optimized_model_path;
  bool profiling = false;
  std::basic_string<ORTCHAR_T> profile_prefix;
  bool memory_pattern = true;
  bool cpu_arena = true;
  std::string log_id;
  int log_severity = -1;  ///< -1: the environment's
  int log_verbosity = 0;
  OrtLoggingFunction logging_function = nullptr;
  void* logging_parameter = nullptr;
  int intra_op_threads = 0;
  int inter_op_threads = 0;
  bool per_session_threads = true;
  OrtThreadFunctions thread_functions;
  bool deterministic = false;
  OrtKeyValuePairs config;
  std::vector<std::pair<std::string, int64_t>> dims_by_denotation;
  std::vector<std::pair<std::string, int64_t>> dims_by_name;
  std::map<std::string, rh::Value> initializers;           ///< replace the model's; memory of the caller
  std::map<std::string, rh::Value> external_initializers;  ///< for initializers kept outside the model
  std::vector<FileInMemory> external_files;
  std::vector<const OrtCustomOpDomain*> custom_op_domains;           ///< owned by the caller
  std::vector<Provider> providers;                                   ///< in the order of preference, without the last one, CPU
  std::optional<OrtExecutionProviderDevicePolicy> selection_policy;  ///< where no providers are named
  EpSelectionDelegate selection_delegate = nullptr;                  ///< the same
  void* selection_state = nullptr;
  const void* weightless_source = nullptr;  ///< the model that one compiled without weights came from; the caller's
  size_t weightless_source_bytes = 0;
  OrtReadNamedBufferFunc read_ep_context = nullptr;
  void* read_ep_context_state = nullptr;
  OrtWriteNamedBufferFunc write_ep_context = nullptr;  ///< of a compilation
  void* write_ep_context_state = nullptr;
  /// Shared by clones and sessions: set to stop loads under way.
  std::shared_ptr<std::atomic<bool>> cancel_load = std::make_shared<std::atomic<bool>>(false);
};

struct OrtRunOptions {
  std::string tag;
  int log_severity = -1;
  int log_verbosity = 0;
  std::atomic<bool> terminate{false};
  OrtKeyValuePairs config;
  bool profiling = false;
  std::basic_string<ORTCHAR_T> profile_prefix;
  OrtSyncStream* stream = nullptr;
  std::vector<const OrtLoraAdapter*> lora_adapters;  ///< the caller's; they outlive the runs
  RhNodeCallback node_callback = nullptr;
  void* node_callback_state = nullptr;
};

namespace rh::abi {

/// The same for the thread pool.
inline ThreadFunctions thread_functions(const OrtThreadFunctions& given) {
  ThreadFunctions functions;
  if (given.create) {
    functions.create = [create = given.create, options = given.creation_options](void (*work)(void*), void* parameter) -> const void* {
      return create(options, work, parameter);
    };
  }
  if (given.join) {
    functions.join = [join = given.join](const void* handle) { join(static_cast<OrtCustomThreadHandle>(handle)); };
  }
  return functions;
}

}  // namespace rh::abi
