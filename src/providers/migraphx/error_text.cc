#include "providers/migraphx/error_text.h"

#include <mutex>
#include <ostream>
#include <utility>

namespace rh::migraphx {

namespace {

constexpr size_t kLongestText = 400;

thread_local std::string* t_kept = nullptr;  ///< of a thread that keeps what it writes

/// Hands on what threads write that keep nothing.
class Splitter final : public std::streambuf {
 public:
  std::streambuf* behind = nullptr;

 private:
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    if (!t_kept) return behind->sputn(text, size);
    t_kept->append(text, static_cast<size_t>(size));
    return size;
  }
  int overflow(int c) override {
    if (c == traits_type::eof()) return traits_type::not_eof(c);
    const char one = traits_type::to_char_type(c);
    return xsputn(&one, 1) == 1 ? c : traits_type::eof();
  }
  int sync() override { return t_kept ? 0 : behind->pubsync(); }
};

/// The stream of the process's C++ library: this library has one of its own. It is the splitter's while anybody keeps.
class Stream {
 public:
  void begin(const kit::VendorLibrary& library) {
    const std::lock_guard lock(mutex_);
    if (keepers_++ > 0) return;
    stream_ = static_cast<std::ostream*>(library.optional_function("_ZSt4cerr").address);
    set_buffer_ = library.optional_function("_ZNSt9basic_iosIcSt11char_traitsIcEE5rdbufEPSt15basic_streambufIcS1_E");
    if (stream_ && set_buffer_) splitter_.behind = set_buffer_(&base(), &splitter_);
  }
  void end() {
    const std::lock_guard lock(mutex_);
    if (--keepers_ == 0 && splitter_.behind) set_buffer_(&base(), std::exchange(splitter_.behind, nullptr));
  }

 private:
  std::ios& base() { return *stream_; }

  using SetBuffer = std::streambuf*(std::ios*, std::streambuf*);
  std::mutex mutex_;
  int keepers_ = 0;
  std::ostream* stream_ = nullptr;
  SetBuffer* set_buffer_ = nullptr;
  Splitter splitter_;
};

Stream& stream() {
  static auto* one = new Stream;  // other threads may still write when the process ends
  return *one;
}

/// "src/onnx/onnx_parser.cpp:576: parse_graph: Unknown operator: Foo" without what precedes the last function's name.
std::string_view without_place(std::string_view line) {
  for (const std::string_view mark : {".cpp:", ".hpp:"}) {
    const size_t at = line.find(mark);
    if (at == line.npos) continue;
    const size_t number_end = line.find(": ", at + mark.size());
    if (number_end == line.npos) return line;
    const size_t function_end = line.find(": ", number_end + 2);
    return line.substr(function_end == line.npos ? number_end + 2 : function_end + 2);
  }
  return line;
}

}  // namespace

ErrorText::ErrorText(const kit::VendorLibrary& library) {
  t_kept = new std::string;
  stream().begin(library);
}

ErrorText::~ErrorText() {
  stream().end();
  delete std::exchange(t_kept, nullptr);
}

std::string ErrorText::take() const {
  std::string text;
  for (std::string_view rest = *t_kept; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = without_place(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    while (line.starts_with(' ')) line.remove_prefix(1);
    if (!line.empty()) text += (text.empty() ? "" : " ") + std::string(line);
  }
  if (text.size() > kLongestText) text.replace(kLongestText, std::string::npos, "...");
  return text;
}

}  // namespace rh::migraphx
