#include "stands/cuda/nvrtc/image_cache.h"

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "stands/cuda/common/settings.h"

namespace rh::stand {
namespace {

namespace fs = std::filesystem;

constexpr std::ptrdiff_t kMostFiles = 4000;

// FNV-1a.
uint64_t mixed(uint64_t hash, const std::string& text) {
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return (hash ^ text.size()) * 0x100000001b3ull;
}

}  // namespace

ImageCache::ImageCache(const std::vector<std::string>& depends) : folder_(text_setting("RH_STAND_CACHE", own_folder() + "/cache")) {
  if (folder_ == "off") return;
  uint64_t first = 0xcbf29ce484222325ull, second = 0x9e3779b97f4a7c15ull;
  for (const auto& text : depends) {
    first = mixed(first, text);
    second = mixed(second, text);
  }
  char name[48];
  std::snprintf(name, sizeof name, "/%016llx%016llx.so", static_cast<unsigned long long>(first), static_cast<unsigned long long>(second));
  path_ = folder_ + name;
}

bool ImageCache::read(std::string* image) const {
  if (path_.empty()) return false;
  std::ifstream file(path_, std::ios::binary);
  if (!file) return false;
  std::stringstream bytes;
  bytes << file.rdbuf();
  *image = bytes.str();
  return true;
}

// By a name of its own first: another process may write the same.
void ImageCache::write(const std::string& image) const {
  if (path_.empty()) return;
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) return;
  if (std::distance(fs::directory_iterator(folder_, error), fs::directory_iterator()) > kMostFiles) {
    fs::remove_all(folder_, error);
    fs::create_directories(folder_, error);
  }
  const std::string unfinished = path_ + "." + std::to_string(getpid());
  std::ofstream(unfinished, std::ios::binary) << image;
  fs::rename(unfinished, path_, error);
}

}  // namespace rh::stand
