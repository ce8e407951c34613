#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/file.h"
#include "onnx/reader.h"
#include "onnx/writer.h"
#include "protos.h"

namespace rh::onnx::test {
namespace {

namespace fs = std::filesystem;

/// A folder that goes with the test.
class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "roundhouse_onnx_XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~Folder() { fs::remove_all(path_); }
  std::string operator/(std::string_view name) const { return (fs::path(path_) / name).string(); }
  std::string write(std::string_view name, std::string_view content) const {
    std::string path = *this / name;
    fs::create_directories(fs::path(path).parent_path());
    write_file(path, content);
    return path;
  }
  std::string link(std::string_view name, const std::string& target) const {
    std::string path = *this / name;
    fs::create_directories(fs::path(path).parent_path());
    fs::create_symlink(target, path);
    return path;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Message external_tensor(DType dtype, int64_t elements, std::string_view location, std::string_view offset = {},
                        std::string_view length = {}) {
  Message message = tensor(dtype, {elements}, "w");
  const auto entry = [&](std::string_view key, std::string_view value) {
    message.add(field::tensor::external_data, Message().text(field::entry::key, key).text(field::entry::value, value));
  };
  entry("location", location);
  if (!offset.empty()) entry("offset", offset);
  if (!length.empty()) entry("length", length);
  entry("checksum", "0123");
  return message.number(field::tensor::data_location, 1);
}

// As a program behind a pipe does, which comes late and waits in between.
void write_in_pieces(const std::string& path, std::string_view bytes) {
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const int pipe = ::open(path.c_str(), O_WRONLY);
  for (size_t i = 0; i < bytes.size(); i += 7) {
    const std::string_view piece = bytes.substr(i, 7);
    EXPECT_EQ(::write(pipe, piece.data(), piece.size()), static_cast<ssize_t>(piece.size()));
    if (i % 70 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ::close(pipe);
}

std::string model_with(const Message& weights) { return model(GraphText{{}, {"w"}, {}, {weights}}).bytes(); }
std::string small_model(std::string_view location) { return model_with(external_tensor(DType::uint8, 4, location)); }

Tensor weights_of(const Model& model) { return *model.graph->value(model.graph->outputs().at(0)).constant_tensor(); }
std::string text_of(const Tensor& tensor) { return std::string(static_cast<const char*>(tensor.raw()), tensor.bytes()); }

TEST(ExternalData, OffsetLengthAndAlignment) {
  std::string content(20'000, '\0');
  for (size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 7 % 251);
  Folder folder;
  folder.write("w.bin", content);
  struct Row {
    int64_t elements;
    const char *offset, *length;
  };
  for (const Row& row : {Row{5000, "", ""}, Row{5000, "", "0"}, Row{5000, "0", "20000"}, Row{2, "4", "8"}, Row{2, "3", ""},
                         Row{3000, "4096", "12000"}, Row{3000, "4097", "12000"}}) {
    const std::string path =
        folder.write("m.onnx", model_with(external_tensor(DType::float32, row.elements, "w.bin", row.offset, row.length)));
    const Tensor weights = weights_of(read_model(path));
    EXPECT_EQ(text_of(weights), content.substr(static_cast<size_t>(std::atoi(row.offset)), static_cast<size_t>(4 * row.elements)))
        << row.offset;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(weights.raw()) % 4, 0u);
  }
}

TEST(ExternalData, MappedDataOutlivesTheModel) {
  Folder folder;
  folder.write("w.bin", std::string(100'000, 'w'));
  const std::string path = folder.write("m.onnx", model_with(external_tensor(DType::float32, 25'000, "w.bin")));
  const Tensor weights = weights_of(read_model(path));
  fs::remove(folder / "w.bin");
  EXPECT_EQ(text_of(weights), std::string(100'000, 'w'));
}

TEST(ExternalData, InSubfoldersAndThroughLinksInside) {
  Folder folder;
  folder.write("model/data/w.bin", "good");
  folder.link("model/link.bin", "data/w.bin");
  folder.link("outer", "model");
  for (const char* location : {"data/w.bin", "./data/w.bin", "data/../data/w.bin", "link.bin"}) {
    folder.write("model/m.onnx", small_model(location));
    for (const char* path : {"model/m.onnx", "outer/m.onnx", "model/../model/m.onnx"})
      EXPECT_EQ(text_of(weights_of(read_model(folder / path))), "good") << location;
  }
}

TEST(ExternalData, HuggingFaceLayout) {
  Folder folder;
  const std::string repository = "models--org--name/";
  folder.write(repository + "blobs/aaaa", small_model("model.onnx_data"));
  folder.write(repository + "blobs/bbbb", "good");
  folder.link(repository + "snapshots/rev1/onnx/model.onnx", "../../../blobs/aaaa");
  folder.link(repository + "snapshots/rev1/onnx/model.onnx_data", "../../../blobs/bbbb");
  EXPECT_EQ(text_of(weights_of(read_model(folder / (repository + "snapshots/rev1/onnx/model.onnx")))), "good");

  folder.write("secret", "evil");
  folder.link(repository + "snapshots/rev2/model.onnx", "../../blobs/aaaa");
  folder.link(repository + "snapshots/rev2/model.onnx_data", "../../../secret");
  expect_error("link out of the repository", {"outside", "tensor w"},
               [&] { read_model(folder / (repository + "snapshots/rev2/model.onnx")); });
}

TEST(ExternalData, ModelLinkBesideNothing) {
  Folder folder;
  folder.write("store/m.onnx", small_model("w.bin"));
  folder.write("store/w.bin", "good");
  folder.link("current.onnx", "store/m.onnx");
  EXPECT_EQ(text_of(weights_of(read_model(folder / "current.onnx"))), "good");
}

TEST(ExternalData, FromABufferWithAFolder) {
  Folder folder;
  folder.write("w.bin", "good");
  const std::string bytes = small_model("w.bin");
  EXPECT_EQ(text_of(weights_of(read_model(as_span(bytes), {.folder = folder.path()}))), "good");
}

/// The working directory, for as long as this lives.
class WorkingFolder {
 public:
  explicit WorkingFolder(const std::string& path) : before_(fs::current_path()) { fs::current_path(path); }
  ~WorkingFolder() { fs::current_path(before_); }

 private:
  fs::path before_;
};

TEST(ExternalData, FromABufferInTheWorkingDirectory) {
  Folder folder;
  folder.write("here/w.bin", "good");
  folder.write("here/parts/w.bin", "also");
  folder.write("w.bin", "bad!");
  const WorkingFolder working(folder / "here");
  const auto read_bytes = [](std::string_view location) {
    const std::string bytes = small_model(location);
    return text_of(weights_of(read_model(as_span(bytes))));
  };
  EXPECT_EQ(read_bytes("w.bin"), "good");
  EXPECT_EQ(read_bytes("parts/w.bin"), "also");
  expect_error("outside", {"outside the model's folder"}, [&] { read_bytes("../w.bin"); });
  expect_error("missing", {"missing.bin", "does not exist", "from its path"}, [&] { read_bytes("missing.bin"); });
}

TEST(ExternalData, AModelFromAPipe) {
  Folder folder;
  folder.write("w.bin", "good");
  const std::string path = folder / "pipe", bytes = small_model("w.bin");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] { write_in_pieces(path, bytes); });
  const Model loaded = read_model(path);
  writer.join();
  EXPECT_EQ(text_of(weights_of(loaded)), "good");
}

TEST(ExternalData, Refused) {
  Folder folder;
  folder.write("secret", "evil");
  folder.write("model-evil/w.bin", "evil");
  folder.write("model/w.bin", "good");
  fs::create_directories(folder / "model/folder");
  folder.write("model/deep/w.bin", "good");
  folder.link("model/out.bin", "../secret");
  folder.link("model/third.bin", "second.bin");
  folder.link("model/second.bin", "deep/../first.bin");
  folder.link("model/first.bin", "../secret");
  folder.link("model/deep/higher", "../../");
  folder.link("model/system", "/etc");
  folder.link("model/zero", "/dev/zero");
  folder.link("model/self", "/proc/self/environ");
  folder.link("model/beside", "../model-evil");
  folder.link("model/left", "right");
  folder.link("model/right", "left");
  folder.link("model/gone.bin", "nowhere.bin");
  folder.link("model/chain.bin", "out.bin");
  folder.link("model/up", "..");
  folder.link("model/loop", "loop");
  ASSERT_EQ(::mkfifo((folder / "model/pipe").c_str(), 0600), 0);
  struct Row {
    std::string location;
    std::vector<std::string_view> parts;
  };
  const Row rows[] = {
      {folder / "secret", {"relative to the model's folder"}},
      {folder / "model/w.bin", {"relative to the model's folder"}},
      {"/etc/passwd", {"relative to the model's folder"}},
      {"", {"relative to the model's folder"}},
      {std::string("w.bin\0x", 7), {"relative to the model's folder"}},
      {"../secret", {"outside the model's folder"}},
      {"folder/../../secret", {"outside the model's folder"}},
      {"../model-evil/w.bin", {"outside the model's folder"}},
      {"out.bin", {"outside the model's folder"}},
      {"chain.bin", {"outside the model's folder"}},
      {"up/secret", {"outside the model's folder"}},
      {"..", {"outside the model's folder"}},
      {".", {"outside the model's folder"}},
      {"folder", {"folder", "regular file"}},
      {"pipe", {"regular file"}},
      {"loop", {"does not exist"}},
      {"missing.bin", {"missing.bin", "does not exist"}},
      {"*/_ORT_MEM_ADDR_/*", {"does not exist"}},
      {"/dev/zero", {"relative to the model's folder"}},
      {"/proc/self/environ", {"relative to the model's folder"}},
      {"/proc/self/cwd/../../../etc/passwd", {"relative to the model's folder"}},
      {"//etc/passwd", {"relative to the model's folder"}},
      {std::string("\0", 1), {"relative to the model's folder"}},
      {std::string("../secret\0.bin", 14), {"relative to the model's folder"}},
      {"deep/../../secret", {"outside the model's folder"}},
      {"./././../secret", {"outside the model's folder"}},
      {"deep/higher/secret", {"outside the model's folder"}},
      {"third.bin", {"outside the model's folder"}},
      {"system/passwd", {"outside the model's folder"}},
      {"zero", {"outside the model's folder"}},
      {"self", {"outside the model's folder"}},
      {"beside/w.bin", {"outside the model's folder"}},
      {"../../../../../../../../../../etc/passwd", {"outside the model's folder"}},
      {"deep/", {"folder", "regular file"}},
      {"./", {"outside the model's folder"}},
      {"w.bin/", {"does not exist"}},
      {"w.bin/../w.bin", {"does not exist"}},
      {"left", {"does not exist"}},
      {"gone.bin", {"does not exist"}},
      {"..\\secret", {"does not exist"}},
      {"file:///etc/passwd", {"does not exist"}},
      {"http://localhost/w.bin", {"does not exist"}},
      {"%2e%2e/secret", {"does not exist"}},
      {"~/w.bin", {"does not exist"}},
      {"$HOME/w.bin", {"does not exist"}},
      {"\xc0\xae\xc0\xae/secret", {"does not exist"}},          // ".." in more bytes than UTF-8 allows
      {"\xef\xbc\x8e\xef\xbc\x8e/secret", {"does not exist"}},  // full-width dots
      {"\xe2\x80\xae"
       "nib.w",
       {"does not exist"}},  // written right to left
      {std::string(5000, 'a'), {"does not exist", "aaa..."}},
      {std::string(3000, '/') + "secret", {"relative to the model's folder"}},
      {[] {
         std::string path;
         for (int i = 0; i < 300; ++i) path += "deep/../";
         return path + "../secret";
       }(),
       {"outside the model's folder"}},
  };
  for (const Row& row : rows) {
    const std::string path = folder.write("model/m.onnx", small_model(row.location));
    try {
      read_model(path);
      ADD_FAILURE() << row.location << ": expected an error";
    } catch (const Error& error) {
      for (std::string_view part : row.parts)
        EXPECT_NE(std::string_view(error.what()).find(part), std::string_view::npos) << row.location << ": " << error.what();
      EXPECT_EQ(error.where().file, path);
      EXPECT_EQ(error.where().tensor, "w");
    }
  }
}

TEST(ExternalData, FolderSwappedForALinkWhileItIsRead) {
  Folder folder;
  folder.write("evil/w.bin", "evil");
  folder.write("model/good/w.bin", "good");
  folder.link("model/link", "../evil");
  const std::string path = folder.write("model/m.onnx", small_model("data/w.bin"));
  std::atomic<bool> done{false};
  std::thread swapper([&] {
    const std::string data = folder / "model/data", next = folder / "model/next";
    for (bool evil = false; !done; evil = !evil) {
      fs::create_symlink(evil ? "link" : "good", next);
      fs::rename(next, data);
    }
  });
  int good = 0;
  for (int i = 0; i < 500; ++i) {
    try {
      EXPECT_EQ(text_of(weights_of(read_model(path))), "good");
      ++good;
    } catch (const Error&) {
    }
  }
  done = true;
  swapper.join();
  fs::remove(folder / "model/data");
  fs::create_symlink("good", folder / "model/data");
  EXPECT_EQ(text_of(weights_of(read_model(path))), "good") << good << " of 500 were read";
}

TEST(ExternalData, OverlappingAndUnalignedRangesAreRead) {
  Folder folder;
  folder.write("w.bin", "abcdefgh");
  Message first = external_tensor(DType::uint8, 4, "w.bin", "0", "4"), second = external_tensor(DType::uint16, 2, "w.bin", "1", "4");
  EXPECT_EQ(text_of(weights_of(read_model(folder.write("a.onnx", model_with(first))))), "abcd");
  EXPECT_EQ(text_of(weights_of(read_model(folder.write("b.onnx", model_with(second))))), "bcde");
}

TEST(ExternalData, NumbersThatDoNotFit) {
  Folder folder;
  folder.write("w.bin", "12345678");
  struct Row {
    DType dtype;
    int64_t elements;
    const char *offset, *length, *part;
  };
  const Row rows[] = {
      {DType::uint8, 9, "", "", "has 8 bytes, expected 9 bytes from offset 0"},
      {DType::uint8, 4, "5", "", "expected 4 bytes from offset 5"},
      {DType::uint8, 4, "18446744073709551615", "", "from offset 18446744073709551615"},
      {DType::uint8, 4, "18446744073709551616", "", "'offset'"},
      {DType::uint8, 4, "-1", "", "'offset'"},
      {DType::uint8, 4, "0x2", "", "'offset'"},
      {DType::uint8, 4, "0", "5", "length 5, expected 4"},
      {DType::uint8, 4, "0", "-4", "'length'"},
      {DType::uint8, 4, "0", "18446744073709551616", "'length'"},
      {DType::uint8, 4, "0", "18446744073709551615", "expected 4"},
      {DType::uint8, 4, " 0", "", "'offset'"},
      {DType::uint8, 4, "1e3", "", "'offset'"},
      {DType::uint8, 4, "9223372036854775807", "", "from offset 9223372036854775807"},
      {DType::uint8, 4, "8", "", "from offset 8"},
      {DType::uint8, int64_t{1} << 50, "", "", "has 8 bytes"},
      {DType::string, 1, "", "", "strings"},
  };
  for (const Row& row : rows) {
    const std::string path = folder.write("m.onnx", model_with(external_tensor(row.dtype, row.elements, "w.bin", row.offset, row.length)));
    expect_error(row.part, {row.part}, [&] { read_model(path); });
  }
}

TEST(ExternalData, WrittenBesideTheModel) {
  Folder folder;
  Model model;
  model.graph->opset_imports[""] = 17;
  std::vector<float> large(5000), small(3, 2.0f);
  for (size_t i = 0; i < large.size(); ++i) large[i] = static_cast<float>(i);
  for (const auto* values : {&large, &small, &large}) {
    model.graph->add_output(model.graph->add_initializer("w", Tensor::from<float>({static_cast<int64_t>(values->size())}, *values)));
  }
  const std::string path = folder / "m.onnx";
  write_model_file(model, path, 1024);
  EXPECT_LT(fs::file_size(path), 2000u);
  for (int round = 0; round < 2; ++round) {
    Model back = read_model(path);
    ASSERT_EQ(back.graph->outputs().size(), 3u);
    for (size_t i = 0; i < 3; ++i) {
      const ValueId id = model.graph->outputs()[i];
      EXPECT_TRUE(identical(back.graph->value(back.graph->outputs()[i]).constant_tensor()->view(),
                            model.graph->value(id).constant_tensor()->view()));
    }
    write_model_file(back, path, 1024);  // over the files that `back` has mapped
  }
}

TEST(ExternalData, WithoutTensorsThereIsNoFile) {
  Folder folder;
  for (const int64_t elements : {int64_t{1000}, int64_t{0}}) {
    Model model;
    model.graph->opset_imports[""] = 17;
    model.graph->add_output(model.graph->add_initializer("w", Tensor(DType::float32, {elements})));
    const std::string path = folder / "m.onnx";
    for (const auto& [least, is_there] : {std::pair<size_t, bool>(0, true), {5000, false}}) {
      write_model_file(model, path, least);
      EXPECT_EQ(fs::exists(path + ".data"), is_there) << elements << " " << least;
      EXPECT_EQ(read_model(path).graph->value(model.graph->outputs()[0]).constant_tensor()->bytes(), static_cast<size_t>(elements) * 4);
    }
  }
}

TEST(ModelFile, ReadsWhatTheBufferReads) {
  Folder folder;
  // The padding moves the raw data through all alignments; it is large enough to stay in the mapping.
  for (int padding = 0; padding < 8; ++padding) {
    std::vector<double> values(1000, 0.25);
    std::string raw(8000, '\0');
    std::memcpy(raw.data(), values.data(), raw.size());
    const Message weights =
        tensor(DType::float64, {1000}, "w" + std::string(static_cast<size_t>(padding), 'x')).text(field::tensor::raw_data, raw);
    const std::string path =
        folder.write("m.onnx", model(GraphText{{}, {"w" + std::string(static_cast<size_t>(padding), 'x')}, {}, {weights}}).bytes());
    const Tensor found = weights_of(read_model(path));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(found.raw()) % 8, 0u);
    EXPECT_EQ(text_of(found), raw);
  }
}

TEST(ModelFile, Refused) {
  Folder folder;
  expect_error("missing", {"missing.onnx", "File doesn't exist"}, [&] { read_model(folder / "missing.onnx"); });
  expect_error("folder", {"a folder"}, [&] { read_model(folder.path()); });
  expect_error("empty", {"no graph"}, [&] { read_model(folder.write("empty.onnx", "")); });
  expect_error("text", {"text.onnx"}, [&] { read_model(folder.write("text.onnx", "This is not a model, just text.")); });
}

}  // namespace
}  // namespace rh::onnx::test
