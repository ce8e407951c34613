// A library that is none of custom operators.
extern "C" int nothing_to_register() { return 0; }
