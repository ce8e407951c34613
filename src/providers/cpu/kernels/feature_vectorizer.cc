#include "ops/ml/feature_vectorizer.h"

#include <algorithm>

#include "providers/cpu/kernel.h"

namespace rh::cpu {

class FeatureVectorizerKernel final : public Kernel {
 public:
  using Types = rh::Types<float, double, int64_t, int32_t>;

  explicit FeatureVectorizerKernel(const KernelInfo& info) : op_(info.attributes<ops::FeatureVectorizer>()) {}

  Status run(RunContext& context) const override {
    const int64_t rows = rows_of(context.input(0));
    int64_t columns = 0;
    for (int64_t size : op_.sizes) columns += size;
    for (int i = 0; i < context.input_count(); ++i) {
      const TensorView x = context.input(i);
      if (x.rank() < 1 || rows_of(x) != rows) {
        return error_status(ErrorCode::invalid_argument, "FeatureVectorizer: input {} has shape {}, expected {} rows as input 0 has", i,
                            x.shape().to_string(), rows);
      }
    }
    const MutableView y = context.output(0, DType::float32, Shape{rows, columns});
    int64_t first = 0;
    for (int i = 0; i < context.input_count(); ++i) {
      const int64_t size = op_.sizes[static_cast<size_t>(i)];
      RH_RETURN_IF_ERROR(copy(context.input(i), rows, size, y.data<float>() + first, columns));
      first += size;
    }
    return {};
  }

 private:
  static int64_t rows_of(const TensorView& x) { return x.rank() > 1 ? x.shape()[0] : 1; }

  static Status copy(const TensorView& x, int64_t rows, int64_t size, float* to, int64_t stride) {
    const int64_t features = rows == 0 ? 0 : x.elements() / rows, copied = std::min(features, size);
    return dispatch<Types>(x.dtype(), "FeatureVectorizer", [&]<typename T>() {
      for (int64_t row = 0; row < rows; ++row) {
        const T* from = x.data<T>() + row * features;
        float* line = to + row * stride;
        std::transform(from, from + copied, line, [](T element) { return static_cast<float>(element); });
        std::fill(line + copied, line + size, 0.0f);
      }
    });
  }

  ops::FeatureVectorizer op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(FeatureVectorizerKernel)
