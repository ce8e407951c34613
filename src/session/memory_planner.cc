#include "session/memory_planner.h"

#include <algorithm>

#include "base/error.h"

namespace rh {

/// A free piece of the arena, and the buffer that was there last, whose uses must have ended.
struct MemoryPlanner::Hole {
  int64_t offset;
  int64_t bytes;
  int32_t last;
};

struct MemoryPlanner::Arena {
  const MemoryPlanner& planner;
  std::vector<Hole> holes;  // by offset
  int64_t end = 0;

  bool usable(const Hole& hole, int32_t step) const {
    if (planner.streams_ == 1) return true;
    const Clock start = planner.start_clock(step), release = planner.release_clock(hole.last);
    return std::equal(release.begin(), release.end(), start.begin(), [](int32_t r, int32_t s) { return r <= s; });
  }

  // Runs of adjoining usable holes: the smallest that is large enough, else the last one where it touches the end of the arena, else the
  // end.
  int64_t take(int64_t bytes, int32_t step) {
    size_t best_first = 0, best_last = 0;
    int64_t best = -1;
    for (size_t i = 0; i < holes.size();) {
      if (!usable(holes[i], step)) {
        ++i;
        continue;
      }
      size_t last = i + 1;
      while (last < holes.size() && holes[last].offset == holes[last - 1].offset + holes[last - 1].bytes && usable(holes[last], step))
        ++last;
      const int64_t limit = holes[last - 1].offset + holes[last - 1].bytes;
      int64_t size = limit - holes[i].offset;
      if (best < 0 && size < bytes && limit == end) {
        end = holes[i].offset + bytes;
        holes[last - 1].bytes += end - limit;
        size = bytes;
      }
      if (size >= bytes && (best < 0 || size < best)) {
        best = size;
        best_first = i;
        best_last = last;
      }
      i = last;
    }
    if (best < 0) {
      end += bytes;
      return end - bytes;
    }
    return cut(best_first, best_last, bytes);
  }

  // Takes `bytes` from the holes [first, last), which adjoin.
  int64_t cut(size_t first, size_t last, int64_t bytes) {
    const int64_t offset = holes[first].offset;
    size_t keep = first;
    int64_t left = bytes;
    while (keep < last && holes[keep].bytes <= left) left -= holes[keep++].bytes;
    if (keep < last && left > 0) {
      holes[keep].offset += left;
      holes[keep].bytes -= left;
    }
    holes.erase(holes.begin() + static_cast<ptrdiff_t>(first), holes.begin() + static_cast<ptrdiff_t>(keep));
    return offset;
  }

  void give_back(int64_t offset, int64_t bytes, int32_t buffer) {
    auto at = std::lower_bound(holes.begin(), holes.end(), offset, [](const Hole& hole, int64_t o) { return hole.offset < o; });
    const bool merge = planner.streams_ == 1;
    if (merge && at != holes.begin() && std::prev(at)->offset + std::prev(at)->bytes == offset) {
      --at;
      at->bytes += bytes;
    } else {
      at = holes.insert(at, {offset, bytes, buffer});
    }
    const auto next = std::next(at);
    if (merge && next != holes.end() && at->offset + at->bytes == next->offset) {
      at->bytes += next->bytes;
      holes.erase(next);
    }
  }
};

MemoryPlanner::MemoryPlanner(const Schedule& schedule) : streams_(static_cast<size_t>(schedule.streams)) {
  compute_clocks(schedule);
  compute_lives(schedule);
}

void MemoryPlanner::compute_clocks(const Schedule& schedule) {
  std::vector<int32_t> last_of_stream(streams_, -1);
  std::vector<int32_t> ended(streams_, 0);
  positions_.resize(schedule.steps.size());
  if (streams_ > 1) clocks_.assign(schedule.steps.size() * streams_, 0);
  for (size_t i = 0; i < schedule.steps.size(); ++i) {
    const Schedule::Step& step = schedule.steps[i];
    const size_t stream = static_cast<size_t>(step.stream);
    positions_[i] = ended[stream]++;
    if (streams_ == 1) continue;
    int32_t* clock = clocks_.data() + i * streams_;
    const auto learn = [&](int32_t other) {
      const Clock theirs = start_clock(other);
      for (size_t s = 0; s < streams_; ++s) clock[s] = std::max(clock[s], theirs[s]);
      const size_t own = static_cast<size_t>(schedule.steps[static_cast<size_t>(other)].stream);
      clock[own] = std::max(clock[own], positions_[static_cast<size_t>(other)] + 1);
    };
    if (last_of_stream[stream] >= 0) learn(last_of_stream[stream]);
    for (int32_t wait : step.waits) {
      if (wait < 0 || static_cast<size_t>(wait) >= i) fail(ErrorCode::fail, "step {} waits for step {}, expected an earlier one", i, wait);
      learn(wait);
    }
    last_of_stream[stream] = static_cast<int32_t>(i);
  }
}

void MemoryPlanner::compute_lives(const Schedule& schedule) {
  const size_t count = static_cast<size_t>(schedule.buffers);
  begins_.assign(count, -1);
  releases_.assign(count * streams_, 0);
  std::vector<int32_t> last_use(count, -1);
  for (size_t i = 0; i < schedule.steps.size(); ++i) {
    const Schedule::Step& step = schedule.steps[i];
    const auto use = [&](int32_t buffer) {
      last_use[static_cast<size_t>(buffer)] = static_cast<int32_t>(i);
      int32_t& release = releases_[static_cast<size_t>(buffer) * streams_ + static_cast<size_t>(step.stream)];
      release = std::max(release, positions_[i] + 1);
    };
    for (int32_t buffer : step.writes) {
      if (begins_[static_cast<size_t>(buffer)] < 0) begins_[static_cast<size_t>(buffer)] = static_cast<int32_t>(i);
      use(buffer);
    }
    for (int32_t buffer : step.reads) use(buffer);
  }
  std::vector<std::vector<int32_t>> ends(schedule.steps.size());
  for (size_t b = 0; b < count; ++b) {
    if (begins_[b] >= 0) ends[static_cast<size_t>(last_use[b])].push_back(static_cast<int32_t>(b));
  }
  std::vector<bool> begun(count, false);
  for (size_t i = 0; i < schedule.steps.size(); ++i) {
    for (int32_t buffer : schedule.steps[i].writes) {
      if (begun[static_cast<size_t>(buffer)]) continue;
      begun[static_cast<size_t>(buffer)] = true;
      events_.push_back({buffer, true});
    }
    for (int32_t buffer : ends[i]) events_.push_back({buffer, false});
  }
}

MemoryPlan MemoryPlanner::place(std::span<const int64_t> bytes) const {
  MemoryPlan plan;
  plan.offsets.assign(bytes.size(), -1);
  Arena arena{*this, {}, 0};
  const auto rounded = [&](int32_t buffer) {
    return std::max(kAlignment, (bytes[static_cast<size_t>(buffer)] + kAlignment - 1) / kAlignment * kAlignment);
  };
  for (const Event& event : events_) {
    const size_t b = static_cast<size_t>(event.buffer);
    if (bytes[b] < 0) continue;
    if (event.begins) {
      plan.offsets[b] = arena.take(rounded(event.buffer), begins_[b]);
    } else {
      arena.give_back(plan.offsets[b], rounded(event.buffer), event.buffer);
    }
  }
  plan.bytes = arena.end;
  return plan;
}

MemoryPlanner::Peak MemoryPlanner::peak(std::span<const int64_t> bytes) const {
  Peak peak;
  size_t peak_event = 0;
  int64_t sum = 0;
  for (size_t e = 0; e < events_.size(); ++e) {
    const int64_t size = std::max<int64_t>(0, bytes[static_cast<size_t>(events_[e].buffer)]);
    sum += events_[e].begins ? size : -size;
    if (sum <= peak.bytes) continue;
    peak.bytes = sum;
    peak_event = e;
  }
  if (peak.bytes == 0) return peak;
  std::vector<bool> live(bytes.size(), false);
  for (size_t e = 0; e <= peak_event; ++e) live[static_cast<size_t>(events_[e].buffer)] = events_[e].begins;
  for (size_t b = 0; b < live.size(); ++b) {
    if (live[b] && bytes[b] >= 0) peak.buffers.push_back(static_cast<int32_t>(b));
  }
  peak.step = begins_[static_cast<size_t>(events_[peak_event].buffer)];
  return peak;
}

}  // namespace rh
