#include "compute/gemm/gemm.h"

#include <new>

#include "base/shared_bytes.h"
#include "compute/elementwise/narrow_floats.h"
#include "compute/gemm/gemm_fip_product.h"
#include "compute/gemm/gemm_narrow.h"
#include "compute/gemm/gemm_product.h"
#include "compute/gemm/gemm_split.h"
#include "compute/gemm/gemm_variants.h"

namespace rh::compute {
namespace {

template <typename T>
using Product = std::conditional_t<std::is_same_v<T, Computed<T>>, GemmProduct<T>, NarrowProduct<T>>;

template <typename P>
void run(int64_t m, int64_t n, const P& product, const Parallel& parallel) {
  if (m <= 0 || n <= 0) return;
  const Grid grid = product.grid(parallel.threads());
  parallel.for_pieces(grid.pieces(), [&](int64_t piece) { product.run_piece(grid, piece); });
}

}  // namespace

template <typename T>
size_t PackedMatrix<T>::bytes() const {
  const size_t panels = panel_width_ == 0 ? 0 : static_cast<size_t>((n_ + panel_width_ - 1) / panel_width_);
  if (fip_) return static_cast<size_t>(FipLayout{k_, n_, kFipBlock, form_}.floats()) * sizeof(float);
  if (split_) return panels * split_bytes(k_);
  if (use_.dots) return static_cast<size_t>(n_ * k_) * sizeof(T);
  return data_ ? panels * static_cast<size_t>(panel_width_ * k_) * sizeof(T) : 0;
}

template <typename T>
PackedMatrix<T>::PackedMatrix(const T* b, int64_t k, int64_t n, bool transposed, int64_t ldb, PackedUse use)
    : k_(k), n_(n), panel_width_(micro_kernels<Computed<T>>().columns), use_(use) {
  if (ldb == 0) ldb = transposed ? k : n;
  if (use.dots) {
    const auto write = [&](size_t column, void* memory) {
      const T* const from = transposed ? b + static_cast<int64_t>(column) * ldb : b + column;
      for (int64_t i = 0; i < k; ++i) static_cast<T*>(memory)[i] = from[transposed ? i : i * ldb];
    };
    const auto begin = [&](size_t column) { return column * static_cast<size_t>(k) * sizeof(T); };
    const auto shared = share_pieces({static_cast<size_t>(n), begin, write}, 64);
    data_ = std::shared_ptr<const T[]>(shared, static_cast<const T*>(shared.get()));
    return;
  }
  const size_t panels = static_cast<size_t>((n + panel_width_ - 1) / panel_width_);
  const auto pack = [&](size_t panel, void* memory) {
    const int64_t column = static_cast<int64_t>(panel) * panel_width_;
    pack_panel(transposed ? b + column * ldb : b + column, ldb, transposed, k, std::min(panel_width_, n - column), panel_width_,
               static_cast<T*>(memory));
  };
  if constexpr (std::is_same_v<T, float>) {
    if (panel_width_ == kFipWidth && scaled_kernels() && k > 0 && n > 0) {
      using enum CompactForm;
      for (const CompactForm form : {bits16, bits28, none}) {
        if (form == none ? !use.fip || !fip_kernels() : !use.compact) continue;
        if (form == none && has_many_zeros(b, n, k, transposed ? ldb : 1, transposed ? 1 : ldb)) continue;
        if (form == bits16 && !may_fit_bits16(b, transposed ? (n - 1) * ldb + k : (k - 1) * ldb + n)) continue;
        fip_ = pack_fip({k, n, kFipBlock, form}, b, transposed, ldb);
        if (!fip_) continue;
        form_ = form;
        return;
      }
    }
    if (use.amx && use.rows > 0) {
      const auto begin = [&](size_t panel) { return panel * split_bytes(k); };
      split_ = share_pieces({panels, begin,
                             [&](size_t panel, void* memory) {
                               void* floats =
                                   thread_scratch(ScratchSlot::packed_right, static_cast<size_t>(k * panel_width_) * sizeof(T) + 64);
                               pack(panel, floats);
                               split_columns(static_cast<const float*>(floats), k, memory);
                             }},
                            0);
      return;
    }
  }
  const auto begin = [&](size_t panel) { return panel * static_cast<size_t>(panel_width_ * k) * sizeof(T); };
  const auto shared = share_pieces({panels, begin, pack}, 64);
  data_ = std::shared_ptr<const T[]>(shared, static_cast<const T*>(shared.get()));
}

template <typename T>
void gemm(const GemmArgs<T>& args, const T* a, const T* b, T* c, const Parallel& parallel) {
  if (args.m <= 0 || args.n <= 0) return;
  const Product<T> product(args, a, b, nullptr, c, micro_kernels<Computed<T>>());
  if constexpr (std::is_same_v<T, Computed<T>>) {
    if (product.shares_rows(parallel.threads())) return product.run_row_parts(parallel);
  }
  run(args.m, args.n, product, parallel);
}

template <typename T>
void gemm(const GemmArgs<T>& args, const T* a, const PackedMatrix<T>& b, T* c, const Parallel& parallel) {
  if (b.is_columns()) {
    GemmArgs<T> columns = args;
    columns.transpose_b = true;
    columns.ldb = b.k();
    return gemm(columns, a, b.data() + args.first_column * b.k(), c, parallel);
  }
  if constexpr (std::is_same_v<T, float>) {
    const bool by_tiles = b.is_split() || (b.use().amx && amx_pays({args.m, args.n, args.k, true, b.use().accuracy}));
    if (b.is_fip()) return FipProduct(args, a, b, c).run(parallel);
    if (by_tiles) return run(args.m, args.n, SplitProduct(args, a, b, c), parallel);
  }
  const T* const panels = b.data() + args.first_column * b.k();
  run(args.m, args.n, Product<T>(args, a, nullptr, panels, c, micro_kernels_for_width<Computed<T>>(b.panel_width())), parallel);
}

void gemm_from_panels(const GemmArgs<float>& args, const float* a, RightPanels panels, float* c, const Parallel& parallel) {
  run(args.m, args.n, GemmProduct<float>(args, a, panels, c, micro_kernels<float>()), parallel);
}

template <typename S>
void gemm_narrow_right(const GemmArgs<float>& args, const float* a, const PackedMatrix<S>& b, float* c, const Parallel& parallel) {
  const auto write = [&](const RightPart& part, float* panel) {
    widen(b.data() + (args.first_column + part.column) * b.k() + part.k * b.panel_width(), panel, part.count * b.panel_width());
  };
  const RightPanels panels = write;
  GemmProduct<float> product(args, a, panels, c, micro_kernels_for_width<float>(b.panel_width()));
  product.halves = reinterpret_cast<const uint16_t*>(b.data() + args.first_column * b.k());
  run(args.m, args.n, product, parallel);
}
template void gemm_narrow_right(const GemmArgs<float>&, const float*, const PackedMatrix<Float16>&, float*, const Parallel&);
template void gemm_narrow_right(const GemmArgs<float>&, const float*, const PackedMatrix<BFloat16>&, float*, const Parallel&);

template <typename T>
void gemm_batched(const GemmArgs<T>& args, const GemmBatch<T>& batch, const T* a, const T* b, T* c, const Parallel& parallel) {
  if (batch.count <= 0 || args.m <= 0 || args.n <= 0) return;
  const Product<T> first(args, a, b, nullptr, c, micro_kernels<Computed<T>>());
  const auto product = [&](int64_t i) {
    return first.at(a + batch.a_offsets[i], b + batch.b_offsets[i], c + batch.c_offsets[i], batch.c_offsets[i]);
  };
  const int threads = parallel.threads();
  const int64_t share = (threads + batch.count - 1) / batch.count;
  const Grid grid = share > 1 ? product(0).grid(static_cast<int>(share)) : Grid{};
  const double work = static_cast<double>(args.m) * static_cast<double>(args.n) * static_cast<double>(args.k) / grid.pieces();
  const int64_t pieces = batch.count * grid.pieces();
  const Cost cost{.bytes = static_cast<double>(args.k) * static_cast<double>(args.n + args.m) * sizeof(T) / grid.pieces(),
                  .operations = 0.25 * work};
  parallel.for_range(pieces, cost, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) product(i / grid.pieces()).run_piece(grid, i % grid.pieces());
  });
}

template <typename T>
void gemm_batched(const GemmArgs<T>& args, const GemmBatch<T>& batch, const T* a, std::span<const PackedMatrix<T>> b, T* c,
                  const Parallel& parallel) {
  const auto product = [&](int64_t i, const Parallel& threads) {
    GemmArgs<T> one = args;
    if (one.epilogue.residual) one.epilogue.residual += batch.c_offsets[i];
    gemm(one, a + batch.a_offsets[i], b[static_cast<size_t>(batch.b_offsets[i])], c + batch.c_offsets[i], threads);
  };
  const double work = static_cast<double>(args.m) * static_cast<double>(args.n) * static_cast<double>(args.k);
  if (shares_each(batch.count, work, parallel.threads())) {
    for (int64_t i = 0; i < batch.count; ++i) product(i, parallel);
    return;
  }
  const Cost cost{.bytes = static_cast<double>(args.k) * static_cast<double>(args.n + args.m) * sizeof(T), .operations = 0.25 * work};
  parallel.for_range(batch.count, cost, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) product(i, Parallel());
  });
}

#define RH_INSTANTIATE(T)                                                                                       \
  template class PackedMatrix<T>;                                                                               \
  template void gemm(const GemmArgs<T>&, const T*, const T*, T*, const Parallel&);                              \
  template void gemm(const GemmArgs<T>&, const T*, const PackedMatrix<T>&, T*, const Parallel&);                \
  template void gemm_batched(const GemmArgs<T>&, const GemmBatch<T>&, const T*, const T*, T*, const Parallel&); \
  template void gemm_batched(const GemmArgs<T>&, const GemmBatch<T>&, const T*, std::span<const PackedMatrix<T>>, T*, const Parallel&);
RH_INSTANTIATE(float)
RH_INSTANTIATE(double)
RH_INSTANTIATE(Float16)
RH_INSTANTIATE(BFloat16)
#undef RH_INSTANTIATE

}  // namespace rh::compute
