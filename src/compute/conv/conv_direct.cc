#include "compute/conv/conv_direct.h"

#include <algorithm>
#include <vector>

#include "base/cancellation.h"
#include "base/shared_bytes.h"
#include "compute/conv/conv_phases.h"
#include "compute/gemm/gemm_kernels.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

constexpr int64_t kRows = 4;  // output channels that the micro-kernel takes at a time
constexpr int64_t kMostTaps = 128, kMostStride = 4, kMostChannels = 64;
constexpr int64_t kBandBytes = 384 << 10;  // of staged planes and of sums
constexpr int64_t kImageChannels = 4;      // up to which inputs are taken to be images: see kImageFold

/// How planes lie once staged: along each axis phases of the stride, each with the rows or columns that its outputs read, or a phase for
/// each tap, which has those of the outputs and no more.
struct StagedPlanes : PhasedPlanes {
  bool by_tap[3];

  StagedPlanes(const Window& kernel, const Window& w, bool rows_by_tap, bool columns_by_tap)
      : PhasedPlanes{}, by_tap{false, rows_by_tap, columns_by_tap} {
    for (int d = 0; d < 3; ++d) {
      step[d] = kernel.stride[d];
      count[d] = by_tap[d] ? kernel.kernel[d] : step[d];
      shift[d] = by_tap[d] ? kernel.dilation[d] : 1;
      size[d] = w.output[d] + (by_tap[d] ? 0 : (kernel.kernel[d] - 1) * kernel.dilation[d] / step[d]);
      pad[d] = w.pad_begin[d];
      input[d] = w.input[d];
    }
  }

  /// Rows of outputs, with the ones between two depths that are none.
  int64_t output_rows(const Window& w) const { return (w.output[0] - 1) * size[1] + w.output[1]; }
};

/// As many rows of outputs as may be staged together.
int64_t rows_of_band(const ConvChannels& channels, const StagedPlanes& planes, int64_t reach) {
  const int64_t row =
      (channels.in * planes.phases() + channels.out) / channels.groups * planes.size[2] * static_cast<int64_t>(sizeof(float));
  return std::max({kBandBytes / std::max<int64_t>(1, row) - reach, reach, int64_t{4}});
}

ConvDirectWork work_of(const ConvChannels& channels, const Window& w, const StagedPlanes& planes) {
  const double outputs = static_cast<double>(std::max<int64_t>(1, w.output_size()));
  const int64_t rows = planes.output_rows(w), reach = planes.rows() - rows, lanes = conv_tap_kernels().lanes, width = planes.size[2];
  const int64_t again = (pieces_of(rows, rows_of_band(channels, planes, reach)) - 1) * reach;
  const bool halves = planes.step[2] == 2 && 2 * width == lanes;
  const int64_t vectors = planes.phases() * (planes.rows() + again) * pieces_of(width, lanes) / (halves ? 2 : 1);
  const int64_t sums = pieces_of((rows - 1) * width + w.output[2], lanes);
  return {static_cast<double>(sums * lanes) / outputs, static_cast<double>(vectors * lanes) / outputs};
}

/// What takes least.
StagedPlanes staged_planes(const ConvChannels& channels, const Window& kernel, const Window& w) {
  constexpr double kStaged = 11;  // products that an element staged costs
  const double products = static_cast<double>(channels.out / channels.groups * kernel.kernel_size());
  const auto cost = [&](const StagedPlanes& planes) {
    const ConvDirectWork work = work_of(channels, w, planes);
    return work.outputs * products + work.inputs * kStaged;
  };
  StagedPlanes best(kernel, w, false, false);
  if (w.output[0] * w.output[1] == 1) return best;  // a row
  for (const auto& [rows, columns] : {std::pair{false, true}, {true, false}, {true, true}}) {
    if (rows && w.output[0] == 1) continue;  // nothing lies between planes
    const StagedPlanes planes(kernel, w, rows, columns);
    if (cost(planes) < cost(best)) best = planes;
  }
  return best;
}

/// Into how many pieces some sums are worth cutting, for each of which rows are staged again: one for each thread, or two, which even out
/// what else the processors have to do.
int64_t pieces_for_threads(double operations, int threads) {
  constexpr double kPiece = 2e5;  // operations that outweigh handing them over
  const double affordable = operations / kPiece;
  if (threads <= 1 || affordable < 2) return 1;
  return affordable < threads ? static_cast<int64_t>(affordable) : affordable < 4.0 * threads ? threads : 2 * threads;
}

class ConvDirect final : public Convolution<float>::Impl {
 public:
  ConvDirect(const ConvChannels& channels, const Window& window, const float* weights, const float* bias, const Activation& activation)
      : channels_(channels),
        window_(window),
        activation_(activation),
        clamp_(activation),
        taps_(conv_tap_kernels()),
        in_(channels.in / channels.groups),
        out_(channels.out / channels.groups),
        k_(in_ * window.kernel_size()),
        chunks_(pieces_of(out_, kRows)),
        bias_(static_cast<size_t>(channels.out)) {
    if (bias) std::copy_n(bias, channels.out, bias_.data());
    pack(weights);
  }

  size_t weight_bytes() const override { return weights_.size() * sizeof(float); }

  void run(const ConvCall<float>& call, const Parallel& parallel) const override {
    const int64_t pieces = pieces_of_row(call, parallel.threads());
    if (pieces > 1) return run_row(call, pieces, parallel);
    const Plan plan(*this, call.window, call.batch * channels_.groups, parallel.threads());
    const double work = static_cast<double>(plan.rows * plan.row * k_ * out_) / static_cast<double>(plan.bands);
    parallel.for_range(call.batch * channels_.groups * plan.bands, {.bytes = 0, .operations = 0.25 * work}, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i)
        run_band(call, plan, i / plan.bands, share_of(plan.rows, plan.bands, i % plan.bands));
    });
  }

 private:
  /// Into how many pieces the only row of outputs is cut, if there is but one: what is staged of each stays near, and threads share them.
  int64_t pieces_of_row(const ConvCall<float>& call, int threads) const {
    constexpr int64_t kLeastOutputs = 256;
    const Window& w = call.window;
    if (w.output[0] * w.output[1] != 1) return 1;
    const int64_t bytes = (in_ * window_.stride[2] + out_) * w.output[2] * static_cast<int64_t>(sizeof(float));
    const int64_t wanted = std::max(pieces_of(bytes, kBandBytes), threads > 1 ? pieces_of(2 * threads, call.batch * channels_.groups) : 1);
    return std::min(wanted, std::max<int64_t>(1, w.output[2] / kLeastOutputs));
  }

  void run_row(const ConvCall<float>& call, int64_t pieces, const Parallel& parallel) const {
    const Window& w = call.window;
    const int64_t lanes = taps_.lanes, vectors = pieces_of(w.output[2], lanes);
    const double work = static_cast<double>(w.output[2] * k_ * out_) / static_cast<double>(pieces);
    parallel.for_range(call.batch * channels_.groups * pieces, {.bytes = 0, .operations = 0.25 * work}, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) {
        const Part part = share_of(vectors, pieces, i % pieces);
        Window own = w;
        own.output[2] = std::min(part.size * lanes, w.output[2] - part.begin * lanes);
        own.pad_begin[2] -= part.begin * lanes * window_.stride[2];
        Plan plan(*this, own, 1, 1);
        plan.column = part.begin * lanes;
        run_band(call, plan, i / pieces, {0, 1});
      }
    });
  }

  /// How planes of some sizes are staged. Rows of outputs are those of a phase.
  struct Plan {
    StagedPlanes planes;
    int64_t row;    ///< elements
    int64_t rows;   ///< of outputs
    int64_t reach;  ///< rows that are staged beyond those of the outputs
    int64_t bands;
    int64_t width;       ///< of a row of outputs, without what lies between
    int64_t column = 0;  ///< of the call's outputs that is the first one here

    Plan(const ConvDirect& conv, const Window& w, int64_t products, int threads)
        : planes(staged_planes(conv.channels_, conv.window_, w)),
          row(planes.size[2]),
          rows(planes.output_rows(w)),
          reach(planes.rows() - rows),
          width(w.output[2]) {
      bands = pieces_of(rows, rows_of_band(conv.channels_, planes, reach));
      const int64_t wanted = pieces_for_threads(static_cast<double>(rows * row * conv.k_ * conv.out_ * products), threads);
      const int64_t most = pieces_of(rows, 4);
      if (products * bands < wanted) bands = std::max(bands, std::min(most, pieces_of(wanted, products)));
      if (products == 1 && wanted >= threads && bands % threads != 0) {  // as many for each thread
        const int64_t even = pieces_of(bands, threads) * threads;
        if (even <= most) {
          bands = even;
        } else if (bands > threads) {
          bands = bands / threads * threads;
        }
      }
    }
  };

  /// [input channel, tap, output channel] of each chunk of output channels.
  void pack(const float* weights) {
    const int64_t pieces = channels_.groups * chunks_;
    const auto begin = [&](size_t piece) {
      const int64_t i = static_cast<int64_t>(piece);
      return static_cast<size_t>((i / chunks_ * out_ + part_of(out_, chunks_, i % chunks_).begin) * k_) * sizeof(float);
    };
    const auto write = [&](size_t piece, void* memory) {
      const int64_t i = static_cast<int64_t>(piece);
      const Part rows = part_of(out_, chunks_, i % chunks_);
      const float* const from = weights + (i / chunks_ * out_ + rows.begin) * k_;
      float* to = static_cast<float*>(memory);
      for (int64_t k = 0; k < k_; ++k)
        for (int64_t r = 0; r < rows.size; ++r) *to++ = from[r * k_ + k];
    };
    weights_ = SharedArray<float>(share_pieces({static_cast<size_t>(pieces), begin, write}, 0), static_cast<size_t>(channels_.out * k_));
  }

  /// Some rows of outputs of one group of an image, with what they read.
  struct Band {
    const Plan& plan;
    Part rows;
    int64_t group;
    const float* staged;
    int64_t channel;  ///< between staged channels
    int64_t offsets[kMostTaps];
    float* sums;
    int64_t sums_row;

    int64_t outputs() const { return (rows.size - 1) * plan.row + plan.width; }
  };

  void run_band(const ConvCall<float>& call, const Plan& plan, int64_t product, const Part& rows) const {
    throw_if_cancelled();
    const int64_t group = product % channels_.groups, image = product / channels_.groups, lanes = taps_.lanes;
    const int64_t phase = (rows.size + plan.reach) * plan.row, slack = taps_.vectors * lanes;
    Band band{plan,
              rows,
              group,
              nullptr,
              plan.planes.phases() * phase + lanes,
              {},
              nullptr,
              pieces_of(rows.size * plan.row, lanes) * lanes + lanes};
    find_offsets(band, phase);
    float* const staged = scratch_floats(ScratchSlot::image, in_ * band.channel + slack);
    const float* const x = call.x + (image * channels_.in + group * in_) * call.window.input_size();
    plan.planes.split(x, in_, {rows.begin, rows.size + plan.reach}, {staged, band.channel, phase});
    band.staged = staged;
    band.sums = scratch_floats(ScratchSlot::row, out_ * band.sums_row + slack);
    const int64_t outputs = band.outputs(), half = taps_.vectors / 2;
    for (int64_t at = 0, vectors = 1; at < outputs; at += vectors * lanes) {
      const int64_t left = outputs - at;
      vectors = left >= taps_.vectors * lanes || left > half * lanes ? taps_.vectors : left > lanes ? half : 1;
      if (vectors * lanes > outputs) vectors = half * lanes <= outputs ? half : 1;
      multiply(band, std::max<int64_t>(0, std::min(at, outputs - vectors * lanes)), vectors);  // the last ones end where the rows do
    }
    finish(call, band, (image * channels_.out + group * out_) * call.window.output_size() + plan.column);
  }

  void find_offsets(Band& band, int64_t phase) const {
    const StagedPlanes& planes = band.plan.planes;
    int64_t* to = band.offsets;
    for (int64_t tap = 0; tap < window_.kernel_size(); ++tap) {
      const int64_t taps[3] = {tap / (window_.kernel[1] * window_.kernel[2]), tap / window_.kernel[2] % window_.kernel[1],
                               tap % window_.kernel[2]};
      int64_t of = 0, at = 0;
      for (int d = 0; d < 3; ++d) {
        const int64_t shift = taps[d] * window_.dilation[d];
        of = of * planes.count[d] + (planes.by_tap[d] ? taps[d] : shift % planes.step[d]);
        at = at * planes.size[d] + (planes.by_tap[d] ? 0 : shift / planes.step[d]);
      }
      *to++ = of * phase + at;
    }
  }

  /// The sums of some vectors of outputs of all channels, so many products at a time.
  void multiply(const Band& band, int64_t at, int64_t vectors) const {
    const int64_t taps = window_.kernel_size(), fold = in_ <= kImageChannels ? kImageFold : kConvFold;
    const int64_t together = std::max<int64_t>(1, (fold + taps / 2) / taps), parts = pieces_of(taps, fold + fold / 2);
    TapProducts p{};
    p.vectors = vectors;
    p.channel_step = band.channel;
    p.sums_row = band.sums_row;
    for (int64_t channel = 0; channel < in_; channel += together) {
      for (int64_t i = 0; i < parts; ++i) {
        const Part part = part_of(taps, parts, i);
        p.channels = std::min(together, in_ - channel);
        p.x = band.staged + channel * band.channel + at;
        p.offsets = band.offsets + part.begin;
        p.taps = part.size;
        for (int64_t chunk = 0; chunk < chunks_; ++chunk) {
          const Part rows = part_of(out_, chunks_, chunk);
          const int64_t first = band.group * out_ + rows.begin;
          p.rows = rows.size;
          p.weights = weights_.data() + first * k_ + (channel * taps + part.begin) * rows.size;
          p.start = channel == 0 && i == 0 ? bias_.data() + first : nullptr;
          p.sums = band.sums + rows.begin * band.sums_row + at;
          taps_.products(p);
        }
      }
    }
  }

  void finish(const ConvCall<float>& call, const Band& band, int64_t y) const {
    const Window& w = call.window;
    const int64_t height = band.plan.planes.size[1], plane = w.output_size(), end = band.rows.begin + band.rows.size;
    for (int64_t row = band.rows.begin; row < end;) {
      const int64_t depth = row / height, h = row % height, count = std::min(w.output[1] - h, end - row);
      if (count > 0) {
        TapOutputs p{};
        p.sums_row = band.plan.row;
        p.width = band.plan.width;
        p.rows = count;
        p.low = clamp_.low;
        p.high = clamp_.high;
        const int64_t first = y + (depth * w.output[1] + h) * w.output[2];
        for (int64_t channel = 0; channel < out_; ++channel) {
          p.sums = band.sums + channel * band.sums_row + (row - band.rows.begin) * band.plan.row;
          p.y = call.y + first + channel * plane;
          p.residual = call.residual ? call.residual + first + channel * plane : nullptr;
          taps_.outputs(p);
        }
        finish_channels(clamp_.activates, activation_, band.group * out_, call.y + first, out_, count * p.width, plane,
                        call.addend_at(first));
      }
      row = (depth + 1) * height;
    }
  }

  const ConvChannels channels_;
  const Window window_;
  const Activation activation_;
  const Clamp clamp_;
  const TapKernels& taps_;
  const int64_t in_, out_, k_, chunks_;
  PackedVector<float> bias_;
  SharedArray<float> weights_;
};

}  // namespace

ConvDirectWork conv_direct_work(const ConvChannels& channels, const Window& w) {
  return work_of(channels, w, staged_planes(channels, w, w));
}

bool conv_fits_direct(const ConvChannels& channels, const Window& w) {
  const bool depthwise = channels.groups == channels.in && channels.in == channels.out && channels.groups > 1;
  const int64_t in = channels.in / channels.groups;
  return !depthwise && in > 0 && in <= kMostChannels && channels.out > 0 && w.kernel_size() > 1 && w.kernel_size() <= kMostTaps &&
         std::ranges::all_of(w.stride, [](int64_t stride) { return stride <= kMostStride; });
}

std::unique_ptr<Convolution<float>::Impl> make_conv_direct(const ConvChannels& channels, const Window& window, const float* weights,
                                                           const float* bias, const Activation& activation) {
  return std::make_unique<ConvDirect>(channels, window, weights, bias, activation);
}

}  // namespace rh::compute
