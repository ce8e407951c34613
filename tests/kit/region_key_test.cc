// What regions are known by in the cache: equal where they compute the same under the same names, else not.
#include "providers/kit/cache/region_key.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include "base/file.h"
#include "graph/text_parse.h"
#include "kit/forged.h"
#include "providers/kit/cache/content_hash.h"

namespace rh {

namespace {

kit::Region region_of(std::string_view text) {
  std::shared_ptr<Graph> graph = parse_graph(text);
  return {graph, graph->inputs(), graph->outputs()};
}

std::string key_of(std::string_view text, std::string_view context = "") { return kit::content_key(region_of(text), context); }

std::string with_head(std::string_view text) { return R"(<ir_version: 8, opset_import: ["" : 17]> main )" + std::string(text); }

constexpr char kBase[] = R"((float[N, 4] x) => (float[N, 4] y) < float[4] w = {4, 3, 2, 1} >
  { [add] m = Add (x, w)
    [soft] y = Softmax <axis = -1> (m) })";

constexpr char kBody[] = R"((float[4] x, bool[] c) => (float[4] y) < float[4] w = {4, 3, 2, 1}, float[4] v = {1, 1, 1, 1} >
  { [if] y = If <then_branch = t () => (float[4] a) { [t1] a = Add (x, w) },
                 else_branch = e () => (float[4] b) < float[4] own = {9, 8, 9, 9} > { [e1] b = Mul (x, own) }> (c) })";

TEST(KitRegionKey, DoesNotDependOnNamesWithin) {
  EXPECT_EQ(key_of(with_head(kBase)), key_of(with_head(R"((float[N, 4] x) => (float[N, 4] y) < float[4] weight = {4, 3, 2, 1} >
    { [n1] sum = Add (x, weight)
      [n2] y = Softmax <axis = -1> (sum) })")));
}

TEST(KitRegionKey, DependsOnAllElse) {
  const std::string texts[] = {
      with_head(kBase),
      with_head(R"((float[N, 4] x) => (float[N, 4] z) < float[4] w = {4, 3, 2, 1} > { m = Add (x, w) z = Softmax <axis = -1> (m) })"),
      with_head(R"((float[M, 4] x) => (float[M, 4] y) < float[4] w = {4, 3, 2, 1} > { m = Add (x, w) y = Softmax <axis = -1> (m) })"),
      with_head(R"((float[N, 4] x) => (float[N, 4] y) < float[4] w = {4, 3, 2, 2} > { m = Add (x, w) y = Softmax <axis = -1> (m) })"),
      with_head(R"((float[N, 4] x) => (float[N, 4] y) < float[1, 4] w = {4, 3, 2, 1} > { m = Add (x, w) y = Softmax <axis = -1> (m) })"),
      with_head(R"((float[N, 4] x) => (float[N, 4] y) < float[4] w = {4, 3, 2, 1} > { m = Mul (x, w) y = Softmax <axis = -1> (m) })"),
      with_head(R"((float[N, 4] x) => (float[N, 4] y) < float[4] w = {4, 3, 2, 1} > { m = Add (w, x) y = Softmax <axis = -1> (m) })"),
      with_head(R"((float[N, 4] x) => (float[N, 4] y) < float[4] w = {4, 3, 2, 1} > { m = Add (x, w) y = Softmax <axis = 0> (m) })"),
      with_head(R"((float[N, 4] x) => (float[N, 4] y) < float[4] w = {4, 3, 2, 1} > { m = Add (x, w) y = Softmax (m) })"),
      R"(<ir_version: 8, opset_import: ["" : 16]> main )" + std::string(kBase),
      with_head(kBody),
      with_head(R"((float[4] x, bool[] c) => (float[4] y) < float[4] w = {4, 3, 2, 1}, float[4] v = {1, 1, 1, 1} >
        { y = If <then_branch = t () => (float[4] a) { a = Add (x, v) },
                  else_branch = e () => (float[4] b) < float[4] own = {9, 8, 9, 9} > { b = Mul (x, own) }> (c) })"),
      with_head(R"((float[4] x, bool[] c) => (float[4] y) < float[4] w = {4, 3, 2, 1}, float[4] v = {1, 1, 1, 1} >
        { y = If <then_branch = t () => (float[4] a) { a = Add (x, w) },
                  else_branch = e () => (float[4] b) < float[4] own = {9, 8, 9, 8} > { b = Mul (x, own) }> (c) })"),
  };
  std::map<std::string, size_t> keys;
  for (size_t i = 0; i < std::size(texts); ++i) {
    const auto [known, is_new] = keys.emplace(key_of(texts[i]), i);
    EXPECT_TRUE(is_new) << i << " has the key of " << known->second;
  }
  EXPECT_NE(key_of(texts[0]), key_of(texts[0], "least_nodes=2"));
}

constexpr int64_t kElements = 18'000'000;

std::vector<float> weights_with(float last) {
  std::vector<float> weights(kElements, 1.0f);
  weights[kElements - 5000] = last;  // not among the samples
  return weights;
}

/// A region of one addition with a constant of 72 MB: in memory, or where `mapped` says.
kit::Region large_region(float last, const float* mapped = nullptr) {
  auto graph = std::make_shared<Graph>();
  graph->opset_imports[""] = 17;
  const ValueId x = graph->add_input("x", ValueType::tensor(DType::float32, SymbolicShape{kElements}));
  Tensor weights(DType::float32, Shape{kElements});
  if (!mapped) std::ranges::copy(weights_with(last), weights.data<float>());
  const ValueId w = graph->add_initializer(
      "w", Value(mapped ? Tensor(DType::float32, Shape{kElements}, const_cast<float*>(mapped), nullptr) : std::move(weights)));
  Node add;
  add.op_type = "Add";
  add.opset = 17;
  add.inputs = {x, w};
  const ValueId y = graph->add_value("y", ValueType::tensor(DType::float32, SymbolicShape{kElements}));
  add.outputs = {y};
  graph->add_node(std::move(add));
  graph->set_outputs({y});
  return {graph, {x}, {y}};
}

kit::RegionKey quick_key(const kit::Region& region) {
  return kit::quick_key(region, "", [] { return kit::MarkKey::of_process(); });
}

std::string name_of(const kit::Region& region) { return quick_key(region).name; }

TEST(KitRegionKey, OfLargeConstantsGoesByAllTheirBytes) {
  const kit::RegionKey first = quick_key(large_region(1));
  EXPECT_EQ(first.content, "");
  EXPECT_NE(first.name, "");
  EXPECT_EQ(name_of(large_region(1)), first.name);
  EXPECT_NE(name_of(large_region(2)), first.name);
}

std::span<std::byte> weights_of(const kit::Region& region) {
  Graph& graph = const_cast<Graph&>(*region.graph);
  for (ValueId id = 0; id < graph.value_count(); ++id) {
    if (const Tensor* tensor = graph.value(id).constant_tensor()) {
      return {static_cast<std::byte*>(const_cast<void*>(tensor->raw())), tensor->bytes()};
    }
  }
  return {};
}

std::string_view text_of(std::span<const std::byte> bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

TEST(KitRegionKey, OfLargeConstantsWhoseChecksumWasMadeEqualIsAnother) {
  const kit::Region region = large_region(1), forged = large_region(1);
  forge(weights_of(forged));
  ASSERT_EQ(kit::checksum_of(text_of(weights_of(region))), kit::checksum_of(text_of(weights_of(forged))));
  EXPECT_NE(name_of(forged), name_of(region));
  EXPECT_NE(kit::content_key(forged, ""), kit::content_key(region, ""));
}

TEST(KitRegionKey, OfLargeConstantsWithoutAKeyOfMarksGoesByTheirHash) {
  const auto name = [](const kit::Region& region) { return kit::quick_key(region, "", [] { return std::optional<kit::MarkKey>(); }).name; };
  const std::string first = name(large_region(1));
  EXPECT_NE(first, name_of(large_region(1)));
  EXPECT_EQ(first, name(large_region(1)));
  EXPECT_NE(first, name(large_region(2)));
}

TEST(KitRegionKey, OfLargeConstantsThatAreMappedGoesByTheirFile) {
  const std::string file = std::filesystem::temp_directory_path() / fmt::format("rh_region_key_{}", ::getpid());
  const auto write = [&](float last) {
    const std::vector<float> weights = weights_with(last);
    write_file(file, {reinterpret_cast<const char*>(weights.data()), weights.size() * sizeof(float)});
  };
  const auto mapped_name = [&] {
    const InputFile opened(file);
    const MappedFile mapped(opened);
    return name_of(large_region(0, reinterpret_cast<const float*>(mapped.bytes().data())));
  };
  write(1);
  const std::string first = mapped_name();
  EXPECT_EQ(mapped_name(), first);
  EXPECT_NE(name_of(large_region(1)), first);  // memory
  EXPECT_NE(name_of(large_region(2)), first);  // what a session puts in its place
  const auto modified = std::filesystem::last_write_time(file);
  write(1);
  std::filesystem::last_write_time(file, modified);
  EXPECT_NE(mapped_name(), first);  // written anew, with its time put back
  std::filesystem::last_write_time(file, std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
  EXPECT_NE(mapped_name(), first);
  std::filesystem::remove(file);
}

/// The weights in a file, mapped by its first user.
class WeightsFile {
 public:
  explicit WeightsFile(const std::filesystem::path& folder = std::filesystem::temp_directory_path())
      : path_(folder / fmt::format("rh_mapped_weights_{}", ::getpid())) {
    const std::vector<float> weights = weights_with(1);
    write_file(path_, {reinterpret_cast<const char*>(weights.data()), weights.size() * sizeof(float)});
  }
  ~WeightsFile() { std::filesystem::remove(path_); }
  /// Unmapped by its owner.
  std::shared_ptr<float> map(int rights, int flags) const {
    const int descriptor = ::open(path_.c_str(), rights & PROT_WRITE && flags == MAP_SHARED ? O_RDWR : O_RDONLY);
    void* memory = ::mmap(nullptr, kElements * sizeof(float), rights, flags, descriptor, 0);
    ::close(descriptor);
    EXPECT_NE(memory, MAP_FAILED);
    return {static_cast<float*>(memory), [](float* data) { ::munmap(data, kElements * sizeof(float)); }};
  }

 private:
  std::string path_;
};

TEST(KitRegionKey, OfPagesThatWereCopiedGoesByTheirBytes) {
  const WeightsFile file;
  const std::shared_ptr<float> read_only = file.map(PROT_READ, MAP_PRIVATE), own = file.map(PROT_READ | PROT_WRITE, MAP_PRIVATE);
  const std::string first = name_of(large_region(0, read_only.get()));
  EXPECT_EQ(name_of(large_region(0, own.get())), first);  // nobody has written into it
  own.get()[kElements - 5000] = 2;
  EXPECT_EQ(name_of(large_region(0, own.get())), name_of(large_region(2)));
  ASSERT_EQ(::mprotect(own.get(), kElements * sizeof(float), PROT_READ), 0);
  EXPECT_EQ(name_of(large_region(0, own.get())), name_of(large_region(2)));
  EXPECT_EQ(name_of(large_region(0, read_only.get())), first);
}

void check_each_change_has_a_key(const WeightsFile& file) {
  const std::shared_ptr<float> shared = file.map(PROT_READ | PROT_WRITE, MAP_SHARED), read_only = file.map(PROT_READ, MAP_PRIVATE);
  std::map<std::string, int> keys;
  for (int i = 0; i < 3; ++i) {
    ::usleep(20'000);  // times of files go by the clock's ticks
    shared.get()[kElements - 5000] = static_cast<float>(i);
    EXPECT_TRUE(keys.emplace(name_of(large_region(0, read_only.get())), i).second) << i;
  }
}

TEST(KitRegionKey, OfAFileThatOthersWriteThroughTheirMappingsChangesEachTime) { check_each_change_has_a_key(WeightsFile()); }

TEST(KitRegionKey, OfAFileInMemoryThatOthersWriteThroughTheirMappingsChangesEachTime) {
  if (!std::filesystem::is_directory("/dev/shm") || std::filesystem::space("/dev/shm").available < 100'000'000) {
    GTEST_SKIP() << "there is no /dev/shm with 100 MB to spare";
  }
  check_each_change_has_a_key(WeightsFile("/dev/shm"));
}

}  // namespace

}  // namespace rh
