#include "compute/gemm/gemm_variants.h"

#include <cmath>

#include "base/cpu_features.h"
#include "compute/gemm/amx.h"
#include "compute/gemm/gemm_amx.h"
#include "compute/gemm/gemm_fip.h"
#include "compute/gemm/gemm_product.h"

namespace rh::compute {
namespace {

// From measurements on a Xeon with AMX (docs/measurements/products.md, "Products by AMX tiles"). Without AMX only `gemv` counts, and `fip`,
// from a Zen 5 and, with vectors worked on by halves, a Zen 4 ("Products by pairs").
constexpr GemmCosts costs_with(double fip) {
  return {.gemv = 1.5,
          .fip = fip,
          .fip_by_n = 13,
          .fip_by_k = 14,
          .amx = 0.58,
          .amx_fast = 0.31,
          .amx_bf16 = 0.2,
          .amx_by_m = 19,
          .amx_by_n = 28,
          .amx_by_k = 33,
          .amx_splits = 16};
}

const GemmCosts& costs_here() {
  static constexpr GemmCosts kWhole = costs_with(0.78), kHalves = costs_with(0.85);
  return cpu_features().half_vectors ? kHalves : kWhole;
}

/// Rows of a product whose rows are not known at load.
constexpr int64_t kUsualRows = 128;

double amx_cost(const ProductSizes& s, const GemmCosts& costs, bool splits) {
  const double m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
  const double products = s.accuracy <= ProductAccuracy::full   ? costs.amx
                          : s.accuracy == ProductAccuracy::fast ? costs.amx_fast
                                                                : costs.amx_bf16;
  const double rows = std::ceil(m / kSplitWidth) * kSplitWidth / m;
  return rows * (products + costs.amx_by_k / k) + (costs.amx_by_m + (splits ? costs.amx_splits : 0)) / m + costs.amx_by_n / n;
}

bool takes_dots(const ProductSizes& s) {
  return s.is_float && !s.transposed_a && s.n > 0 && s.k > 0 && dots_pay(s.m, s.n, s.k, micro_kernels<float>().lanes, false);
}

constexpr GemmVariant kVariants[] = {
    {"gemv", [](const ProductSizes& s) { return s.m > 0 && s.m <= kDirectRows; },
     [](const ProductSizes&, const GemmCosts& costs) { return costs.gemv; }},
    {"dots", takes_dots, [](const ProductSizes&, const GemmCosts&) { return 0.0; }},  // where it fits, it is faster
    {"compact",
     [](const ProductSizes& s) {
       return s.compact && !takes_dots(s) && s.is_float && s.accuracy != ProductAccuracy::strict && s.n > 0 && s.k > 0 && scaled_kernels();
     },
     [](const ProductSizes&, const GemmCosts&) { return 0.0; }},  // is asked for
    {"amx", [](const ProductSizes& s) { return s.is_float && s.n > 0 && s.k > 0 && amx_usable(); },
     [](const ProductSizes& s, const GemmCosts& costs) {
       return s.m > 0 ? amx_cost(s, costs, false) : amx_cost({kUsualRows, s.n, s.k, true, s.accuracy}, costs, true);
     }},
    {"fip",
     [](const ProductSizes& s) { return s.is_float && s.accuracy != ProductAccuracy::strict && s.n > 0 && s.k > 0 && fip_kernels(); },
     [](const ProductSizes& s, const GemmCosts& costs) {
       if (s.m > 0 && s.m <= kFewFipRows) return 2.0;
       return costs.fip + costs.fip_by_n / static_cast<double>(s.n) + costs.fip_by_k / static_cast<double>(s.k);
     }},
    {"gemm", [](const ProductSizes&) { return true; }, [](const ProductSizes&, const GemmCosts&) { return 1.0; }},
};

}  // namespace

std::span<const GemmVariant> gemm_variants() { return kVariants; }

const GemmVariant& choose_gemm_variant(const ProductSizes& sizes, std::string_view name) {
  const GemmVariant* best = nullptr;
  for (const GemmVariant& variant : kVariants) {
    if (!variant.fits(sizes)) continue;
    if (variant.name == name) return variant;
    if (!best || variant.cost(sizes, costs_here()) < best->cost(sizes, costs_here())) best = &variant;
  }
  return *best;
}

double amx_cost_of(const ProductSizes& sizes) { return amx_cost(sizes, costs_here(), true); }

bool amx_pays(const ProductSizes& sizes) { return sizes.m > 0 && sizes.n > 0 && sizes.k > 0 && amx_usable() && amx_cost_of(sizes) < 1; }

}  // namespace rh::compute
