#include "compute/fft.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

namespace rh::compute {

namespace {

using Complex = Fft::Complex;

constexpr int64_t kMostRadix = 13;

/// exp(-2 pi i k / size), exact at the quarters.
Complex root(int64_t k, int64_t size) {
  const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(size);
  return {std::cos(angle), std::sin(angle)};
}

/// The prime factors with fours for pairs of twos; empty where one is greater than kMostRadix.
std::vector<int64_t> radices_of(int64_t size) {
  std::vector<int64_t> radices;
  for (int64_t radix : {4, 2, 3, 5, 7, 11, 13}) {
    for (; size % radix == 0; size /= radix) radices.push_back(radix);
  }
  static_assert(kMostRadix == 13);
  return size == 1 ? radices : std::vector<int64_t>();
}

/// Products without the checks for infinities that operator* makes.
Complex product(Complex a, Complex b) { return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()}; }

/// The transforms of `stride` interleaved sequences of `radix` numbers each, times the roots of their place.
struct Stage {
  int64_t radix, length, stride;  ///< length: of the transforms that the stage splits
  const std::vector<Complex>& roots;

  Complex twiddle(int64_t p, int64_t j) const {
    const int64_t step = static_cast<int64_t>(roots.size()) / length;
    return roots[static_cast<size_t>(p * j % length * step)];
  }

  void run(const Complex* x, Complex* y) const {
    for (int64_t p = 0; p < length / radix; ++p) {
      const Complex* from = x + stride * p;
      Complex* to = y + stride * radix * p;
      if (radix == 4) {
        run_four(from, to, p);
      } else if (radix == 2) {
        run_two(from, to, p);
      } else {
        run_any(from, to, p);
      }
    }
  }

  void run_two(const Complex* x, Complex* y, int64_t p) const {
    const Complex w = twiddle(p, 1), *second = x + stride * (length / 2);
    for (int64_t q = 0; q < stride; ++q) {
      y[q] = x[q] + second[q];
      y[q + stride] = product(x[q] - second[q], w);
    }
  }

  void run_four(const Complex* x, Complex* y, int64_t p) const {
    const Complex w1 = twiddle(p, 1), w2 = twiddle(p, 2), w3 = twiddle(p, 3);
    const int64_t quarter = stride * (length / 4);
    for (int64_t q = 0; q < stride; ++q) {
      const Complex a = x[q], b = x[q + quarter], c = x[q + 2 * quarter], d = x[q + 3 * quarter];
      const Complex even = a + c, odd = a - c, sum = b + d, difference = b - d;
      const Complex turned{difference.imag(), -difference.real()};  // times -i
      y[q] = even + sum;
      y[q + stride] = product(odd + turned, w1);
      y[q + 2 * stride] = product(even - sum, w2);
      y[q + 3 * stride] = product(odd - turned, w3);
    }
  }

  void run_any(const Complex* x, Complex* y, int64_t p) const {
    const int64_t part = stride * (length / radix), step = static_cast<int64_t>(roots.size()) / radix;
    for (int64_t j = 0; j < radix; ++j) {
      const Complex w = twiddle(p, j);
      for (int64_t q = 0; q < stride; ++q) {
        Complex sum = x[q];
        for (int64_t k = 1; k < radix; ++k) sum += product(x[q + k * part], roots[static_cast<size_t>(j * k % radix * step)]);
        y[q + j * stride] = product(sum, w);
      }
    }
  }
};

}  // namespace

Fft::Fft(int64_t size) : size_(size), radices_(radices_of(size)) {
  if (!radices_.empty() || size <= 1) {
    roots_.resize(static_cast<size_t>(size));
    for (int64_t k = 0; k < size; ++k) roots_[static_cast<size_t>(k)] = root(k, size);
    return;
  }
  chirp_.resize(static_cast<size_t>(size));
  for (int64_t k = 0, square = 0; k < size; ++k) {  // square = k * k modulo 2 * size, by (k + 1)^2 = k^2 + 2 k + 1
    chirp_[static_cast<size_t>(k)] = root(square, 2 * size);
    square = (square + 2 * k + 1) % (2 * size);
  }
  const auto padded = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(2 * size - 1)));
  convolution_.emplace_back(padded);
  spectrum_.resize(static_cast<size_t>(padded));
  for (int64_t k = 0; k < size; ++k) {
    const Complex value = std::conj(chirp_[static_cast<size_t>(k)]);
    spectrum_[static_cast<size_t>(k)] = value;
    if (k > 0) spectrum_[static_cast<size_t>(padded - k)] = value;
  }
  std::vector<Complex> scratch(static_cast<size_t>(convolution_[0].scratch_size()));
  convolution_[0].forward(spectrum_.data(), scratch.data());
}

int64_t Fft::scratch_size() const { return convolution_.empty() ? size_ : convolution_[0].size() + convolution_[0].scratch_size(); }

void Fft::forward(Complex* data, Complex* scratch) const {
  if (convolution_.empty()) {
    stockham(data, scratch);
  } else {
    bluestein(data, scratch);
  }
}

void Fft::inverse(Complex* data, Complex* scratch) const {
  for (int64_t i = 0; i < size_; ++i) data[i] = std::conj(data[i]);
  forward(data, scratch);
  for (int64_t i = 0; i < size_; ++i) data[i] = std::conj(data[i]) / static_cast<double>(size_);
}

void Fft::stockham(Complex* data, Complex* scratch) const {
  Complex *from = data, *to = scratch;
  int64_t length = size_, stride = 1;
  for (int64_t radix : radices_) {
    Stage{radix, length, stride, roots_}.run(from, to);
    std::swap(from, to);
    length /= radix;
    stride *= radix;
  }
  if (from != data) std::copy_n(from, size_, data);
}

void Fft::bluestein(Complex* data, Complex* scratch) const {
  const Fft& transform = convolution_[0];
  Complex *padded = scratch, *rest = scratch + transform.size();
  for (int64_t i = 0; i < size_; ++i) padded[i] = product(data[i], chirp_[static_cast<size_t>(i)]);
  std::fill(padded + size_, padded + transform.size(), Complex());
  transform.forward(padded, rest);
  for (int64_t i = 0; i < transform.size(); ++i) padded[i] = product(padded[i], spectrum_[static_cast<size_t>(i)]);
  transform.inverse(padded, rest);
  for (int64_t i = 0; i < size_; ++i) data[i] = product(padded[i], chirp_[static_cast<size_t>(i)]);
}

}  // namespace rh::compute
