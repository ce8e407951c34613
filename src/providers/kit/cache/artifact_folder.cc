#include "providers/kit/cache/artifact_folder.h"

#include <algorithm>

namespace rh::kit {

void ArtifactFolder::remove_oldest(uint64_t limit_bytes, const std::string& kept) const {
  std::vector<Entry> entries = list();
  std::ranges::sort(entries, {}, &Entry::used_ns);
  uint64_t total = 0;
  for (const Entry& entry : entries) total += entry.bytes;
  for (const Entry& entry : entries) {
    if (total <= limit_bytes) break;
    if (entry.name != kept && remove(entry.name)) total -= entry.bytes;
  }
}

}  // namespace rh::kit
