#include "compute/conv/conv_variants.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/cpu_features.h"
#include "base/inline_vector.h"
#include "base/shared_bytes.h"
#include "compute/conv/blocked/conv_blocked_micro.h"
#include "compute/conv/conv_direct.h"
#include "compute/conv/conv_fip.h"
#include "compute/conv/conv_gather.h"
#include "compute/conv/conv_phases.h"
#include "compute/conv/parts/conv_parts.h"
#include "compute/gemm/amx.h"
#include "compute/gemm/gemm_amx.h"

namespace rh::compute {
namespace {

struct MachineClass {
  bool (*is)(const CpuFeatures& cpu);
  ConvCosts costs;
};

constexpr ConvCosts costs_with(double winograd_pixels, double parts_far = 1.7, double fip = 0.77) {
  return {.gemm_by_out = 7,
          .pixels_by_out = 9,
          .pixels_by_products = 10,
          .half_panel = 0.58,
          .winograd = 0.44,
          .winograd_pixels = winograd_pixels,
          .winograd_4x4 = 0.26,
          .winograd_by_least = 8,
          .parts_far = parts_far,
          .fip = fip};
}

/// AMD's processors that work on vectors of 512 bits by halves.
constexpr ConvCosts costs_by_halves() {
  ConvCosts costs = costs_with(0.42, 1.0, 0.8);
  costs.direct_inputs = 5;
  costs.direct_outputs = 8;
  costs.turned_in_line = 6;  // not measured there: half of what it is where products take half as long
  costs.fip_in_line = 3.5;
  costs.fip_cut_in_line = 10;
  costs.fip_scaling = 11;
  costs.fip_cutting = 1;
  costs.fip_by_products = 8;
  return costs;
}

/// Vectors of 256 bits, of which there are 16: micro-kernels of six rows.
constexpr ConvCosts costs_with_avx2() {
  ConvCosts costs = costs_with(0.41);
  costs.pixels_ready = 1.06;
  costs.gemm_staged = 11;
  costs.gemm_staged_row = 0;
  costs.gemm_strided = 1;
  costs.gemm_by_products = 0;
  costs.turned_in_line = 0;
  costs.direct_inputs = 5;
  costs.gathered_in_line = 2.5;
  return costs;
}

// The first that a machine is. Measured with AVX-512, and with AVX2 on a Zen 4; the others are taken to be alike.
constexpr MachineClass kMachines[] = {
    {[](const CpuFeatures& cpu) { return cpu.avx512 && cpu.near_l3 && cpu.half_vectors; }, costs_by_halves()},
    {[](const CpuFeatures& cpu) { return cpu.avx512 && cpu.near_l3; }, costs_with(0.42, 1.0)},
    {[](const CpuFeatures& cpu) { return cpu.avx512; }, costs_with(0.42)},
    {[](const CpuFeatures& cpu) { return cpu.avx2; }, costs_with_avx2()},
    {[](const CpuFeatures&) { return true; }, costs_with(0.42)},
};

const ConvCosts& costs_here() {
  const CpuFeatures& cpu = cpu_features();
  return std::ranges::find_if(kMachines, [&](const MachineClass& machine) { return machine.is(cpu); })->costs;
}

constexpr int64_t kLeastWinogradChannels = 16;  // on either side
constexpr int64_t kLeastPixelProducts = 96;     // of a sum
constexpr int64_t kLeastFipPixels = 14;

/// Panels of `count` columns that are worked out, by those that are asked for.
double filling(int64_t count, const ConvCosts& costs) {
  const MicroKernels<float>& kernels = micro_kernels<float>();
  const double panels = static_cast<double>(count / kernels.columns), rest = static_cast<double>(count % kernels.columns);
  const double last = rest == 0 ? 0 : rest > static_cast<double>(kernels.lanes) ? 1 : costs.half_panel;
  return (panels + last) * static_cast<double>(kernels.columns) / static_cast<double>(count);
}

/// Reading weights, as many as a model has times `more`, for each product.
double reading(const Window& w, const ConvCosts& costs, double more = 1) {
  return more * costs.weights / static_cast<double>(std::max<int64_t>(1, w.output_size()));
}

/// Whether pixels are brought together; else they lie ready.
bool gathers(const Window& w) { return w.kernel_size() > 1 || w.stride[2] > 1; }

/// Whether planes lie a multiple of 2 KiB apart, so that the lines of a pixel's channels take each other's place in the cache.
bool begin_in_line(const Window& w) {
  constexpr int64_t kFloats = 512;
  return w.input_size() % kFloats == 0;
}

/// The share of lines that take each other's place where one value of each of many planes is read or written: all of them in planes that
/// lie a multiple of 4 KiB apart, half of 2 KiB.
double in_line(int64_t plane) {
  constexpr int64_t kFloats = 1024;
  return plane % kFloats == 0 ? 1 : plane % (kFloats / 2) == 0 ? 0.5 : 0;
}

/// What is worked out by whole vectors, of a row of `count`, by what is asked for.
double row_filling(int64_t count) {
  const int64_t lanes = micro_kernels<float>().lanes;
  return static_cast<double>(pieces_of(count, lanes) * lanes) / static_cast<double>(std::max<int64_t>(1, count));
}

/// Of the kernel's depths those that lie in the input, on the mean of all outputs: products of the others are left out by some ways.
double depths_within(const Window& w) {
  constexpr int64_t kMostTaps = 1024;  // of more the first ones tell
  int64_t within = 0;
  const int64_t taps = std::min<int64_t>(w.kernel[0], kMostTaps);
  for (int64_t tap = 0; tap < taps; ++tap) {
    const int64_t at = tap * w.dilation[0] - w.pad_begin[0];  // of the first output
    const int64_t first = at >= 0 ? 0 : pieces_of(-at, w.stride[0]);
    const int64_t end = at >= w.input[0] ? 0 : std::min(w.output[0], pieces_of(w.input[0] - at, w.stride[0]));
    within += std::max<int64_t>(0, end - first);
  }
  return std::max(1.0, static_cast<double>(within)) / std::max(1.0, static_cast<double>(w.output[0]) * static_cast<double>(taps));
}

/// Reading inputs that as a rule takes `usual`.
double reading_planes(const Window& w, double usual, const ConvCosts& costs) {
  return usual * (begin_in_line(w) ? costs.gathered_in_line : 1);
}

/// The same of pixels that are gathered.
double gathering(const Window& w, double usual, const ConvCosts& costs) { return gathers(w) ? reading_planes(w, usual, costs) : 0; }

int64_t in_of(const ConvChannels& c) { return c.in / c.groups; }
int64_t out_of(const ConvChannels& c) { return c.out / c.groups; }

bool is_depthwise(const ConvChannels& c, const Window&) { return c.groups == c.in && c.in == c.out && c.groups > 1; }

/// Planes that are summed up: input channels at each depth of the kernel.
int64_t planes_of(const ConvChannels& c, const Window& w) { return in_of(c) * w.kernel[0]; }

bool fits_winograd(const ConvChannels& c, const Window& w) {
  for (int d = 1; d < 3; ++d)
    if (w.kernel[d] != 3 || w.stride[d] != 1 || w.dilation[d] != 1) return false;
  return planes_of(c, w) >= kLeastWinogradChannels && out_of(c) >= kLeastWinogradChannels;
}

double winograd_transforms(const ConvChannels& c, const Window& w, const ConvCosts& costs) {
  return costs.winograd_by_least / static_cast<double>(std::min(planes_of(c, w), out_of(c)));
}
constexpr double kWinogradWeights = 16.0 / 9, kWinogradWeights4x4 = 36.0 / 9;

/// Tiles of a plane of size x size outputs each, and outputs of whole tiles by those that are asked for.
int64_t winograd_tiles(const Window& w, int64_t size) {
  return std::max<int64_t>(1, (w.output[1] + size - 1) / size * ((w.output[2] + size - 1) / size));
}
double winograd_edges(const Window& w, int64_t size) {
  return static_cast<double>(size * size * winograd_tiles(w, size)) / static_cast<double>(std::max<int64_t>(1, w.output[1] * w.output[2]));
}

double winograd_cost(const ConvChannels& c, const Window& w, const ConvCosts& costs) {
  const double vectors = (1 + row_filling((w.output[2] + 1) / 2)) / 2;  // inputs come by rows of tiles, sums by all of a plane
  return winograd_edges(w, 2) * (costs.winograd * filling(winograd_tiles(w, 2), costs) + vectors * winograd_transforms(c, w, costs)) +
         reading(w, costs, kWinogradWeights);
}

bool fits_winograd_pixels(const ConvChannels& c, const Window& w) {
  return fits_winograd(c, w) && out_of(c) >= micro_kernels<float>().columns;
}

/// Panels of channels that are worked out, by those that are asked for.
double winograd_panels(const ConvChannels& c) {
  const int64_t width = micro_kernels<float>().columns, panels = (out_of(c) + width - 1) / width;
  return static_cast<double>(panels * width) / static_cast<double>(out_of(c));
}

double winograd_pixels_cost(const ConvChannels& c, const Window& w, const ConvCosts& costs) {
  return winograd_edges(w, 2) * (costs.winograd_pixels * winograd_panels(c) + winograd_transforms(c, w, costs)) +
         reading(w, costs, kWinogradWeights);
}

bool fits_winograd_fip(const ConvChannels& c, const Window& w) { return fip_kernels() && fits_winograd_pixels(c, w); }

double winograd_fip_cost(const ConvChannels& c, const Window& w, const ConvCosts& costs) {
  const double products = costs.fip + costs.fip_winograd / static_cast<double>(out_of(c)) +
                          costs.fip_winograd / static_cast<double>(planes_of(c, w)) +
                          costs.fip_by_tiles / static_cast<double>(winograd_tiles(w, 2));
  return winograd_edges(w, 2) * (costs.winograd_pixels * winograd_panels(c) * products + winograd_transforms(c, w, costs)) +
         reading(w, costs, kWinogradWeights);
}

bool fits_winograd_amx(const ConvChannels& c, const Window& w) { return amx_usable() && fits_winograd(c, w); }

/// Out of what products by tiles cost elsewhere, and what Winograd's transformations do: it was not measured on a processor with AMX, so
/// that it is taken only where it is to cost a tenth less than any other way. `roundhouse tune` measures.
double winograd_amx_cost(const ConvChannels& c, const Window& w, const ConvCosts& costs) {
  constexpr double kProducts = 16.0 / 36, kMargin = 1 / 0.9;
  const double tiles = static_cast<double>(winograd_tiles(w, 2)), columns = std::ceil(tiles / kSplitWidth) * kSplitWidth / tiles;
  const double in = static_cast<double>(planes_of(c, w)), out = static_cast<double>(out_of(c));
  const double rows = std::ceil(out / kSplitWidth) * kSplitWidth / out;
  const double products = columns * (rows * (costs.amx + costs.amx_by_products / in) + costs.amx_by_out / out);
  const double weights = kWinogradWeights * costs.amx_by_pixels / static_cast<double>(std::max<int64_t>(1, w.output_size()));
  return kMargin * (winograd_edges(w, 2) * (kProducts * products + winograd_transforms(c, w, costs)) + weights);
}

/// Fewer tiles than a few of the micro-kernel's leave its weights, four times those of 3x3, too little to do.
bool fits_winograd_4x4(const ConvChannels& c, const Window& w) {
  return fits_winograd_pixels(c, w) && winograd_tiles(w, 4) >= 3 * micro_kernels<float>().rows;
}

double winograd_4x4_cost(const ConvChannels& c, const Window& w, const ConvCosts& costs) {
  return winograd_edges(w, 4) * (costs.winograd_4x4 * winograd_panels(c) + winograd_transforms(c, w, costs)) +
         reading(w, costs, kWinogradWeights4x4);
}

/// Kernels of few products less have other ways that transform less.
bool fits_parts(const ConvChannels& c, const Window& w) {
  constexpr double kMostProducts = 0.85;
  return conv_takes_parts(c, w) && !fits_winograd(c, w) && conv_parts_work(c, w).products <= kMostProducts;
}

double parts_cost(const ConvChannels& c, const Window& w, const ConvCosts& costs) {
  const ConvPartsWork work = conv_parts_work(c, w);
  const double products = costs.parts * work.products * winograd_panels(c) * (work.fits ? 1 : costs.parts_far);
  const double chunks = w.dilation[2] > 1 ? costs.parts_chunks / static_cast<double>(w.dilation[2] * out_of(c) * w.kernel_size()) : 0;
  return products + chunks + reading_planes(w, costs.parts_inputs, costs) * work.inputs / static_cast<double>(out_of(c)) +
         costs.parts_outputs * work.outputs / static_cast<double>(planes_of(c, w)) + reading(w, costs, kWinogradWeights);
}

bool fits_pixels(const ConvChannels& c, const Window& w) {
  const MicroKernels<float>& kernels = micro_kernels<float>();
  return !is_depthwise(c, w) && kernels.rows <= kernels.lanes && out_of(c) >= kernels.columns &&
         in_of(c) * w.kernel_size() >= kLeastPixelProducts;
}

bool fits_paired(const ConvChannels& c, const Window& w) {
  return conv_pairs(c, w, w) && in_of(c) >= kLeastWinogradChannels && out_of(c) >= kLeastWinogradChannels;
}

double paired_cost(const ConvChannels& c, const Window& w, const ConvCosts& costs) {
  return conv_pair_products(w) + costs.winograd_by_least / static_cast<double>(std::min(in_of(c), out_of(c)));
}

/// Products whose input lies in the image, by all; those at the rim are taken to be 1 in 10 of the others.
double share_within(const Window& w) {
  double share = 1;
  for (int d = 1; d < 3; ++d) {
    int64_t within = 0;
    for (int64_t tap = 0; tap < w.kernel[d]; ++tap) {
      const int64_t shift = std::abs(tap * w.dilation[d] - w.pad_begin[d]);
      within += std::max<int64_t>(0, w.input[d] - shift);
    }
    share *= std::min(1.0, 1.1 * static_cast<double>(within) / static_cast<double>(w.kernel[d] * w.input[d]));
  }
  return share;
}

/// Whether pixels are long frames of one signal, which are read where they lie.
bool are_frames(const ConvChannels& c, const Window& w) {
  constexpr int64_t kLeastFrame = 64;
  return reads_one_row(c, w, w) && w.kernel[2] >= kLeastFrame;
}

/// Bringing sums, whose channels follow each other, into planes.
double turning(const Window& w, const ConvCosts& costs) {
  return costs.pixels_by_products + (in_line(w.output_size()) == 1 ? costs.turned_in_line : 0);
}

double pixels_cost(const ConvChannels& c, const Window& w, const ConvCosts& costs) {
  if (conv_skips(w, w, in_of(c))) return share_within(w);  // the others work out what lies beyond the image
  const double out = static_cast<double>(out_of(c)), products = static_cast<double>(in_of(c) * w.kernel_size());
  const double found = w.kernel_size() > 1 ? 1 + costs.pixels_by_in / static_cast<double>(in_of(c)) : 1;
  const bool ready = !gathers(w) || are_frames(c, w);
  const double gathered = ready ? costs.pixels_ready : 1 + gathering(w, costs.pixels_by_out * found, costs) / out;
  return depths_within(w) * (filling(out_of(c), costs) * (gathered + turning(w, costs) / products) + reading(w, costs));
}

/// Gathering pixels of an image of few channels, whose rows are staged first.
double staging(const ConvChannels& c, const Window& w, const ConvCosts& costs) {
  const double products = static_cast<double>(in_of(c) * w.kernel_size());
  const double rows = costs.gemm_staged_row / static_cast<double>(std::max<int64_t>(1, w.output[2]));
  const double gathered = (costs.gemm_staged + rows) * (w.stride[2] > 1 ? costs.gemm_strided : 1) * (1 + costs.gemm_by_sum / products);
  return gathered / static_cast<double>(out_of(c)) + costs.gemm_by_products / products;
}

double gemm_cost(const ConvChannels& c, const Window& w, const ConvCosts& costs) {
  if (w.output_size() == 1 && !gathers(w)) return filling(out_of(c), costs) + reading(w, costs);  // a vector and a matrix
  const double runs =
      std::max(1.0, static_cast<double>(micro_kernels<float>().lanes) / static_cast<double>(std::max<int64_t>(1, w.output[2])));
  const double found = w.kernel_size() > 1 ? runs * (1 + costs.gemm_by_in / static_cast<double>(in_of(c))) : 1;
  const double brought =
      conv_stages(c, w) ? staging(c, w, costs) : gathering(w, costs.gemm_by_out * found, costs) / static_cast<double>(out_of(c));
  return depths_within(w) * (filling(std::max<int64_t>(1, w.output_size()), costs) * (1 + brought) + reading(w, costs));
}

double phases_cost(const ConvChannels& c, const Window& w, const ConvCosts& costs) {
  const Window inner = conv_phase_window(w, w);
  ConvCosts of_phase = costs;
  of_phase.weights /= static_cast<double>(conv_phase_count(w));  // once for all of them, which are a batch
  double least = std::numeric_limits<double>::infinity();
  for (const ConvVariant<float>& variant : conv_variants<float>())
    if (variant.accuracy != ConvAccuracy::fast && variant.fits(c, inner)) least = std::min(least, variant.cost(c, inner, of_phase));
  const double phases = static_cast<double>(conv_phase_count(w)), outputs = static_cast<double>(w.output_size());
  const double inputs = phases * static_cast<double>(inner.input_size()) / outputs;
  const double padded = phases * static_cast<double>(inner.output_size()) / outputs, taps = static_cast<double>(w.kernel_size());
  const double copied = w.dilation[2] != 2 ? costs.phases : w.dilation[1] == 1 ? costs.phases_of_row : costs.phases_of_two;
  return padded * least + copied / taps * (inputs / static_cast<double>(out_of(c)) + padded / static_cast<double>(in_of(c)));
}

double direct_cost(const ConvChannels& c, const Window& w, const ConvCosts& costs) {
  const ConvDirectWork work = conv_direct_work(c, w);
  const double out = static_cast<double>(out_of(c)), taps = static_cast<double>(w.kernel_size());
  const double staged = costs.direct_inputs * (w.stride[2] > 2 ? costs.direct_strided : 1);
  return costs.direct * work.outputs + staged * work.inputs / (out * taps) + costs.direct_outputs / (static_cast<double>(in_of(c)) * taps) +
         reading(w, costs);
}

/// One input channel is a signal whose frames are transformed as a rule, by waves under a window that leaves little of its ends: see
/// has_many_zeros().
bool fits_fip(const ConvChannels& c, const Window& w) {
  return fip_kernels() && !is_depthwise(c, w) && in_of(c) > 1 && in_of(c) * w.kernel_size() >= kLeastPixelProducts &&
         out_of(c) >= kFipRows && w.output_size() >= kLeastFipPixels && !conv_skips(w, w, in_of(c));
}

/// What of a count that is cut into whole panels is worked out, by what is asked for.
double fip_panels(int64_t count) {
  return static_cast<double>(pieces_of(count, kFipWidth) * kFipWidth) / static_cast<double>(std::max<int64_t>(1, count));
}

/// Products of a value of a pixel, for each output channel.
double fip_products(const ConvChannels& c, const Window& w, double brought, const ConvCosts& costs) {
  const double products = static_cast<double>(in_of(c) * w.kernel_size());
  return costs.fip + (brought + costs.fip_scaling) / static_cast<double>(out_of(c)) + costs.fip_by_products / products +
         (products > static_cast<double>(kFipConvBlock) ? costs.fip_blocks : 0);
}

double fip_cost(const ConvChannels& c, const Window& w, const ConvCosts& costs) {
  const double runs = std::max(1.0, 16 / static_cast<double>(std::max<int64_t>(1, w.output[2])));
  const double found = w.kernel_size() > 1 ? runs * (1 + costs.gemm_by_in / static_cast<double>(in_of(c))) : 1;
  const double brought = gathers(w) ? gathering(w, costs.gemm_by_out * found, costs) : costs.fip_in_line * in_line(w.input_size());
  return fip_panels(w.output_size()) * fip_products(c, w, brought, costs) + reading(w, costs);
}

double fip_pixels_cost(const ConvChannels& c, const Window& w, const ConvCosts& costs) {
  const double found = w.kernel_size() > 1 ? 1 + costs.pixels_by_in / static_cast<double>(in_of(c)) : 1;
  const double turned = turning(w, costs) / static_cast<double>(in_of(c) * w.kernel_size());
  const double brought = gathers(w) ? gathering(w, costs.pixels_by_out * found, costs) : costs.fip_cut_in_line * in_line(w.input_size());
  return fip_panels(out_of(c)) * (fip_products(c, w, costs.fip_cutting + brought, costs) + turned +
                                  costs.fip_by_pixels / static_cast<double>(std::max<int64_t>(1, w.output_size()))) +
         reading(w, costs);
}

bool fits_amx(const ConvChannels&, const Window&) { return amx_usable(); }

double amx_cost(const ConvChannels& c, const Window& w, const ConvCosts& costs) {
  const double pixels = static_cast<double>(std::max<int64_t>(1, w.output_size())), panels = std::ceil(pixels / kSplitWidth);
  const double out = static_cast<double>(out_of(c)), products = static_cast<double>(in_of(c) * w.kernel_size());
  const double rows = std::ceil(out / kSplitWidth) * kSplitWidth / out;
  const double found = w.kernel_size() > 1 ? 1 + costs.gemm_by_in / static_cast<double>(in_of(c)) : 1;
  const double brought = costs.amx_by_out + (gathers(w) ? costs.amx_gathered * found : 0);
  return panels * kSplitWidth / pixels * (rows * (costs.amx + costs.amx_by_products / products) + brought / out) +
         costs.amx_by_pixels / pixels;
}

}  // namespace

template <typename S>
std::span<const ConvVariant<S>> conv_variants() {
  constexpr ConvAccuracy kStrict = ConvAccuracy::strict;
  // Of weights of a run: what their packing costs beside the products.
  constexpr double kPlain = 30, kTransformed = 120, kNever = kNotOfRuns;
  static constexpr ConvVariant<S> kDepthwise = {
      "depthwise",      kStrict, false, 0, is_depthwise, [](const ConvChannels&, const Window&, const ConvCosts&) { return 0.0; },
      make_depthwise<S>};
  static constexpr ConvVariant<S> kGemm = {
      "gemm", kStrict, false, kPlain, [](const ConvChannels&, const Window&) { return true; }, gemm_cost, make_conv_gemm<S>};
  if constexpr (std::is_same_v<S, float>) {
    static constexpr ConvVariant<S> kAll[] = {
        kDepthwise,
        {"winograd", kStrict, true, kTransformed, fits_winograd, winograd_cost, make_winograd},
        {"winograd_pixels", kStrict, true, kTransformed, fits_winograd_pixels, winograd_pixels_cost, make_winograd_pixels},
        {"winograd_fip", ConvAccuracy::usual, true, kNever, fits_winograd_fip, winograd_fip_cost, make_winograd_fip},
        {"winograd_amx", kStrict, true, kNever, fits_winograd_amx, winograd_amx_cost, make_winograd_split},
        {"winograd_4x4", ConvAccuracy::fast, true, kTransformed, fits_winograd_4x4, winograd_4x4_cost, make_winograd_4x4},
        {"winograd_parts", kStrict, true, kNever, fits_parts, parts_cost, make_conv_parts},
        {"phases", ConvAccuracy::usual, true, kNever, conv_has_phases, phases_cost, make_conv_phases},
        {"direct", kStrict, false, kPlain, conv_fits_direct, direct_cost, make_conv_direct},
        {"paired", kStrict, true, kNever, fits_paired, paired_cost, make_conv_paired},
        {"pixels", kStrict, false, kPlain, fits_pixels, pixels_cost, make_conv_pixels},
        {"fip", ConvAccuracy::usual, false, kNever, fits_fip, fip_cost, make_conv_fip},
        {"fip_pixels", ConvAccuracy::usual, false, kNever, fits_fip, fip_pixels_cost, make_conv_fip_pixels},
        {"amx", kStrict, true, kNever, fits_amx, amx_cost, make_conv_split},
        kGemm};
    return kAll;
  } else {
    static constexpr ConvVariant<S> kAll[] = {kDepthwise, kGemm};
    return kAll;
  }
}

template <typename S>
const ConvVariant<S>& choose_conv_variant(const ConvChannels& channels, std::span<const Window> windows, ConvAccuracy accuracy, bool lean,
                                          std::string_view name) {
  const bool of_run = PackingScope::current_of_run() != nullptr;
  const auto may = [&](const ConvVariant<S>& variant) {
    return !(of_run && variant.packing == kNotOfRuns) && may_take(variant, channels, windows.front(), accuracy, lean);
  };
  const auto cost = [&](const ConvVariant<S>& variant, const Window& window) {
    const double outputs = static_cast<double>(std::max<int64_t>(1, window.output_size()));
    return variant.cost(channels, window, costs_here()) + (of_run ? variant.packing / outputs : 0);
  };
  const auto cheapest = [&](const auto& cost_of) {
    const ConvVariant<S>* best = nullptr;
    double least = 0;
    for (const ConvVariant<S>& variant : conv_variants<S>()) {
      if (!may(variant)) continue;
      const double of_this = cost_of(variant);
      if (best && of_this >= least) continue;
      best = &variant;
      least = of_this;
    }
    return std::pair(best, least);
  };
  for (const ConvVariant<S>& variant : conv_variants<S>())
    if (variant.name == name && may(variant)) return variant;
  if (windows.size() == 1) return *cheapest([&](const ConvVariant<S>& variant) { return cost(variant, windows.front()); }).first;
  InlineVector<double, 4> least;
  for (const Window& window : windows)
    least.push_back(cheapest([&](const ConvVariant<S>& variant) { return cost(variant, window); }).second);
  constexpr double kNothing = 1e-9;  // what always is the best way costs nothing
  const auto all = [&](const ConvVariant<S>& variant) {
    double sum = 0;
    for (size_t i = 0; i < windows.size(); ++i) sum += cost(variant, windows[i]) / std::max(least[i], kNothing);
    return sum;
  };
  return *cheapest(all).first;
}

double least_conv_cost(const ConvChannels& channels, const Window& window) {
  return choose_conv_variant<float>(channels, {&window, 1}, ConvAccuracy::usual, false, {}).cost(channels, window, costs_here());
}

bool blocked_pairs_pay(const ConvChannels& c, int64_t outputs) {
  if (!fip_kernels() || outputs < kFipRows) return false;
  const ConvCosts& costs = costs_here();
  const double in = static_cast<double>(c.in), out = static_cast<double>(c.out);
  const double cost = costs.fip + costs.fip_rows / out + costs.fip_by_products / in + (c.in > kFipConvBlock ? costs.fip_blocks : 0) +
                      costs.fip_few_pixels / static_cast<double>(outputs);
  return fip_panels(pieces_of(c.out, kChannelBlock) * kChannelBlock) * cost < costs.blocked_pairs;
}

#define RH_INSTANTIATE(S)                                      \
  template std::span<const ConvVariant<S>> conv_variants<S>(); \
  template const ConvVariant<S>& choose_conv_variant<S>(const ConvChannels&, std::span<const Window>, ConvAccuracy, bool, std::string_view);
RH_INSTANTIATE(float)
RH_INSTANTIATE(double)
RH_INSTANTIATE(Float16)
RH_INSTANTIATE(BFloat16)
#undef RH_INSTANTIATE

}  // namespace rh::compute
