#pragma once

namespace rh {

/// The table of functions that an optional library beside this one gives: what few models need and other libraries do (regular
/// expressions, image formats). `name` is its part of the file name, "regex" for libroundhouse_regex.so. Loads it on the first call and
/// keeps it. Throws Error{not_implemented} that says where it was looked for and `what_it_needs` to be built.
const void* optional_library_table(const char* name, const char* what_it_needs);

}  // namespace rh
