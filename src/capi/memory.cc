// Memory information and allocators.
#include <algorithm>
#include "abi/allocator.h"

#include "abi/key_values.h"
#include "abi/options.h"
#include "capi/guard.h"
#include "capi/table.h"

namespace rh::capi {

OrtStatus* ORT_API_CALL CreateMemoryInfo(const char* name, OrtAllocatorType type, int id, OrtMemType mem_type, OrtMemoryInfo** out) {
  return guard([&] {
    checked(out, "out") = nullptr;
    *out = new OrtMemoryInfo(abi::named_memory_info(&checked(name, "name"), type, id, mem_type));
  });
}

OrtStatus* ORT_API_CALL CreateMemoryInfo_V2(const char* name, OrtMemoryInfoDeviceType device_type, uint32_t vendor_id, int32_t device_id,
                                            OrtDeviceMemoryType memory, size_t alignment, OrtAllocatorType type, OrtMemoryInfo** out) {
  return guard([&] {
    const OrtMemType mem_type = memory == OrtDeviceMemoryType_HOST_ACCESSIBLE ? OrtMemTypeCPUOutput : OrtMemTypeDefault;
    checked(out, "out");
    *out = new OrtMemoryInfo{&checked(name, "name"), type, device_id, mem_type, {device_type, memory, vendor_id, device_id, alignment}};
  });
}

OrtStatus* ORT_API_CALL CreateCpuMemoryInfo(OrtAllocatorType type, OrtMemType mem_type, OrtMemoryInfo** out) {
  return guard([&] {
    checked(out, "out");
    *out = new OrtMemoryInfo{"Cpu", type, 0, mem_type, {}};
  });
}

void ORT_API_CALL ReleaseMemoryInfo(OrtMemoryInfo* info) { delete info; }

OrtStatus* ORT_API_CALL CompareMemoryInfo(const OrtMemoryInfo* a, const OrtMemoryInfo* b, int* out) {
  return guard([&] { checked(out, "out") = checked(a, "info1") == checked(b, "info2") ? 0 : -1; });
}

OrtStatus* ORT_API_CALL MemoryInfoGetName(const OrtMemoryInfo* info, const char** out) {
  return guard([&] { checked(out, "out") = checked(info, "ptr").name.c_str(); });
}

OrtStatus* ORT_API_CALL MemoryInfoGetId(const OrtMemoryInfo* info, int* out) {
  return guard([&] { checked(out, "out") = checked(info, "ptr").id; });
}

OrtStatus* ORT_API_CALL MemoryInfoGetMemType(const OrtMemoryInfo* info, OrtMemType* out) {
  return guard([&] { checked(out, "out") = checked(info, "ptr").mem_type; });
}

OrtStatus* ORT_API_CALL MemoryInfoGetType(const OrtMemoryInfo* info, OrtAllocatorType* out) {
  return guard([&] { checked(out, "out") = checked(info, "ptr").allocator_type; });
}

void ORT_API_CALL MemoryInfoGetDeviceType(const OrtMemoryInfo* info, OrtMemoryInfoDeviceType* out) {
  if (info && out) *out = info->device.type;
}

OrtDeviceMemoryType ORT_API_CALL MemoryInfoGetDeviceMemType(const OrtMemoryInfo* info) {
  return info ? info->device.memory : OrtDeviceMemoryType_DEFAULT;
}

uint32_t ORT_API_CALL MemoryInfoGetVendorId(const OrtMemoryInfo* info) { return info ? info->device.vendor_id : 0; }

OrtStatus* ORT_API_CALL AllocatorAlloc(OrtAllocator* allocator, size_t size, void** out) {
  return guard([&] {
    checked(out, "out");
    *out = abi::allocate(checked(allocator, "ort_allocator"), size);
  });
}

OrtStatus* ORT_API_CALL AllocatorFree(OrtAllocator* allocator, void* memory) {
  return guard([&] { checked(allocator, "ort_allocator").Free(allocator, memory); });
}

OrtStatus* ORT_API_CALL AllocatorGetInfo(const OrtAllocator* allocator, const OrtMemoryInfo** out) {
  return guard([&] { checked(out, "out") = checked(allocator, "ort_allocator").Info(allocator); });
}

OrtStatus* ORT_API_CALL AllocatorGetStats(const OrtAllocator* allocator, OrtKeyValuePairs** out) {
  return guard([&]() -> OrtStatus* {
    checked(out, "out") = nullptr;
    const OrtAllocator& source = checked(allocator, "ort_allocator");
    if (source.version >= 23 && source.GetStats) return source.GetStats(allocator, out);
    *out = new OrtKeyValuePairs;
    return nullptr;
  });
}

OrtStatus* ORT_API_CALL GetAllocatorWithDefaultOptions(OrtAllocator** out) {
  return guard([&] { checked(out, "out") = &abi::default_allocator(); });
}

void ORT_API_CALL ReleaseAllocator(OrtAllocator* allocator) { abi::release_allocator(allocator); }

// Settings of arenas

OrtStatus* ORT_API_CALL CreateArenaCfg(size_t max_mem, int extend_strategy, int initial_chunk, int max_dead, OrtArenaCfg** out) {
  return guard([&] {
    checked(out, "out");
    *out = new OrtArenaCfg{{{"max_mem", static_cast<int64_t>(max_mem)},
                            {"arena_extend_strategy", extend_strategy},
                            {"initial_chunk_size_bytes", initial_chunk},
                            {"max_dead_bytes_per_chunk", max_dead}}};
  });
}

OrtStatus* ORT_API_CALL CreateArenaCfgV2(const char* const* keys, const size_t* values, size_t count, OrtArenaCfg** out) {
  return guard([&] {
    static constexpr std::string_view kKnown[] = {"max_mem",
                                                  "arena_extend_strategy",
                                                  "initial_chunk_size_bytes",
                                                  "max_dead_bytes_per_chunk",
                                                  "initial_growth_chunk_size_bytes",
                                                  "max_power_of_two_extend_bytes",
                                                  "use_cuda_mempool",
                                                  "cuda_mempool_release_threshold",
                                                  "cuda_mempool_bytes_to_keep_on_shrink"};
    checked_array(keys, count, "arena_config_keys");
    checked_array(values, count, "arena_config_values");
    OrtArenaCfg settings;
    for (size_t i = 0; i < count; ++i) {
      const std::string_view key = &checked(keys[i], "arena_config_keys[i]");
      if (std::find(std::begin(kKnown), std::end(kKnown), key) == std::end(kKnown)) {
        fail(ErrorCode::invalid_argument, "arena settings: no key is called '{}'", key);
      }
      settings.values[std::string(key)] = static_cast<int64_t>(values[i]);
    }
    checked(out, "out");
    *out = new OrtArenaCfg(std::move(settings));
  });
}

void ORT_API_CALL ReleaseArenaCfg(OrtArenaCfg* settings) { delete settings; }

}  // namespace rh::capi
