#pragma once

#include "base/function_ref.h"
#include "compute/conv.h"

namespace rh::compute {

inline constexpr int64_t kWinogradPositions = 16;  // products of a tile of 4x4 inputs, which gives 2x2 outputs

/// U[i][j] = (G g G^T)[i][j] with G = [1 0 0; 1/2 1/2 1/2; 1/2 -1/2 1/2; 0 0 1], the sixteen positions of 3x3 weights.
void winograd_weights(const float* g, float* u);

/// A tile of outputs, by row and column of tiles, and the first input channel, null where all of it is padding.
struct WinogradTile {
  const Window& window;
  const float* x;
  int64_t channels;
  int64_t row;
  int64_t column;
};

/// The four sums of a tile from its products, which lie `apart`; from the definition where they are not finite. `weights` gives the sixteen
/// positions of the weights of an input channel.
void winograd_tile(const WinogradTile& tile, const float* products, int64_t apart, float bias,
                   FunctionRef<void(int64_t channel, float* u)> weights, float (&sums)[4]);

}  // namespace rh::compute
