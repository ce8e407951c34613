#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "providers/gpu/device/api.h"

namespace rh::gpu {

/// A device as the driver tells it.
struct DeviceFacts {
  int number = 0;
  std::string name, uuid, pci;  ///< pci: "0000:01:00.0"; uuid: empty where the driver does not tell it
  size_t bytes = 0;
  int major = 0, minor = 0, multiprocessors = 1;
  std::string architecture;       ///< what kernels are compiled for: "sm_80", "gfx90a:sramecc+:xnack-"
  int warp_size = 32;             ///< lanes that run as one
  bool has_matrix_cores = false;  ///< those for which kernels/mma.cuh has a form
};

/// A vendor's driver and compiler. All that differs between vendors is in it.
struct Vendor {
  std::string_view provider;  ///< "CUDAExecutionProvider"
  std::string_view memory;    ///< what memory of a device is called: "Cuda"
  uint32_t vendor_id;

  std::string_view driver, compiler;  ///< keys of their files (base/vendor_files.inc)
  std::string_view compiler_option;   ///< of the provider, that names the compiler's file or folder
  DriverNames driver_names;
  CompilerNames compiler_names;
  DriverNumbers numbers;
  bool uuid_is_text;  ///< whether the 16 bytes of a device's UUID are characters

  /// What an error of the driver means beside its own text, and what to do.
  struct Hint {
    Result result;
    std::string_view says;
  };
  std::span<const Hint> hints;

  /// Says what kernels are compiled for on a device, and what it has. `properties`: the driver's, where it has such a function. Throws
  /// Error where the driver does not tell enough.
  void (*describe)(DeviceFacts& facts, std::span<const char> properties);
  std::string_view architecture_flag;  ///< of the compiler: "--gpu-architecture="
  std::span<const std::string_view> flags;

  std::string_view hint(Result result) const;
  std::vector<std::string> compiler_options(const DeviceFacts& facts) const;
  /// Look the functions up. Throw Error{not_found} with one sentence.
  std::shared_ptr<kit::VendorLibrary> open_driver(DriverApi& api) const;
  std::shared_ptr<kit::VendorLibrary> open_compiler(CompilerApi& api, std::string_view given) const;
};

}  // namespace rh::gpu
