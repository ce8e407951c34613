#include "providers/cpu/svm_function.h"

#include <cmath>

namespace rh::cpu {

namespace {

/// Sums term(i) in eight lanes, which compilers make vectors of.
template <typename Term>
double lane_sum(int64_t count, Term term) {
  constexpr int kLanes = 8;
  double lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int k = 0; k < kLanes; ++k) lanes[k] += term(i + k);
  }
  double sum = 0;
  for (double lane : lanes) sum += lane;
  for (; i < count; ++i) sum += term(i);
  return sum;
}

double similarity(const ops::Svm& svm, const float* row, const float* vector) {
  using enum ops::Svm::Function;
  const double gamma = svm.gamma, offset = svm.offset;
  switch (svm.function) {
    case linear: return dot_product(row, vector, svm.features);
    case polynomial: return std::pow(gamma * dot_product(row, vector, svm.features) + offset, static_cast<double>(svm.degree));
    case sigmoid: return std::tanh(gamma * dot_product(row, vector, svm.features) + offset);
    case radial: break;
  }
  return std::exp(-gamma * lane_sum(svm.features, [&](int64_t i) {
    const double difference = static_cast<double>(row[i]) - static_cast<double>(vector[i]);
    return difference * difference;
  }));
}

}  // namespace

double dot_product(const float* a, const float* b, int64_t count) {
  return lane_sum(count, [&](int64_t i) { return static_cast<double>(a[i]) * static_cast<double>(b[i]); });
}

void read_svm_row(const TensorView& x, int64_t row, std::vector<float>& values) {
  dispatch_or_throw<SvmInputs>(x.dtype(), "support vector machine", [&]<typename T>() {
    const T* from = x.data<T>() + row * static_cast<int64_t>(values.size());
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(from[i]);
  });
}

void svm_similarities(const ops::Svm& svm, const std::vector<float>& row, std::vector<double>& similarities) {
  similarities.resize(static_cast<size_t>(svm.vector_count));
  for (int64_t k = 0; k < svm.vector_count; ++k) {
    similarities[static_cast<size_t>(k)] = similarity(svm, row.data(), svm.vectors.data() + k * svm.features);
  }
}

}  // namespace rh::cpu
