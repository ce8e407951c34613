#pragma once

#include "base/function_ref.h"
#include "compute/conv/conv_impl.h"

namespace rh::compute {

/// Winograd's algorithm for 3x3 kernels, F(size x size, 3x3): tiles of `size` (2 or 4) rows and columns of outputs take so many products.
constexpr int64_t winograd_positions(int64_t size) { return (size + 2) * (size + 2); }

/// The 3x3 weights of which pack_winograd() made the positions `u`, but for rounding.
void winograd_restore(int64_t size, const float* u, float (&g)[9]);

/// A tile of outputs, by row and column of tiles, and the `count` planes that it is summed over.
struct WinogradTile {
  const Window& window;
  int64_t size;
  const SummedPlanes& planes;
  int64_t count;
  int64_t row;
  int64_t column;
};

/// The size x size sums of a tile from the definition. `weights` gives the 3x3 weights of a plane.
void plain_tile(const WinogradTile& tile, float bias, FunctionRef<void(int64_t plane, float (&g)[9])> weights, float* sums);

}  // namespace rh::compute
