#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace rh::cli {

/// What the dynamic section of a shared library says.
struct ElfFile {
  bool for_this_machine = false;
  std::string soname;
  std::vector<std::string> needed;
  std::vector<std::string> rpath, runpath;                        ///< folders, as written
  std::map<std::string, std::vector<std::string>> needs_version;  ///< by library: versions of its symbols, "GLIBC_2.34"
  std::set<std::string> gives_version;
};

/// Throws std::runtime_error naming the file where it is no 64-bit ELF file, or one that is cut or damaged.
ElfFile read_elf(const std::string& path);

}  // namespace rh::cli
