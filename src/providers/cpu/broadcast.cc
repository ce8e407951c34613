#include "providers/cpu/broadcast.h"

#include <algorithm>

namespace rh::cpu {

Broadcast::Broadcast(const Shape& output, std::span<const Shape* const> inputs) : inputs_(static_cast<int>(inputs.size())) {
  int64_t distance[kMaxInputs];  // elements of the input that the dimensions to the right take
  std::fill_n(distance, kMaxInputs, 1);
  Shape dims;  // innermost first
  for (int i = output.rank() - 1; i >= 0; --i) {
    if (output[i] == 1) continue;
    int64_t strides[kMaxInputs] = {};
    bool merges = !dims.empty();
    for (int k = 0; k < inputs_; ++k) {
      const int at = i - (output.rank() - inputs[k]->rank());
      const int64_t size = at < 0 ? 1 : (*inputs[k])[at];
      strides[k] = size == 1 ? 0 : distance[k];
      distance[k] *= size;
      merges = merges && strides[k] == strides_[k].back() * dims.back();
    }
    if (merges) {
      dims.back() *= output[i];
      continue;
    }
    dims.push_back(output[i]);
    for (int k = 0; k < inputs_; ++k) strides_[k].push_back(strides[k]);
  }
  if (dims.empty()) {
    for (int k = 0; k < inputs_; ++k) steps_[k] = 1;
    return;
  }
  row_length_ = dims[0];
  for (int k = 0; k < inputs_; ++k) {
    steps_[k] = strides_[k][0];
    strides_[k].erase(0);
  }
  dims.erase(0);
  outer_ = dims;
  rows_ = outer_.elements();
}

void Broadcast::run(const Parallel& parallel, const Cost& cost_per_element, Row row) const {
  if (elements() == 0) return;
  parallel.for_range(elements(), cost_per_element, [&](Range range) { run_range(range, row); });
}

void Broadcast::run_range(Range range, Row row) const {
  const int rank = outer_.rank();
  int64_t index = range.begin / row_length_;
  int64_t first = range.begin % row_length_;
  Shape position(outer_.size(), 0);
  int64_t offsets[kMaxInputs] = {};
  for (int d = 0; d < rank; ++d) {
    position[d] = index % outer_[d];
    index /= outer_[d];
    for (int k = 0; k < inputs_; ++k) offsets[k] += position[d] * strides_[k][d];
  }
  for (int64_t at = range.begin; at < range.end;) {
    const int64_t count = std::min(row_length_ - first, range.end - at);
    int64_t starts[kMaxInputs];
    for (int k = 0; k < inputs_; ++k) starts[k] = offsets[k] + first * steps_[k];
    row(at, starts, count);
    at += count;
    first = 0;
    for (int d = 0; d < rank; ++d) {
      for (int k = 0; k < inputs_; ++k) offsets[k] += strides_[k][d];
      if (++position[d] < outer_[d]) break;
      for (int k = 0; k < inputs_; ++k) offsets[k] -= outer_[d] * strides_[k][d];
      position[d] = 0;
    }
  }
}

}  // namespace rh::cpu
