#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/vendor_files.h"

namespace rh {

/// A provider that programs name without registering a library.
struct KnownProvider {
  std::string_view name;        ///< "CUDAExecutionProvider"
  std::string_view short_name;  ///< "CUDA"
  std::string_view key;         ///< of its library file; empty: there is none
  std::string_view systems;     ///< where it can be; empty: everywhere
  std::string_view fate;        ///< why it can be nowhere; empty otherwise
};

/// All of them, in the order of the list.
std::span<const KnownProvider> known_providers();

/// Short names and any case are accepted; null for other names.
const KnownProvider* find_known_provider(std::string_view name);

/// "roundhouse_provider_<key>.so", or whatever libraries are called here.
std::string provider_file(std::string_view key);

/// Folders in which libraries of providers are looked for: those of ROUNDHOUSE_PROVIDER_PATH, then that of the runtime's own library.
std::vector<std::filesystem::path> provider_folders();

/// The library of a known provider; empty where no folder has it.
std::filesystem::path find_provider_library(const KnownProvider& provider);

/// Whether programs can name it without more: its library is there and, as far as files tell it, the vendor's. Opens nothing. Only
/// providers whose vendor has a row in base/vendor_files.inc are so, and those of one system alone, of which the vendor's library is a
/// part.
bool is_ready(const KnownProvider& provider);

/// The vendor's library of a provider, as far as files tell it; nothing, and no problem, where the vendor has no row.
VendorFilesState vendor_state(const KnownProvider& provider);

/// A sentence that says why there is no provider of this name, and what to do. `registered`: names that would do.
std::string why_unavailable(std::string_view name, const std::vector<std::string>& registered);

}  // namespace rh
