#pragma once

#include <cstddef>
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

/// As BoxSet, for sets of many: once there are enough, boxes are found by the slabs of the plane that they touch.
class BoxIndex {
 public:
  int64_t size() const { return size_; }
  /// Keeps the memory for other boxes.
  void clear();
  void add(const Box& box);
  bool any_overlaps(const Box& box, float threshold) const;

 private:
  /// Slabs of even width along one axis; what lies beyond them belongs to the outermost.
  struct Slabs {
    bool along_x = false;
    double begin = 0, per_unit = 0, last = 0;
    int64_t of(float coordinate) const;
    int64_t first_of(const Box& box) const { return of(along_x ? box.x1 : box.y1); }
    int64_t last_of(const Box& box) const { return of(along_x ? box.x2 : box.y2); }
  };

  void spread();
  void place(const Box& box);

  static constexpr size_t kFirstSpread = 256;  // boxes, from which on slabs pay

  int64_t size_ = 0;
  size_t spread_at_ = kFirstSpread;
  std::vector<Box> boxes_;  // those with an area
  Slabs slabs_;
  BoxSet everywhere_;               // boxes that touch many slabs
  std::vector<BoxSet> by_slab_{1};  // at least as many as there are slabs
};

}  // namespace rh::compute
