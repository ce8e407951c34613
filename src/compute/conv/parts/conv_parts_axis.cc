#include <algorithm>

#include "compute/conv/parts/conv_parts.h"

namespace rh::compute {
namespace {

/// Taps from `at` on, a stride apart.
struct Piece {
  int64_t at, size;
};

std::vector<Piece> pieces_of_kernel(int64_t kernel, int64_t stride) {
  std::vector<Piece> pieces;
  for (int64_t phase = 0; phase < std::min(stride, kernel); ++phase) {
    for (int64_t at = phase; at < kernel;) {
      const int64_t left = (kernel - at + stride - 1) / stride, size = left == 4 ? 2 : std::min<int64_t>(3, left);
      pieces.push_back({at, size});
      at += size * stride;
    }
  }
  return pieces;
}

}  // namespace

PartsAxis::PartsAxis(int64_t kernel, int64_t stride, int64_t apart) : stride_(stride), apart_(apart), taps_(static_cast<size_t>(kernel)) {
  const std::vector<Piece> pieces = pieces_of_kernel(kernel, stride);
  tile_ = std::ranges::any_of(pieces, [](const Piece& piece) { return piece.size > 1; }) ? 2 : 1;
  const auto add = [&](PartsSlot slot, int64_t a, int64_t b, int64_t sign, int64_t weight) {
    terms_.push_back({a, b, sign, weight, slot});
  };
  const auto weigh = [&](const Weight& weight) {
    weights_.push_back(weight);
    return static_cast<int64_t>(weights_.size()) - 1;
  };
  const auto weigh_tap = [&](int64_t tap) { return taps_[static_cast<size_t>(tap)].plus = weigh({1, {tap}, {1}}); };
  const auto each = [&](int64_t least, auto step) {
    for (const Piece& piece : pieces)
      if (piece.size >= least) step(piece.at, piece.at + stride, piece.at + 2 * stride, piece.at + 3 * stride, piece.size);
  };
  // Weights come in the order of slots, those that two slots share between the two.
  each(2, [&](int64_t x0, int64_t x1, int64_t x2, int64_t, int64_t size) { add(kFirst, x0, size == 2 ? x1 : x2, -1, weigh_tap(x0)); });
  const size_t shared = terms_.size();
  for (const Piece& piece : pieces)
    if (piece.size == 1) add(kFirst, piece.at, piece.at, 0, weigh_tap(piece.at));
  if (tile_ == 1) return;
  for (size_t i = shared, end = terms_.size(); i < end; ++i) {
    const int64_t at = terms_[i].a + stride;
    add(kSecond, at, at, 0, terms_[i].weight);
    shares_ = true;
  }
  each(2, [&](int64_t, int64_t x1, int64_t x2, int64_t x3, int64_t size) {
    add(kSecond, size == 2 ? x2 : x3, x1, -1, weigh_tap(size == 2 ? x1 : x2));
  });
  each(2, [&](int64_t x0, int64_t x1, int64_t x2, int64_t, int64_t size) {
    if (size == 2) return add(kBoth, x1, x1, 0, weigh({2, {x0, x1}, {1, 1}}));
    taps_[static_cast<size_t>(x1)].plus = weigh({3, {x0, x1, x2}, {0.5, 0.5, 0.5}});
    add(kBoth, x1, x2, 1, taps_[static_cast<size_t>(x1)].plus);
  });
  slots_ = 3;
  each(3, [&](int64_t x0, int64_t x1, int64_t x2, int64_t, int64_t) {
    taps_[static_cast<size_t>(x1)].minus = weigh({3, {x0, x1, x2}, {0.5, -0.5, 0.5}});
    add(kApart, x2, x1, -1, taps_[static_cast<size_t>(x1)].minus);
    slots_ = 4;
  });
}

int64_t PartsAxis::terms_in(PartsSlot slot) const {
  return std::ranges::count_if(terms_, [&](const Term& term) { return term.slot == slot; });
}

int64_t PartsAxis::products(int64_t outputs) const {
  const int64_t all = static_cast<int64_t>(terms_.size()), second = terms_in(kSecond);
  return tiles(outputs) * (all - second) + second_tiles(outputs) * second;
}

}  // namespace rh::compute
