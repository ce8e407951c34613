#include "compute/image/box_overlap.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/image/box_overlap.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include "compute/simd/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

bool any_overlaps_loop(const float* blocks, int64_t count, const Box& box, float threshold) {
  const hn::CappedTag<float, BoxSet::kBlock> d;
  using V = hn::Vec<decltype(d)>;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const V y1 = hn::Set(d, box.y1), x1 = hn::Set(d, box.x1), y2 = hn::Set(d, box.y2), x2 = hn::Set(d, box.x2);
  const V area = hn::Set(d, box.area()), limit = hn::Set(d, threshold), zero = hn::Zero(d);
  for (int64_t i = 0; i < count; i += BoxSet::kBlock, blocks += 5 * BoxSet::kBlock) {
    for (int64_t lane = 0; lane < BoxSet::kBlock; lane += lanes) {
      const auto row = [&](int k) HWY_ATTR { return hn::LoadU(d, blocks + k * BoxSet::kBlock + lane); };
      const V height = hn::Sub(hn::Min(y2, row(2)), hn::Max(y1, row(0)));
      const V width = hn::Sub(hn::Min(x2, row(3)), hn::Max(x1, row(1)));
      const V other = row(4), common = hn::Mul(height, width);
      const auto meet = hn::And(hn::And(hn::Gt(height, zero), hn::Gt(width, zero)), hn::Gt(other, zero));
      if (hn::AllFalse(d, meet)) continue;
      const V share = hn::Div(common, hn::Sub(hn::Add(area, other), common));
      if (!hn::AllFalse(d, hn::And(meet, hn::Gt(share, limit)))) return true;
    }
  }
  return false;
}

}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(any_overlaps_loop);

void BoxSet::add(const Box& box) {
  const int64_t block = count_ / kBlock, lane = count_ % kBlock;
  const size_t begin = static_cast<size_t>(block * 5 * kBlock);
  if (blocks_.size() < begin + 5 * kBlock) blocks_.resize(begin + 5 * kBlock);
  float* at = blocks_.data() + begin;
  if (lane == 0) std::fill(at, at + 5 * kBlock, 0.0f);
  const float values[] = {box.y1, box.x1, box.y2, box.x2, box.area()};
  for (int64_t k = 0; k < 5; ++k) at[k * kBlock + lane] = values[k];
  ++count_;
}

bool BoxSet::any_overlaps(const Box& box, float threshold) const {
  if (!(box.area() > 0)) return false;
  return HWY_DYNAMIC_DISPATCH(any_overlaps_loop)(blocks_.data(), count_, box, threshold);
}

// Monotone, so that boxes that meet share a slab.
int64_t BoxIndex::Slabs::of(float coordinate) const {
  const double slab = (static_cast<double>(coordinate) - begin) * per_unit;
  return slab > 0 ? static_cast<int64_t>(std::min(slab, last)) : 0;
}

void BoxIndex::clear() {
  size_ = 0;
  spread_at_ = kFirstSpread;
  boxes_.clear();
  slabs_ = {};
  everywhere_.clear();
  for (BoxSet& set : by_slab_) set.clear();
}

void BoxIndex::add(const Box& box) {
  ++size_;
  if (!(box.area() > 0)) return;
  boxes_.push_back(box);
  if (boxes_.size() < spread_at_) return place(box);
  spread_at_ *= 8;
  spread();
}

void BoxIndex::place(const Box& box) {
  constexpr int64_t kMostSlabs = 8;
  const int64_t first = slabs_.first_of(box), last = slabs_.last_of(box);
  if (last - first >= kMostSlabs) return everywhere_.add(box);
  for (int64_t slab = first; slab <= last; ++slab) by_slab_[static_cast<size_t>(slab)].add(box);
}

/// Slabs as wide as boxes are on the average, along the axis that tells more boxes apart.
void BoxIndex::spread() {
  constexpr double kMostSlabs = 1024;
  double most = 0;
  for (const bool along_x : {false, true}) {
    double low = std::numeric_limits<double>::infinity(), high = -low, extents = 0, count = 0;
    for (const Box& box : boxes_) {
      const double begin = static_cast<double>(along_x ? box.x1 : box.y1), end = static_cast<double>(along_x ? box.x2 : box.y2);
      if (!std::isfinite(begin) || !std::isfinite(end)) continue;
      low = std::min(low, begin);
      high = std::max(high, end);
      extents += end - begin;
      ++count;
    }
    const double slabs = extents > 0 ? std::min(kMostSlabs, (high - low) * count / extents) : 0;
    if (!(slabs > most)) continue;
    most = slabs;
    slabs_ = {along_x, low, slabs / (high - low), std::floor(slabs)};
  }
  everywhere_.clear();
  for (BoxSet& set : by_slab_) set.clear();
  if (const size_t slabs = static_cast<size_t>(slabs_.last) + 1; by_slab_.size() < slabs) by_slab_.resize(slabs);
  for (const Box& box : boxes_) place(box);
}

bool BoxIndex::any_overlaps(const Box& box, float threshold) const {
  if (!(box.area() > 0)) return false;
  if (everywhere_.any_overlaps(box, threshold)) return true;
  const int64_t last = slabs_.last_of(box);
  for (int64_t slab = slabs_.first_of(box); slab <= last; ++slab)
    if (by_slab_[static_cast<size_t>(slab)].any_overlaps(box, threshold)) return true;
  return false;
}

}  // namespace rh::compute
#endif
