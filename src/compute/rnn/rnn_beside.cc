#include "compute/rnn/rnn_beside.h"

#include <algorithm>

namespace rh::compute {
namespace {

constexpr int64_t kChains = 4;             // sums of each column that the kernel keeps apart
constexpr size_t kFirstCache = 48 * 1024;  // bytes of r that come fast by themselves

/// How the panels of a step are dealt to threads.
Grid grid_of(const PackedMatrix<float>& r, int64_t panels, int threads) {
  const double k = static_cast<double>(r.k()), n = static_cast<double>(r.n());
  return choose_grid(1, panels, n * k, k * sizeof(float), n * k * sizeof(float), threads);
}

int64_t blocks_of(int64_t steps) { return pieces_of(steps, kMostBesideRows); }

}  // namespace

bool ProductsBeside::fits(const RowProducts& p) {
  const int64_t blocks = blocks_of(p.steps);
  return blocks > 1 && !p.w.empty() && !p.w.use().amx && !p.r.use().amx && p.r.bytes() > kFirstCache &&
         p.r.panel_width() == micro_kernels<float>().columns && micro_kernels<float>().beside && p.r.k() <= kSumK * kChains &&
         p.w.k() <= p.steps / blocks * kBlockK;
}

int64_t ProductsBeside::scratch_floats(int64_t gates) {
  const int64_t width = micro_kernels<float>().columns;
  return (2 * kMostBesideRows + 2) * pieces_of(gates, width) * width;
}

ProductsBeside::ProductsBeside(const RowProducts& products, float* scratch, const Parallel& parallel)
    : p_(products),
      parallel_(parallel),
      kernels_(micro_kernels<float>()),
      width_(kernels_.columns),
      panels_(pieces_of(products.r.n(), width_)),
      blocks_(blocks_of(products.steps)),
      grid_(grid_of(products.r, panels_, parallel.threads())),
      now_(scratch),
      later_(now_ + kMostBesideRows * panels_ * width_),
      gates_(later_ + kMostBesideRows * panels_ * width_),
      bias_(gates_ + panels_ * width_) {
  std::fill(std::copy_n(products.bias, products.r.n(), bias_), bias_ + panels_ * width_, 0.0f);
  project_first();
}

void ProductsBeside::project_first() {
  MicroArgs<float> tile{};
  tile.k = p_.w.k();
  tile.fold = tile.k > kBlockK ? kSumK : kBlockK;
  tile.a = p_.x;
  tile.a_row = p_.x_stride;
  tile.a_k = 1;
  tile.b_k = tile.c_row = tile.columns = width_;
  const int64_t steps = part_of(p_.steps, blocks_, 0).size;
  const double values = static_cast<double>(tile.k * width_);
  const Cost cost{.bytes = sizeof(float) * values, .operations = 0.25 * values * static_cast<double>(steps)};
  parallel_.for_range(panels_, cost, [&](Range range) {
    for (int64_t panel = range.begin; panel < range.end; ++panel) {
      MicroArgs<float> one = tile;
      one.b = p_.w.data() + panel * width_ * one.k;
      one.c = now_ + panel * steps * width_;
      one.column_bias = bias_ + panel * width_;
      kernels_.two[steps](one);
    }
  });
}

BesideArgs<float> ProductsBeside::step_args(const float* h) const {
  const int64_t steps = part_of(p_.steps, blocks_, block_).size;
  BesideArgs<float> args{};
  args.k = p_.r.k();
  args.a = h;
  args.b = p_.r.data();
  args.add = now_ + step_ * width_;
  args.c = gates_;
  if (block_ + 1 == blocks_) return args;
  const Part rows = part_of(p_.steps, blocks_, block_ + 1), ks = part_of(p_.w.k(), steps, step_);
  args.tile_k = ks.size;
  args.tile_a = p_.x + rows.begin * p_.x_stride + ks.begin;
  args.tile_a_row = p_.x_stride;
  args.tile_b = p_.w.data() + ks.begin * width_;
  args.tile_c = later_;
  args.tile_add = step_ == 0 ? bias_ : later_;
  args.tile_add_row = step_ == 0 ? 0 : width_;
  return args;
}

float* ProductsBeside::next(const float* h) {
  const int64_t steps = part_of(p_.steps, blocks_, block_).size;
  const int64_t rows = block_ + 1 < blocks_ ? part_of(p_.steps, blocks_, block_ + 1).size : 0;
  const BesideArgs<float> first = step_args(h);
  const int64_t tile_add_panel = (step_ == 0 ? 1 : rows) * width_;
  const auto run_panel = [&](int64_t panel) {
    BesideArgs<float> args = first;
    args.b += panel * width_ * args.k;
    args.add += panel * width_ * steps;
    args.c += panel * width_;
    if (rows > 0) {
      args.tile_b += panel * width_ * p_.w.k();
      args.tile_add += panel * tile_add_panel;
      args.tile_c += panel * width_ * rows;
    }
    kernels_.beside[rows](args);
  };
  backwards_ = !backwards_;
  parallel_.for_pieces(grid_.pieces(), [&](int64_t piece) {
    const Part part = share_of(panels_, grid_.pieces(), piece);
    for (int64_t i = 0; i < part.size; ++i) run_panel(part.begin + (backwards_ ? part.size - 1 - i : i));
  });
  if (++step_ == steps) {
    std::swap(now_, later_);
    ++block_;
    step_ = 0;
  }
  return gates_;
}

}  // namespace rh::compute
