#include "ops/ml/array_feature_extractor.h"

#include <string>
#include <vector>

#include "providers/cpu/kernel.h"

namespace rh::cpu {

class ArrayFeatureExtractorKernel final : public Kernel {
 public:
  using Types = rh::Types<float, double, int64_t, int32_t, std::string>;

  explicit ArrayFeatureExtractorKernel(const KernelInfo&) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0), places = context.input(1);
    if (x.rank() < 1) return error_status(ErrorCode::invalid_argument, "ArrayFeatureExtractor: input 0 is a scalar");
    const int64_t features = x.shape()[x.rank() - 1], count = places.elements();
    int64_t rows = 1;
    Shape dims(x.shape().begin(), x.shape().end() - 1);
    for (int64_t dim : dims) rows *= dim;
    if (dims.empty()) dims.push_back(1);
    dims.push_back(count);
    if (count == 0)
      return error_status(ErrorCode::invalid_argument, "ArrayFeatureExtractor: input 1 names no place, expected at least one");
    for (int64_t k = 0; k < count; ++k) {
      const int64_t place = places.data<int64_t>()[k];
      if (place < 0 || place >= features) {
        return error_status(ErrorCode::invalid_argument, "ArrayFeatureExtractor: place {} is {}, expected a value in [0, {}) for shape {}",
                            k, place, features, x.shape().to_string());
      }
    }
    const MutableView y = context.output(0, x.dtype(), dims);
    return dispatch<Types>(x.dtype(), "ArrayFeatureExtractor", [&]<typename T>() {
      const int64_t* from_place = places.data<int64_t>();
      const T* from = x.data<T>();
      T* to = y.data<T>();
      context.parallel().for_range(rows, {2.0 * sizeof(T) * static_cast<double>(count), static_cast<double>(count)}, [&](Range part) {
        int64_t row = part.begin;
        for (; row + 2 <= part.end; row += 2) {  // places are read once for both
          const T *const first = from + row * features, *const second = first + features;
          T *const of_first = to + row * count, *const of_second = of_first + count;
          for (int64_t k = 0; k < count; ++k) {
            const int64_t place = from_place[k];
            of_first[k] = first[place];
            of_second[k] = second[place];
          }
        }
        if (row == part.end) return;
        for (int64_t k = 0; k < count; ++k) to[row * count + k] = from[row * features + from_place[k]];
      });
    });
  }
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ArrayFeatureExtractorKernel)
