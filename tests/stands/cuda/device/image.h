// What an image exports besides its kernels, and what -fsanitize=thread calls in a checked one.
#pragma once

extern "C" char __start_stand_shared[] __attribute__((weak, visibility("hidden"))),
    __stop_stand_shared[] __attribute__((weak, visibility("hidden")));

StandState stand_state;
const StandApi* stand_api;

#if defined(RH_STAND_CHECKED)
#define STAND_IS_CHECKED 1
#else
#define STAND_IS_CHECKED 0
#endif
STAND_EXPORT const StandImage stand_image;
const StandImage stand_image = {kStandImageVersion,
                                RH_STAND_COMPILER,
                                RH_STAND_ARCHITECTURE,
                                RH_STAND_IS_PTX,
                                STAND_IS_CHECKED,
                                &stand_state,
                                &stand_api,
                                {__start_stand_shared, __stop_stand_shared}};

#if defined(RH_STAND_CHECKED)
inline void stand_watch(const void* p, unsigned long size, int access, const void* site) {
  stand_api->access(stand_state.worker, p, static_cast<unsigned>(size), access, site);
}
#define STAND_WATCHED(n)                                                                  \
  void __tsan_read##n(void* p) { stand_watch(p, n, kStandRead, STAND_SITE); }             \
  void __tsan_write##n(void* p) { stand_watch(p, n, kStandWrite, STAND_SITE); }           \
  void __tsan_unaligned_read##n(void* p) { stand_watch(p, n, kStandRead, STAND_SITE); }   \
  void __tsan_unaligned_write##n(void* p) { stand_watch(p, n, kStandWrite, STAND_SITE); } \
  void __tsan_volatile_read##n(void* p) { stand_watch(p, n, kStandRead, STAND_SITE); }    \
  void __tsan_volatile_write##n(void* p) { stand_watch(p, n, kStandWrite, STAND_SITE); }
extern "C" {
STAND_WATCHED(1)
STAND_WATCHED(2)
STAND_WATCHED(4)
STAND_WATCHED(8)
STAND_WATCHED(16)
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void* __tsan_memset(void* p, int value, size_t size) {
  stand_watch(p, size, kStandWrite, STAND_SITE);
  return __builtin_memset(p, value, size);
}
void* __tsan_memcpy(void* to, const void* from, size_t size) {
  stand_watch(from, size, kStandRead, STAND_SITE);
  stand_watch(to, size, kStandWrite, STAND_SITE);
  return __builtin_memcpy(to, from, size);
}
void* __tsan_memmove(void* to, const void* from, size_t size) {
  stand_watch(from, size, kStandRead, STAND_SITE);
  stand_watch(to, size, kStandWrite, STAND_SITE);
  return __builtin_memmove(to, from, size);
}
}
#endif
