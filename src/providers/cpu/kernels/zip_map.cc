#include "ops/ml/zip_map.h"

#include <algorithm>

#include "providers/cpu/kernel.h"

namespace rh::cpu {

class ZipMapKernel final : public Kernel {
 public:
  using Types = rh::Types<float>;

  explicit ZipMapKernel(const KernelInfo& info) : op_(info.attributes<ops::ZipMap>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const int rank = x.rank();
    const int64_t labels = op_.count();
    if ((rank != 1 && rank != 2) || x.shape()[rank - 1] != labels) {
      return error_status(ErrorCode::invalid_argument, "ZipMap: the input has shape {}, expected [rows, {}]", x.shape().to_string(),
                          labels);
    }
    // All maps share the memory of their keys, and have parts of one copy of the scores.
    const Tensor labelled = keys();
    Tensor scores(DType::float32, x.shape());
    copy_elements(x, scores.mutable_view());
    const int64_t rows = rank == 2 ? x.shape()[0] : 1;
    Sequence maps;
    maps.elements.reserve(static_cast<size_t>(rows));
    for (int64_t row = 0; row < rows; ++row) maps.elements.emplace_back(Map{labelled, scores.part(row * labels, Shape{labels})});
    context.set_output(0, std::move(maps));
    return {};
  }

 private:
  // In order, as maps of the interface are.
  Tensor keys() const {
    Tensor keys(op_.string_labels.empty() ? DType::int64 : DType::string, Shape{op_.count()});
    if (op_.string_labels.empty()) {
      std::ranges::copy(op_.int_labels, keys.mutable_view().data<int64_t>());
    } else {
      std::ranges::copy(op_.string_labels, keys.mutable_view().data<std::string>());
    }
    return keys;
  }

  ops::ZipMap op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ZipMapKernel)
