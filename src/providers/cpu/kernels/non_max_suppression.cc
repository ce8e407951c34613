#include "ops/vision/non_max_suppression.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "base/cancellation.h"
#include "compute/image/box_overlap.h"
#include "compute/sort/ranking.h"
#include "providers/cpu/elements.h"
#include "providers/cpu/kept_objects.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/thread_lists.h"

namespace rh::cpu {

namespace {

using compute::Box;

Box read_box(const float* p, bool center) {
  if (center) return {p[1] - p[3] / 2, p[0] - p[2] / 2, p[1] + p[3] / 2, p[0] + p[2] / 2};          // x_center, y_center, width, height
  return {std::min(p[0], p[2]), std::min(p[1], p[3]), std::max(p[0], p[2]), std::max(p[1], p[3])};  // diagonal corners, in either order
}

/// By falling score; NaN comes last.
uint32_t rank_of(float score) { return std::isnan(score) ? ~0u : ~compute::ordered_key(score); }

}  // namespace

/// Greedy suppression, class by class: boxes by falling score (equal scores by index), each kept unless one kept before overlaps it by more
/// than the threshold.
class NonMaxSuppressionKernel final : public Kernel {
 public:
  using Types = rh::Types<float>;

  explicit NonMaxSuppressionKernel(const KernelInfo& info) : op_(info.attributes<ops::NonMaxSuppression>()) {}

  Status run(RunContext& context) const override {
    const TensorView boxes = context.input(0), scores = context.input(1);
    if (boxes.rank() != 3 || scores.rank() != 3 || boxes.shape()[2] != 4 || boxes.shape()[0] != scores.shape()[0] ||
        boxes.shape()[1] != scores.shape()[2]) {
      return error_status(ErrorCode::invalid_argument,
                          "NonMaxSuppression: boxes have shape {} and scores {}, expected [B, N, 4] and [B, C, N]",
                          boxes.shape().to_string(), scores.shape().to_string());
    }
    if (boxes.shape()[1] > std::numeric_limits<uint32_t>::max())
      return error_status(ErrorCode::invalid_argument, "NonMaxSuppression: there are {} boxes, expected less than 2^32", boxes.shape()[1]);
    const int64_t limit = context.has_input(2) && context.input(2).elements() > 0 ? element_as_int(context.input(2), 0) : 0;
    const float iou = scalar(context, 3, 0);
    if (iou < 0 || iou > 1)
      return error_status(ErrorCode::invalid_argument, "NonMaxSuppression: iou_threshold is {}, expected a value in [0, 1]", iou);
    const bool has_least = context.has_input(4) && context.input(4).elements() > 0;
    const float least = scalar(context, 4, 0);
    const int64_t batches = scores.shape()[0], classes = scores.shape()[1], count = scores.shape()[2];

    // Of each image and class, the boxes that are kept and their number.
    const int64_t most = std::clamp<int64_t>(limit, 0, count), rows = checked_product(batches, classes, "NonMaxSuppression: scores");
    auto* const selected = context.scratch_array<uint32_t>(checked_product(rows, most, "NonMaxSuppression: the boxes that are kept"));
    auto* const counts = context.scratch_array<int64_t>(rows);
    std::fill_n(counts, rows, 0);
    if (limit > 0 && count > 0) {
      const Cost cost{.bytes = 20.0 * static_cast<double>(count), .operations = 50.0 * static_cast<double>(count)};
      context.parallel().for_range(rows, cost, [&](Range range) {
        for (int64_t i = range.begin; i < range.end; ++i) {
          const float* score = scores.data<float>() + i * count;
          counts[i] =
              select(boxes.data<float>() + i / classes * count * 4, score, count, limit, iou, has_least, least, selected + i * most);
        }
      });
    }
    int64_t total = 0;
    for (int64_t i = 0; i < rows; ++i) total += counts[i];
    const MutableView y = context.output(0, DType::int64, {total, 3});
    int64_t* row = y.data<int64_t>();
    for (int64_t i = 0; i < rows; ++i) {
      for (const uint32_t index : std::span(selected + i * most, static_cast<size_t>(counts[i]))) {
        *row++ = i / classes;
        *row++ = i % classes;
        *row++ = index;
      }
    }
    return {};
  }

 private:
  /// Boxes [count, 4] of one image, scores of one class: the indices of those kept, by falling score, and how many they are.
  int64_t select(const float* boxes, const float* scores, int64_t count, int64_t limit, float iou, bool has_least, float least,
                 uint32_t* selected) const {
    BoundedList<uint64_t> candidates(thread_list<uint64_t>(ThreadList::first, count));
    for (int64_t i = 0; i < count; ++i) {
      if (!has_least || scores[i] > least) candidates.push_back(compute::ranked(rank_of(scores[i]), static_cast<uint32_t>(i)));
    }
    // Often few of many candidates are looked at before the limit is reached.
    constexpr int64_t kFirst = 1024;
    const int64_t all = static_cast<int64_t>(candidates.size()), first = std::min(limit, all) * 4 + kFirst;
    std::span<uint64_t> ranked = thread_list<uint64_t>(ThreadList::second, all);
    uint64_t* const scratch = thread_list<uint64_t>(ThreadList::third, all).data();
    std::copy(candidates.begin(), candidates.end(), ranked.begin());
    const int64_t some = first < all / 4 ? first : all;
    compute::rank_least(ranked.data(), all, some, scratch);
    const KeptObjects<compute::BoxIndex>::Loan loan(indices_);
    compute::BoxIndex& kept = *loan;
    kept.clear();
    for (int64_t i = 0; i < all && kept.size() < limit; ++i) {
      if (i % 256 == 0) throw_if_cancelled();
      if (i == some) {
        ranked = {candidates.data(), candidates.size()};
        compute::rank_least(ranked.data(), all, all, scratch);
      }
      const int64_t index = compute::place_of(ranked[static_cast<size_t>(i)]);
      const Box box = read_box(boxes + index * 4, op_.center_point_box);
      if (kept.any_overlaps(box, iou)) continue;
      selected[kept.size()] = static_cast<uint32_t>(index);
      kept.add(box);
    }
    return kept.size();
  }

  static float scalar(RunContext& context, int input, float otherwise) {
    return context.has_input(input) && context.input(input).elements() > 0 ? element_as_float(context.input(input), 0) : otherwise;
  }

  ops::NonMaxSuppression op_;
  KeptObjects<compute::BoxIndex> indices_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(NonMaxSuppressionKernel)
