#pragma once

#include <algorithm>
#include <cstdint>

#include "base/fetch_list.h"
#include "compute/conv/blocked/conv_blocked_micro.h"

namespace rh::compute {

/// A part of a list, in whole cache lines, for kernels that fetch neighbouring ones.
class FetchedPart {
 public:
  /// Parts [begin, end) of `count` equal ones.
  FetchedPart(FetchList list, int64_t begin, int64_t end, int64_t count) : list_(list) {
    int64_t lines = 0;
    for (const auto& piece : list) lines += lines_of(piece);
    at_ = begin * lines / count;
    left_ = end * lines / count - at_;
  }

  /// Comes before what is left; what was put before in this way and is left is dropped.
  void put_first(std::span<const std::byte> piece) {
    const char* begin = reinterpret_cast<const char*>(piece.data());
    first_ = {begin, begin + lines_of(piece) * kLine};
  }

  /// What comes next; empty at the end. Kernels move its beginning.
  FetchedLines& lines() {
    if (first_.next < first_.end) return first_;
    while (lines_.next >= lines_.end && left_ > 0) {
      const int64_t of_piece = lines_of(list_.front()), size = std::min(of_piece - at_, left_);
      if (size <= 0) {
        at_ -= of_piece;
        list_ = list_.subspan(1);
        continue;
      }
      lines_.next = reinterpret_cast<const char*>(list_.front().data()) + at_ * kLine;
      lines_.end = lines_.next + size * kLine;
      at_ += size;
      left_ -= size;
    }
    return lines_;
  }

 private:
  static constexpr int64_t kLine = 64;
  static int64_t lines_of(std::span<const std::byte> piece) { return static_cast<int64_t>(piece.size()) / kLine; }

  FetchList list_;
  int64_t at_ = 0;    ///< lines behind the beginning of the list's first piece
  int64_t left_ = 0;  ///< lines
  FetchedLines lines_{}, first_{};
};

}  // namespace rh::compute
