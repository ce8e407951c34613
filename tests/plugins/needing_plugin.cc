// Needs a library that is not where the loader looks, and exports nothing that a plugin should.
extern "C" int rh_test_needed();
extern "C" __attribute__((visibility("default"))) int rh_test_needing() { return rh_test_needed(); }
