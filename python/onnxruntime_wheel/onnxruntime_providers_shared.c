/* Programs look for a file of this name beside the library. Roundhouse's providers do not use it. */
__attribute__((visibility("default"))) const char* RoundhouseStandsHere(void) { return "roundhouse"; }
