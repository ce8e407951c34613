#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "measure.h"
#include "model_options.h"
#include "system.h"

namespace rh::cli {

/// Another library that speaks the same C ABI, with a session of its own in a child process, so that neither runtime disturbs the other.
class Peer {
 public:
  /// `library` is a path, or "onnxruntime" for that of an installed Python package. Throws std::runtime_error where it cannot be had.
  Peer(const std::string& library, const std::string& model, const SessionSettings& settings, const std::vector<NamedValue>& inputs);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  const std::string& name() const { return name_; }  ///< "onnxruntime 1.31.1"
  double load_ms() const { return load_ms_; }
  Measurement measure(const MeasureOptions& options);
  /// All outputs of one run that are tensors of numbers.
  std::vector<NamedValue> outputs();

 private:
  nlohmann::json ask(const nlohmann::json& request);

  TemporaryFolder folder_;
  pid_t child_ = -1;
  int to_ = -1;
  FILE* from_ = nullptr;
  std::string name_;
  double load_ms_ = 0;
};

/// The child: serves requests from standard input until it ends. Returns the exit code.
int serve_as_peer();
inline constexpr const char* kPeerArgument = "--serve-as-peer";

}  // namespace rh::cli
