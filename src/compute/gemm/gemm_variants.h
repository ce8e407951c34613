#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "compute/gemm/gemm.h"

namespace rh::compute {

/// A product by a constant right operand as it is known at load; m is 0 where rows come with a run.
struct ProductSizes {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  bool is_float = true;
  ProductAccuracy accuracy = ProductAccuracy::full;
  bool transposed_a = false;
  bool compact = false;  ///< B is to take fewer bytes (PackedUse::compact)
};

/// What products cost on a class of machines, for each product of two values, in units of what packed multiply-add takes at its best.
struct GemmCosts {
  double gemv;        ///< B where it lies, in products of few rows
  double fip;         ///< two at a time
  double fip_by_n;    ///< x 1/n: scaling A
  double fip_by_k;    ///< x 1/k: scaling sums
  double amx;         ///< six products of bfloat16 parts
  double amx_fast;    ///< three of them
  double amx_bf16;    ///< one
  double amx_by_m;    ///< x 1/m: reading B in split form
  double amx_by_n;    ///< x 1/n: splitting A
  double amx_by_k;    ///< x 1/k: sums in and out of tiles
  double amx_splits;  ///< x 1/m: splitting B while the product runs
};

/// A way to multiply by a constant matrix.
struct GemmVariant {
  std::string_view name;
  bool (*fits)(const ProductSizes& sizes);
  double (*cost)(const ProductSizes& sizes, const GemmCosts& costs);
};

/// "gemv", "dots", "compact", "amx", "fip", and "gemm", which fits always.
std::span<const GemmVariant> gemm_variants();

/// The cheapest that fits by the costs of this machine's class, or the one of this name where it fits.
const GemmVariant& choose_gemm_variant(const ProductSizes& sizes, std::string_view name);

/// What each product of two values costs by AMX tiles where B is split while the product runs, beside packed multiply-add at its best.
double amx_cost_of(const ProductSizes& sizes);
/// Whether a product whose B is split while it runs is faster by AMX tiles.
bool amx_pays(const ProductSizes& sizes);

}  // namespace rh::compute
