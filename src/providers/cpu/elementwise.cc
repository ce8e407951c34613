#include "providers/cpu/elementwise.h"

#include <cstring>

#include "compute/elementwise/narrow_floats.h"
#include "compute/move/copy.h"
#include "compute/scratch.h"
#include "providers/cpu/operand_tiles.h"

namespace rh::cpu {

namespace {

// Narrow floats in pieces that stay in the first-level cache.
template <typename T>
void run_narrow(UnaryRow row, const T* x, T* y, int64_t count, const float* parameters) {
  constexpr int64_t kPiece = 512;
  float wide[kPiece];
  for (int64_t i = 0; i < count; i += kPiece) {
    const int64_t n = std::min(kPiece, count - i);
    compute::widen(x + i, wide, n);
    row(wide, wide, n, parameters);
    compute::narrow(wide, y + i, n);
  }
}

constexpr int64_t kShortRow = 128;  // elements; operands that broadcast along shorter rows are spread out over many of them at once

/// Runs a row over tiles in which both operands go on one by one, or stay.
void run_tiles(const Parallel& parallel, const Cost& cost, BinaryRow row, const TensorView& a, const TensorView& b,
               const MutableView& out) {
  constexpr int64_t kTile = 1024;  // elements
  const OperandTiles tiles_a(a, out.shape()), tiles_b(b, out.shape());
  const int64_t size_a = bits_of(a.dtype()) / 8, size_b = bits_of(b.dtype()) / 8, size_out = bits_of(out.dtype()) / 8;
  auto* result = static_cast<char*>(out.raw());
  parallel.for_range(out.elements(), cost, [&](Range part) {
    char* rooms = static_cast<char*>(compute::thread_scratch(compute::ScratchSlot::row, static_cast<size_t>(kTile * (size_a + size_b))));
    for (int64_t at = part.begin; at < part.end; at += kTile) {
      const int64_t count = std::min(kTile, part.end - at);
      const Place x = tiles_a.tile(at, count, rooms), y = tiles_b.tile(at, count, rooms + kTile * size_a);
      row(x.data, x.step, y.data, y.step, result + at * size_out, count);
    }
  });
}

}  // namespace

void repeat_pattern(const void* pattern, int64_t period, int64_t phase, int64_t bytes, void* out, int64_t count) {
  const auto* from = static_cast<const char*>(pattern);
  auto* to = static_cast<char*>(out);
  int64_t done = std::min(count, period);
  const int64_t first = std::min(done, period - phase);
  compute::copy_bytes(from + phase * bytes, to, static_cast<size_t>(first * bytes));
  compute::copy_bytes(from, to + first * bytes, static_cast<size_t>((done - first) * bytes));
  while (done < count) {
    const int64_t more = std::min(done, count - done);
    compute::copy_bytes(to, to + done * bytes, static_cast<size_t>(more * bytes));
    done += more;
  }
}

void run_unary_row(UnaryRow row, DType dtype, const void* x, void* y, int64_t count, const float* parameters) {
  if (dtype == DType::float16) return run_narrow(row, static_cast<const Float16*>(x), static_cast<Float16*>(y), count, parameters);
  if (dtype == DType::bfloat16) return run_narrow(row, static_cast<const BFloat16*>(x), static_cast<BFloat16*>(y), count, parameters);
  row(x, y, count, parameters);
}

void run_unary(RunContext& context, UnaryRow row, double operations_per_element, const float* parameters) {
  const TensorView x = context.input(0);
  const MutableView y = context.output(0, x.shape());
  const int64_t from = bits_of(x.dtype()) / 8, to = bits_of(y.dtype()) / 8;
  const auto* source = static_cast<const char*>(x.raw());
  auto* target = static_cast<char*>(y.raw());
  const Cost cost{static_cast<double>(from + to), operations_per_element};
  const DType narrow = x.dtype() == y.dtype() ? x.dtype() : DType::undefined;
  context.parallel().for_range(x.elements(), cost, [&](Range part) {
    run_unary_row(row, narrow, source + part.begin * from, target + part.begin * to, part.size(), parameters);
  });
}

void run_binary(const Parallel& parallel, BinaryRow row, const TensorView& a, const TensorView& b, const MutableView& out,
                double operations_per_element) {
  const auto bytes = [](DType dtype) { return dtype == DType::string ? static_cast<int64_t>(sizeof(std::string)) : bits_of(dtype) / 8; };
  const int64_t size_a = bytes(a.dtype()), size_b = bytes(b.dtype()), size_out = bytes(out.dtype());
  const Shape* const shapes[] = {&a.shape(), &b.shape()};
  const Broadcast broadcast(out.shape(), shapes);
  const double read = static_cast<double>(size_a * broadcast.step(0) + size_b * broadcast.step(1));
  const Cost cost{read + static_cast<double>(size_out), operations_per_element};
  const int64_t length = broadcast.row_length();
  if (length < kShortRow && out.elements() > length && a.dtype() != DType::string && size_a > 0 && size_b > 0)
    return run_tiles(parallel, cost, row, a, b, out);
  const auto* x = static_cast<const char*>(a.raw());
  const auto* y = static_cast<const char*>(b.raw());
  auto* result = static_cast<char*>(out.raw());
  broadcast.run(parallel, cost, [&](int64_t at, const int64_t* inputs, int64_t count) {
    row(x + inputs[0] * size_a, broadcast.step(0), y + inputs[1] * size_b, broadcast.step(1), result + at * size_out, count);
  });
}

void run_binary(RunContext& context, BinaryRow row, const ops::LegacyBroadcast& legacy, DType out, double operations_per_element) {
  const TensorView a = context.input(0), b = context.input(1);
  Shape aligned = b.shape();
  aligned.resize(aligned.size() + static_cast<size_t>(legacy.trailing_ones(a.rank(), b.rank())), 1);
  const MutableView result = context.output(0, out, broadcast(a.shape(), aligned));
  run_binary(context.parallel(), row, a, TensorView(b.dtype(), aligned, b.raw()), result, operations_per_element);
}

}  // namespace rh::cpu
