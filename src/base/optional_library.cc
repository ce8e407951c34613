#include "base/optional_library.h"

#include <map>
#include <string>
#include <vector>

#include "base/dynamic_library.h"
#include "base/error.h"
#include "base/fork_mutex.h"
#include "base/paths.h"

namespace rh {

namespace {

const void* load(const std::string& name, const char* what_it_needs) {
  const std::string file = std::string(kLibraryPrefix) + "roundhouse_" + name + std::string(kLibrarySuffix), symbol = "roundhouse_" + name;
  const std::filesystem::path own = own_library_folder();
  const std::filesystem::path folders[] = {own, own / ".." / "lib"};
  for (const auto& folder : folders) {
    std::error_code ignored;
    const std::filesystem::path path = folder / file;
    if (own.empty() || !std::filesystem::is_regular_file(path, ignored)) continue;
    const auto give = reinterpret_cast<const void* (*)()>(find_symbol(open_library(path.c_str()), symbol.c_str()));
    if (!give) fail(ErrorCode::fail, "'{}' has no function {}: it is of another version; build it anew", utf8(path), symbol);
    return give();
  }
  fail(ErrorCode::not_implemented, "{} is not in '{}': build Roundhouse where {} is installed, and keep the file beside the library", file,
       utf8(own), what_it_needs);
}

struct Loaded {
  ForkMutex mutex;
  std::map<std::string, const void*, std::less<>> tables;
};

constinit ForkOnce<Loaded> g_loaded;

}  // namespace

const void* optional_library_table(const char* name, const char* what_it_needs) {
  auto& [mutex, tables] = g_loaded.get();
  const std::lock_guard lock(mutex);
  const auto at = tables.find(name);
  if (at != tables.end()) return at->second;
  return tables.emplace(name, load(name, what_it_needs)).first->second;
}

}  // namespace rh
