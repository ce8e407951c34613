#pragma once

#include "compute/conv/conv_impl.h"
#include "compute/move/interleave.h"

namespace rh::compute {

/// Planes of some channels with their padding, taken apart along each axis: phase i has every `step`-th element from i * shift on. Those of
/// shift 1 and as many as a step have each element once.
struct PhasedPlanes {
  int64_t step[3];
  int64_t count[3];  ///< phases
  int64_t shift[3];
  int64_t size[3];  ///< of a phase
  int64_t pad[3];   ///< before the first element; may be negative
  int64_t input[3];

  int64_t phases() const { return count[0] * count[1] * count[2]; }
  int64_t rows() const { return size[0] * size[1]; }

  /// Where the results go: to[channel * channel_step + phase * phase_step + row * size[2] + column].
  struct Target {
    float* to;
    int64_t channel_step, phase_step;
  };
  /// Rows `rows` of each phase, the first of which is row 0 of the target.
  void split(const float* x, int64_t channels, const Part& rows, const Target& target) const;

 private:
  /// Where the rows `rows` of a phase of the first two axes begin, -1 where they are padding.
  void find_rows(int64_t phase, const Part& rows, int64_t* from) const;
};

/// The convolution without dilation that each phase of one with dilation is: all of the sizes `w`, whose phases are padded already. Axes
/// without dilation stay as they are.
Window conv_phase_window(const Window& kernel, const Window& w);
/// How many phases the planes have, by the dilation of each axis.
int64_t conv_phase_count(const Window& kernel);
/// Dilated kernels of stride 1 as convolutions of every few pixels, whatever is the cheapest for those.
bool conv_has_phases(const ConvChannels& channels, const Window& window);
std::unique_ptr<Convolution<float>::Impl> make_conv_phases(const ConvChannels& channels, const Window& window, const float* weights,
                                                           const float* bias, const Activation& activation);

/// A row of `width` outputs from its `stride` phases, `apart` from each other, the first of which has its position 0.
template <typename S>
void join_phases(const S* phases, int64_t apart, int64_t stride, int64_t width, S* row) {
  interleave(phases, apart, stride, width / stride, sizeof(S), row);
  for (int64_t i = width / stride * stride; i < width; ++i) row[i] = phases[i % stride * apart + i / stride];
}

}  // namespace rh::compute
