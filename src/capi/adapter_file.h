#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "abi/value.h"

namespace rh::capi {

/// What a file of a LoRA adapter holds: a FlatBuffer with the identifier "TORT". Names are distinct, values are tensors of numbers.
struct AdapterFile {
  static constexpr int32_t kFormatVersion = 1;

  int32_t adapter_version = 0, model_version = 0;
  std::vector<std::string> names;
  std::vector<OrtValue> values;
};

/// Throws Error{fail} for bytes that are no such file, or a damaged one. `source` says in messages whose bytes they are.
AdapterFile parse_adapter(std::span<const std::byte> bytes, const std::string& source);
/// The same for a file; Error{no_such_file} where there is none.
AdapterFile read_adapter_file(const std::string& path);
/// Throws Error{invalid_argument} for a parameter that the format has no place for, and for more than 2 GB in all.
void write_adapter_file(const std::string& path, const AdapterFile& adapter);

}  // namespace rh::capi
