#include "ops/vision/non_max_suppression.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "providers/cpu/kernel.h"

namespace rh::cpu {

namespace {

struct Box {
  float y1, x1, y2, x2, area;
};

Box read_box(const float* p, bool center) {
  Box box;
  if (center) {  // x_center, y_center, width, height
    box = {p[1] - p[3] / 2, p[0] - p[2] / 2, p[1] + p[3] / 2, p[0] + p[2] / 2, 0};
  } else {  // two diagonal corners, in either order
    box = {std::min(p[0], p[2]), std::min(p[1], p[3]), std::max(p[0], p[2]), std::max(p[1], p[3]), 0};
  }
  box.area = (box.y2 - box.y1) * (box.x2 - box.x1);
  return box;
}

bool overlaps(const Box& a, const Box& b, float threshold) {
  const float height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1), width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
  if (height <= 0 || width <= 0 || a.area <= 0 || b.area <= 0) return false;
  const float common = height * width;
  return common / (a.area + b.area - common) > threshold;
}

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
    const int64_t limit = context.has_input(2) && context.input(2).elements() > 0 ? element_as_int(context.input(2), 0) : 0;
    const float iou = scalar(context, 3, 0);
    if (iou < 0 || iou > 1)
      return error_status(ErrorCode::invalid_argument, "NonMaxSuppression: iou_threshold is {}, expected a value in [0, 1]", iou);
    const bool has_least = context.has_input(4) && context.input(4).elements() > 0;
    const float least = scalar(context, 4, 0);
    const int64_t batches = scores.shape()[0], classes = scores.shape()[1], count = scores.shape()[2];

    std::vector<std::array<int64_t, 3>> selected;
    std::vector<Box> prepared(static_cast<size_t>(count)), kept;
    std::vector<int64_t> order;
    for (int64_t b = 0; limit > 0 && b < batches; ++b) {
      for (int64_t i = 0; i < count; ++i)
        prepared[static_cast<size_t>(i)] = read_box(boxes.data<float>() + (b * count + i) * 4, op_.center_point_box);
      for (int64_t c = 0; c < classes; ++c) {
        const float* score = scores.data<float>() + (b * classes + c) * count;
        order.clear();
        for (int64_t i = 0; i < count; ++i) {
          if (!has_least || score[i] > least) order.push_back(i);
        }
        std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t k) { return score[i] > score[k]; });
        kept.clear();
        for (int64_t i : order) {
          if (static_cast<int64_t>(kept.size()) >= limit) break;
          const Box& box = prepared[static_cast<size_t>(i)];
          if (std::any_of(kept.begin(), kept.end(), [&](const Box& other) { return overlaps(box, other, iou); })) continue;
          kept.push_back(box);
          selected.push_back({b, c, i});
        }
      }
    }
    const MutableView y = context.output(0, DType::int64, {static_cast<int64_t>(selected.size()), 3});
    for (size_t i = 0; i < selected.size(); ++i) std::copy(selected[i].begin(), selected[i].end(), y.data<int64_t>() + 3 * i);
    return {};
  }

 private:
  static float scalar(RunContext& context, int input, float otherwise) {
    return context.has_input(input) && context.input(input).elements() > 0 ? element_as_float(context.input(input), 0) : otherwise;
  }

  ops::NonMaxSuppression op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(NonMaxSuppressionKernel)
