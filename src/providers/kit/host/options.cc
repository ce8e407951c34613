#include "providers/kit/host/options.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <vector>

#include "base/file.h"
#include "base/nearest.h"
#include "providers/kit/cache/content_hash.h"

namespace rh::kit {

namespace {

std::optional<int64_t> integer_of(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::optional<bool> flag_of(std::string_view text) {
  if (text == "1" || text == "true" || text == "True") return true;
  if (text == "0" || text == "false" || text == "False") return false;
  return std::nullopt;
}

/// "ep.sampleexecutionprovider.", or "ep.sample.", as ONNX Runtime writes it for CUDA.
std::string entry_prefix(std::string_view provider, bool is_short = false) {
  constexpr std::string_view kEnd = "ExecutionProvider";
  if (is_short && provider.ends_with(kEnd)) provider.remove_suffix(kEnd.size());
  std::string prefix = "ep." + std::string(provider) + ".";
  std::ranges::transform(prefix, prefix.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return prefix;
}

/// "; did you mean 'x'?", or nothing.
std::string hint(std::string_view text, std::span<const std::string_view> candidates) {
  const std::string_view near = nearest(text, candidates);
  return near.empty() ? std::string() : fmt::format("; did you mean '{}'?", near);
}

/// What the row allows, where it does not allow the value; else empty.
std::string expected(const OptionRow& row, std::string_view value) {
  switch (row.type) {
    case OptionRow::Type::text:
    case OptionRow::Type::file: return {};
    case OptionRow::Type::flag: return flag_of(value) ? "" : "0 or 1";
    case OptionRow::Type::integer: {
      const auto number = integer_of(value);
      return number && *number >= row.least && *number <= row.most ? "" : fmt::format("an integer from {} to {}", row.least, row.most);
    }
    case OptionRow::Type::choice: break;
  }
  if (std::ranges::find(row.choices, value) != row.choices.end()) return {};
  std::string list;
  for (std::string_view choice : row.choices) list += fmt::format("{}'{}'", list.empty() ? "one of " : ", ", choice);
  return list + hint(value, row.choices);
}

/// What the key has of a value; of a file that cannot be read its name: who opens it says why.
std::string key_text(const OptionRow& row, std::string_view value) {
  if (row.type != OptionRow::Type::file || value.empty()) return std::string(value);
  try {
    return hash_of(read_file(std::string(value)));
  } catch (const Error&) {
    return std::string(value);
  }
}

}  // namespace

Options::Options(std::string_view provider, std::span<const OptionRow> rows, const std::map<std::string, std::string>& given) {
  std::vector<std::string_view> names;
  for (const OptionRow& row : rows) {
    names.push_back(row.name);
    if (!row.onnxruntime_name.empty()) names.push_back(row.onnxruntime_name);
    values_.emplace(row.name, row.otherwise);
  }
  for (const auto& [name, value] : given) {
    const auto row = std::ranges::find_if(rows, [&](const OptionRow& one) { return one.name == name || one.onnxruntime_name == name; });
    if (row == rows.end()) {
      std::string list;
      for (std::string_view known : names) list += fmt::format("{}{}", list.empty() ? "" : ", ", known);
      const std::string near = hint(name, names);
      fail(ErrorCode::invalid_argument, "{} has no option '{}'{}", provider, name,
           near.empty() ? fmt::format(": expected one of {}", list) : near);
    }
    if (const std::string allowed = expected(*row, value); !allowed.empty()) {
      fail(ErrorCode::invalid_argument, "option '{}' of {} is '{}', expected {}", name, provider, value, allowed);
    }
    if (name != row->name && given.contains(std::string(row->name))) {
      fail(ErrorCode::invalid_argument, "{} is given '{}' and '{}', two names of one option: leave one out", provider, row->name, name);
    }
    values_.find(row->name)->second = value;
  }
  for (const OptionRow& row : rows) {
    if (row.is_in_key) key_ += fmt::format("{}={}\n", row.name, key_text(row, text(row.name)));
  }
}

int64_t Options::integer(std::string_view name) const { return integer_of(text(name)).value(); }
bool Options::flag(std::string_view name) const { return flag_of(text(name)).value(); }

std::map<std::string, std::string> options_of(const Host& host, const OrtSessionOptions& options, std::string_view provider) {
  const std::string prefixes[] = {entry_prefix(provider), entry_prefix(provider, true)};
  OrtKeyValuePairs* entries = nullptr;
  check(host, host.api->GetSessionOptionsConfigEntries(&options, &entries));
  const std::unique_ptr<OrtKeyValuePairs, void(ORT_API_CALL*)(OrtKeyValuePairs*)> owner(entries, host.api->ReleaseKeyValuePairs);
  const char* const* keys = nullptr;
  const char* const* values = nullptr;
  size_t count = 0;
  host.api->GetKeyValuePairs(entries, &keys, &values, &count);
  std::map<std::string, std::string> found;
  for (size_t i = 0; i < count; ++i) {
    const std::string_view key = keys[i];
    for (const std::string& prefix : prefixes) {
      if (key.starts_with(prefix)) found.emplace(key.substr(prefix.size()), values[i]);
    }
  }
  return found;
}

const char* RunEntries::text(std::string_view name) const {
  const auto find = [&](bool is_short) {
    return host_.api->GetRunConfigEntry(&options_, (entry_prefix(provider_, is_short) + std::string(name)).c_str());
  };
  const char* given = find(false);
  return given ? given : find(true);
}

std::string config_entry(const Host& host, const OrtSessionOptions& options, const char* key) {
  int is_there = 0;
  check(host, host.api->HasSessionConfigEntry(&options, key, &is_there));
  if (!is_there) return {};
  size_t size = 0;
  host.api->ReleaseStatus(host.api->GetSessionConfigEntry(&options, key, nullptr, &size));  // says the size, and may fail for want of room
  std::string text(size, '\0');
  check(host, host.api->GetSessionConfigEntry(&options, key, text.data(), &size));
  text.resize(text.find('\0') == text.npos ? text.size() : text.find('\0'));
  return text;
}

int threads_of(const Host& host, const OrtSessionOptions& options) {
  return static_cast<int>(integer_of(config_entry(host, options, "session.intra_op_num_threads")).value_or(0));
}

}  // namespace rh::kit
