#pragma once

#include <complex>
#include <cstdint>
#include <vector>

namespace rh::compute {

/// The discrete Fourier transform of one length, made ready: y[k] = sum x[n] exp(-2 pi i k n / size). Takes O(size log size) whatever the
/// length: Stockham's algorithm for lengths with small prime factors, Bluestein's for others.
class Fft {
 public:
  using Complex = std::complex<double>;

  explicit Fft(int64_t size);

  int64_t size() const { return size_; }
  /// Complex numbers that `run` needs as working memory.
  int64_t scratch_size() const;
  /// Transforms `data` in place; several threads may, each with its own `scratch`.
  void forward(Complex* data, Complex* scratch) const;
  /// The inverse, divided by the size.
  void inverse(Complex* data, Complex* scratch) const;

 private:
  void stockham(Complex* data, Complex* scratch) const;
  void bluestein(Complex* data, Complex* scratch) const;

  int64_t size_;
  std::vector<int64_t> radices_;   ///< empty where Bluestein's algorithm serves
  std::vector<Complex> roots_;     ///< exp(-2 pi i k / size)
  std::vector<Complex> chirp_;     ///< Bluestein: exp(-pi i k^2 / size)
  std::vector<Complex> spectrum_;  ///< Bluestein: of the conjugate chirp
  std::vector<Fft> convolution_;   ///< Bluestein: one transform of a power of two
};

}  // namespace rh::compute
