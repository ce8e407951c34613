#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "providers/kit/host/host.h"

namespace rh::kit {

/// An option of a provider: one row of its list.
struct OptionRow {
  enum class Type : uint8_t { text, integer, flag, choice, file };
  std::string_view name;
  Type type = Type::text;
  std::string_view otherwise;                      ///< the value where none is given
  std::string_view effect;                         ///< a sentence, for people
  int64_t least = 0, most = 0;                     ///< of integers
  std::span<const std::string_view> choices = {};  ///< of choices
  bool is_in_key = true;                           ///< whether what is compiled depends on it; of a file: on what is in it
  std::string_view onnxruntime_name = {};          ///< ONNX Runtime's name for it, where that is another: programs may give either
};

/// The options of one session's provider, each one of a row and in its range.
class Options {
 public:
  /// Throws Error{invalid_argument} for a name that no row has, with the nearest one, for a value that its row does not allow, and where
  /// one is given by both of its names.
  Options(std::string_view provider, std::span<const OptionRow> rows, const std::map<std::string, std::string>& given);

  std::string_view text(std::string_view name) const { return values_.find(name)->second; }
  int64_t integer(std::string_view name) const;
  bool flag(std::string_view name) const;
  /// Those on which what is compiled depends, with their values.
  const std::string& key() const { return key_; }

 private:
  std::map<std::string, std::string, std::less<>> values_;  ///< of each row
  std::string key_;
};

/// What a session's options have for a provider: entries "ep.<name in lower case>.<option>"; the name may lack
/// its end "ExecutionProvider".
std::map<std::string, std::string> options_of(const Host& host, const OrtSessionOptions& options, std::string_view provider);
/// An entry of a session's options; empty where there is none.
std::string config_entry(const Host& host, const OrtSessionOptions& options, const char* key);
/// The threads of a session's operators, where its host tells them by the entry "session.intra_op_num_threads"; else 0.
int threads_of(const Host& host, const OrtSessionOptions& options);

/// What a run's options have for a provider: entries of the same form. Only while the call lasts.
class RunEntries {
 public:
  RunEntries(const Host& host, const OrtRunOptions& options, std::string_view provider)
      : host_(host), options_(options), provider_(provider) {}
  /// Null where the run has none of that name.
  const char* text(std::string_view name) const;

 private:
  const Host& host_;
  const OrtRunOptions& options_;
  std::string_view provider_;
};

}  // namespace rh::kit
