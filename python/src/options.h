#pragma once

#include <memory>

#include "context_data.h"
#include "module.h"
#include "paths.h"

namespace rh::python {

/// Whether loads with these options are to stop; shared by copies of the options, and used under the interpreter's lock.
class LoadCancellation {
 public:
  /// From now on, and for the loads under way.
  void set(bool cancel);
  /// Options of a load under way, for as long as this lives.
  class Load {
   public:
    Load(LoadCancellation& cancellation, Ort::SessionOptions& options);
    ~Load() { std::erase(cancellation_.loading_, options_); }
    Load(const Load&) = delete;
    Load& operator=(const Load&) = delete;

   private:
    LoadCancellation& cancellation_;
    Ort::SessionOptions* options_;
  };

 private:
  bool cancel_ = false;
  std::vector<Ort::SessionOptions*> loading_;
};

/// The content of a file of external data, in memory of a Python object.
struct FileInMemory {
  std::string name;
  std::shared_ptr<Py_buffer> buffer;
  size_t bytes = 0;
};

/// In which order nodes that could run next do.
enum class ExecutionOrder { default_order, priority_based, memory_efficient };

/// What Python's SessionOptions holds until a session is made from it; defaults are those of the documented API.
struct SessionSettings {
  bool enable_cpu_mem_arena = true;
  bool enable_mem_pattern = true;
  bool enable_mem_reuse = true;
  bool enable_profiling = false;
  std::string profile_file_prefix = "onnxruntime_profile_";
  std::string optimized_model_filepath;
  std::string logid;
  int log_severity_level = -1;
  int log_verbosity_level = 0;
  bool use_per_session_threads = true;
  int intra_op_num_threads = 0;
  int inter_op_num_threads = 0;
  ExecutionMode execution_mode = ORT_SEQUENTIAL;
  GraphOptimizationLevel graph_optimization_level = ORT_ENABLE_ALL;
  ExecutionOrder execution_order = ExecutionOrder::default_order;
  bool use_deterministic_compute = false;
  std::map<std::string, std::string> config;
  std::map<std::string, int64_t> dimensions_by_name, dimensions_by_denotation;
  std::vector<std::pair<std::string, nb::object>> initializers, external_initializers;  ///< OrtValue objects
  std::vector<FileInMemory> external_files;
  std::shared_ptr<LoadCancellation> cancellation = std::make_shared<LoadCancellation>();
  std::vector<std::string> custom_op_libraries;
  std::vector<std::pair<std::string, std::map<std::string, std::string>>> providers;

  std::map<std::string, std::vector<const OrtEpDevice*>> devices;  ///< by provider, where they were given
  std::optional<OrtExecutionProviderDevicePolicy> selection_policy;
  nb::object selection_delegate;                  ///< not valid where there is none
  std::shared_ptr<ContextReader> context_reader;  ///< null: contexts are read from files

  Ort::SessionOptions build() const;
};

struct RunSettings {
  std::vector<nb::object> adapters;  ///< LoraAdapter objects that are active in `options`, kept alive
  Ort::RunOptions options;
  bool only_execute_path_to_fetches = false;
  bool terminate = false;
  bool enable_profiling = false;
  std::string profile_file_prefix = "onnxruntime_profile_";

  void set_profiling(bool enable) {
    enable_profiling = enable;
    enable ? options.EnableProfiling(as_path(profile_file_prefix).c_str()) : options.DisableProfiling();
  }
  void set_profile_prefix(std::string prefix) {
    profile_file_prefix = std::move(prefix);
    if (enable_profiling) set_profiling(true);
  }
};

}  // namespace rh::python
