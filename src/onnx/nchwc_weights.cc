#include "onnx/nchwc_weights.h"

#include <algorithm>
#include <cmath>

namespace rh::onnx {

namespace {

/// Calls visit(o, i, pixel, row) for each row, as it lies, of weights of the outputs o to o + block - 1.
template <typename Visit>
void for_each_row(const BlockedWeights& weights, int block, Visit&& visit) {
  const Tensor aligned = weights.tensor.aligned();
  const float* row = aligned.data<float>();
  const int64_t inputs = weights.inputs(), pixels = weights.pixels(), inner = weights.inputs_in_blocks ? block : 1;
  for (int64_t o = 0; o < weights.outputs(); o += block) {
    for (int64_t first = 0; first < inputs; first += inner) {
      for (int64_t pixel = 0; pixel < pixels; ++pixel) {
        for (int64_t i = first; i < first + inner; ++i, row += block) visit(o, i, pixel, row);
      }
    }
  }
}

/// Minus the logarithm of the likelihood of weights in channels with these sums of `count` squares each, up to a constant.
double unlikelihood(const std::vector<double>& sums, double count) {
  double mean = 0, result = 0;
  for (const double sum : sums) mean += sum / static_cast<double>(sums.size());
  for (const double sum : sums) result += std::log(sum + 1e-6 * mean);
  return result * count / 2;
}

double unlikelihood(const BlockedWeights& weights, int block) {
  const int64_t outputs = weights.outputs(), inputs = weights.inputs(), pixels = weights.pixels();
  std::vector<double> of_output(static_cast<size_t>(outputs)), of_input(static_cast<size_t>(inputs));
  for_each_row(weights, block, [&](int64_t o, int64_t i, int64_t, const float* row) {
    double all = 0;
    for (int lane = 0; lane < block; ++lane) {
      const double square = static_cast<double>(row[lane]) * static_cast<double>(row[lane]);
      of_output[static_cast<size_t>(o + lane)] += square;
      all += square;
    }
    of_input[static_cast<size_t>(i)] += all;
  });
  const double from_outputs = unlikelihood(of_output, static_cast<double>(inputs * pixels));
  return weights.inputs_in_blocks ? from_outputs + unlikelihood(of_input, static_cast<double>(outputs * pixels)) : from_outputs;
}

}  // namespace

Tensor plain_weights(const BlockedWeights& weights, int block, int64_t outputs, int64_t inputs) {
  const Shape& shape = weights.tensor.shape();
  const int64_t pixels = weights.pixels();
  Tensor plain(DType::float32, {outputs, inputs, shape[2], shape[3]});
  float* to = plain.data<float>();
  for_each_row(weights, block, [&](int64_t o, int64_t i, int64_t pixel, const float* row) {
    if (i >= inputs) return;
    const int64_t end = std::min<int64_t>(block, outputs - o);
    for (int64_t lane = 0; lane < end; ++lane) to[((o + lane) * inputs + i) * pixels + pixel] = row[lane];
  });
  return plain;
}

int64_t used_inputs(const BlockedWeights& weights, int block) {
  int64_t used = 0;
  for_each_row(weights, block, [&](int64_t, int64_t i, int64_t, const float* row) {
    if (i < used || i < weights.inputs() - block) return;
    if (std::any_of(row, row + block, [](float weight) { return weight != 0; })) used = i + 1;
  });
  return used;
}

void BlockSizeEvidence::add(const BlockedWeights& weights) {
  if (weights.outputs() % 16 != 0 || (weights.inputs_in_blocks && weights.inputs() % 16 != 0)) return;
  const double difference = unlikelihood(weights, 8) - unlikelihood(weights, 16);
  if (!std::isfinite(difference)) return;  // weights that are all 0, or too large for squares
  difference_ += difference;
  channels_ += weights.outputs() + (weights.inputs_in_blocks ? weights.inputs() : 0);
}

std::optional<int> BlockSizeEvidence::block() const {
  constexpr double kDeviations = 10;  // of the difference where all channels are alike: half of one of chi-squared sums of so many squares
  if (std::abs(difference_) <= kDeviations * std::sqrt(static_cast<double>(channels_))) return std::nullopt;
  return difference_ > 0 ? 16 : 8;
}

}  // namespace rh::onnx
