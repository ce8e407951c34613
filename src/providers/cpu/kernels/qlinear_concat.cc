#include "ops/quant/qlinear_concat.h"

#include "providers/cpu/joined_shape.h"
#include "providers/cpu/quantization.h"

namespace rh::cpu {

class QLinearConcatKernel final : public Kernel {
 public:
  using Types = rh::Types<float>;

  /// Constant scales make the tables at load.
  explicit QLinearConcatKernel(const KernelInfo& info) : op_(info.attributes<ops::QLinearConcat>()) {
    const auto to = TensorScale::constant(info, 0, 1);
    if (!to || !info.node().has_input(1)) return;
    for (int i = 2; i < info.node().input_count(); i += 3) {
      const auto from = TensorScale::constant(info, i + 1, i + 2);
      ByteTable table{};
      const bool made = from && make(info.input_dtype(1), *from, *to, table).ok();
      tables_.push_back(made ? std::optional(table) : std::nullopt);
    }
  }

  Status run(RunContext& context) const override {
    for (int i = 0; i < context.input_count(); ++i) {
      if (!context.has_input(i)) return error_status(ErrorCode::invalid_argument, "input {} is left out, expected a value", i);
    }
    InlineVector<const Shape*, 8> shapes;
    for (int i = 2; i < context.input_count(); i += 3) shapes.push_back(&context.input_tensor(i).shape());
    Shape shape;
    int axis = 0;
    RH_RETURN_IF_ERROR(join_shapes(shapes, op_.axis, "QLinearConcat", shape, axis));
    const MutableView y = context.output(0, context.input(1).dtype(), shape);
    const int64_t outer = shape.product(0, axis), row = shape.product(axis, shape.rank());
    int64_t begin = 0;
    for (int i = 2; i < context.input_count(); i += 3) {
      const TensorView x = context.input(i);
      if (x.dtype() != y.dtype()) {
        return error_status(ErrorCode::invalid_argument, "input {} is {}, expected {} as the zero point of Y", i, to_string(x.dtype()),
                            to_string(y.dtype()));
      }
      if (x.elements() == 0) continue;
      const int64_t part = x.shape().product(axis, x.rank());
      ByteTable made{};
      const ByteTable* table = nullptr;
      RH_RETURN_IF_ERROR(table_of(context, i, made, table));
      const double work = static_cast<double>(part);
      context.parallel().for_range(outer, {.bytes = 2 * work, .operations = 0.5 * work}, [&](Range rows) {
        for (int64_t k = rows.begin; k < rows.end; ++k) {
          table->run(x.data<uint8_t>() + k * part, y.data<uint8_t>() + k * row + begin, part);
        }
      });
      begin += part;
    }
    return {};
  }

 private:
  static Status make(DType dtype, const TensorScale& from, const TensorScale& to, ByteTable& table) {
    return dispatch<ByteTypes>(dtype, "QLinearConcat",
                               [&]<typename T>() { table = ByteTable::make<T>(from, to, [](float v) { return v; }); });
  }

  /// The table of the tensor that is input i: that of load, or `made` of the scales of this run.
  Status table_of(RunContext& context, int i, ByteTable& made, const ByteTable*& table) const {
    const size_t at = static_cast<size_t>(i - 2) / 3;
    if (at < tables_.size() && tables_[at]) {
      table = &*tables_[at];
      return {};
    }
    TensorScale from, to;
    RH_RETURN_IF_ERROR(TensorScale::read(context, 0, 1, "the scale or zero point of Y", to));
    RH_RETURN_IF_ERROR(TensorScale::read(context, i + 1, i + 2, "the scale or zero point of an input", from));
    table = &made;
    return make(context.input(i).dtype(), from, to, made);
  }

  ops::QLinearConcat op_;
  std::vector<std::optional<ByteTable>> tables_;  ///< an entry a tensor, or none
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(QLinearConcatKernel)
