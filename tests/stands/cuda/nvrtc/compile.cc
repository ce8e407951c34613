#include "stands/cuda/nvrtc/compile.h"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "stands/cuda/common/kind.h"
#include "stands/cuda/common/settings.h"
#include "stands/cuda/nvrtc/image_cache.h"
#include "stands/cuda/nvrtc/process.h"

namespace rh::stand {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}
void write_file(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

// The instructions that the host has, so that float16 and fused operations are its own. (Every processor with AVX2 has those of float16.)
std::vector<std::string> host_flags() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {"-mavx2", "-mfma", "-mf16c"};
  return {};
#elif defined(__aarch64__)
  return {"-D_Float16=__fp16", "-mno-outline-atomics"};
#else
  return {};
#endif
}

std::vector<std::string> common_arguments(const CompileOptions& options, bool checked) {
  std::string compiler = checked ? text_setting("RH_STAND_CHECKED_CXX", RH_STAND_CHECKED_CXX) : text_setting("RH_STAND_CXX", RH_STAND_CXX);
  std::vector<std::string> arguments = {compiler,
                                        "-std=c++17",
                                        "-pipe",
                                        text_setting("RH_STAND_OPT", checked ? "-O2" : "-O1"),
                                        "-ffp-contract=fast",
                                        "-fno-strict-aliasing",
                                        "-fPIC",
                                        "-fvisibility=hidden",
                                        "-fno-exceptions",
                                        "-fno-rtti",
                                        "-fno-math-errno",
                                        "-fno-stack-protector",
                                        "-fstack-clash-protection",
                                        "-w",
                                        "-nostdinc",
                                        "-I" + own_folder() + "/include",
                                        "-DRH_STAND_COMPILER=" + std::to_string(kCompilerMajor * 1000 + kCompilerMinor * 10)};
  for (const auto& flag : architecture_flags(options.architecture ? options.architecture : default_architecture()))
    arguments.push_back(flag);
  if (compiler.find("clang") == std::string::npos) arguments.push_back("-fno-gnu-unique");
  if (checked) arguments.insert(arguments.end(), {"-DRH_STAND_CHECKED", "-fsanitize=thread", "-fno-sanitize-link-runtime", "-g1"});
  for (const auto& flag : host_flags()) arguments.push_back(flag);
  arguments.insert(arguments.end(), options.flags.begin(), options.flags.end());
  return arguments;
}

// The folder of one compilation; it is removed at the end unless RH_STAND_KEEP says otherwise.
struct WorkFolder {
  fs::path path;
  WorkFolder() {
    std::string name = (fs::temp_directory_path() / "stand-cuda-XXXXXX").string();
    if (mkdtemp(name.data())) path = name;
  }
  ~WorkFolder() {
    std::error_code ignored;
    if (!path.empty() && setting("RH_STAND_KEEP", 0) == 0) fs::remove_all(path, ignored);
  }
};

// Preprocess, rewrite, compile and link. `is_ptx` is written into the image.
bool build(const SourceProgram& program, const CompileOptions& options, bool is_ptx, const fs::path& folder, std::string* image,
           std::string* log) {
  bool checked = checked_setting();
  auto arguments = common_arguments(options, checked);
  arguments.push_back("-I" + (folder / "headers").string());
  arguments.push_back(std::string("-DRH_STAND_IS_PTX=") + (is_ptx ? "1" : "0"));
  auto run = [&](std::vector<std::string> more) {
    more.insert(more.begin(), arguments.begin(), arguments.end());
    return run_program(more, (folder / "log").string());
  };
  write_file(folder / "unit.cc", "#include \"cuda_stand.h\"\n#line 1 \"" + program.name + "\"\n" + program.source + "\n");
  bool done = run({"-E", "-x", "c++", (folder / "unit.cc").string(), "-o", (folder / "unit.ii").string()});
  if (done) {
    write_file(folder / "unit.ii", rewrite(read_file(folder / "unit.ii"), program.expressions));
    done = run({"-shared", "-x", "c++-cpp-output", (folder / "unit.ii").string(), "-o", (folder / "image.so").string(), "-x", "none",
                "-nostdlib", RH_STAND_LINKER_FLAG, "-Wl,--as-needed", "-lm", "-lgcc", "-lc"});
  }
  *log = read_file(folder / "log");
  if (done) *image = read_file(folder / "image.so");
  if (setting("RH_STAND_KEEP", 0)) *log += "kept in " + folder.string() + "\n";
  return done;
}

}  // namespace

bool read_options(int count, const char* const* options, CompileOptions* result) {
  for (int i = 0; i < count; ++i) {
    std::string option = options[i];
    auto takes_next = [&](const char* name) { return option == name && i + 1 < count; };
    if (takes_next("-arch") || takes_next("--gpu-architecture")) option += std::string("=") + options[++i];
    if (takes_next("-I") || takes_next("-D")) option += options[++i];
    if (const NamedArchitecture named = architecture_of(option); named.is_named) {
      result->architecture = named.number;
      result->code_only = !named.is_real;
      if (named.number == 0) return false;
    } else if (option.starts_with("-I") || option.starts_with("-D") || option.starts_with("-std=") || option.starts_with("-U")) {
      result->flags.push_back(option);
    } else if (option.starts_with("--std=")) {
      result->flags.push_back(option.substr(1));
    } else if (option.starts_with("--include-path=")) {
      result->flags.push_back("-I" + option.substr(15));
    } else if (option.starts_with("--define-macro=")) {
      result->flags.push_back("-D" + option.substr(15));
    } else if (option == "--fmad=false" || option == "-fmad=false") {
      result->flags.push_back("-ffp-contract=off");
    }
  }
  return true;
}

namespace {

// What an image is made of, but for the compiler itself. Headers that -I names may change with nothing here that tells.
ImageCache cache_for(const SourceProgram& program, const CompileOptions& options) {
  std::vector<std::string> depends = common_arguments(options, checked_setting());
  depends.push_back(options.code_only ? "PTX" : "code");
  depends.insert(depends.end(), {program.name, program.source});
  for (const auto& [name, text] : program.headers) depends.insert(depends.end(), {name, text});
  for (const auto& [expression, lowered] : program.expressions) depends.push_back(expression);
  std::vector<fs::path> headers;
  std::error_code none;  // without the folder nothing compiles, which the compiler says
  for (const auto& entry : fs::directory_iterator(own_folder() + "/include", none)) headers.push_back(entry.path());
  std::sort(headers.begin(), headers.end());
  for (const auto& header : headers) depends.push_back(read_file(header));
  return ImageCache(depends);
}
bool may_be_cached(const CompileOptions& options) {
  return setting("RH_STAND_KEEP", 0) == 0 &&
         std::none_of(options.flags.begin(), options.flags.end(), [](const auto& f) { return f.starts_with("-I"); });
}

}  // namespace

// RH_STAND_SOURCES=FOLDER: what programs compile is kept there, a file each, for other compilers.
static void keep_source(const SourceProgram& program) {
  const std::string folder = text_setting("RH_STAND_SOURCES", "");
  if (folder.empty()) return;
  char name[32];
  std::snprintf(name, sizeof name, "%016zx.cu", std::hash<std::string>()(program.source));
  if (!fs::exists(fs::path(folder) / name)) write_file(fs::path(folder) / name, program.source);
}

bool compile(const SourceProgram& program, const CompileOptions& options, CompiledImage* image) {
  keep_source(program);
  std::optional<ImageCache> cache;
  if (may_be_cached(options)) cache = cache_for(program, options);
  std::string* made = options.code_only ? &image->ptx : &image->code;
  if (cache && cache->read(made)) {
    if (!options.code_only) image->ptx = image->code;
    return true;
  }
  WorkFolder folder;
  if (folder.path.empty()) {
    image->log = "stand: no folder for temporary files in " + fs::temp_directory_path().string() + "\n";
    return false;
  }
  for (const auto& [name, text] : program.headers) write_file(folder.path / "headers" / name, text);
  if (!build(program, options, options.code_only, folder.path, made, &image->log)) return false;
  if (cache) cache->write(*made);
  if (!options.code_only) image->ptx = image->code;
  return true;
}

}  // namespace rh::stand
