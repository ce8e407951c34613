#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rh {

/// What is submitted, in order, to streams that run beside each other: kernels, and asynchronous copies, which are steps of a stream of
/// their own. Steps of one stream run one after the other; steps of different streams are ordered by waits alone.
struct Schedule {
  struct Step {
    int32_t stream = 0;
    std::vector<int32_t> waits;   ///< steps submitted earlier that have ended before this one begins (an event recorded after each)
    std::vector<int32_t> reads;   ///< buffers
    std::vector<int32_t> writes;  ///< buffers; the first step that writes a buffer begins its life, and happens before all its other uses
  };
  int32_t streams = 1;
  int32_t buffers = 0;
  std::vector<Step> steps;
};

/// Offsets in one arena.
struct MemoryPlan {
  std::vector<int64_t> offsets;  ///< by buffer; -1 where it was not to be placed
  int64_t bytes = 0;
};

/// Gives the buffers of a schedule places in one arena. A place is used again only by a step that happens after every use of what was there
/// before, by the order of its stream and the waits, never by its number. A step's outputs never share with its inputs.
class MemoryPlanner {
 public:
  static constexpr int64_t kAlignment = 64;

  MemoryPlanner() = default;
  explicit MemoryPlanner(const Schedule& schedule);

  /// `bytes` by buffer, negative where it is to have no place. Best fit, in the order of the schedule; near linear time.
  MemoryPlan place(std::span<const int64_t> bytes) const;

  /// The step at which the most bytes live, and the buffers that live there.
  struct Peak {
    int32_t step = -1;
    int64_t bytes = 0;
    std::vector<int32_t> buffers;
  };
  Peak peak(std::span<const int64_t> bytes) const;

  int32_t buffers() const { return static_cast<int32_t>(begins_.size()); }

 private:
  struct Event {
    int32_t buffer;
    bool begins;
  };
  using Clock = std::span<const int32_t>;  ///< by stream: how many of its steps have ended
  Clock start_clock(int32_t step) const { return {clocks_.data() + static_cast<size_t>(step) * streams_, streams_}; }
  Clock release_clock(int32_t buffer) const { return {releases_.data() + static_cast<size_t>(buffer) * streams_, streams_}; }
  void compute_clocks(const Schedule& schedule);
  void compute_lives(const Schedule& schedule);

  struct Hole;
  struct Arena;

  size_t streams_ = 1;
  std::vector<Event> events_;
  std::vector<int32_t> begins_;     ///< by buffer: the step that writes it first; -1: none
  std::vector<int32_t> positions_;  ///< by step: its number in its stream
  std::vector<int32_t> clocks_;     ///< by step; empty for one stream, where the order of submission is all
  std::vector<int32_t> releases_;   ///< by buffer: what must have ended before its place is used again
};

}  // namespace rh
