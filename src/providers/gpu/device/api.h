#pragma once

#include <cstddef>
#include <cstdint>

#include "providers/kit/vendor_library.h"

namespace rh::gpu {

using Result = int;  ///< 0: all is well
using Handle = void*;

/// Functions of a driver that every provider of a GPU needs. X(member, arguments). CUDA's and HIP's take the same, but for the types of
/// pointers. What memory of the device is called by is an address.
#define RH_GPU_DRIVER_FUNCTIONS(X)                        \
  X(init, (unsigned))                                     \
  X(version, (int*))                                      \
  X(device_count, (int*))                                 \
  X(device, (int*, int))                                  \
  X(device_name, (char*, int, int))                       \
  X(device_attribute, (int*, int, int))                   \
  X(device_memory, (size_t*, int))                        \
  X(retain_context, (Handle*, int))                       \
  X(release_context, (int))                               \
  X(set_context, (Handle))                                \
  X(wait_for_all, ())                                     \
  X(allocate, (void**, size_t))                           \
  X(free, (void*))                                        \
  X(allocate_pinned, (void**, size_t, unsigned))          \
  X(free_pinned, (void*))                                 \
  X(copy_in, (void*, const void*, size_t))                \
  X(copy_out, (void*, const void*, size_t))               \
  X(copy_in_on, (void*, const void*, size_t, Handle))     \
  X(copy_out_on, (void*, const void*, size_t, Handle))    \
  X(copy_within_on, (void*, const void*, size_t, Handle)) \
  X(make_stream, (Handle*, unsigned))                     \
  X(destroy_stream, (Handle))                             \
  X(wait_stream, (Handle))                                \
  X(stream_wait, (Handle, Handle, unsigned))              \
  X(make_event, (Handle*, unsigned))                      \
  X(destroy_event, (Handle))                              \
  X(record, (Handle, Handle))                             \
  X(wait_event, (Handle))                                 \
  X(error_text, (Result, const char**))                   \
  X(load_module, (Handle*, const void*))                  \
  X(unload_module, (Handle))                              \
  X(function, (Handle*, Handle, const char*))             \
  X(launch, (Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void**, void**))

/// Those that an older driver may lack: null then.
#define RH_GPU_NEWER_DRIVER_FUNCTIONS(X)      \
  X(device_uuid, (char*, int))                \
  X(properties, (void*, int))                 \
  X(memory_state, (size_t*, size_t*))         \
  X(begin_capture, (Handle, int))             \
  X(end_capture, (Handle, Handle*))           \
  X(is_capturing, (Handle, int*))             \
  X(instantiate, (Handle*, Handle, uint64_t)) \
  X(launch_graph, (Handle, Handle))           \
  X(destroy_graph, (Handle))                  \
  X(destroy_instance, (Handle))               \
  X(elapsed, (float*, Handle, Handle))

/// Functions of a compiler of kernels at run time.
#define RH_GPU_COMPILER_FUNCTIONS(X)                                                          \
  X(version, (int*, int*))                                                                    \
  X(create, (Handle*, const char*, const char*, int, const char* const*, const char* const*)) \
  X(compile, (Handle, int, const char* const*))                                               \
  X(log_size, (Handle, size_t*))                                                              \
  X(log, (Handle, char*))                                                                     \
  X(image_size, (Handle, size_t*))                                                            \
  X(image, (Handle, char*))                                                                   \
  X(destroy, (Handle*))

#define RH_GPU_DECLARE(member, arguments) Result(*member) arguments = nullptr;
struct DriverApi {
  RH_GPU_DRIVER_FUNCTIONS(RH_GPU_DECLARE)
  RH_GPU_NEWER_DRIVER_FUNCTIONS(RH_GPU_DECLARE)
};
struct CompilerApi {
  RH_GPU_COMPILER_FUNCTIONS(RH_GPU_DECLARE)
};
#undef RH_GPU_DECLARE

/// What a vendor calls these functions.
#define RH_GPU_NAME(member, arguments) const char* member = nullptr;
struct DriverNames {
  RH_GPU_DRIVER_FUNCTIONS(RH_GPU_NAME)
  RH_GPU_NEWER_DRIVER_FUNCTIONS(RH_GPU_NAME)
};
struct CompilerNames {
  RH_GPU_COMPILER_FUNCTIONS(RH_GPU_NAME)
};
#undef RH_GPU_NAME

/// Numbers of a vendor: what it calls errors, attributes of a device, and flags.
struct DriverNumbers {
  Result out_of_memory;
  int multiprocessors, major, minor, pci_bus, pci_device, pci_domain, warp_size;
  unsigned no_timing_event, non_blocking_stream;
  int relaxed_capture;
};

}  // namespace rh::gpu
