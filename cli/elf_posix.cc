#include "elf.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace rh::cli {

namespace {

#if defined(__x86_64__)
constexpr uint16_t kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t kMachine = EM_AARCH64;
#else
constexpr uint16_t kMachine = EM_NONE;
#endif

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// Reads a file whose every offset may be wrong.
class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat about{};
    if (file < 0 || fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
      if (file >= 0) close(file);
      throw std::runtime_error("'" + path + "' cannot be read");
    }
    size_ = static_cast<size_t>(about.st_size);
    if (size_ > 0) memory_ = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (memory_ == MAP_FAILED) throw std::runtime_error("'" + path + "' cannot be read");
    bytes_ = std::string_view(static_cast<const char*>(memory_), size_);
  }
  ~Reader() {
    if (memory_) munmap(memory_, size_);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  ElfFile read() {
    if (bytes_.size() < sizeof(Elf64_Ehdr) || bytes_.compare(0, SELFMAG, ELFMAG) != 0)
      throw std::runtime_error("'" + path_ + "' is no shared library: it is no ELF file");
    if (bytes_[EI_CLASS] != ELFCLASS64 || bytes_[EI_DATA] != ELFDATA2LSB)
      throw std::runtime_error("'" + path_ + "' is no 64-bit little-endian ELF file");
    const auto header = at<Elf64_Ehdr>(0);
    ElfFile file;
    file.for_this_machine = header.e_machine == kMachine;
    std::optional<Elf64_Phdr> dynamic;
    for (uint64_t i = 0; i < header.e_phnum; ++i) {
      const auto segment = at<Elf64_Phdr>(header.e_phoff + i * sizeof(Elf64_Phdr));
      if (segment.p_type == PT_LOAD) segments_.push_back(segment);
      if (segment.p_type == PT_DYNAMIC) dynamic = segment;
    }
    if (!dynamic) throw std::runtime_error("'" + path_ + "' is no shared library: it has no dynamic section");
    read_dynamic(*dynamic, file);
    return file;
  }

 private:
  [[noreturn]] void damaged() const { throw std::runtime_error("'" + path_ + "' is cut or damaged: an offset leads outside"); }

  template <typename T>
  T at(uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) damaged();
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return value;
  }

  uint64_t offset_of(uint64_t address) const {
    for (const Elf64_Phdr& segment : segments_) {
      if (address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz) return address - segment.p_vaddr + segment.p_offset;
    }
    damaged();
  }

  std::string text(uint64_t position) const {
    const uint64_t begin = strings_ + position;
    if (begin < strings_ || begin >= bytes_.size()) damaged();
    const size_t end = bytes_.find('\0', begin);
    if (end == std::string::npos) damaged();
    return std::string(bytes_.substr(begin, end - begin));
  }

  void read_dynamic(const Elf64_Phdr& dynamic, ElfFile& file) {
    std::map<int64_t, uint64_t> single;
    std::vector<uint64_t> needed;
    for (uint64_t i = 0; i < dynamic.p_filesz / sizeof(Elf64_Dyn); ++i) {
      const auto entry = at<Elf64_Dyn>(dynamic.p_offset + i * sizeof(Elf64_Dyn));
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_NEEDED) needed.push_back(entry.d_un.d_val);
      single[entry.d_tag] = entry.d_un.d_val;
    }
    if (!single.contains(DT_STRTAB)) damaged();
    strings_ = offset_of(single[DT_STRTAB]);
    for (uint64_t position : needed) file.needed.push_back(text(position));
    if (single.contains(DT_SONAME)) file.soname = text(single[DT_SONAME]);
    if (single.contains(DT_RPATH)) file.rpath = split(text(single[DT_RPATH]), ':');
    if (single.contains(DT_RUNPATH)) file.runpath = split(text(single[DT_RUNPATH]), ':');
    if (single.contains(DT_VERNEED)) read_needed_versions(offset_of(single[DT_VERNEED]), single[DT_VERNEEDNUM], file);
    if (single.contains(DT_VERDEF)) read_given_versions(offset_of(single[DT_VERDEF]), single[DT_VERDEFNUM], file);
  }

  void read_needed_versions(uint64_t offset, uint64_t count, ElfFile& file) const {
    for (uint64_t i = 0; i < count; ++i) {
      const auto need = at<Elf64_Verneed>(offset);
      std::vector<std::string>& versions = file.needs_version[text(need.vn_file)];
      uint64_t inner = offset + need.vn_aux;
      for (uint64_t k = 0; k < need.vn_cnt; ++k) {
        const auto version = at<Elf64_Vernaux>(inner);
        if (!(version.vna_flags & VER_FLG_WEAK)) versions.push_back(text(version.vna_name));
        inner += version.vna_next;
      }
      offset += need.vn_next;
    }
  }

  void read_given_versions(uint64_t offset, uint64_t count, ElfFile& file) const {
    for (uint64_t i = 0; i < count; ++i) {
      const auto definition = at<Elf64_Verdef>(offset);
      if (!(definition.vd_flags & VER_FLG_BASE)) file.gives_version.insert(text(at<Elf64_Verdaux>(offset + definition.vd_aux).vda_name));
      offset += definition.vd_next;
    }
  }

  std::string path_;
  void* memory_ = nullptr;
  size_t size_ = 0;
  std::string_view bytes_;
  std::vector<Elf64_Phdr> segments_;
  uint64_t strings_ = 0;
};

}  // namespace

ElfFile read_elf(const std::string& path) { return Reader(path).read(); }

}  // namespace rh::cli
