#pragma once

#include <cstdint>
#include <vector>

namespace rh::compute {

/// A box by its lower and upper corner, lower <= upper.
struct Box {
  float y1, x1, y2, x2;
  float area() const { return (y2 - y1) * (x2 - x1); }
};

/// Boxes in blocks of kBlock, each coordinate in a row of its own.
class BoxSet {
 public:
  static constexpr int64_t kBlock = 16;

  void clear() { count_ = 0; }
  int64_t size() const { return count_; }
  void add(const Box& box);
  /// Whether one of the boxes has an intersection over union with `box` greater than `threshold`. Boxes without area overlap nothing.
  bool any_overlaps(const Box& box, float threshold) const;

 private:
  int64_t count_ = 0;
  std::vector<float> blocks_;  // each: y1, x1, y2, x2, area; kBlock values of each; lanes without a box have no area
};

}  // namespace rh::compute
