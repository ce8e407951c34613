// A library that a plugin needs: built once in the version that it needs and once in an older one.
extern "C" __attribute__((visibility("default"))) int rh_test_needed() { return 1; }
