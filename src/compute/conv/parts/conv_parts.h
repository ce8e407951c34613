#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "compute/conv/conv_impl.h"
#include "compute/conv/parts/conv_parts_micro.h"

namespace rh::compute {

/// One axis of a kernel, its taps taken apart by phase of the stride and then into parts of three, two and one, so that two neighbouring
/// outputs share products: Winograd's F(2, 3) and F(2, 2), for stride 2 and 3 taps 5 products in place of 6. Of a dilated kernel, whose
/// stride is 1, the two outputs of a tile lie `apart`, and as many tiles follow each other.
class PartsAxis {
 public:
  /// Inputs a and b of a tile, as a + sign b, times one of weights().
  struct Term {
    int64_t a, b, sign;
    int64_t weight;
    PartsSlot slot;
  };
  /// A sum of taps.
  struct Weight {
    int64_t count;
    int64_t taps[3];
    double factors[3];
  };
  /// The tap, back from weights: weight[plus] - weight[minus], or the first alone where `minus` is negative.
  struct Tap {
    int64_t plus = 0, minus = -1;
  };

  PartsAxis(int64_t kernel, int64_t stride, int64_t apart = 1);

  /// By slot.
  const std::vector<Term>& terms() const { return terms_; }
  const std::vector<Weight>& weights() const { return weights_; }
  const std::vector<Tap>& taps() const { return taps_; }
  int64_t tile() const { return tile_; }                                                        ///< outputs
  int64_t apart() const { return apart_; }                                                      ///< the outputs of a tile
  int64_t step() const { return tile_ * stride_; }                                              ///< inputs from tile to tile
  int64_t reach() const { return stride_ * (tile_ - 1) + static_cast<int64_t>(taps_.size()); }  ///< inputs of a tile
  int slots() const { return slots_; }
  /// Whether `first` and `second` have weights in common.
  bool shares() const { return shares_; }
  int64_t terms_in(PartsSlot slot) const;

  int64_t tiles(int64_t outputs) const {
    return tile_ == 1 ? outputs : outputs / (2 * apart_) * apart_ + std::min(outputs % (2 * apart_), apart_);
  }
  /// Those that have a second output.
  int64_t second_tiles(int64_t outputs) const {
    return tile_ == 1 ? 0 : outputs / (2 * apart_) * apart_ + std::max<int64_t>(0, outputs % (2 * apart_) - apart_);
  }
  /// Where a tile's first output is.
  int64_t output_of(int64_t tile) const { return tile_ == 1 ? tile : tile + tile / apart_ * apart_; }
  /// Products for a line of outputs.
  int64_t products(int64_t outputs) const;

 private:
  int64_t stride_, apart_, tile_;
  int slots_ = 1;
  bool shares_ = false;
  std::vector<Term> terms_;
  std::vector<Weight> weights_;
  std::vector<Tap> taps_;
};

/// Both axes together: the sums of a tile are those of each pair of slots.
struct PartsLayout {
  explicit PartsLayout(const Window& kernel);

  /// Products that lie together, of inputs and of weights, `terms` of either.
  struct Run {
    int64_t input, weight, terms;
  };
  struct Slot {
    int64_t row, column;
    int64_t begin, terms;  ///< its terms of all
    std::vector<Run> runs;
  };

  /// Weights of all pairs, in their places: to[place * channels * width + i] of the taps [tap, width] of an input channel. `columns` takes
  /// what comes between: kernel rows x columns.weights() x width values. The width is at most 32.
  void spread(const float* taps, int64_t width, int64_t channels, double* columns, float* to) const;

  /// Of both axes.
  int64_t terms() const { return static_cast<int64_t>(rows.terms().size() * columns.terms().size()); }

  PartsAxis rows, columns;
  std::vector<int64_t> places;  ///< [weight of rows, weight of columns]: those of a slot follow each other as far as slots share none
  std::vector<Slot> slots;
};

/// Whether a convolution can go by parts.
bool conv_takes_parts(const ConvChannels& channels, const Window& window);

/// What a convolution by parts does, each by the products that a plain one takes of one plane of inputs and one output channel.
struct ConvPartsWork {
  double products;
  double inputs;   ///< values that are made of inputs, of one plane
  double outputs;  ///< sums and outputs, of one channel
  bool fits;       ///< what is made of the inputs of a row of tiles stays in the second-level cache until all channels have read it
};
ConvPartsWork conv_parts_work(const ConvChannels& channels, const Window& window);

/// Kernels of up to 16 taps and stride up to 8 in height and width, dilated along rows where they have but one and no stride, by Winograd's
/// F(2, 3) and F(2, 2) of their parts. As for Winograd's, each output depends on the inputs that it should and on no others.
std::unique_ptr<Convolution<float>::Impl> make_conv_parts(const ConvChannels& channels, const Window& window, const float* weights,
                                                          const float* bias, const Activation& activation);

}  // namespace rh::compute
