// Memory information, allocators and key-value pairs.
#pragma once

#include "base.h"

namespace Ort {

namespace detail {

template <typename T>
class MemoryInfoApi : public Base<T> {
 public:
  using Base<T>::Base;

  std::string GetAllocatorName() const {
    const char* name = nullptr;
    ThrowOnError(GetApi().MemoryInfoGetName(this->p_, &name));
    return name;
  }
  OrtAllocatorType GetAllocatorType() const {
    OrtAllocatorType type;
    ThrowOnError(GetApi().MemoryInfoGetType(this->p_, &type));
    return type;
  }
  int GetDeviceId() const {
    int id = 0;
    ThrowOnError(GetApi().MemoryInfoGetId(this->p_, &id));
    return id;
  }
  OrtMemoryInfoDeviceType GetDeviceType() const {
    OrtMemoryInfoDeviceType type = OrtMemoryInfoDeviceType_CPU;
    GetApi().MemoryInfoGetDeviceType(this->p_, &type);
    return type;
  }
  OrtMemType GetMemoryType() const {
    OrtMemType type;
    ThrowOnError(GetApi().MemoryInfoGetMemType(this->p_, &type));
    return type;
  }
  OrtDeviceMemoryType GetDeviceMemoryType() const { return GetApi().MemoryInfoGetDeviceMemType(this->p_); }
  uint32_t GetVendorId() const { return GetApi().MemoryInfoGetVendorId(this->p_); }

  template <typename U>
  bool operator==(const MemoryInfoApi<U>& other) const {
    int different = 0;
    ThrowOnError(GetApi().CompareMemoryInfo(this->p_, other, &different));
    return different == 0;
  }
};

}  // namespace detail

using ConstMemoryInfo = detail::MemoryInfoApi<detail::Unowned<const OrtMemoryInfo>>;

/// Which memory: a device's name and number, and how it is allocated.
struct MemoryInfo : detail::MemoryInfoApi<OrtMemoryInfo> {
  explicit MemoryInfo(std::nullptr_t) {}
  explicit MemoryInfo(OrtMemoryInfo* handle) : MemoryInfoApi(handle) {}
  MemoryInfo(const char* name, OrtAllocatorType type, int id, OrtMemType mem_type) {
    ThrowOnError(GetApi().CreateMemoryInfo(name, type, id, mem_type, &p_));
  }
  MemoryInfo(const char* name, OrtMemoryInfoDeviceType device_type, uint32_t vendor_id, uint32_t device_id, OrtDeviceMemoryType mem_type,
             size_t alignment, OrtAllocatorType allocator_type) {
    ThrowOnError(GetApi().CreateMemoryInfo_V2(name, device_type, vendor_id, static_cast<int32_t>(device_id), mem_type, alignment,
                                              allocator_type, &p_));
  }
  static MemoryInfo CreateCpu(OrtAllocatorType type, OrtMemType mem_type) {
    OrtMemoryInfo* handle = nullptr;
    ThrowOnError(GetApi().CreateCpuMemoryInfo(type, mem_type, &handle));
    return MemoryInfo(handle);
  }
  ConstMemoryInfo GetConst() const { return ConstMemoryInfo(p_); }
};

namespace detail {

template <typename T>
class KeyValuePairsApi : public Base<T> {
 public:
  using Base<T>::Base;

  const char* GetValue(const char* key) const { return GetApi().GetKeyValue(this->p_, key); }
  std::unordered_map<std::string, std::string> GetKeyValuePairs() const {
    std::vector<const char*> keys, values;
    GetKeyValuePairs(keys, values);
    std::unordered_map<std::string, std::string> out;
    for (size_t i = 0; i < keys.size(); ++i) out.emplace(keys[i], values[i]);
    return out;
  }
  void GetKeyValuePairs(std::vector<const char*>& keys, std::vector<const char*>& values) const {
    const char* const* key = nullptr;
    const char* const* value = nullptr;
    size_t count = 0;
    GetApi().GetKeyValuePairs(this->p_, &key, &value, &count);
    keys.assign(key, key + count);
    values.assign(value, value + count);
  }
};

}  // namespace detail

using ConstKeyValuePairs = detail::KeyValuePairsApi<detail::Unowned<const OrtKeyValuePairs>>;

struct KeyValuePairs : detail::KeyValuePairsApi<OrtKeyValuePairs> {
  KeyValuePairs() { GetApi().CreateKeyValuePairs(&p_); }
  explicit KeyValuePairs(std::nullptr_t) {}
  explicit KeyValuePairs(OrtKeyValuePairs* handle) : KeyValuePairsApi(handle) {}
  explicit KeyValuePairs(const std::unordered_map<std::string, std::string>& pairs) : KeyValuePairs() {
    for (const auto& [key, value] : pairs) Add(key.c_str(), value.c_str());
  }
  void Add(const char* key, const char* value) { GetApi().AddKeyValuePair(p_, key, value); }
  void Remove(const char* key) { GetApi().RemoveKeyValuePair(p_, key); }
  ConstKeyValuePairs GetConst() const { return ConstKeyValuePairs(p_); }
};

/// A block of memory that is freed with its allocator.
class MemoryAllocation {
 public:
  MemoryAllocation(OrtAllocator* allocator, void* memory, size_t size) : allocator_(allocator), memory_(memory), size_(size) {}
  ~MemoryAllocation() {
    if (memory_) allocator_->Free(allocator_, memory_);
  }
  MemoryAllocation(const MemoryAllocation&) = delete;
  MemoryAllocation& operator=(const MemoryAllocation&) = delete;
  MemoryAllocation(MemoryAllocation&& other) noexcept
      : allocator_(other.allocator_), memory_(std::exchange(other.memory_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  MemoryAllocation& operator=(MemoryAllocation&& other) noexcept {
    std::swap(allocator_, other.allocator_);
    std::swap(memory_, other.memory_);
    std::swap(size_, other.size_);
    return *this;
  }

  void* get() { return memory_; }
  size_t size() const { return size_; }

 private:
  OrtAllocator* allocator_;
  void* memory_;
  size_t size_;
};

namespace detail {

template <typename T>
class AllocatorApi : public Base<T> {
 public:
  using Base<T>::Base;

  void* Alloc(size_t size) {
    void* memory = nullptr;
    ThrowOnError(GetApi().AllocatorAlloc(this->p_, size, &memory));
    return memory;
  }
  MemoryAllocation GetAllocation(size_t size) { return MemoryAllocation(this->p_, Alloc(size), size); }
  void Free(void* memory) { ThrowOnError(GetApi().AllocatorFree(this->p_, memory)); }
  ConstMemoryInfo GetInfo() const {
    const OrtMemoryInfo* info = nullptr;
    ThrowOnError(GetApi().AllocatorGetInfo(this->p_, &info));
    return ConstMemoryInfo(info);
  }
  KeyValuePairs GetStats() const {
    OrtKeyValuePairs* stats = nullptr;
    ThrowOnError(GetApi().AllocatorGetStats(this->p_, &stats));
    return KeyValuePairs(stats);
  }
};

}  // namespace detail

using UnownedAllocator = detail::AllocatorApi<detail::Unowned<OrtAllocator>>;

/// Host memory; never released.
struct AllocatorWithDefaultOptions : detail::AllocatorApi<detail::Unowned<OrtAllocator>> {
  AllocatorWithDefaultOptions() { ThrowOnError(GetApi().GetAllocatorWithDefaultOptions(&p_)); }
  explicit AllocatorWithDefaultOptions(std::nullptr_t) {}
};

/// Settings of an arena.
struct ArenaCfg : detail::Base<OrtArenaCfg> {
  explicit ArenaCfg(std::nullptr_t) {}
  ArenaCfg(size_t max_mem, int arena_extend_strategy, int initial_chunk_size_bytes, int max_dead_bytes_per_chunk) {
    ThrowOnError(GetApi().CreateArenaCfg(max_mem, arena_extend_strategy, initial_chunk_size_bytes, max_dead_bytes_per_chunk, &p_));
  }
  explicit ArenaCfg(const std::unordered_map<std::string, size_t>& settings) {
    std::vector<const char*> keys;
    std::vector<size_t> values;
    for (const auto& [key, value] : settings) {
      keys.push_back(key.c_str());
      values.push_back(value);
    }
    ThrowOnError(GetApi().CreateArenaCfgV2(keys.data(), values.data(), keys.size(), &p_));
  }
};

}  // namespace Ort
