#include "compute/gemm/gemm_fip.h"

#include <atomic>
#include <cmath>
#include <vector>

#include "base/shared_bytes.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

constexpr int kMostExponent = 40;    // of scales of columns
constexpr int kTiniest = -125;       // whose inverse is a float
constexpr int kLeastExponent = -60;  // of scales of k, the greatest of which is 1

/// The power of two next to a positive value.
double power_near(double value) { return std::exp2(std::round(std::log2(value))); }

/// What the pairs of a column of either vector of a panel add to its product: see gemm_fip_kernels.h.
double pairs_of(const float* column, const Part& steps, bool second) {
  double sum = 0;
  for (int64_t k = steps.begin; k < steps.begin + steps.size; k += kFipGroup) {
    const auto product = [&](int64_t at) {
      return static_cast<double>(column[at * kFipWidth]) * static_cast<double>(column[(at + 1) * kFipWidth]);
    };
    sum += product(second ? k + 4 : k) - product(k + 2);
  }
  return sum;
}

}  // namespace

const FipKernels* fip_kernels() {
#if defined(__x86_64__) || defined(_M_X64)
  const CpuFeatures& cpu = cpu_features();
  if (cpu.avx512 && cpu.own_adders) return cpu.half_vectors ? &kAvx512FipHalves : &kAvx512Fip;
#endif
  return nullptr;
}

const FipKernels* scaled_kernels() {
#if defined(__x86_64__) || defined(_M_X64)
  if (cpu_features().avx512) return fip_kernels() ? fip_kernels() : &kAvx512Fip;
#endif
  return nullptr;
}

std::vector<float> fip_scales(const FipLayout& layout, const float* b, bool transposed, int64_t ldb) {
  std::vector<float> squares(static_cast<size_t>(layout.steps()), 0.0f);
  if (transposed) {
    for (int64_t column = 0; column < layout.n(); ++column) {
      const float* const from = b + column * ldb;
      for (int64_t k = 0; k < layout.k(); ++k) squares[static_cast<size_t>(k)] += from[k] * from[k];
    }
  } else {
    for (int64_t k = 0; k < layout.k(); ++k) {
      const float* const from = b + k * ldb;
      float sums[8] = {};
      int64_t column = 0;
      for (; column + 8 <= layout.n(); column += 8) {
        for (int64_t i = 0; i < 8; ++i) sums[i] += from[column + i] * from[column + i];
      }
      for (; column < layout.n(); ++column) sums[0] += from[column] * from[column];
      for (const float sum : sums) squares[static_cast<size_t>(k)] += sum;
    }
  }
  float most = 0;
  for (const float sum : squares) {
    if (!std::isfinite(sum)) return {};
    most = std::max(most, sum);
  }
  const double most_root = std::sqrt(static_cast<double>(most));
  for (float& sum : squares) {
    const double root = std::sqrt(static_cast<double>(sum));
    sum = root > 0 ? static_cast<float>(std::max(std::exp2(kLeastExponent), power_near(root / most_root))) : 1.0f;
  }
  return squares;
}

bool scale_fip_columns(const FipLayout& layout, const std::vector<float>& scales, float* panel) {
  const int64_t steps = layout.steps();
  double squares[kFipWidth] = {};
  for (int64_t k = 0; k < steps; ++k) {
    float* const row = panel + k * kFipWidth;
    const float inverse = 1 / scales[static_cast<size_t>(k)];
    for (int64_t j = 0; j < kFipWidth; ++j) {
      row[j] *= inverse;
      squares[j] += static_cast<double>(row[j]) * static_cast<double>(row[j]);
    }
  }
  float scale[kFipWidth];
  float* const inverse = panel + layout.inverse_at();
  bool usable = true;
  for (int64_t j = 0; j < kFipWidth; ++j) {
    const double root = std::sqrt(squares[j] / static_cast<double>(layout.k()));
    usable = usable && (root == 0 || std::log2(root) < kMostExponent);
    // Of a column of zeros, what pairs leave of rows that are not is rounding errors: it gives 0.
    inverse[j] = root == 0 ? 0.0f : static_cast<float>(std::max(power_near(root), std::exp2(kTiniest)));
    scale[j] = root == 0 ? 0.0f : 1 / inverse[j];
  }
  for (int64_t k = 0; k < steps; ++k) {
    for (int64_t j = 0; j < kFipWidth; ++j) panel[k * kFipWidth + j] *= scale[j];
  }
  for (int64_t block = 0; block < layout.blocks(); ++block) {
    for (int64_t j = 0; j < kFipWidth; ++j)
      panel[layout.sums_at(block) + j] = static_cast<float>(pairs_of(panel + j, layout.block(block), j >= kFipWidth / 2));
  }
  return usable;
}

bool has_many_zeros(const float* values, int64_t outputs, int64_t terms, int64_t output_step, int64_t term_step) {
  constexpr int64_t kSample = 256;  // of either; odd steps, so that zeros at even places are seen as what they are
  const int64_t next_output = std::max<int64_t>(1, outputs / kSample) | 1, next_term = std::max<int64_t>(1, terms / kSample) | 1;
  int64_t zeros = 0, seen = 0;
  for (int64_t output = 0; output < outputs; output += next_output) {
    int64_t here = 0, count = 0;
    for (int64_t term = 0; term < terms; term += next_term, ++count) here += values[output * output_step + term * term_step] == 0;
    if (here == count) continue;
    zeros += here;
    seen += count;
  }
  return 4 * zeros >= seen && seen > 0;
}

std::shared_ptr<const float[]> pack_fip(const FipLayout& layout, const float* b, bool transposed, int64_t ldb) {
  const std::vector<float> scales = fip_scales(layout, b, transposed, ldb);
  if (scales.empty()) return nullptr;
  std::atomic<bool> usable = true;
  const FipLayout plain = layout.as_plain();
  const size_t panels = static_cast<size_t>(layout.panels());
  const auto begin = [&](size_t piece) {
    return static_cast<size_t>(piece <= panels ? static_cast<int64_t>(piece) * layout.panel_floats() : layout.floats()) * sizeof(float);
  };
  const auto write = [&](size_t piece, void* memory) {
    float* to = static_cast<float*>(memory);
    if (piece == panels) {
      std::copy(scales.begin(), scales.end(), to);
      return;
    }
    if (!usable) return;
    if (layout.compact()) to = scratch_floats(ScratchSlot::dequantized, plain.panel_floats());
    const int64_t column = static_cast<int64_t>(piece) * kFipWidth;
    pack_panel(transposed ? b + column * ldb : b + column, ldb, transposed, layout.k(), std::min(kFipWidth, layout.n() - column), kFipWidth,
               to);
    std::fill(to + layout.k() * kFipWidth, to + layout.steps() * kFipWidth, 0.0f);
    if (!scale_fip_columns(plain, scales, to)) usable = false;
    if (!layout.compact()) return;
    float* const codes = static_cast<float*>(memory);
    if (!encode_compact(layout.form(), to, layout.steps(), {layout.k(), layout.n() - column}, reinterpret_cast<uint32_t*>(codes)))
      usable = false;
    std::copy_n(to + plain.sums_at(0), (layout.blocks() + 1) * kFipWidth, codes + layout.sums_at(0));
  };
  const auto shared = share_pieces({panels + 1, begin, write}, 64);
  if (!usable) return nullptr;
  return std::shared_ptr<const float[]>(shared, static_cast<const float*>(shared.get()));
}

namespace {

/// A tile of which some rows cannot be paired.
void multiply_mixed_tile(const FipKernels& kernels, const MicroKernels<float>& plain_kernels, FipArgs args, int64_t rows, uint32_t pairs,
                         float* plain) {
  for (int64_t row = 0, some; row < rows; row += some) {
    const auto paired = [&](int64_t i) { return (pairs >> i & 1) != 0; };
    for (some = 1; row + some < rows && paired(row + some) == paired(row);) ++some;
    if (paired(row)) {
      kernels.multiply[some](args);
    } else {
      MicroArgs<float> p{};
      p.k = args.tile.k;
      p.fold = kSumK;
      p.a = args.tile.a;
      p.a_row = args.tile.a_row;
      p.a_k = args.tile.a_k;
      p.b = args.tile.b;
      p.b_k = args.tile.b_k;
      p.c = plain;
      p.c_row = kFipWidth;
      p.columns = kFipWidth;
      p.ahead = args.tile.ahead;
      p.ahead_step = pieces_of(args.tile.ahead_step, kFipGroup);
      plain_kernels.alike[some](p);
      kernels.finish(args, some, plain);
    }
    move_rows(args.tile, some);
    args.left_sums += 2 * some;
    args.left_inverse += some;
  }
}

}  // namespace

void multiply_fip_tile(const FipKernels& kernels, const MicroKernels<float>& plain_kernels, const FipArgs& args, int64_t rows,
                       uint32_t pairs, float* plain) {
  const uint32_t all = (1u << rows) - 1;
  // A copy of what was just written would have to wait for every store before it.
  if ((pairs & all) == all) return kernels.multiply[rows](args);
  multiply_mixed_tile(kernels, plain_kernels, args, rows, pairs, plain);
}

}  // namespace rh::compute
