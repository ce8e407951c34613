#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>

namespace rh {

/// The numbers are those of OrtErrorCode, so that the C ABI passes them through.
enum class ErrorCode : int {
  ok = 0,
  fail = 1,
  invalid_argument = 2,
  no_such_file = 3,
  no_model = 4,
  engine_error = 5,
  runtime_exception = 6,
  invalid_protobuf = 7,
  model_loaded = 8,
  not_implemented = 9,
  invalid_graph = 10,
  ep_fail = 11,
  load_canceled = 12,
  requires_compilation = 13,
  not_found = 14,
};

std::string_view to_string(ErrorCode code);

/// Where in a model something went wrong; empty fields are left out of the message.
struct Where {
  std::string file;
  std::string node;  ///< node name, or "#index" where it has none
  std::string op;    ///< "Conv(11)" or "com.microsoft::Gelu(1)"
  std::string tensor;
};

/// What load and compile throw. what() is the message followed by the parts of `where` that are known.
class Error : public std::exception {
 public:
  Error(ErrorCode code, std::string message, Where where = {});

  ErrorCode code() const { return code_; }
  const std::string& message() const { return message_; }
  const Where& where() const { return where_; }
  const char* what() const noexcept override { return what_.c_str(); }

  /// Fills the fields of `where` that are still empty: an outer frame knows the file, an inner one the node.
  void add(const Where& where);

 private:
  void compose();

  ErrorCode code_;
  std::string message_;
  Where where_;
  std::string what_;
};

template <typename... Args>
[[noreturn]] void fail(ErrorCode code, fmt::format_string<Args...> text, Args&&... args) {
  throw Error(code, fmt::format(text, std::forward<Args>(args)...));
}

/// What `run` returns. Success holds no memory.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(ErrorCode code, std::string message) : state_(new State{code, std::move(message)}) {}
  explicit Status(const Error& error) : Status(error.code(), error.what()) {}

  bool ok() const { return !state_; }
  ErrorCode code() const { return state_ ? state_->code : ErrorCode::ok; }
  std::string_view message() const { return state_ ? std::string_view(state_->message) : std::string_view(); }

 private:
  struct State {
    ErrorCode code;
    std::string message;
  };
  std::shared_ptr<const State> state_;
};

template <typename... Args>
Status error_status(ErrorCode code, fmt::format_string<Args...> text, Args&&... args) {
  return Status(code, fmt::format(text, std::forward<Args>(args)...));
}

/// The status that stands for the exception in flight; call only inside a catch block.
Status status_of_current_exception();

}  // namespace rh

/// Returns a failed Status to the caller.
#define RH_RETURN_IF_ERROR(expression)                                            \
  do {                                                                            \
    if (::rh::Status rh_status = (expression); !rh_status.ok()) return rh_status; \
  } while (0)
