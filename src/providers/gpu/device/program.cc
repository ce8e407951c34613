#include "providers/gpu/device/program.h"

#include <gpu_kernel_sources.h>  // made of gpu/kernels by the build

#include <algorithm>
#include <cctype>
#include <set>

#include "base/error.h"
#include "providers/kit/cache/content_hash.h"

namespace rh::gpu {

namespace {

struct Source {
  std::string_view name, needs, text;
};
constexpr Source kSources[] = {
#define RH_SOURCE(name, needs) {#name, needs, kernel_sources::name},
#include "providers/gpu/kernels/source_list.inc"
#undef RH_SOURCE
};
constexpr std::string_view kShared[] = {"arguments", "device"};  // what all kernels need, in this order

/// Adds a file behind those that it needs, once.
void add_file(std::string_view name, std::set<std::string_view>& files, std::string& source) {
  if (!files.insert(name).second) return;
  const auto* at = std::ranges::find(kSources, name, &Source::name);
  if (at == std::end(kSources)) fail(ErrorCode::fail, "there is no source '{}' of kernels", name);
  for (std::string_view rest = at->needs; !rest.empty();) {
    const size_t end = std::min(rest.find(' '), rest.size());
    add_file(rest.substr(0, end), files, source);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  source.append(at->text).append("\n");
}

}  // namespace

std::string Kernel::symbol() const {
  constexpr size_t kDigits = 12;
  std::string name;
  for (const char c : call.substr(0, call.find('<'))) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return fmt::format("rh_{}_{}", name, kit::hash_of(fmt::format("{}\n{}\n{}", file, call, definition)).substr(0, kDigits));
}

std::string source_of(std::span<const Kernel> kernels) {
  std::string source;
  std::set<std::string_view> files;
  for (const std::string_view name : kShared) add_file(name, files, source);
  for (const Kernel& kernel : kernels) {
    add_file(kernel.file, files, source);
    if (!kernel.also.empty()) add_file(kernel.also, files, source);
  }
  std::set<std::string_view> defined;
  for (const Kernel& kernel : kernels) {
    if (!kernel.definition.empty() && defined.insert(kernel.definition).second)
      source += fmt::format("namespace rh {{\n{}}}\n", kernel.definition);
    source += fmt::format(
        "extern \"C\" __global__ void {}(const char* arguments, unsigned stride) {{ rh::{}(rh::Arguments{{arguments + blockIdx.y * "
        "stride}}); }}\n",
        kernel.symbol(), kernel.call);
  }
  return source;
}

Programs::Programs(std::shared_ptr<Driver> driver, std::string compiler, kit::CacheSettings cache)
    : driver_(std::move(driver)), compiler_path_(std::move(compiler)), cache_(std::move(cache), [](const std::string&) {}) {}

Programs::~Programs() {
  for (const Handle module : modules_) driver_->unload(module);
}

std::vector<Handle> Programs::functions(std::span<const Kernel> kernels) {
  const std::lock_guard lock(mutex_);
  std::map<std::string, Kernel> missing;
  for (const Kernel& kernel : kernels) {
    if (std::string symbol = kernel.symbol(); !functions_.contains(symbol)) missing.emplace(std::move(symbol), kernel);
  }
  if (!missing.empty()) {
    std::vector<Kernel> list;
    for (auto& [symbol, kernel] : missing) list.push_back(kernel);
    modules_.push_back(driver_->load(find_or_compile(source_of(list))));
    for (const auto& [symbol, kernel] : missing) functions_[symbol] = driver_->function(modules_.back(), symbol.c_str());
  }
  std::vector<Handle> found;
  for (const Kernel& kernel : kernels) found.push_back(functions_.at(kernel.symbol()));
  return found;
}

std::string Programs::find_or_compile(const std::string& source) {
  const Vendor& vendor = driver_->system().vendor();
  const DeviceFacts& facts = driver_->facts();
  const std::string made_by = fmt::format("{} {}", vendor.provider, facts.architecture);
  const std::string key = kit::hash_of(fmt::format("{}\n{}\n{}", kit::own_version(), made_by, source));
  if (cache_.is_on()) {
    if (const auto found = cache_.find(key, std::string(vendor.provider))) return std::string(found->payload.view);
  }
  std::string image = compile(source);
  if (cache_.is_on()) {
    kit::Artifact artifact;
    artifact.provider = vendor.provider;
    artifact.made_by = made_by;
    artifact.region = "kernels";
    artifact.key = key;
    const auto owned = std::make_shared<const std::string>(image);
    artifact.payload = {*owned, owned};
    cache_.keep(artifact);
  }
  return image;
}

std::string Programs::compile(const std::string& source) {
  const Vendor& vendor = driver_->system().vendor();
  if (!compiler_) compiler_ = vendor.open_compiler(api_, compiler_path_);
  ++compiled_;
  Handle program = nullptr;
  const auto check = [&](Result result, const char* what) {
    if (result == 0) return;
    std::string log;
    size_t size = 0;
    if (program && api_.log_size(program, &size) == 0 && size > 1) {
      log.resize(size);
      api_.log(program, log.data());
      log.resize(size - 1);
    }
    if (program) api_.destroy(&program);
    constexpr size_t kMost = 2000;
    fail(ErrorCode::ep_fail, "{}: the compiler of kernels ('{}') failed at {} (error {}): {}", vendor.provider, compiler_->path(), what,
         result, log.empty() ? "it gives no reason" : log.substr(0, kMost));
  };
  check(api_.create(&program, source.c_str(), "roundhouse.cu", 0, nullptr, nullptr), "create");
  const std::vector<std::string> options = vendor.compiler_options(driver_->facts());
  std::vector<const char*> texts;
  for (const std::string& option : options) texts.push_back(option.c_str());
  check(api_.compile(program, static_cast<int>(texts.size()), texts.data()), "compile");
  size_t size = 0;
  check(api_.image_size(program, &size), "image_size");
  std::string image(size, '\0');
  check(api_.image(program, image.data()), "image");
  api_.destroy(&program);
  return image;
}

}  // namespace rh::gpu
