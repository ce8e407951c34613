#include "ops/nn/cross_entropy_loss.h"

#include <cmath>
#include <limits>

#include "compute/reduce/row_math.h"
#include "providers/cpu/convert.h"
#include "providers/cpu/elements.h"

namespace rh::cpu {

/// Half types go through float; losses are summed in double.
class CrossEntropyLossKernel final : public Kernel {
 public:
  using Types = FloatingTypes;

  explicit CrossEntropyLossKernel(const KernelInfo& info) : op_(info.attributes<ops::CrossEntropyLoss>()) {}

  Status run(RunContext& context) const override {
    return context.input(0).dtype() == DType::float64 ? run_as<double>(context) : run_as<float>(context);
  }

 private:
  const char* name() const { return op_.takes_scores ? "SoftmaxCrossEntropyLoss" : "NegativeLogLikelihoodLoss"; }

  template <typename T>
  Status run_as(RunContext& context) const {
    const Shape &shape = context.input(0).shape(), &labels_shape = context.input(1).shape();
    Shape expected = shape;
    if (shape.rank() >= 2) expected.erase(1);
    if (shape.rank() < 2 || !(labels_shape == expected) || (context.has_input(2) && !(context.input(2).shape() == Shape{shape[1]}))) {
      return error_status(ErrorCode::invalid_argument, "{}: input 0 has shape {}, the labels {}{}, expected [N, C, ...], [N, ...] and [C]",
                          name(), shape.to_string(), labels_shape.to_string(),
                          context.has_input(2) ? " and the weights " + context.input(2).shape().to_string() : std::string());
    }
    const int64_t classes = shape[1], inner = shape.product(2, shape.rank());
    const T* x = converted(context, context.input(0), dtype_of<T>).template data<T>();
    const T* weights = context.has_input(2) ? converted(context, context.input(2), dtype_of<T>).template data<T>() : nullptr;
    if (op_.takes_scores) x = log_softmax<T>(context, x, shape[0], classes, inner);
    const int64_t* labels = indices_of(context, 1);
    const bool reduces = op_.reduction != ops::CrossEntropyLoss::Reduction::none;
    const ConvertedOutput y(context, 0, reduces ? Shape{} : labels_shape, dtype_of<T>);
    double sum = 0, total = 0;
    for (int64_t i = 0; i < shape[0] * inner; ++i) {
      const int64_t label = labels[i];
      T loss = 0;
      if (label != op_.ignore_index) {
        check_label(label, classes);
        const T weight = weights ? weights[label] : T(1);
        loss = -x[(i / inner * classes + label) * inner + i % inner] * weight;
        sum += static_cast<double>(loss);
        total += static_cast<double>(weight);
      }
      if (!reduces) y.template data<T>()[i] = loss;
    }
    if (reduces) *y.template data<T>() = static_cast<T>(op_.reduction == ops::CrossEntropyLoss::Reduction::sum ? sum : sum / total);
    y.store(context.parallel());
    return {};
  }

  void check_label(int64_t label, int64_t classes) const {
    if (label >= 0 && label < classes) return;
    fail(ErrorCode::invalid_argument, "{}: a label is {}, expected a class in [0, {}){}", name(), label, classes,
         op_.ignore_index ? fmt::format(" or ignore_index = {}", *op_.ignore_index) : "");
  }

  /// x - log(sum(exp(x))) over the classes, in output 1 where it is wanted.
  template <typename T>
  const T* log_softmax(RunContext& context, const T* x, int64_t outer, int64_t classes, int64_t inner) const {
    std::optional<ConvertedOutput> output;
    if (context.has_output(1)) output.emplace(context, 1, context.input(0).shape(), dtype_of<T>);
    T* y = output ? output->data<T>() : context.scratch_array<T>(outer * classes * inner);
    const double work = 24.0 * static_cast<double>(classes);
    if constexpr (std::is_same_v<T, float>) {
      if (inner == 1 && classes > 0) {
        context.parallel().for_range(outer, {work, work}, [&](Range part) {
          compute::softmax_rows(x + part.begin * classes, y + part.begin * classes, part.size(), classes, true);
        });
        if (output) output->store(context.parallel());
        return y;
      }
    }
    context.parallel().for_range(outer * inner, {work, work}, [&](Range part) {
      for (int64_t i = part.begin; i < part.end; ++i) {
        const int64_t base = i / inner * classes * inner + i % inner;
        T largest = -std::numeric_limits<T>::infinity(), sum = 0;
        for (int64_t c = 0; c < classes; ++c) largest = std::max(largest, x[base + c * inner]);
        for (int64_t c = 0; c < classes; ++c) sum += std::exp(x[base + c * inner] - largest);
        const T log = std::log(sum);
        for (int64_t c = 0; c < classes; ++c) y[base + c * inner] = x[base + c * inner] - largest - log;
      }
    });
    if (output) output->store(context.parallel());
    return y;
  }

  ops::CrossEntropyLoss op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(CrossEntropyLossKernel)
