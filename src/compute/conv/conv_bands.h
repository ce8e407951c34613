#pragma once

#include <algorithm>
#include <cstdint>

#include "base/thread_pool.h"
#include "compute/gemm/gemm_kernels.h"

namespace rh::compute {

/// How the tiles of a plane are cut into bands: of whole rows, or, where threads would have rows of unlike number, of tiles.
struct BandCuts {
  struct Band {
    Part rows;
    Part own;  ///< tiles of these rows that are the band's own
  };

  int64_t count = 1;
  bool by_tiles = false;  ///< rows of neighbouring bands then overlap, so that each works out its own tiles alone

  Band band(int64_t rows, int64_t across, int64_t index) const {
    if (!by_tiles) {
      const Part own = share_of(rows, count, index);
      return {own, {0, own.size * across}};
    }
    const Part own = share_of(rows * across, count, index);
    const int64_t first = own.begin / across;
    return {{first, pieces_of(own.begin + own.size, across) - first}, {own.begin - first * across, own.size}};
  }
};

/// Planes of outputs, each cut into bands of its rows of tiles.
struct BandedPlanes {
  int64_t planes;
  int64_t rows, across;  ///< of tiles
  int64_t alike;         ///< rows of tiles, or of outputs where those of the last tile are fewer
  bool in_tiles;         ///< whether a band may begin within a row
  int64_t least_tiles;   ///< of a band that is worth one of its own
  size_t weight_bytes;   ///< that each band reads
  double operations;     ///< of a plane
};

/// How busy so many equal pieces keep the threads, 1 at most.
inline double evenness(int64_t pieces, int threads) {
  return static_cast<double>(pieces) / static_cast<double>(pieces_of(pieces, threads) * threads);
}

/// Shares the products of a band among threads: calls `run(panels, rows)` for parts of all panels of output channels and of its rows of
/// tiles. Where panels cannot be dealt out evenly, some are cut by rows.
template <typename Run>
void share_panels(int64_t panels, int64_t rows, const Parallel& parallel, const Run& run) {
  const int64_t threads = parallel.threads(), row_cuts = panels % threads == 0 ? 1 : rows, units = panels * row_cuts;
  const int64_t pieces = std::min(units, panels % threads == 0 || panels >= 4 * threads ? 4 * threads : threads);
  parallel.for_pieces(pieces, [&](int64_t piece) {
    const int64_t end = share_begin(units, pieces, piece + 1);
    for (int64_t i = share_begin(units, pieces, piece), size; i < end; i += size) {
      const int64_t first = i % row_cuts, whole = first == 0 ? (end - i) / row_cuts : 0;
      size = whole > 0 ? whole * row_cuts : std::min(row_cuts - first, end - i);
      if (whole > 0)
        run(Part{i / row_cuts, whole}, Part{0, rows});
      else
        run(Part{i / row_cuts, 1}, Part{first * rows / row_cuts, size * rows / row_cuts});
    }
  });
}

/// Shares the bands of all planes among threads: first cuts planes into more than the bands given where there would be too few,
/// then calls `run(plane, band)` for each. Where even that is fewer than the threads, `share(plane, band)` is called for one after the
/// other, to share each by itself; or bands get smaller still, where these keep all threads busy and weights are few: no thread then needs
/// what another one has transformed.
template <typename Run, typename Share>
void run_bands(const BandedPlanes& p, BandCuts& cuts, const Parallel& parallel, const Run& run, const Share& share) {
  constexpr double kLeastOperations = 500000;  // that are worth another thread
  constexpr size_t kMostWeights = 4 << 20;     // that each thread may read for itself
  constexpr double kEvenEnough = 0.95;
  const int64_t threads = parallel.threads();
  int64_t& count = cuts.count;
  const bool splits = threads > 1 && p.planes < 4 * threads && p.operations >= kLeastOperations;
  if (splits) {
    const int64_t most = std::min(p.rows, p.rows * p.across / p.least_tiles);
    count = std::max(count, std::min(most, pieces_of(count, threads) * threads));
    const bool even = p.in_tiles || evenness(p.planes * p.alike, threads) >= kEvenEnough;
    if (p.planes * count < threads && p.weight_bytes <= kMostWeights && even)
      count = std::max(count, std::min(p.rows, pieces_of(threads, p.planes)));
  }
  if (splits && p.planes * count < threads) {
    for (int64_t plane = 0; plane < p.planes; ++plane)
      for (int64_t i = 0; i < count; ++i) share(plane, i);
    return;
  }
  cuts.by_tiles = splits && p.in_tiles && p.rows % count != 0 && p.planes * count <= 2 * threads;
  const Cost cost{.bytes = 0, .operations = 0.25 * p.operations / static_cast<double>(count)};
  const auto piece = [&](int64_t i) { run(i / count, i % count); };
  if (splits && p.planes == 1) return parallel.for_pieces(count, piece);
  parallel.for_range(p.planes * count, cost, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) piece(i);
  });
}

}  // namespace rh::compute
