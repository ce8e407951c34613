#if defined(RH_STAND_CHECKED) && defined(__clang__)
#pragma clang attribute push(__attribute__((disable_sanitizer_instrumentation)), apply_to = function)
#endif
