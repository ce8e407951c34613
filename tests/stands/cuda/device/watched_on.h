#if defined(RH_STAND_CHECKED) && defined(__clang__)
#pragma clang attribute pop
#endif
