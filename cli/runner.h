#pragma once

#include <roundhouse/roundhouse_c_api.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "array_io.h"

namespace rh::cli {

/// A session with its inputs, run as often as wanted. Safe to run from several threads.
class Runner {
 public:
  using NodeVisitor = std::function<void(const RhNodeRun&)>;

  /// `outputs` none: all. Session and inputs must outlive this.
  Runner(Ort::Session& session, const std::vector<NamedValue>& inputs, std::vector<std::string> outputs = {});

  const std::vector<std::string>& outputs() const { return outputs_; }
  /// Values in the order of outputs(). `ms` gets the time of the run alone.
  std::vector<Ort::Value> run(double* ms = nullptr) { return run(static_cast<const OrtRunOptions*>(nullptr), ms); }
  std::vector<Ort::Value> run(const OrtRunOptions* options, double* ms = nullptr);
  /// The same, and `visit` is called after each node. What it throws is thrown once the run is over.
  std::vector<Ort::Value> run_watched(const NodeVisitor& visit, double* ms = nullptr);

 private:
  Ort::Session& session_;
  std::vector<std::string> outputs_;
  std::vector<const char*> input_names_, output_names_;
  std::vector<const OrtValue*> inputs_;
};

/// What RhSessionGetReport says.
nlohmann::json report_of(const Ort::Session& session);

}  // namespace rh::cli
