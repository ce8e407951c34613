#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "ops/registry.h"
#include "ops/schema.h"
#include "providers/cpu/kernel.h"

namespace rh {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = fs::path(RH_TEST_DATA).parent_path().parent_path();

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

/// Whether a source of the CPU provider calls the vectorised loops of src/compute, itself or through the headers beside it.
bool calls_compute(const fs::path& source, std::set<fs::path>& seen) {
  static const std::set<std::string> kNotLoops = {"copy",   "elements",    "scratch",       "narrow_floats",
                                                  "random", "box_overlap", "gemm_reference"};
  if (!seen.insert(source).second) return false;
  std::istringstream lines(read(source));
  for (std::string line; std::getline(lines, line);) {
    const size_t compute = line.find("#include \"compute/"), beside = line.find("#include \"providers/cpu/");
    const size_t name = line.rfind('/') + 1;
    if (compute == 0 && !kNotLoops.contains(line.substr(name, line.rfind('.') - name))) return true;
    if (beside != 0) continue;
    const fs::path header = kRoot / "src" / line.substr(10, line.rfind('"') - 10);
    if (calls_compute(header, seen)) return true;
    if (const fs::path body = fs::path(header).replace_extension(".cc"); fs::exists(body) && calls_compute(body, seen)) return true;
  }
  return false;
}

/// The attribute structs whose kernels call src/compute.
std::set<std::string> fast_kernels() {
  std::map<std::string, std::string> structs;
#define RH_KERNEL(Struct, KernelClass) structs[#KernelClass] = #Struct;
#include "providers/cpu/kernel_list.inc"
#undef RH_KERNEL
  std::set<std::string> fast;
  for (const fs::directory_entry& entry : fs::directory_iterator(kRoot / "src/providers/cpu/kernels")) {
    const std::string text = read(entry.path());
    std::set<fs::path> seen;
    if (!calls_compute(entry.path(), seen)) continue;
    for (size_t at = text.find("RH_DEFINE_KERNEL("); at != std::string::npos; at = text.find("RH_DEFINE_KERNEL(", at + 1)) {
      fast.insert(structs[text.substr(at + 17, text.find(')', at) - at - 17)]);
    }
  }
  return fast;
}

std::string types_text(DTypeSet types) {
  static const std::pair<const char*, DTypeSet> kGroups[] = {
      {"all", DTypeSet::all()}, {"numbers", NumericTypes::set}, {"floats", FloatingTypes::set}, {"integers", IntegerTypes::set}};
  std::string text;
  DTypeSet named;
  const auto add = [&](std::string_view name) { text += (text.empty() ? "" : ", ") + std::string(name); };
  for (const auto& [name, group] : kGroups) {
    if ((types | group).to_string() != types.to_string() || (named | group).to_string() == named.to_string()) continue;
    add(name);
    named = named | group;
  }
  for (int i = 1; i < kDTypeCount; ++i) {
    const DType dtype = static_cast<DType>(i);
    if (types.contains(dtype) && !named.contains(dtype)) add(to_string(dtype));
  }
  return text;
}

/// The types of the leading input that both the operator and its kernel have; the kernel's where the operator takes no tensor first.
DTypeSet types_of(std::span<const ops::OpSchema> history, const cpu::KernelEntry& kernel) {
  DTypeSet types;
  for (const ops::OpSchema& schema : history) {
    for (int i = 1; i < kDTypeCount; ++i) {
      const DType dtype = static_cast<DType>(i);
      const ops::TypeSet* allowed = schema.inputs.empty() ? nullptr : schema.inputs[0].allowed;
      const bool is_open = !allowed || allowed->tensor == 0;
      if (kernel.types.contains(dtype) && (is_open || allowed->allows_tensor(dtype))) types = types | DTypeSet{dtype};
    }
  }
  return types;
}

std::string page() {
  std::string text =
      "# Operators\n\n"
      "The operators of the standard and of `com.microsoft` that the CPU runs. Written by\n"
      "`tests/ops/operators_page_test.cc` from the lists that the code itself goes by: the versions in which the operator changed (each "
      "serves\n"
      "up to the next), the element types of its first input, and whether its kernel goes through the vectorised loops of `src/compute` "
      "(fast)\n"
      "or is plain C++. `floats` are float, double, float16 and bfloat16; `integers` those of 8 to 64 bits; `numbers` both; `all` is every "
      "type\n"
      "of the standard. `RH_WRITE_PAGES=1 build/release/tests/test_ops --gtest_filter=OperatorsPage.*` writes this page anew.\n";
  const std::set<std::string> fast = fast_kernels();
  std::string_view domain = "none";
  for (const OpEntry& op : all_ops()) {
    const cpu::KernelEntry* kernel = cpu::find_kernel(op.attributes);
    const std::span<const ops::OpSchema> history = ops::schema_history(op.domain, op.op_type);
    if (!kernel || history.empty() || op.domain == "roundhouse") continue;
    if (op.domain != domain) {
      domain = op.domain;
      text += fmt::format("\n## {}\n\n| operator | versions | types | kernel |\n| --- | --- | --- | --- |\n",
                          domain.empty() ? "ai.onnx" : domain);
    }
    std::string versions;
    for (const ops::OpSchema& schema : history) {
      if (!schema.deprecated) versions += (versions.empty() ? "" : ", ") + std::to_string(schema.since_version);
    }
    text += fmt::format("| {} | {} | {} | {} |\n", op.op_type, versions, types_text(types_of(history, *kernel)),
                        fast.contains(std::string(op.attributes)) ? "fast" : "plain");
  }
  return text;
}

TEST(OperatorsPage, IsCurrent) {
  const fs::path path = kRoot / "docs/operators.md";
  const std::string expected = page();
  if (std::getenv("RH_WRITE_PAGES")) std::ofstream(path, std::ios::binary) << expected;
  EXPECT_TRUE(read(path) == expected) << path << " is out of date: RH_WRITE_PAGES=1 "
                                      << "test_ops --gtest_filter=OperatorsPage.* writes it";
}

}  // namespace
}  // namespace rh
