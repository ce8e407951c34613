#include "providers/coreml/package.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "providers/kit/cache/content_hash.h"

namespace rh::coreml {

namespace {

namespace fs = std::filesystem;

std::string hash_of(const std::string& model, const WeightFile& weights) {
  kit::ContentHash hash;
  hash.add_text(model);
  weights.for_each_piece([&](std::span<const std::byte> bytes) { hash.add(bytes); });
  return hash.hex();
}

/// In the form of an identifier, the same for the same text.
std::string identifier(std::string_view text) {
  const std::string hash = kit::hash_of(text);
  return fmt::format("{}-{}-{}-{}-{}", hash.substr(0, 8), hash.substr(8, 4), hash.substr(12, 4), hash.substr(16, 4), hash.substr(20, 12));
}

std::string manifest_of(const std::string& hash, bool has_weights) {
  const auto item = [](const std::string& id, std::string_view name, std::string_view description) {
    return fmt::format(R"("{}":{{"author":"com.apple.CoreML","description":"{}","name":"{}","path":"com.apple.CoreML/{}"}})", id,
                       description, name, name);
  };
  const std::string model = identifier(hash + "model");
  std::string items = item(model, "model.mlmodel", "CoreML Model Specification");
  if (has_weights) items += "," + item(identifier(hash + "weights"), "weights", "CoreML Model Weights");
  return fmt::format(R"({{"fileFormatVersion":"1.0.0","itemInfoEntries":{{{}}},"rootModelIdentifier":"{}"}})", items, model);
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    fail(ErrorCode::fail, "the folder '{}' cannot be made: {}: name another in ModelCacheDirectory", folder.string(), error.message());
}

std::string temporary_folder(const fs::path& within) {
  std::string name = (within / "roundhouse-coreml-XXXXXX").string();
  if (!::mkdtemp(name.data())) fail(ErrorCode::fail, "no folder for a Core ML program in '{}': {}", within.string(), std::strerror(errno));
  return name;
}

void write(const fs::path& package, const std::string& model, const WeightFile& weights, const std::string& hash) {
  const fs::path data = package / "Data" / "com.apple.CoreML";
  make_folder(data);
  write_file((data / "model.mlmodel").string(), model);
  if (!weights.empty()) {
    make_folder(data / "weights");
    weights.write((data / "weights" / "weight.bin").string());
  }
  write_file((package / "Manifest.json").string(), manifest_of(hash, !weights.empty()));
}

}  // namespace

Package::Package(const Program& program, const std::string& cache) : is_kept_(!cache.empty()) {
  const std::string model = program.write(), hash = hash_of(model, program.weights());
  if (!is_kept_) {
    folder_ = temporary_folder(fs::temp_directory_path());
    write(package(), model, program.weights(), hash);
    return;
  }
  make_folder(cache);
  folder_ = (fs::path(cache) / hash).string();
  if (fs::exists(package())) return;
  const std::string aside = temporary_folder(cache);
  write(fs::path(aside) / "model.mlpackage", model, program.weights(), hash);
  std::error_code error;
  fs::rename(aside, folder_, error);  // another process may have written the same meanwhile
  if (error) fs::remove_all(aside, error);
  if (!fs::exists(package())) fail(ErrorCode::fail, "the cache '{}' cannot be written: name another in ModelCacheDirectory", cache);
}

Package::~Package() {
  std::error_code ignored;
  if (!is_kept_) fs::remove_all(folder_, ignored);
}

}  // namespace rh::coreml
