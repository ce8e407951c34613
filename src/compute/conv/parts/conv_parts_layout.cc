#include <algorithm>

#include "compute/conv/parts/conv_parts.h"

namespace rh::compute {

PartsLayout::PartsLayout(const Window& kernel)
    : rows(kernel.kernel[1], kernel.stride[1]), columns(kernel.kernel[2], kernel.stride[2], kernel.dilation[2]) {
  const int64_t across = static_cast<int64_t>(columns.weights().size()), down = static_cast<int64_t>(rows.weights().size());
  places.resize(static_cast<size_t>(down * across));
  const auto in_slot = [&](int64_t slot, int64_t weight) {
    return columns.shares() ||
           std::ranges::any_of(columns.terms(), [&](const PartsAxis::Term& term) { return term.weight == weight && term.slot == slot; });
  };
  int64_t placed = 0;
  for (int64_t slot = 0; slot < (columns.shares() ? 1 : kPartsSlots); ++slot) {
    for (int64_t r = 0; r < down; ++r) {
      for (int64_t c = 0; c < across; ++c)
        if (in_slot(slot, c)) places[static_cast<size_t>(r * across + c)] = placed++;
    }
  }
  int64_t input = 0;
  for (int64_t i = 0; i < rows.slots(); ++i) {
    for (int64_t j = 0; j < columns.slots(); ++j) {
      Slot slot{i, j, input, 0, {}};
      for (const PartsAxis::Term& r : rows.terms()) {
        for (const PartsAxis::Term& c : columns.terms()) {
          if (r.slot != i || c.slot != j) continue;
          const int64_t weight = places[static_cast<size_t>(r.weight * across + c.weight)];
          if (slot.runs.empty() || slot.runs.back().weight + slot.runs.back().terms != weight) slot.runs.push_back({input, weight, 0});
          ++slot.runs.back().terms;
          ++input;
        }
      }
      slot.terms = input - slot.begin;
      slots.push_back(std::move(slot));
    }
  }
}

void PartsLayout::spread(const float* taps, int64_t width, int64_t channels, double* of_columns, float* to) const {
  constexpr int64_t kMostWidth = 32;
  const int64_t taps_down = static_cast<int64_t>(rows.taps().size()), taps_across = static_cast<int64_t>(columns.taps().size());
  const int64_t weights = static_cast<int64_t>(columns.weights().size());
  for (int64_t row = 0; row < taps_down; ++row) {
    for (int64_t c = 0; c < weights; ++c) {
      const PartsAxis::Weight& weight = columns.weights()[static_cast<size_t>(c)];
      double* const sum = of_columns + (row * weights + c) * width;
      std::fill_n(sum, width, 0.0);
      for (int64_t i = 0; i < weight.count; ++i) {
        const float* const from = taps + (row * taps_across + weight.taps[i]) * width;
        for (int64_t lane = 0; lane < width; ++lane) sum[lane] += weight.factors[i] * static_cast<double>(from[lane]);
      }
    }
  }
  for (size_t r = 0; r < rows.weights().size(); ++r) {
    const PartsAxis::Weight& weight = rows.weights()[r];
    for (int64_t c = 0; c < weights; ++c) {
      double sum[kMostWidth] = {};
      for (int64_t i = 0; i < weight.count; ++i) {
        const double* const from = of_columns + (weight.taps[i] * weights + c) * width;
        for (int64_t lane = 0; lane < width; ++lane) sum[lane] += weight.factors[i] * from[lane];
      }
      float* const place = to + places[r * static_cast<size_t>(weights) + static_cast<size_t>(c)] * channels * width;
      for (int64_t lane = 0; lane < width; ++lane) place[lane] = static_cast<float>(sum[lane]);
    }
  }
}

}  // namespace rh::compute
