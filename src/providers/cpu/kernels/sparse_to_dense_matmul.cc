#include "ops/math/sparse_to_dense_matmul.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "providers/cpu/elements.h"

namespace rh::cpu {

/// Threads take columns of the result, each going through all elements of A.
class SparseToDenseMatMulKernel final : public Kernel {
 public:
  using Types = rh::Types<float, double, int32_t, int64_t, uint32_t, uint64_t>;

  explicit SparseToDenseMatMulKernel(const KernelInfo& info) : op_(info.attributes<ops::SparseToDenseMatMul>()) {}

  Status run(RunContext& context) const override {
    if (!context.input_value(0).is_sparse()) return error_status(ErrorCode::invalid_argument, "A is not sparse, expected a sparse tensor");
    const SparseTensor& a = context.input_value(0).sparse();
    const TensorView b = context.input(1);
    if (a.dense_shape.rank() != 2 || b.rank() != 2 || a.dtype != b.dtype()) {
      return error_status(ErrorCode::invalid_argument, "A is {}{} and B {}{}, expected two matrices of one type", to_string(a.dtype),
                          a.dense_shape.to_string(), to_string(b.dtype()), b.shape().to_string());
    }
    const int64_t rows = a.dense_shape[op_.transpose_a ? 1 : 0], depth = a.dense_shape[op_.transpose_a ? 0 : 1],
                  columns = b.shape()[op_.transpose_b ? 0 : 1];
    if (b.shape()[op_.transpose_b ? 1 : 0] != depth) {
      return error_status(ErrorCode::invalid_argument, "A has shape {} and B {}, expected {} rows of B after transposition",
                          a.dense_shape.to_string(), b.shape().to_string(), depth);
    }
    Position* positions = context.scratch_array<Position>(a.values.elements());
    RH_RETURN_IF_ERROR(read_positions(a, positions));
    const Shape shape{rows, columns};
    check_elements(shape, "SparseToDenseMatMul: output");
    const MutableView y = context.output(0, shape);
    return dispatch<Types>(b.dtype(), "SparseToDenseMatMul", [&]<typename T>() -> Status {
      T factor{};
      RH_RETURN_IF_ERROR(read_alpha(factor));
      const T* values = a.values.data<T>();
      const int64_t count = a.values.elements(), b_row = op_.transpose_b ? 1 : columns, b_column = op_.transpose_b ? depth : 1;
      const double work = static_cast<double>(count + rows);
      context.parallel().for_range(columns, {static_cast<double>(sizeof(T)) * 2 * work, 2 * work}, [&](Range part) {
        T* out = y.data<T>();
        for (int64_t i = 0; i < rows; ++i) std::fill_n(out + i * columns + part.begin, part.size(), T(0));
        for (int64_t i = 0; i < count; ++i) {
          const T value = wrapped<T>(values[i], factor, T(0));
          T* row = out + positions[i].row * columns;
          const T* from = b.data<T>() + positions[i].column * b_row;
          for (int64_t j = part.begin; j < part.end; ++j) row[j] = wrapped<T>(value, from[j * b_column], row[j]);
        }
      });
      return {};
    });
  }

 private:
  struct Position {
    int64_t row, column;
  };

  /// a * b + c; integers wrap around.
  template <typename T>
  static T wrapped(T a, T b, T c) {
    if constexpr (std::is_integral_v<T>) {
      using U = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<U>(a) * static_cast<U>(b) + static_cast<U>(c));
    } else {
      return a * b + c;
    }
  }

  template <typename T>
  Status read_alpha(T& factor) const {
    if constexpr (std::is_integral_v<T>) {
      const bool is_whole = std::fabs(op_.alpha) < 16777216.0f && op_.alpha == std::floor(op_.alpha);
      if (!is_whole || (std::is_unsigned_v<T> && op_.alpha < 0)) {
        return error_status(ErrorCode::invalid_argument, "alpha is {}, expected a whole number that the integers of A can be multiplied by",
                            op_.alpha);
      }
    }
    factor = static_cast<T>(op_.alpha);
    return {};
  }

  /// Rows and columns of the elements of A, transposed where it is.
  Status read_positions(const SparseTensor& a, Position* positions) const {
    const int64_t count = a.values.elements(), rows = a.dense_shape[0], columns = a.dense_shape[1];
    const auto misfit = [&](const Tensor& indices) {
      return error_status(ErrorCode::invalid_argument, "the indices of A have shape {}, which does not go with {} values of a matrix {}",
                          indices.shape().to_string(), count, a.dense_shape.to_string());
    };
    const int64_t* indices = a.indices.data<int64_t>();
    if (a.format == SparseTensor::Format::coo) {
      const bool is_linear = a.indices.elements() == count && a.indices.shape().rank() == 1;
      if (!is_linear && a.indices.elements() != 2 * count) return misfit(a.indices);
      for (int64_t i = 0; i < count; ++i) {
        positions[i] = is_linear ? Position{columns > 0 ? indices[i] / columns : 0, columns > 0 ? indices[i] % columns : 0}
                                 : Position{indices[2 * i], indices[2 * i + 1]};
      }
    } else if (a.format == SparseTensor::Format::csr) {
      const int64_t* outer = a.outer_indices.data<int64_t>();
      if (a.indices.elements() != count) return misfit(a.indices);
      if (count > 0 && (a.outer_indices.elements() != rows + 1 || outer[0] != 0 || outer[rows] != count)) return misfit(a.outer_indices);
      for (int64_t row = 0; count > 0 && row < rows; ++row) {
        if (outer[row + 1] < outer[row] || outer[row + 1] > count) return misfit(a.outer_indices);
        for (int64_t i = outer[row]; i < outer[row + 1]; ++i) positions[i] = {row, indices[i]};
      }
    } else {
      return error_status(ErrorCode::invalid_argument, "A has another format than COO and CSR, expected one of these");
    }
    for (int64_t i = 0; i < count; ++i) {
      Position& at = positions[i];
      if (at.row < 0 || at.row >= rows || at.column < 0 || at.column >= columns) {
        return error_status(ErrorCode::invalid_argument, "A has an element in row {} and column {}, outside {}", at.row, at.column,
                            a.dense_shape.to_string());
      }
      if (op_.transpose_a) std::swap(at.row, at.column);
    }
    return {};
  }

  ops::SparseToDenseMatMul op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(SparseToDenseMatMulKernel)
