#include "compute/fft.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace rh::compute {
namespace {

using Complex = Fft::Complex;

std::vector<Complex> by_definition(const std::vector<Complex>& x) {
  const auto size = static_cast<int64_t>(x.size());
  std::vector<Complex> y(x.size());
  for (int64_t k = 0; k < size; ++k) {
    for (int64_t n = 0; n < size; ++n) {
      const double angle = -2 * std::numbers::pi * static_cast<double>(k * n % size) / static_cast<double>(size);
      y[static_cast<size_t>(k)] += x[static_cast<size_t>(n)] * Complex(std::cos(angle), std::sin(angle));
    }
  }
  return y;
}

double difference(const std::vector<Complex>& a, const std::vector<Complex>& b) {
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

TEST(Fft, AgreesWithTheDefinitionForEveryLength) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  for (int64_t size : {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 16, 17, 30, 34, 60, 64, 97, 100, 121, 128, 169, 360, 401, 512, 1001, 1024}) {
    std::vector<Complex> x(static_cast<size_t>(size));
    for (Complex& value : x) value = {normal(random), normal(random)};
    const Fft fft(size);
    std::vector<Complex> y = x, scratch(static_cast<size_t>(fft.scratch_size()));
    fft.forward(y.data(), scratch.data());
    const double scale = 1e-13 * static_cast<double>(size);
    EXPECT_LT(difference(y, by_definition(x)), scale) << "size " << size;
    fft.inverse(y.data(), scratch.data());
    EXPECT_LT(difference(y, x), scale) << "there and back, size " << size;
  }
}

}  // namespace
}  // namespace rh::compute
