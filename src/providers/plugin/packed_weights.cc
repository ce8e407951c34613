#include "providers/plugin/packed_weights.h"

#include <numeric>

#include "base/shared_bytes.h"
#include "providers/plugin/call.h"

void OrtSharedPrePackedWeightCache::store(std::span<void* const> data, std::span<const size_t> data_sizes) {
  std::vector<std::shared_ptr<const void>> owned;
  for (void* buffer : data) {
    owned.emplace_back(buffer, [&from = allocator](const void* p) { rh::plugin::tell([&] { from.Free(&from, const_cast<void*>(p)); }); });
  }
  buffers.clear();
  sizes.assign(data_sizes.begin(), data_sizes.end());
  for (size_t i = 0; i < owned.size(); ++i) buffers.push_back(rh::share_bytes(std::move(owned[i]), sizes[i]));
}

size_t OrtSharedPrePackedWeightCache::bytes() const { return std::accumulate(sizes.begin(), sizes.end(), size_t{0}); }
