#pragma once

#include "module.h"

namespace rh::python {

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
  int execution_order = 0;
  bool use_deterministic_compute = false;
  std::map<std::string, std::string> config;
  std::map<std::string, int64_t> dimensions_by_name, dimensions_by_denotation;
  std::vector<std::pair<std::string, nb::object>> initializers, external_initializers;  ///< OrtValue objects
  std::vector<std::string> custom_op_libraries;
  std::vector<std::pair<std::string, std::map<std::string, std::string>>> providers;

  std::map<std::string, std::vector<const OrtEpDevice*>> devices;  ///< by provider, where they were given
  std::optional<OrtExecutionProviderDevicePolicy> selection_policy;
  nb::object selection_delegate;  ///< not valid where there is none

  Ort::SessionOptions build() const;
};

struct RunSettings {
  Ort::RunOptions options;
  bool only_execute_path_to_fetches = false;
  bool training_mode = true;
  bool terminate = false;
  bool enable_profiling = false;
  std::string profile_file_prefix = "onnxruntime_profile_";

  void set_profiling(bool enable) {
    enable_profiling = enable;
    enable ? options.EnableProfiling(profile_file_prefix.c_str()) : options.DisableProfiling();
  }
  void set_profile_prefix(std::string prefix) {
    profile_file_prefix = std::move(prefix);
    if (enable_profiling) set_profiling(true);
  }
};

}  // namespace rh::python
