#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "compute/conv/conv_impl.h"

namespace rh::compute {

/// What the ways to convolve cost on a class of machines, in units of a product that the processor works out at its best, for each product
/// that plain convolution would take. How well columns fill vectors comes on top (see conv_variants.cc).
struct ConvCosts {
  double gemm_by_out;             ///< x 1/output channels: gathering pixels
  double gemm_by_in = 7;          ///< x that, x 1/input channels: finding them, which all channels share
  double gemm_staged = 4;         ///< x 1/output channels: gathering those of images that are staged
  double gemm_staged_row = 210;   ///< the same, x 1/pixels of a row of outputs
  double gemm_strided = 1.6;      ///< x both for strides of 2 and more
  double gemm_by_sum = 20;        ///< x both, x 1/products of a sum
  double gemm_by_products = 6;    ///< x 1/products of a sum, of such images
  double gathered_in_line = 1.3;  ///< x gathering where planes begin in few sets of the first-level cache (begin_in_line)
  double pixels_ready = 1;        ///< products of pixels that lie ready, which few rows of a micro-kernel read by parts of lines
  double pixels_by_out;           ///< x 1/output channels: gathering, once a channel of outputs
  double pixels_by_in = 10;       ///< x that, x 1/input channels: finding them
  double pixels_by_products;      ///< x 1/products of a sum: turning the sums round
  double turned_in_line = 13;     ///< more, where planes begin in the same sets of the first-level cache (in_line)
  double half_panel;              ///< of a panel whose second vector is empty
  double winograd;                ///< products
  double winograd_pixels;         ///< the same, with channels as columns
  double winograd_4x4;            ///< the same of tiles of 4x4 outputs
  double winograd_by_least;       ///< x 1/the fewer of input and output channels: transformations
  double weights = 6;             ///< x 1/output pixels: reading weights, by those that a model has
  double parts = 1.05;            ///< products
  double parts_far;               ///< x that where a row of tiles does not stay in the second-level cache
  double parts_inputs = 7;        ///< x values made of inputs, 1/output channels
  double parts_outputs = 5;       ///< x sums, 1/input channels
  double parts_chunks = 70;       ///< x 1/dilation, 1/output channels and 1/taps: dealing rows in chunks
  double phases_of_row = 10;      ///< x values of rows taken apart by two and put together, 1/output channels and 1/products of a sum
  double phases_of_two = 50;      ///< the same of planes
  double phases = 40;             ///< the same of more phases
  double direct = 1.12;           ///< products, with those between rows
  double direct_inputs = 11;      ///< x values staged, 1/output channels
  double direct_strided = 4;      ///< x that for strides of 3 and more
  double direct_outputs = 16;     ///< x 1/products of a sum, out of what planes take that come from memory

  double fip = 0.77;            ///< where additions have units of their own: products by pairs
  double fip_scaling = 12;      ///< x 1/output channels: scaling pixels
  double fip_in_line = 7;       ///< more, where planes begin in the same sets of the first-level cache (in_line)
  double fip_cutting = 5;       ///< x 1/output channels: cutting them into tiles where they are rows
  double fip_cut_in_line = 20;  ///< more, where planes begin in the same sets
  double fip_rows = 10;         ///< x 1/output channels: the same where they lie in blocks of channels
  double fip_few_pixels = 3.5;  ///< x 1/output pixels, there
  double blocked_pairs = 0.95;  ///< what products by pairs may cost there
  double fip_by_products = 10;  ///< x 1/products of a sum
  double fip_blocks = 0.04;     ///< where sums go through memory
  double fip_by_pixels = 1.5;   ///< x 1/output pixels, where they are rows: bringing weights near
  double fip_winograd = 16;     ///< x 1/input channels and 1/output channels, the same of Winograd's products
  double fip_by_tiles = 3;      ///< x 1/tiles

  double amx = 0.64;            ///< where there are AMX tiles: six products of bfloat16 parts
  double amx_by_out = 11;       ///< x 1/output channels: splitting pixels
  double amx_gathered = 14;     ///< the same: gathering them
  double amx_by_pixels = 20;    ///< x 1/output pixels: reading weights in split form
  double amx_by_products = 13;  ///< x 1/products of a sum: sums in and out of tiles
};

/// Ways that take memory of the heap, or pack what may turn out to be of no use.
inline constexpr double kNotOfRuns = -1;

/// A way to convolve values of S.
template <typename S>
struct ConvVariant {
  std::string_view name;
  ConvAccuracy accuracy;  ///< what it gives: it is taken where no more is asked for
  bool grows;             ///< its weights take more memory than they do in a model
  double packing;         ///< of weights that serve one run: products that packing one costs; kNotOfRuns: not for such
  bool (*fits)(const ConvChannels& channels, const Window& window);
  double (*cost)(const ConvChannels& channels, const Window& window, const ConvCosts& costs);
  std::unique_ptr<typename Convolution<S>::Impl> (*make)(const ConvChannels& channels, const Window& window, const S* weights,
                                                         const S* bias, const Activation& activation);
};

/// All that there are. The last fits always.
template <typename S>
std::span<const ConvVariant<S>> conv_variants();

/// The cheapest that fits the first of `windows`, by the costs of this machine's class, or the one of this name where it fits. Of several
/// windows, all of which may be met, each counts by how much longer than the cheapest there it takes. In the PackingScope of a run packing
/// counts too.
template <typename S>
const ConvVariant<S>& choose_conv_variant(const ConvChannels& channels, std::span<const Window> windows, ConvAccuracy accuracy, bool lean,
                                          std::string_view name);

/// What the cheapest way to convolve floats costs, as ConvVariant::cost gives it.
double least_conv_cost(const ConvChannels& channels, const Window& window);

/// Whether convolutions of single pixels in blocks of channels, of planes of so many outputs, cost less by pairs (conv_blocked_pairs.h).
bool blocked_pairs_pay(const ConvChannels& channels, int64_t outputs);

/// Whether it can compute this and may where this is asked for.
template <typename S>
bool may_take(const ConvVariant<S>& variant, const ConvChannels& channels, const Window& window, ConvAccuracy accuracy, bool lean) {
  return variant.fits(channels, window) && accuracy >= variant.accuracy && !(variant.grows && lean);
}

}  // namespace rh::compute
