#include "ops/nn/pool.h"

#include <algorithm>

#include "compute/image/pool.h"
#include "compute/reduce/row_math.h"
#include "compute/reduce/wide_reductions.h"
#include "providers/cpu/conv_window.h"
#include "providers/cpu/convert.h"

namespace rh::cpu {

class PoolKernel final : public Kernel {
 public:
  using Types = Concat<FloatingTypes, rh::Types<int8_t, uint8_t>>;

  explicit PoolKernel(const KernelInfo& info) : op_(info.attributes<ops::Pool>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const int spatial = x.rank() - 2;
    if (spatial < 0 || (!op_.global && static_cast<size_t>(spatial) != op_.window.kernel.size())) {
      return error_status(ErrorCode::invalid_argument, "input has shape {}, expected [N, C] and {} spatial dimensions",
                          x.shape().to_string(), op_.window.kernel.size());
    }
    compute::Window window;
    int64_t pad_end[3] = {0, 0, 0};
    Shape shape{x.shape()[0], x.shape()[1]};
    if (op_.global) {
      window.input[2] = window.kernel[2] = x.shape().product(2, x.rank());
      shape.resize(x.shape().size(), 1);
    } else {
      RH_RETURN_IF_ERROR(resolve(x.shape(), window, pad_end, shape));
    }
    if (op_.global && window.input[2] == 0 && shape.elements() > 0) {
      return error_status(ErrorCode::invalid_argument, "input has shape {}, expected planes with elements: only N and C can be 0",
                          x.shape().to_string());
    }
    const MutableView y = context.output(0, shape);
    int64_t* indices = context.has_output(1) ? context.output(1, DType::int64, shape).data<int64_t>() : nullptr;
    if (y.elements() == 0) return {};
    return in_float(context, x, y,
                    [&](const TensorView& from, const MutableView& to) { return pool(context, window, pad_end, from, to, indices); });
  }

 private:
  Status pool(RunContext& context, const compute::Window& window, const int64_t (&pad_end)[3], const TensorView& x, const MutableView& y,
              int64_t* indices) const {
    const int64_t planes = x.shape()[0] * x.shape()[1];
    const bool is_average = op_.kind == ops::Pool::Kind::average, is_max = op_.kind == ops::Pool::Kind::max;
    if (op_.global && x.dtype() == DType::float32 && (is_average || (is_max && !indices)))
      return global(context, is_max ? compute::Reduction::max : compute::Reduction::mean, planes, window.kernel[2], x, y);
    if (op_.global && x.dtype() == DType::float32 && op_.kind == ops::Pool::Kind::lp && op_.p == 2)
      return global(context, compute::WideReduction::l2, planes, window.kernel[2], x, y);
    if (is_max) {
      return dispatch<rh::Types<float, double, int8_t, uint8_t>>(x.dtype(), "pooling", [&]<typename T>() {
        compute::max_pool(window, planes, x.data<T>(), y.data<T>(), indices, op_.column_major_indices, context.parallel());
      });
    }
    return dispatch<rh::Types<float, double>>(x.dtype(), "pooling", [&]<typename T>() {
      if (op_.kind == ops::Pool::Kind::lp) {
        compute::lp_pool(window, planes, static_cast<int>(op_.p), x.data<T>(), y.data<T>(), context.parallel());
      } else {
        compute::average_pool(window, pad_end, planes, op_.count_include_pad, x.data<T>(), y.data<T>(), context.parallel());
      }
    });
  }

  template <typename Reduction>
  static Status global(RunContext& context, Reduction reduction, int64_t planes, int64_t length, const TensorView& x,
                       const MutableView& y) {
    context.parallel().for_range(planes, {sizeof(float) * static_cast<double>(length), static_cast<double>(length)}, [&](Range part) {
      compute::reduce_rows(reduction, x.data<float>() + part.begin * length, y.data<float>() + part.begin, part.size(), length);
    });
    return {};
  }

  Status resolve(const Shape& input, compute::Window& window, int64_t (&pad_end)[3], Shape& output) const {
    const ops::Window& w = op_.window;
    const size_t spatial = w.kernel.size();
    const std::span<const int64_t> sizes(input.begin() + 2, spatial);
    const ops::Sizes pads = w.pads_for(sizes);
    for (size_t i = 0; i < spatial; ++i) {
      output.push_back(std::max<int64_t>(0, w.output_size(i, sizes[i])));
      if (spatial <= 3) pad_end[3 - spatial + i] = pads[spatial + i];
    }
    return conv_window(w, sizes, {output.begin() + 2, spatial}, pads, window);
  }

  ops::Pool op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(PoolKernel)
