#include "runner.h"

#include <chrono>
#include <exception>

namespace rh::cli {

namespace {

/// A visitor behind a function that C calls, which no exception may leave.
struct Watch {
  const Runner::NodeVisitor& visit;
  std::exception_ptr error;

  static void ORT_API_CALL call(void* state, const RhNodeRun* node) {
    auto& watch = *static_cast<Watch*>(state);
    if (watch.error) return;
    try {
      watch.visit(*node);
    } catch (...) {
      watch.error = std::current_exception();
    }
  }
};

}  // namespace

Runner::Runner(Ort::Session& session, const std::vector<NamedValue>& inputs, std::vector<std::string> outputs)
    : session_(session), outputs_(outputs.empty() ? session.GetOutputNames() : std::move(outputs)) {
  for (const NamedValue& input : inputs) {
    input_names_.push_back(input.first.c_str());
    inputs_.push_back(input.second);
  }
  for (const std::string& name : outputs_) output_names_.push_back(name.c_str());
}

std::vector<Ort::Value> Runner::run(const OrtRunOptions* options, double* ms) {
  std::vector<OrtValue*> raw(outputs_.size(), nullptr);
  const auto begin = std::chrono::steady_clock::now();
  Ort::ThrowOnError(Ort::GetApi().Run(session_, options, input_names_.data(), inputs_.data(), inputs_.size(), output_names_.data(),
                                      output_names_.size(), raw.data()));
  if (ms) *ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  std::vector<Ort::Value> values;
  for (OrtValue* value : raw) values.emplace_back(value);
  return values;
}

std::vector<Ort::Value> Runner::run_watched(const NodeVisitor& visit, double* ms) {
  Watch watch{visit, nullptr};
  Ort::RunOptions options;
  Ort::ThrowOnError(RhRunOptionsSetNodeCallback(options, Watch::call, &watch));
  std::vector<Ort::Value> values = run(options, ms);
  if (watch.error) std::rethrow_exception(watch.error);
  return values;
}

nlohmann::json report_of(const Ort::Session& session) {
  Ort::AllocatorWithDefaultOptions allocator;
  char* text = nullptr;
  Ort::ThrowOnError(RhSessionGetReport(session, allocator, &text));
  return nlohmann::json::parse(Ort::AllocatedStringPtr(text, Ort::detail::AllocatedFree(allocator)).get());
}

}  // namespace rh::cli
