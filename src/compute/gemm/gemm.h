#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

#include "base/function_ref.h"
#include "base/thread_pool.h"
#include "compute/elementwise/activation.h"
#include "compute/gemm/compact_panel.h"
#include "tensor/float_types.h"

namespace rh::compute {

enum class BiasKind : uint8_t { none, per_column, per_row };

/// The type in which products of T are summed: float for the half types, T itself for float and double.
template <typename T>
using Computed = std::conditional_t<std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>, float, T>;

/// What follows the product, in this order: + bias, + residual_scale x residual, activation.
template <typename T>
struct Epilogue {
  BiasKind bias_kind = BiasKind::none;
  const T* bias = nullptr;      ///< n or m values
  const T* residual = nullptr;  ///< [m, n]; may be C itself
  int64_t residual_stride = 0;  ///< between rows; 0: n
  T residual_scale = T(1);
  Activation activation;
};

/// C[m, n] = epilogue(alpha op(A) op(B) + beta C), row-major. op(A) is [m, k], op(B) is [k, n]; a transposed operand lies as [k, m] or [n,
/// k]. With beta 0, C is not read. Leading dimensions are in elements, 0: rows are contiguous.
template <typename T>
struct GemmArgs {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  bool transpose_a = false;
  bool transpose_b = false;
  T alpha = T(1);
  T beta = T(0);
  int64_t lda = 0;
  int64_t ldb = 0;
  int64_t ldc = 0;
  /// A packed B of few rows of A is read from its end. Products that follow each other in turn with one B that hardly fits a cache find
  /// more of it there.
  bool backwards = false;
  /// Products with the same packed B came just before, so that much of it is in a cache already.
  bool repeated = false;
  /// Columns of a packed B before the first of the product's, a multiple of its panel_width().
  int64_t first_column = 0;
  /// About how many products are added up before they join a longer sum, where that are fewer than usual (kSumK); else 0.
  int64_t fold = 0;
  Epilogue<T> epilogue;
};

/// How near products of floats come to the exact ones where others than multiply-adds are faster: each as its own sum of floats, as such
/// sums beside the magnitudes of its row and column, to about 16 bits, or as products of bfloat16.
enum class ProductAccuracy : uint8_t { strict, full, fast, bf16 };

/// What is known at load of the products that a packed B is for.
struct PackedUse {
  bool dots = false;     ///< columns are kept as they are, few of them: their dot products with rows of A, see dots_pay()
  bool fip = false;      ///< floats are multiplied by pairs (gemm_fip.h): where the values allow it, and the processor
  bool compact = false;  ///< floats are kept in fewer bits, without loss, by pairs or not: where the values and the processor allow it
  bool amx = false;      ///< float products may use AMX tiles, see amx_usable()
  int64_t rows = 0;      ///< of A; 0: not known
  ProductAccuracy accuracy = ProductAccuracy::full;
};

/// Sums over k are made of at most this many products each, which are then added.
inline constexpr int64_t kBlockK = 256;
/// Of deeper products about so many are added up before they join the longer sum: with 256 the root mean square of their errors is ONNX
/// Runtime's, with fewer it is less.
inline constexpr int64_t kSumK = 192;
/// The sums of a tile of C by a packed B are kept beside the registers for so much of k, and only beyond it in C: a residual that is C
/// itself is then part of the sum early, which rounds more. AMX tiles keep them in C after each kBlockK.
inline constexpr int64_t kDeepK = 6 * kBlockK;

/// A constant right operand in the order in which the kernels read it: packed once, at load; equal ones share their memory. Half types are
/// kept as they are and widened a block at a time where they are used. For AMX and a known number of rows, floats are kept in split form
/// (gemm_amx.h, 6 bytes a value); where rows are not known, as panels that products of many rows split while they run. Few columns may be
/// kept as such, [n, k].
template <typename T>
class PackedMatrix {
 public:
  PackedMatrix() = default;
  /// From [k, n], or from [n, k] when transposed; ldb 0: rows are contiguous.
  PackedMatrix(const T* b, int64_t k, int64_t n, bool transposed, int64_t ldb = 0, PackedUse use = {});

  bool empty() const { return !data_ && !split_ && !fip_; }
  int64_t k() const { return k_; }
  int64_t n() const { return n_; }
  size_t bytes() const;
  const T* data() const { return data_.get(); }
  /// Columns of one panel; panels follow each other, each [k, panel_width] and padded with zeros.
  int64_t panel_width() const { return panel_width_; }
  const void* split_data() const { return split_.get(); }
  bool is_split() const { return split_ != nullptr; }
  const float* fip_data() const { return fip_.get(); }
  bool is_fip() const { return fip_ != nullptr; }
  bool is_columns() const { return use_.dots; }
  CompactForm compact_form() const { return form_; }
  const PackedUse& use() const { return use_; }

 private:
  int64_t k_ = 0;
  int64_t n_ = 0;
  int64_t panel_width_ = 0;
  PackedUse use_;
  std::shared_ptr<const T[]> data_;
  std::shared_ptr<const void> split_;     ///< instead of data_
  std::shared_ptr<const float[]> fip_;    ///< instead of data_
  CompactForm form_ = CompactForm::none;  ///< of fip_
};

/// T is float, double, Float16 or BFloat16 (widened, summed in float and rounded once). K is summed in blocks of at most 256, whose sums
/// are then added: the error of an element stays within gamma_k sum|a||b|. The bits do not depend on the number of threads. Aliasing of C
/// with A or B is not allowed.
template <typename T>
void gemm(const GemmArgs<T>& args, const T* a, const T* b, T* c, const Parallel& parallel);

/// The same with a packed B: args.k must be b's, and args.n its or that of the columns from args.first_column on; transpose_b and ldb are
/// not looked at.
template <typename T>
void gemm(const GemmArgs<T>& args, const T* a, const PackedMatrix<T>& b, T* c, const Parallel& parallel);

/// The same with a packed B of a half type, S, whose panels are widened a part in the second-level cache at a time.
template <typename S>
void gemm_narrow_right(const GemmArgs<float>& args, const float* a, const PackedMatrix<S>& b, float* c, const Parallel& parallel);

/// Rows [k, k + count) of `columns` columns of op(B), which go into a panel [count, width].
struct RightPart {
  int64_t k = 0, count = 0;
  int64_t column = 0, columns = 0;
  int64_t width = 0;
};
/// Writes a part of op(B) as a panel, padded with zeros; called from several threads.
using RightPanels = FunctionRef<void(const RightPart& part, float* panel)>;

/// The same with a B that is made while the product runs, a part in the second-level cache at a time; transpose_b and ldb are not looked
/// at.
void gemm_from_panels(const GemmArgs<float>& args, const float* a, RightPanels panels, float* c, const Parallel& parallel);

/// Products of many pairs of matrices: product i takes a + a_offsets[i], b + b_offsets[i], c + c_offsets[i] (in elements; the same offset
/// may come often: broadcasting). args.epilogue applies to each, its residual at residual + c_offsets[i].
template <typename T>
struct GemmBatch {
  int64_t count = 0;
  const int64_t* a_offsets = nullptr;
  const int64_t* b_offsets = nullptr;
  const int64_t* c_offsets = nullptr;
};
template <typename T>
void gemm_batched(const GemmArgs<T>& args, const GemmBatch<T>& batch, const T* a, const T* b, T* c, const Parallel& parallel);

/// The same with packed right operands: product i takes b[b_offsets[i]].
template <typename T>
void gemm_batched(const GemmArgs<T>& args, const GemmBatch<T>& batch, const T* a, std::span<const PackedMatrix<T>> b, T* c,
                  const Parallel& parallel);

}  // namespace rh::compute
