// How a kernel of any parameters is called by the driver, which knows them as an array of addresses.
#pragma once

template <class T>
constexpr bool stand_is_pointer = false;
template <class T>
constexpr bool stand_is_pointer<T*> = true;
template <class T>
constexpr bool stand_is_pointer<T* const> = true;
template <int... I>
struct StandIndices {};
template <int N, int... I>
struct StandCount : StandCount<N - 1, N - 1, I...> {};
template <int... I>
struct StandCount<0, I...> {
  using type = StandIndices<I...>;
};
template <class T>
struct StandPlain {
  using type = T;
};
template <class T>
struct StandPlain<const T> {
  using type = T;
};

template <auto Function>
struct StandThunk;
template <class... Parameters, void (*Function)(Parameters...)>
struct StandThunk<Function> {
  static constexpr int kCount = sizeof...(Parameters);
  static constexpr unsigned kSizes[kCount + 1] = {sizeof(Parameters)..., 0};
  static constexpr unsigned kAlignments[kCount + 1] = {alignof(Parameters)..., 1};
  template <int... I>
  static void spread(void** p, StandIndices<I...>) {
    Function(*static_cast<typename StandPlain<Parameters>::type*>(p[I])...);
  }
  static void call(void** p) { spread(p, typename StandCount<kCount>::type{}); }
  static constexpr unsigned long long pointers() {
    unsigned long long mask = 0, i = 0;
    ((mask |= (stand_is_pointer<Parameters> ? 1ull : 0ull) << i++), ...);
    return mask;
  }
  static constexpr StandKernel describe(unsigned max_threads, StandRange shared) {
    return {call, kCount, kSizes, kAlignments, pointers(), max_threads, shared};
  }
};
#define STAND_EXPORT extern "C" __attribute__((visibility("default"), used))
#define STAND_SECTION_OF_KERNEL(name)                                                        \
  extern "C" char __start_stand_shared_##name[] __attribute__((weak, visibility("hidden"))), \
      __stop_stand_shared_##name[] __attribute__((weak, visibility("hidden")));
