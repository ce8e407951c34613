#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "providers/gpu/device/driver.h"
#include "providers/kit/cache/artifact_cache.h"

namespace rh::gpu {

/// A kernel: a function of the sources in gpu/kernels, with its types, and text of its own where it is generated.
struct Kernel {
  std::string_view file;        ///< "softmax"
  std::string call;             ///< "softmax<float>": a device function of namespace rh that takes a struct of arguments
  std::string definition = {};  ///< of the function, or of a type that it takes, where it is generated; empty: the file has it
  std::string_view also = {};   ///< another file that the definition needs

  /// What it is called in a program.
  std::string symbol() const;
  friend bool operator==(const Kernel&, const Kernel&) = default;
};

/// Compiles kernels for one device and keeps them: in the process, and on disk. Thread-safe.
class Programs {
 public:
  /// `compiler`: a file or a folder by option; empty: it is looked for when it is first needed.
  Programs(std::shared_ptr<Driver> driver, std::string compiler, kit::CacheSettings cache);
  ~Programs();
  Programs(const Programs&) = delete;
  Programs& operator=(const Programs&) = delete;

  /// The functions of these kernels, in their order. Those that are not known yet are compiled, as one program. Throws Error.
  std::vector<Handle> functions(std::span<const Kernel> kernels);
  size_t compiled() const { return compiled_; }  ///< programs, by the compiler

 private:
  std::string compile(const std::string& source);
  std::string find_or_compile(const std::string& source);

  std::shared_ptr<Driver> driver_;
  std::string compiler_path_;
  kit::ArtifactCache cache_;
  std::mutex mutex_;
  std::shared_ptr<kit::VendorLibrary> compiler_;
  CompilerApi api_;
  std::map<std::string, Handle, std::less<>> functions_;
  std::vector<Handle> modules_;
  size_t compiled_ = 0;
};

/// The text of a program with these kernels.
std::string source_of(std::span<const Kernel> kernels);

}  // namespace rh::gpu
