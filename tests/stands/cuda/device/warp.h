// Barriers, and what the lanes of a warp tell each other.
#pragma once

STAND_AT_ONE_PLACE inline void __syncthreads() { stand_api->barrier(stand_state.worker, 0, STAND_SITE); }
STAND_AT_ONE_PLACE inline int __syncthreads_count(int p) {
  return static_cast<int>(stand_api->barrier(stand_state.worker, p != 0, STAND_SITE));
}
STAND_AT_ONE_PLACE inline int __syncthreads_or(int p) { return stand_api->barrier(stand_state.worker, p != 0, STAND_SITE) != 0; }
STAND_AT_ONE_PLACE inline int __syncthreads_and(int p) { return stand_api->barrier(stand_state.worker, p == 0, STAND_SITE) == 0; }

inline void __threadfence() { stand_api->fence(stand_state.worker); }
inline void __threadfence_block() {}
inline void __threadfence_system() { stand_api->fence(stand_state.worker); }

STAND_AT_ONE_PLACE inline void __syncwarp(unsigned long long mask = ~0ull) {
  int nothing = 0;
  stand_api->exchange(stand_state.worker, mask, &nothing, sizeof nothing, STAND_SITE);
}
inline unsigned __activemask() { return static_cast<unsigned>(stand_api->active_lanes(stand_state.worker)); }

template <class T>
struct alignas(16) StandSlot {
  T value;
};

// All lanes of the mask bring a value; `pick` says of which lane of its group of `width` lanes this one takes it.
template <class T, class Pick>
STAND_AT_ONE_PLACE T stand_shuffle(unsigned long long mask, T value, int width, Pick pick) {
  static_assert(sizeof(T) <= 16);
  int lane = static_cast<int>(stand_state.linear % stand_state.warp_size);
  StandExchange all = stand_api->exchange(stand_state.worker, mask, &value, sizeof value, STAND_SITE);
  int base = lane / width * width, from = pick(lane - base);
  if (from < 0 || from >= width) return value;
  if (!(all.present >> (base + from) & 1))
    stand_api->fail(stand_state.worker, "a shuffle reads a lane that is not in the mask or has left");
  return static_cast<const StandSlot<T>*>(all.values)[base + from].value;
}
template <class T>
inline __attribute__((always_inline)) T __shfl_sync(unsigned long long mask, T value, int source, int width = warpSize) {
  return stand_shuffle(mask, value, width, [=](int) { return source & (width - 1); });
}
template <class T>
inline __attribute__((always_inline)) T __shfl_xor_sync(unsigned long long mask, T value, int bits, int width = warpSize) {
  return stand_shuffle(mask, value, width, [=](int lane) { return lane ^ bits; });
}
template <class T>
inline __attribute__((always_inline)) T __shfl_down_sync(unsigned long long mask, T value, unsigned by, int width = warpSize) {
  return stand_shuffle(mask, value, width, [=](int lane) { return lane + static_cast<int>(by); });
}
template <class T>
inline __attribute__((always_inline)) T __shfl_up_sync(unsigned long long mask, T value, unsigned by, int width = warpSize) {
  return stand_shuffle(mask, value, width, [=](int lane) { return lane - static_cast<int>(by); });
}

// The lanes for which the predicate holds.
STAND_AT_ONE_PLACE inline unsigned long long stand_ballot(unsigned long long mask, int predicate) {
  StandExchange all = stand_api->exchange(stand_state.worker, mask, &predicate, sizeof predicate, STAND_SITE);
  unsigned long long found = 0;
  for (unsigned lane = 0; lane < stand_state.warp_size; ++lane)
    if ((all.present >> lane & 1) && static_cast<const StandSlot<int>*>(all.values)[lane].value) found |= 1ull << lane;
  return found;
}
inline unsigned __ballot_sync(unsigned mask, int predicate) { return static_cast<unsigned>(stand_ballot(mask, predicate)); }
inline int __any_sync(unsigned mask, int predicate) { return stand_ballot(mask, predicate != 0) != 0; }
inline int __all_sync(unsigned mask, int predicate) { return stand_ballot(mask, predicate == 0) == 0; }

template <class T, class Join>
STAND_AT_ONE_PLACE T stand_warp_reduce(unsigned long long mask, T value, Join join) {
  StandExchange all = stand_api->exchange(stand_state.worker, mask, &value, sizeof value, STAND_SITE);
  bool first = true;
  T total{};
  for (unsigned lane = 0; lane < stand_state.warp_size; ++lane) {
    if (!(all.present >> lane & 1)) continue;
    T other = static_cast<const StandSlot<T>*>(all.values)[lane].value;
    total = first ? other : join(total, other);
    first = false;
  }
  return total;
}
#define STAND_WARP_REDUCE(name, type, expression)                                             \
  inline type name(unsigned mask, type value) {                                               \
    return stand_warp_reduce(mask, value, [](type a, type b) -> type { return expression; }); \
  }
STAND_WARP_REDUCE(__reduce_add_sync, unsigned, a + b)
STAND_WARP_REDUCE(__reduce_add_sync, int, a + b)
STAND_WARP_REDUCE(__reduce_min_sync, unsigned, a < b ? a : b)
STAND_WARP_REDUCE(__reduce_min_sync, int, a < b ? a : b)
STAND_WARP_REDUCE(__reduce_max_sync, unsigned, a > b ? a : b)
STAND_WARP_REDUCE(__reduce_max_sync, int, a > b ? a : b)
STAND_WARP_REDUCE(__reduce_and_sync, unsigned, a& b)
STAND_WARP_REDUCE(__reduce_or_sync, unsigned, a | b)
STAND_WARP_REDUCE(__reduce_xor_sync, unsigned, a ^ b)

template <class T>
STAND_AT_ONE_PLACE unsigned __match_any_sync(unsigned mask, T value) {
  StandExchange all = stand_api->exchange(stand_state.worker, mask, &value, sizeof value, STAND_SITE);
  unsigned found = 0;
  for (unsigned lane = 0; lane < 32; ++lane)
    if ((all.present >> lane & 1) && static_cast<const StandSlot<T>*>(all.values)[lane].value == value) found |= 1u << lane;
  return found;
}

// HIP's forms have no mask: every lane of the warp that has not left.
template <class T>
inline T __shfl(T value, int source, int width = warpSize) {
  return __shfl_sync(~0ull, value, source, width);
}
template <class T>
inline T __shfl_xor(T value, int bits, int width = warpSize) {
  return __shfl_xor_sync(~0ull, value, bits, width);
}
template <class T>
inline T __shfl_down(T value, unsigned by, int width = warpSize) {
  return __shfl_down_sync(~0ull, value, by, width);
}
template <class T>
inline T __shfl_up(T value, unsigned by, int width = warpSize) {
  return __shfl_up_sync(~0ull, value, by, width);
}
