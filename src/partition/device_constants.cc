#include "partition/device_constants.h"

#include <cstring>
#include <map>
#include <mutex>
#include <tuple>

#include "tensor/arena.h"

namespace rh {

namespace {

/// What equal constants agree in: the memory that is shared, bytes, and a sum of them.
using Key = std::tuple<const void*, DType, size_t, size_t>;

struct Placed {
  std::weak_ptr<const void> owner;
  void* data;
};

std::mutex g_mutex;
std::multimap<Key, Placed> g_placed;

const void* pool_of(const Provider& provider) {
  const auto* shared = dynamic_cast<const ShrinkableAllocator*>(&provider.allocator());
  return shared ? shared->pool() : nullptr;
}

bool holds(const Tensor& there, const Tensor& host, DataTransfer& transfer) {
  Tensor back(host.dtype(), host.shape());
  return transfer.copy(there, back, nullptr).ok() && std::memcmp(back.raw(), host.raw(), host.bytes()) == 0;
}

Tensor find_placed(const Key& key, const Tensor& host, Device device, DataTransfer& transfer) {
  const std::lock_guard lock(g_mutex);
  const auto [begin, end] = g_placed.equal_range(key);
  for (auto at = begin; at != end;) {
    const std::shared_ptr<const void> owner = at->second.owner.lock();
    if (!owner) {
      at = g_placed.erase(at);
      continue;
    }
    Tensor there(host.dtype(), host.shape(), at->second.data, owner, device);
    if (holds(there, host, transfer)) return there;
    ++at;
  }
  return {};
}

}  // namespace

Tensor place_constant(const Tensor& host, std::string_view name, const std::shared_ptr<Provider>& owner, DataTransfer& transfer) {
  const void* pool = host.bytes() == 0 || host.dtype() == DType::string ? nullptr : pool_of(*owner);
  Key key;
  if (pool) {
    const size_t sum = std::hash<std::string_view>()({static_cast<const char*>(host.raw()), host.bytes()});
    key = {pool, host.dtype(), host.bytes(), sum};
    if (Tensor known = find_placed(key, host, owner->device(), transfer); known.defined()) return known;
  }
  Tensor there = device_tensor(owner, host.dtype(), host.shape());
  if (const Status status = transfer.copy(host, there, nullptr); !status.ok()) {
    fail(status.code(), "copying constant '{}' to {}: {}", name, owner->device().to_string(), status.message());
  }
  if (pool) {
    const std::lock_guard lock(g_mutex);
    g_placed.emplace(key, Placed{there.owner(), there.raw()});
  }
  return there;
}

}  // namespace rh
