#pragma once

#include <algorithm>
#include <cstdint>

#include "base/thread_pool.h"
#include "compute/gemm_kernels.h"

namespace rh::compute {

/// Planes of outputs, each cut into bands of its rows of tiles.
struct BandedPlanes {
  int64_t planes;
  int64_t rows, across;  ///< of tiles
  int64_t least_tiles;   ///< of a band that is worth one of its own
  int64_t panels;        ///< of output channels, by which a band's products are shared
  size_t weight_bytes;   ///< that each band reads
  double operations;     ///< of a plane
};

/// How busy so many equal pieces keep the threads, 1 at most.
inline double evenness(int64_t pieces, int threads) {
  return static_cast<double>(pieces) / static_cast<double>(pieces_of(pieces, threads) * threads);
}

/// Shares the bands of all planes among threads: first cuts planes into more than the `count` bands given where there would be too few,
/// then calls `run(plane, band)` for each. Where even that is fewer than the threads, `share(plane, band)` is called for one after the
/// other, to share each by itself; or bands get smaller still, where these keep the threads as busy as panels do and weights are few: no
/// thread then needs what another one has transformed.
template <typename Run, typename Share>
void run_bands(const BandedPlanes& p, int64_t& count, const Parallel& parallel, const Run& run, const Share& share) {
  constexpr double kLeastOperations = 500000;  // that are worth another thread
  constexpr size_t kMostWeights = 4 << 20;     // that each thread may read for itself
  const int64_t threads = parallel.threads();
  const bool splits = threads > 1 && p.planes < 4 * threads && p.operations >= kLeastOperations;
  if (splits) {
    const int64_t most = std::min(p.rows, p.rows * p.across / p.least_tiles);
    count = std::max(count, std::min(most, pieces_of(count, threads) * threads));
    if (p.planes * count < threads && p.weight_bytes <= kMostWeights && evenness(p.panels, threads) <= evenness(p.planes * p.rows, threads))
      count = std::max(count, std::min(p.rows, pieces_of(threads, p.planes)));
  }
  if (splits && p.planes * count < threads) {
    for (int64_t plane = 0; plane < p.planes; ++plane)
      for (int64_t i = 0; i < count; ++i) share(plane, i);
    return;
  }
  const Cost cost{.bytes = 0, .operations = 0.25 * p.operations / static_cast<double>(count)};
  const auto piece = [&](int64_t i) { run(i / count, i % count); };
  if (splits && p.planes == 1) return parallel.for_pieces(count, piece);
  parallel.for_range(p.planes * count, cost, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) piece(i);
  });
}

}  // namespace rh::compute
