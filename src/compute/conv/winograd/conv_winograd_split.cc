#include "base/cpu_features.h"
#include "base/shared_bytes.h"
#include "compute/conv/conv_pack.h"
#include "compute/conv/winograd/conv_winograd_planes.h"
#include "compute/gemm/gemm_split.h"
#include "compute/move/transpose_words.h"

namespace rh::compute {
namespace {

constexpr double kSpeed = 1.4;  // of products, beside multiply-add
// Panels of tiles that are worked out together: as many as half of the second-level cache holds the inputs and products of. Where that
// would be few, weights, which pass once a group, would take most of the time: then so many bytes are, and the cache holds one position
// alone.
constexpr int64_t kLeastPanels = 4, kMostPanels = 12, kMostFarPanels = 8, kFarBytes = 8 << 20;
// Between the products of positions, between whose transformed inputs too: not a power of two.
constexpr int64_t kPositionProducts = kSplitWidth * kSplitWidth + 16, kApart = 16;

/// Products by AMX tiles (gemm_split.h): transformed weights as rows in split form, transformed inputs as columns, split a position and a
/// block of input channels at a time, for all output channels.
class ConvWinogradSplit final : public WinogradPlanes {
 public:
  ConvWinogradSplit(const ConvChannels& channels, const Window& window, const float* weights, const float* bias,
                    const Activation& activation)
      : WinogradPlanes(channels, window, bias, activation, {kSplitWidth, kSplitWidth / 2, kSplitWidth, kSpeed, 6}),
        kernels_(micro_kernels_for_width<float>(kSplitWidth)),
        panel_(in_ * kSplitWidth),
        block_bytes_(split_steps(std::min(in_, kBlockK)) * kSplitStepBytes) {
    pack(weights);
  }

  size_t weight_bytes() const override { return weights_.size(); }

 private:
  void pack(const float* weights) {
    const size_t pieces = static_cast<size_t>(channels_.groups * chunks_), piece_bytes = kPositions * split_bytes(in_);
    const auto begin = [&](size_t piece) { return piece * piece_bytes; };
    const auto write = [&](size_t piece, void* to) {
      const int64_t group = static_cast<int64_t>(piece) / chunks_;
      const Part rows = rows_of(static_cast<int64_t>(piece) % chunks_);
      float* const columns = memory(ScratchSlot::packed_left, kPositions * in_ * rows.size);
      float* const ordered = memory(ScratchSlot::packed_right, in_ * rows.size);
      pack_winograd(2, weights + (group * out_ + rows.begin) * in_ * 9, in_, rows.size, rows.size, columns);
      for (int64_t position = 0; position < kPositions; ++position) {
        transpose_words(reinterpret_cast<const uint32_t*>(columns + position * in_ * rows.size), rows.size,
                        reinterpret_cast<uint32_t*>(ordered), in_, rows.size, in_);
        split_rows(ordered, rows.size, in_, static_cast<char*>(to) + static_cast<size_t>(position) * split_bytes(in_));
      }
    };
    weights_ = SharedArray<char>(share_pieces({pieces, begin, write}, 0), pieces * piece_bytes);
  }

  /// Of a chunk of a group's rows at a position, in split form.
  const char* weights_at(int64_t group, int64_t chunk, int64_t position) const {
    return weights_.data() + static_cast<size_t>((group * chunks_ + chunk) * kPositions + position) * split_bytes(in_);
  }

  float weight(int64_t group, int64_t chunk, int64_t row, int64_t position, int64_t input) const override {
    return split_row_value(weights_at(group, chunk, position), rows_of(chunk).size, in_, row, input);
  }

  int64_t most_panels() const override {
    const int64_t bytes = kPositions * kSplitWidth * (in_ + out_) * static_cast<int64_t>(sizeof(float));
    const int64_t near = cpu_features().l2_bytes / 2 / bytes;
    return near >= kLeastPanels ? std::min(near, kMostPanels) : std::clamp(kFarBytes / bytes, kLeastPanels, kMostFarPanels);
  }

  /// What the products of a group need.
  struct Group {
    int64_t index;  ///< of channels
    Part chunks;
    int64_t panels;
    const float* inputs;  ///< [position, panel, input channel, tile]
    int64_t apart;        ///< between positions of these
    char* steps;          ///< of a block of each panel
    float* joined;        ///< room for a block of weights
    float* products;      ///< [chunk, panel, position, output channel, tile]

    float* products_of(int64_t chunk, int64_t panel) const {
      return products + ((chunk - chunks.begin) * panels + panel) * kPositions * kPositionProducts;
    }
  };

  void run_group(const Run& run, const Part& chunks) const override {
    const int64_t panels = run.panels(kSplitWidth), apart = panels * panel_ + kApart;
    float* const inputs = memory(ScratchSlot::packed_right, kPositions * apart);
    transform_inputs(run, inputs, panel_, apart);
    clear_rest(run, inputs, apart);
    const size_t steps_bytes = static_cast<size_t>(panels * block_bytes_), joined_bytes = kSplitBlockValues * sizeof(float);
    char* const steps = static_cast<char*>(thread_scratch(ScratchSlot::split, steps_bytes + joined_bytes));
    float* const products = memory(ScratchSlot::packed_left, chunks.size * panels * kPositions * kPositionProducts);
    const Group group{run.plane.group, chunks, panels, inputs, apart, steps, reinterpret_cast<float*>(steps + steps_bytes), products};
    multiply(group);
    for (int64_t chunk = chunks.begin; chunk < chunks.begin + chunks.size; ++chunk) {
      for (int64_t i = 0; i < panels; ++i) finish_block(run.panel(i, kSplitWidth), chunk, group.products_of(chunk, i), kPositionProducts);
    }
  }

  /// Tiles that the last panel does not have: what lies there would count among its magnitudes.
  void clear_rest(const Run& run, float* inputs, int64_t apart) const {
    const int64_t live = run.count % kSplitWidth;
    if (live == 0) return;
    for (int64_t position = 0; position < kPositions; ++position) {
      float* const last = inputs + position * apart + run.count / kSplitWidth * panel_;
      for (int64_t input = 0; input < in_; ++input) std::fill(last + input * kSplitWidth + live, last + (input + 1) * kSplitWidth, 0.0f);
    }
  }

  void multiply(const Group& group) const {
    const int64_t blocks = split_blocks(in_), end = group.chunks.begin + group.chunks.size;
    SplitBlock right[kMostPanels];
    TileScope tiles;
    for (int64_t position = 0; position < kPositions; ++position) {
      for (int64_t block = 0; block < blocks; ++block) {
        split_inputs(group, position, block, right);
        for (int64_t chunk = group.chunks.begin; chunk < end; ++chunk) {
          // The next chunk's weights, after the last one the first one's of the next block or position.
          const bool more = chunk + 1 < end, more_blocks = block + 1 < blocks;
          const int64_t next_block = more ? block : more_blocks ? block + 1 : 0;
          const int64_t next_position = more || more_blocks ? position : (position + 1) % kPositions;
          const char* const next = weights_at(group.index, more ? chunk + 1 : group.chunks.begin, next_position) +
                                   static_cast<size_t>(next_block) * kSplitBlockBytes;
          multiply_chunk(group, {position, block, chunk, next}, right, tiles);
        }
      }
    }
  }

  void split_inputs(const Group& group, int64_t position, int64_t block, SplitBlock* right) const {
    const Part ks = split_block_of(in_, block);
    for (int64_t i = 0; i < group.panels; ++i) {
      const float* const values = group.inputs + position * group.apart + i * panel_ + ks.begin * kSplitWidth;
      char* const to = group.steps + i * block_bytes_;
      right[i] = {kAmxKernels.split_right(values, kSplitWidth, ks.size, to), to, values};
    }
  }

  /// A chunk's weights of a block at a position, and those that are wanted next.
  struct Weights {
    int64_t position, block, chunk;
    const char* next;
  };

  void multiply_chunk(const Group& group, const Weights& w, const SplitBlock* right, TileScope& tiles) const {
    const Part rows = rows_of(w.chunk), ks = split_block_of(in_, w.block);
    const SplitBlock left = split_block(weights_at(group.index, w.chunk, w.position), in_, w.block);
    const int64_t steps = split_steps(ks.size);
    alignas(64) float sums[kSplitWidth * kSplitWidth];
    tiles.set_rows(rows.size);
    for (int64_t i = 0; i < group.panels; ++i) {
      float* const to = group.products_of(w.chunk, i) + w.position * kPositionProducts;
      MicroArgs<float> tile{};
      tile.c = to;
      tile.c_row = kSplitWidth;
      tile.columns = kSplitWidth;
      tile.beta = w.block == 0 ? 0.0f : 1.0f;
      if (fits_split(left.magnitudes, right[i].magnitudes)) {
        kAmxKernels.multiply_six(steps, left.steps, right[i].steps, rows.size, w.block == 0 ? to : sums,
                                 share_ahead(w.next, steps * kSplitStepBytes, steps, i, group.panels));
        if (w.block > 0) kAmxKernels.finish(tile, rows.size, sums);
        continue;
      }
      if (!left.values) kAmxKernels.join_left(left.steps, rows.size, ks.size, group.joined);
      tile.k = ks.size;
      tile.fold = kWinogradFold;
      tile.a = left.values ? left.values : group.joined;
      tile.a_row = ks.size;
      tile.a_k = 1;
      tile.b = right[i].values;
      tile.b_k = kSplitWidth;
      multiply_add(kernels_, tile, rows.size);
    }
  }

  const MicroKernels<float>& kernels_;
  const int64_t panel_;        ///< values of the inputs of a panel at a position
  const int64_t block_bytes_;  ///< of a panel's steps
  SharedArray<char> weights_;
};

}  // namespace

std::unique_ptr<Convolution<float>::Impl> make_winograd_split(const ConvChannels& channels, const Window& window, const float* weights,
                                                              const float* bias, const Activation& activation) {
  return std::make_unique<ConvWinogradSplit>(channels, window, weights, bias, activation);
}

}  // namespace rh::compute
