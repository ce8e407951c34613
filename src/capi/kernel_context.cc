// What kernels of plugins and of custom operators may ask while they run.
#include <algorithm>

#include "abi/allocator.h"
#include "capi/guard.h"
#include "capi/table.h"
#include "providers/plugin/kernel_context.h"

namespace rh::capi {

namespace {

OrtKernelContext& context_of(const OrtKernelContext* context) { return checked(const_cast<OrtKernelContext*>(context), "context"); }

bool is_of_the_device(const OrtKernelContext& context, const OrtMemoryInfo& info) {
  return context.place.memory && context.place.memory->device == info.device;
}

[[noreturn]] void fail_without_memory(const OrtMemoryInfo& info) {
  fail(ErrorCode::invalid_argument, "the kernel's provider has no memory '{}'", info.name);
}

OrtSyncStream* stream_of(const OrtKernelContext& context) { return dynamic_cast<OrtSyncStream*>(context.run.stream()); }

}  // namespace

OrtStatus* ORT_API_CALL KernelContext_GetInputCount(const OrtKernelContext* context, size_t* out) {
  return guard([&] { checked(out, "out") = static_cast<size_t>(context_of(context).run.input_count()); });
}

OrtStatus* ORT_API_CALL KernelContext_GetOutputCount(const OrtKernelContext* context, size_t* out) {
  return guard([&] { checked(out, "out") = static_cast<size_t>(context_of(context).run.output_count()); });
}

OrtStatus* ORT_API_CALL KernelContext_GetInput(const OrtKernelContext* context, size_t index, const OrtValue** out) {
  return guard([&] { checked(out, "out") = context_of(context).input(index); });
}

OrtStatus* ORT_API_CALL KernelContext_GetOutput(OrtKernelContext* context, size_t index, const int64_t* dims, size_t rank, OrtValue** out) {
  return guard([&] { checked(out, "out") = context_of(context).output(index, dims, rank); });
}

OrtStatus* ORT_API_CALL KernelContext_GetPreallocatedOutput(const OrtKernelContext* context, size_t, OrtValue** out) {
  return guard([&] {
    context_of(context);
    checked(out, "output") = nullptr;
  });
}

OrtStatus* ORT_API_CALL KernelContext_GetGPUComputeStream(const OrtKernelContext* context, void** out) {
  return guard([&] {
    const OrtSyncStream* stream = stream_of(context_of(context));
    checked(out, "out") = stream ? stream->handle() : nullptr;
  });
}

OrtStatus* ORT_API_CALL KernelContext_GetSyncStream(const OrtKernelContext* context, OrtSyncStream** out) {
  return guard([&] { checked(out, "out") = stream_of(context_of(context)); });
}

OrtStatus* ORT_API_CALL KernelContext_GetLogger(const OrtKernelContext* context, const OrtLogger** out) {
  return guard([&] { checked(out, "logger") = context_of(context).place.logger; });
}

OrtStatus* ORT_API_CALL KernelContext_GetAllocator(const OrtKernelContext* context, const OrtMemoryInfo* info, OrtAllocator** out) {
  return guard([&] {
    const OrtKernelContext& source = context_of(context);
    checked(out, "out") = nullptr;
    if (is_of_the_device(source, checked(info, "mem_info"))) {
      *out = source.place.allocator;
    } else if (info->device == abi::host_memory_info().device) {
      *out = abi::new_host_allocator(*info);
    } else {
      fail_without_memory(*info);
    }
  });
}

OrtStatus* ORT_API_CALL KernelContext_GetScratchBuffer(const OrtKernelContext* context, const OrtMemoryInfo* info, size_t bytes,
                                                       void** out) {
  return guard([&] {
    OrtKernelContext& source = context_of(context);
    checked(out, "out") = nullptr;
    checked(info, "mem_info");
    if (bytes == 0) return;
    if (is_of_the_device(source, *info)) {
      *out = source.device_scratch(bytes);
    } else if (info->device == abi::host_memory_info().device) {
      *out = source.run.scratch(bytes);
    } else {
      fail_without_memory(*info);
    }
  });
}

OrtStatus* ORT_API_CALL KernelContext_GetResource(const OrtKernelContext* context, int, int id, void** out) {
  return guard([&] {
    checked(out, "resource") = nullptr;
    if (!stream_of(context_of(context))) fail(ErrorCode::invalid_argument, "the kernel runs on no stream that could have resource {}", id);
  });
}

OrtStatus* ORT_API_CALL KernelContext_ParallelFor(const OrtKernelContext* context, void (*function)(void*, size_t), size_t total,
                                                  size_t batches, void* data) {
  return guard([&] {
    const Parallel& parallel = context_of(context).run.parallel();
    checked(function, "fn");
    const size_t pieces = batches == 0 ? total : std::min(batches, total);
    parallel.for_pieces(static_cast<int64_t>(pieces), [&](int64_t piece) {
      const size_t p = static_cast<size_t>(piece), share = total / pieces, more = total % pieces;
      const size_t begin = p * share + std::min(p, more), end = begin + share + (p < more ? 1 : 0);
      for (size_t i = begin; i < end; ++i) function(data, i);
    });
  });
}

}  // namespace rh::capi
