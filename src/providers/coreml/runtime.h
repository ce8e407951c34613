#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "providers/coreml/bridge.h"
#include "providers/coreml/package.h"
#include "providers/coreml/settings.h"
#include "providers/kit/shapes/sized_executable.h"
#include "providers/kit/vendor_library.h"

namespace rh::coreml {

/// Core ML as one session has it: the system's, or a library that stands in for it in tests.
class Runtime {
 public:
  /// `library`: that of option "library_path"; empty: the environment's ROUNDHOUSE_COREML_LIBRARY, else the system's. Throws
  /// Error{not_found} with one sentence where there is none.
  explicit Runtime(std::string_view library);

  const Bridge& bridge() const { return *bridge_; }

 private:
  std::optional<kit::VendorLibrary> library_;
  const Bridge* bridge_ = nullptr;
};

/// What the executables of a session share.
struct Shared {
  Shared(const kit::Host& the_host, std::string_view library, Settings given)
      : host(the_host), runtime(library), settings(std::move(given)) {}
  kit::Host host;
  Runtime runtime;
  Settings settings;
};

/// A program that Core ML has loaded, of which one run goes at a time.
class LoadedProgram final : public kit::SizedProgram {
 public:
  /// Throws Error with Core ML's message. What the program's constants look into may go afterwards.
  LoadedProgram(std::shared_ptr<const Shared> shared, const Program& program);
  ~LoadedProgram() override;
  LoadedProgram(const LoadedProgram&) = delete;
  LoadedProgram& operator=(const LoadedProgram&) = delete;

  size_t bytes() const override { return bytes_; }
  /// `inputs` have the program's shapes; their elements become those of its features. Calls take(index, result) for each output, of the
  /// feature's type. Throws Error.
  void run(std::span<const TensorView> inputs, Take take) const override;

 private:
  std::shared_ptr<const Shared> shared_;
  Package package_;
  std::vector<Feature> inputs_, outputs_;
  size_t bytes_;
  void* model_ = nullptr;
  mutable std::mutex running_;
};

}  // namespace rh::coreml
