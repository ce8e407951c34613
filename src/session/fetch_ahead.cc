#include "session/fetch_ahead.h"

#include <algorithm>
#include <deque>

namespace rh {

namespace {

constexpr size_t kMost = 2 << 20;
constexpr size_t kFarthest = 16;  // steps

struct Piece {
  std::span<const std::byte> bytes;
  size_t step;  // that reads it
};

void append(std::vector<std::span<const std::byte>>& list, size_t first, std::span<const std::byte> piece) {
  if (list.size() > first && list.back().data() + list.back().size() == piece.data()) {
    list.back() = {list.back().data(), list.back().size() + piece.size()};
  } else {
    list.push_back(piece);
  }
}

}  // namespace

void add_fetches(Plan& plan, std::span<const PackedBytes> packed) {
  std::deque<Piece> later;  // what nobody fetches yet, in the order of reading
  for (size_t s = plan.steps.size(); s-- > 0;) {
    Step& step = plan.steps[s];
    if (step.kernel->fetches_ahead()) {
      const size_t first = plan.fetches.size();
      for (size_t room = kMost; room > 0 && !later.empty() && later.front().step <= s + kFarthest;) {
        std::span<const std::byte>& bytes = later.front().bytes;
        const size_t size = std::min(room, bytes.size());
        append(plan.fetches, first, bytes.first(size));
        bytes = bytes.subspan(size);
        room -= size;
        if (bytes.empty()) later.pop_front();
      }
      step.first_fetch = static_cast<int32_t>(first);
      step.fetch_count = static_cast<int32_t>(plan.fetches.size() - first);
    }
    for (size_t p = packed[s].size(); p-- > 0;) later.push_front({packed[s][p], s});
  }
}

}  // namespace rh
