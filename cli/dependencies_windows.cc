#include <cstdint>
#include <fstream>
#include <stdexcept>

#include "dependencies.h"
#include "elf.h"
#include "system.h"

namespace rh::cli {

// What a library needs is told by the system when it loads it.
std::vector<Dependency> dependencies_of(const std::string&) { return {}; }
std::string find_library(const std::string&) { return {}; }
std::string library_version(const std::string&) { return {}; }

/// Of a library of Windows, whether it is for this machine.
ElfFile read_elf(const std::string& path) {
  constexpr std::streamoff kHeaderPlace = 0x3c;
  constexpr uint16_t kX86_64 = 0x8664;
  std::ifstream stream(as_path(path), std::ios::binary);
  uint32_t place = 0;
  uint16_t machine = 0;
  char mark[4] = {};
  stream.seekg(kHeaderPlace);
  stream.read(reinterpret_cast<char*>(&place), sizeof place);
  stream.seekg(place);
  stream.read(mark, sizeof mark);
  stream.read(reinterpret_cast<char*>(&machine), sizeof machine);
  if (!stream || std::string(mark, 2) != "PE") throw std::runtime_error("'" + path + "' is no library of Windows");
  ElfFile file;
  file.for_this_machine = machine == kX86_64;
  return file;
}

}  // namespace rh::cli
