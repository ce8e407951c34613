#include "base/shared_bytes.h"
#include "compute/conv/conv_pack.h"
#include "compute/conv/winograd/conv_winograd_planes.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

constexpr int64_t kGroupBytes = 768 << 10;  // of transformed inputs that are kept for all output channels
constexpr int64_t kMaxGroupPanels = 12;

/// Products by the micro-kernels of ordinary products.
class ConvWinograd final : public WinogradPlanes {
 public:
  ConvWinograd(const ConvChannels& channels, const Window& window, const float* weights, const float* bias, const Activation& activation)
      : ConvWinograd(micro_kernels<float>(), channels, window, weights, bias, activation) {}

  size_t weight_bytes() const override { return weights_.size() * sizeof(float); }

 private:
  ConvWinograd(const MicroKernels<float>& kernels, const ConvChannels& channels, const Window& window, const float* weights,
               const float* bias, const Activation& activation)
      : WinogradPlanes(channels, window, bias, activation, {kernels.rows, kernels.lanes, kernels.columns}),
        kernels_(kernels),
        position_(in_ * kernels.columns + 16) {
    pack(weights);
  }

  void pack(const float* weights) {
    const int64_t pieces = channels_.groups * chunks_;
    const auto begin = [&](size_t index) {
      const int64_t piece = static_cast<int64_t>(index);
      const int64_t row = piece == pieces ? channels_.out : piece / chunks_ * out_ + rows_of(piece % chunks_).begin;
      return static_cast<size_t>(row * in_ * kPositions) * sizeof(float);
    };
    const auto write = [&](size_t index, void* memory) {
      const int64_t piece = static_cast<int64_t>(index), group = piece / chunks_;
      const Part rows = rows_of(piece % chunks_);
      float* to = static_cast<float*>(memory);
      pack_winograd(2, weights + (group * out_ + rows.begin) * in_ * 9, in_, rows.size, rows.size, to);
    };
    weights_ = SharedArray<float>(share_pieces({static_cast<size_t>(pieces), begin, write}, 0),
                                  static_cast<size_t>(channels_.out * in_ * kPositions));
  }

  /// Each chunk of output channels lies as [position, input channel, output channel].
  const float* weights_at(int64_t group, const Part& rows) const {
    return weights_.data() + (group * out_ + rows.begin) * in_ * kPositions;
  }

  float weight(int64_t group, int64_t chunk, int64_t row, int64_t position, int64_t input) const override {
    const Part rows = rows_of(chunk);
    return weights_at(group, rows)[(position * in_ + input) * rows.size + row];
  }

  int64_t most_panels() const override {
    return std::clamp<int64_t>(kGroupBytes / (kPositions * position_ * static_cast<int64_t>(sizeof(float))), 1, kMaxGroupPanels);
  }

  /// Inputs are panels of [position, channel, tile].
  void run_group(const Run& run, const Part& chunks) const override {
    const int64_t width = products_.columns, panels = run.panels(width);
    float* inputs = memory(ScratchSlot::packed_right, panels * kPositions * position_);
    transform_inputs(run, inputs, kPositions * position_, position_);
    for (int64_t i = chunks.begin; i < chunks.begin + chunks.size; ++i) {
      for (int64_t panel = 0; panel < panels; ++panel)
        run_block(run.panel(panel, width), i, inputs + panel * kPositions * position_, panel == 0 && i + 1 < chunks.begin + chunks.size);
    }
  }

  /// A chunk of output channels of at most a panel of tiles; `fetch_next` brings the next chunk's weights nearer.
  void run_block(const Run& run, int64_t chunk, const float* inputs, bool fetch_next) const {
    const Part rows = rows_of(chunk);
    const int64_t width = products_.columns, position = rows.size * width;
    float* sums = memory(ScratchSlot::packed_left, kPositions * position);
    MicroArgs<float> p{};
    p.k = in_;
    p.fold = kWinogradFold;
    p.a_row = 1;
    p.a_k = p.ahead_step = rows.size;
    p.b_k = width;
    p.c_row = width;
    p.columns = run.count <= products_.lanes ? products_.lanes : width;
    const auto kernel = (run.count <= products_.lanes ? kernels_.one : kernels_.two)[rows.size];
    const float* weights = weights_at(run.plane.group, rows);
    for (int64_t i = 0; i < kPositions; ++i) {
      p.a = weights + i * in_ * rows.size;
      p.b = inputs + i * position_;
      p.c = sums + i * position;
      if (fetch_next) p.ahead = p.a + kPositions * in_ * rows.size;
      kernel(p);
    }
    finish_block(run, chunk, sums, position);
  }

  const MicroKernels<float>& kernels_;
  const int64_t position_;  ///< between positions of transformed inputs; not a power of two
  SharedArray<float> weights_;
};

}  // namespace

std::unique_ptr<Convolution<float>::Impl> make_winograd(const ConvChannels& channels, const Window& window, const float* weights,
                                                        const float* bias, const Activation& activation) {
  return std::make_unique<ConvWinograd>(channels, window, weights, bias, activation);
}

}  // namespace rh::compute
