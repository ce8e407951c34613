#include "stands/cuda/driver/module.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "stands/cuda/common/kind.h"
#include "stands/cuda/common/settings.h"
#include "stands/cuda/driver/block_runner.h"
#include "stands/cuda/driver/device.h"

namespace rh::stand {
namespace {

// Where the file ends, as its headers have it: cuModuleLoadData is not told.
size_t file_length(const char* bytes) {
  Elf64_Ehdr header;
  std::memcpy(&header, bytes, sizeof header);
  size_t end = header.e_shoff + size_t{header.e_shnum} * header.e_shentsize;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, bytes + header.e_shoff + i * header.e_shentsize, sizeof section);
    if (section.sh_type != SHT_NOBITS) end = std::max<size_t>(end, section.sh_offset + section.sh_size);
  }
  return end;
}

size_t length_in_memory(const char* bytes) {
  Elf64_Ehdr header;
  std::memcpy(&header, bytes, sizeof header);
  size_t end = 0;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, bytes + header.e_phoff + i * header.e_phentsize, sizeof segment);
    if (segment.p_type == PT_LOAD) end = std::max<size_t>(end, segment.p_vaddr + segment.p_memsz);
  }
  return end;
}

// Writes the image to a file of a name that was never used (dlopen knows libraries by name) and opens it.
void* open_copy(const char* bytes, size_t length) {
  std::string path = (std::filesystem::temp_directory_path() / "stand-image-XXXXXX").string();
  int file = mkstemp(path.data());
  if (file < 0) return nullptr;
  bool written = true;
  for (size_t at = 0; written && at < length;) {
    ssize_t n = write(file, bytes + at, length - at);
    written = n > 0;
    if (written) at += static_cast<size_t>(n);
  }
  void* library = written ? dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (!library)
    std::fprintf(stderr, "stand: an image cannot be loaded: %s\n", written ? dlerror() : "no room for it in the temporary folder");
  close(file);
  unlink(path.c_str());
  return library;
}

// What the driver says to code of that compiler for that architecture.
CUresult fitting(const StandImage& image, int compute_capability) {
  if (image.version != kStandImageVersion) return CUDA_ERROR_INVALID_IMAGE;
  long driver = setting("RH_STAND_DRIVER_VERSION", 13050), compiler = image.compiler;
  int needed = static_cast<int>(image.architecture);
  if (code_is_exact()) return needed == compute_capability ? CUDA_SUCCESS : CUDA_ERROR_NO_BINARY_FOR_GPU;
  if (image.is_ptx) {
    if (compiler > driver) return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    return needed <= compute_capability ? CUDA_SUCCESS : CUDA_ERROR_INVALID_PTX;
  }
  if (compiler / 1000 > driver / 1000) return CUDA_ERROR_INVALID_IMAGE;
  return needed / 10 == compute_capability / 10 && needed <= compute_capability ? CUDA_SUCCESS : CUDA_ERROR_NO_BINARY_FOR_GPU;
}

}  // namespace

CUresult load_module(Device& device, const void* image, std::unique_ptr<CUmod_st>* module) {
  auto bytes = static_cast<const char*>(image);
  if (std::memcmp(bytes, ELFMAG, SELFMAG) != 0) return CUDA_ERROR_INVALID_IMAGE;
  auto made = std::make_unique<CUmod_st>();
  made->device = &device;
  for (int i = 0; i < device.executor.workers(); ++i) {
    ImageCopy copy;
    copy.library = open_copy(bytes, file_length(bytes));
    if (!copy.library) {
      close_module(*made);
      return CUDA_ERROR_INVALID_IMAGE;
    }
    made->copies.push_back(copy);
    auto& placed = made->copies.back();
    placed.image = static_cast<const StandImage*>(dlsym(placed.library, "stand_image"));
    CUresult result = placed.image ? fitting(*placed.image, device.compute_capability) : CUDA_ERROR_INVALID_IMAGE;
    if (result) {
      close_module(*made);
      return result;
    }
    *placed.image->api = &BlockRunner::kApi;
    Dl_info found{};
    dladdr(placed.image, &found);
    placed.range.first = static_cast<char*>(found.dli_fbase);
    placed.range.last = placed.range.first + length_in_memory(bytes);
  }
  if (made->copies[0].image->checked) made->bytes.assign(bytes, file_length(bytes));
  *module = std::move(made);
  return CUDA_SUCCESS;
}

std::string with_source_line(const CUmod_st& module, std::string message) {
  static const std::string place = "kernel image+";
  size_t at = message.find(place);
  if (at == std::string::npos || module.bytes.empty()) return message;
  size_t from = at + place.size(), end = message.find_first_not_of("0123456789abcdefx", from);
  std::string path = (std::filesystem::temp_directory_path() / "stand-lines-XXXXXX").string();
  int file = mkstemp(path.data());
  if (file < 0) return message;
  bool written = write(file, module.bytes.data(), module.bytes.size()) == static_cast<ssize_t>(module.bytes.size());
  close(file);
  // The address that a call returns to: the call itself lies before it.
  char command[512], line[256] = "";
  std::snprintf(command, sizeof command, "addr2line -s -e '%s' 0x%lx 2>/dev/null", path.c_str(),
                std::strtoul(message.c_str() + from, nullptr, 16) - 1);
  FILE* answer = written ? popen(command, "r") : nullptr;
  if (answer) {
    if (!std::fgets(line, sizeof line, answer)) line[0] = 0;
    pclose(answer);
  }
  unlink(path.c_str());
  line[std::strcspn(line, "\n ")] = 0;
  if (line[0] == 0 || line[0] == '?') return message;
  return message.replace(at, end - at, line);
}

void close_module(CUmod_st& module) {
  for (auto& copy : module.copies)
    if (copy.library) dlclose(copy.library);
  module.copies.clear();
}

CUresult find_function(CUmod_st& module, const char* name, CUfunction* function) {
  auto& known = module.functions[name];
  if (!known) {
    auto made = std::make_unique<CUfunc_st>();
    made->module = &module;
    made->name = name;
    for (auto& copy : module.copies) {
      auto kernel = static_cast<const StandKernel*>(dlsym(copy.library, (std::string("stand_kernel_") + name).c_str()));
      if (!kernel) {
        module.functions.erase(name);
        return CUDA_ERROR_NOT_FOUND;
      }
      made->kernels.push_back(kernel);
    }
    known = std::move(made);
  }
  *function = known.get();
  return CUDA_SUCCESS;
}

}  // namespace rh::stand
