#pragma once

#include <type_traits>

#include "base/error.h"
#include "tensor/dtype.h"

namespace rh {

/// A set of element types, one bit each.
class DTypeSet {
 public:
  constexpr DTypeSet() = default;
  constexpr DTypeSet(std::initializer_list<DType> types) {
    for (DType t : types) bits_ |= uint64_t{1} << static_cast<int>(t);
  }
  static constexpr DTypeSet all() { return DTypeSet(~uint64_t{1} & ((uint64_t{1} << kDTypeCount) - 1)); }

  constexpr bool contains(DType t) const { return (bits_ >> static_cast<int>(t)) & 1; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr DTypeSet operator|(DTypeSet other) const { return DTypeSet(bits_ | other.bits_); }
  /// "float, int64".
  std::string to_string() const;

 private:
  explicit constexpr DTypeSet(uint64_t bits) : bits_(bits) {}
  uint64_t bits_ = 0;
};

/// A list of C++ element types: what dispatch expands and what the partitioner reads.
template <typename... Ts>
struct Types {
  static constexpr DTypeSet set{dtype_of<Ts>...};
};

template <typename A, typename B>
struct ConcatTypes;
template <typename... As, typename... Bs>
struct ConcatTypes<Types<As...>, Types<Bs...>> {
  using type = Types<As..., Bs...>;
};
template <typename A, typename B>
using Concat = typename ConcatTypes<A, B>::type;

using FloatingTypes = Types<float, double, Float16, BFloat16>;
using SignedTypes = Types<int8_t, int16_t, int32_t, int64_t>;
using UnsignedTypes = Types<uint8_t, uint16_t, uint32_t, uint64_t>;
using IntegerTypes = Concat<SignedTypes, UnsignedTypes>;
using NumericTypes = Concat<FloatingTypes, IntegerTypes>;  ///< the arithmetic types of the standard's "all numeric types"
using Float8Types = Types<Float8E4M3FN, Float8E4M3FNUZ, Float8E5M2, Float8E5M2FNUZ, Float8E8M0>;
using RealTypes = Concat<Concat<NumericTypes, Types<bool>>, Float8Types>;

namespace detail {

template <typename F, typename T, typename... Rest>
Status dispatch_one(DType dtype, const char* what, DTypeSet all, F& f, Types<T, Rest...>) {
  if (dtype == dtype_of<T>) {
    if constexpr (std::is_void_v<decltype(f.template operator()<T>())>) {
      f.template operator()<T>();
      return {};
    } else {
      return f.template operator()<T>();
    }
  }
  if constexpr (sizeof...(Rest) > 0) {
    return dispatch_one(dtype, what, all, f, Types<Rest...>());
  } else {
    return error_status(ErrorCode::not_implemented, "{}: element type {} is not supported, expected one of {}", what, to_string(dtype),
                        all.to_string());
  }
}

}  // namespace detail

/// Calls f<T>() for the C++ type of `dtype`; f returns void or Status. A type outside the list gives not_implemented naming `what`.
template <typename List, typename F>
Status dispatch(DType dtype, const char* what, F&& f) {
  return detail::dispatch_one(dtype, what, List::set, f, List());
}

template <typename List, typename F>
void dispatch_or_throw(DType dtype, const char* what, F&& f) {
  if (Status status = dispatch<List>(dtype, what, f); !status.ok()) throw Error(status.code(), std::string(status.message()));
}

}  // namespace rh
