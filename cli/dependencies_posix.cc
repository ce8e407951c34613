#include "dependencies.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>

#include "elf.h"

namespace rh::cli {

namespace {

namespace fs = std::filesystem;

#if defined(__aarch64__)
constexpr char kMultiarch[] = "aarch64-linux-gnu", kPlatform[] = "aarch64";
#else
constexpr char kMultiarch[] = "x86_64-linux-gnu", kPlatform[] = "x86_64";
#endif

/// Paths by name, from the cache that ldconfig writes.
std::multimap<std::string, std::string> read_loader_cache(const std::string& file) {
  struct Header {
    char magic[20];
    uint32_t count, string_bytes, unused[5];
  };
  struct Entry {
    int32_t flags;
    uint32_t key, value, os_version;
    uint64_t hardware;
  };
  constexpr char kMagic[] = "glibc-ld.so.cache1.1";
  std::ifstream stream(file, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(stream), {});
  std::multimap<std::string, std::string> found;
  const size_t begin = bytes.find(kMagic);
  if (begin == std::string::npos || bytes.size() - begin < sizeof(Header)) return found;
  Header header;
  std::memcpy(&header, bytes.data() + begin, sizeof header);
  const auto text = [&](uint32_t position) {
    const size_t at = begin + position;
    return at < bytes.size() ? std::string(bytes.c_str() + at) : std::string();
  };
  for (size_t i = 0; i < header.count && begin + sizeof(Header) + (i + 1) * sizeof(Entry) <= bytes.size(); ++i) {
    Entry entry;
    std::memcpy(&entry, bytes.data() + begin + sizeof(Header) + i * sizeof(Entry), sizeof entry);
    found.emplace(text(entry.key), text(entry.value));
  }
  return found;
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
}

/// Searches as ld.so does.
class Search {
 public:
  Search() : cache_(read_loader_cache("/etc/ld.so.cache")) {
    std::string listed = std::getenv("LD_LIBRARY_PATH") ? std::getenv("LD_LIBRARY_PATH") : "";
    replace_all(listed, ";", ":");
    for (size_t begin = 0; begin < listed.size();) {
      const size_t end = std::min(listed.find(':', begin), listed.size());
      if (end > begin) environment_.push_back(listed.substr(begin, end - begin));
      begin = end + 1;
    }
  }

  /// `rpaths`: of the library that needs it and of those that brought that one in. Empty where it is not found.
  std::string find(const std::string& name, const std::vector<std::string>& rpaths, const std::vector<std::string>& runpath) const {
    if (name.find('/') != std::string::npos) return fits(name) ? name : std::string();
    std::vector<std::string> folders;
    if (runpath.empty()) folders = rpaths;
    folders.insert(folders.end(), environment_.begin(), environment_.end());
    folders.insert(folders.end(), runpath.begin(), runpath.end());
    for (const std::string& folder : folders) {
      if (const std::string path = folder + "/" + name; fits(path)) return path;
    }
    const auto [first, last] = cache_.equal_range(name);
    for (auto at = first; at != last; ++at) {
      if (fits(at->second)) return at->second;
    }
    for (const std::string& folder : {std::string("/lib/") + kMultiarch, std::string("/usr/lib/") + kMultiarch, std::string("/lib64"),
                                      std::string("/usr/lib64"), std::string("/lib"), std::string("/usr/lib")}) {
      if (const std::string path = folder + "/" + name; fits(path)) return path;
    }
    return {};
  }

 private:
  // Files for other machines are passed over, as the loader does.
  static bool fits(const std::string& path) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return false;
    try {
      return read_elf(path).for_this_machine;
    } catch (const std::exception&) {
      return false;
    }
  }

  std::multimap<std::string, std::string> cache_;
  std::vector<std::string> environment_;
};

std::vector<std::string> expanded(std::vector<std::string> folders, const std::string& library) {
  std::error_code error;
  const std::string origin = fs::absolute(library, error).parent_path().string();
  for (std::string& folder : folders) {
    for (const char* form : {"$ORIGIN", "${ORIGIN}"}) replace_all(folder, form, origin);
    for (const char* form : {"$LIB", "${LIB}"}) replace_all(folder, form, std::string("lib/") + kMultiarch);
    for (const char* form : {"$PLATFORM", "${PLATFORM}"}) replace_all(folder, form, kPlatform);
  }
  return folders;
}

/// "libfoo.so.1.2.3" gives "1.2.3".
std::string version_in_name(const std::string& name) {
  const size_t at = name.find(".so.");
  if (at == std::string::npos) return {};
  const std::string version = name.substr(at + 4);
  return version.find_first_not_of("0123456789.") == std::string::npos ? version : std::string();
}

std::vector<int> numbers_of(const std::string& version) {
  std::vector<int> numbers;
  for (size_t at = 0; at < version.size();) {
    numbers.push_back(std::atoi(version.c_str() + at));
    at = std::min(version.find('.', at), version.size() - 1) + 1;
  }
  return numbers;
}

/// The newest of "GLIBC_2.17", "GLIBC_2.36", ...; empty where they have no numbers.
std::string newest_symbol_version(const std::set<std::string>& versions) {
  std::string newest;
  for (const std::string& version : versions) {
    const size_t at = version.rfind('_');
    const std::string number = at == std::string::npos ? std::string() : version.substr(at + 1);
    if (number.empty() || number.find_first_not_of("0123456789.") != std::string::npos) continue;
    if (newest.empty() || numbers_of(newest) < numbers_of(number)) newest = number;
  }
  return newest;
}

std::string version_of(const std::string& path, const ElfFile& file) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  const std::string named = version_in_name(error ? fs::path(path).filename().string() : real.filename().string());
  if (named.find('.') != std::string::npos) return named;
  const std::string symbols = newest_symbol_version(file.gives_version);
  return symbols.empty() ? named : symbols;
}

std::string missing_version(const std::vector<std::string>& wanted, const ElfFile& given) {
  if (given.gives_version.empty()) return {};
  for (const std::string& version : wanted) {
    if (!given.gives_version.contains(version)) return version;
  }
  return {};
}

/// A library on the way, with the search paths that those which need it have.
struct Open {
  std::string path;
  ElfFile file;
  std::vector<std::string> rpaths;
};

}  // namespace

std::vector<Dependency> dependencies_of(const std::string& library) {
  const Search search;
  std::vector<Dependency> list;
  std::map<std::string, ElfFile> known;
  std::deque<Open> open;
  ElfFile root = read_elf(library);
  open.push_back({library, root, expanded(root.rpath, library)});
  while (!open.empty()) {
    const Open at = std::move(open.front());
    open.pop_front();
    const std::string user = fs::path(at.path).filename().string();
    for (const std::string& name : at.file.needed) {
      const auto wanted = at.file.needs_version.find(name);
      const std::vector<std::string> versions = wanted == at.file.needs_version.end() ? std::vector<std::string>() : wanted->second;
      auto row = std::find_if(list.begin(), list.end(), [&](const Dependency& d) { return d.name == name; });
      if (row == list.end()) {
        list.push_back({name, search.find(name, at.rpaths, expanded(at.file.runpath, at.path)), {}, user, {}});
        row = list.end() - 1;
        if (row->path.empty()) {
          row->problem = "not found; " + user + " needs it";
          continue;
        }
        ElfFile file = read_elf(row->path);
        row->version = version_of(row->path, file);
        std::vector<std::string> rpaths = expanded(file.rpath, row->path);
        rpaths.insert(rpaths.end(), at.rpaths.begin(), at.rpaths.end());
        open.push_back({row->path, file, std::move(rpaths)});
        known.emplace(name, std::move(file));
      }
      if (row->path.empty() || !row->problem.empty()) continue;
      const std::string missing = missing_version(versions, known.at(name));
      if (!missing.empty()) row->problem = "is too old: it lacks " + missing + ", which " + user + " needs";
    }
  }
  return list;
}

std::string find_library(const std::string& name) { return Search().find(name, {}, {}); }

std::string library_version(const std::string& path) {
  try {
    return version_of(path, read_elf(path));
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace rh::cli
