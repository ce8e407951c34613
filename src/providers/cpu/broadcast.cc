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

Broadcast::Position Broadcast::position_of(int64_t row) const {
  Position position{Shape(outer_.size(), 0), {}};
  for (int d = 0; d < outer_.rank(); ++d) {
    position.outer[d] = row % outer_[d];
    row /= outer_[d];
    for (int k = 0; k < inputs_; ++k) position.offsets[k] += position.outer[d] * strides_[k][d];
  }
  return position;
}

void Broadcast::advance(Position& position, int64_t rows) const {
  for (int d = 0; d < outer_.rank(); ++d, rows = 1) {
    for (int k = 0; k < inputs_; ++k) position.offsets[k] += rows * strides_[k][d];
    if ((position.outer[d] += rows) < outer_[d]) break;
    for (int k = 0; k < inputs_; ++k) position.offsets[k] -= outer_[d] * strides_[k][d];
    position.outer[d] = 0;
  }
}

void Broadcast::run_range(Range range, Row row) const {
  Position position = position_of(range.begin / row_length_);
  int64_t first = range.begin % row_length_;
  for (int64_t at = range.begin; at < range.end;) {
    const int64_t count = std::min(row_length_ - first, range.end - at);
    int64_t starts[kMaxInputs];
    for (int k = 0; k < inputs_; ++k) starts[k] = position.offsets[k] + first * steps_[k];
    row(at, starts, count);
    at += count;
    first = 0;
    advance(position, 1);
  }
}

void Broadcast::run_rows(Range range, Rows rows) const {
  Position position = position_of(range.begin / row_length_);
  int64_t first = range.begin % row_length_;
  for (int64_t at = range.begin; at < range.end;) {
    const int64_t left = outer_.empty() ? 1 : outer_[0] - position.outer[0], whole = (range.end - at) / row_length_;
    const int64_t count = first > 0 || whole == 0 ? 1 : std::min(left, whole);
    const int64_t length = std::min(row_length_ - first, range.end - at);
    int64_t starts[kMaxInputs];
    for (int k = 0; k < inputs_; ++k) starts[k] = position.offsets[k] + first * steps_[k];
    rows(at, starts, count, length);
    at += count * length;
    first = 0;
    advance(position, count);
  }
}

}  // namespace rh::cpu
