#include "providers/kit/cache/artifact.h"

#include <fmt/core.h>

#include <algorithm>

#include "providers/kit/cache/content_hash.h"

namespace rh::kit {

namespace {

constexpr std::string_view kHead = "roundhouse artifact 1\n";

std::string line(std::string_view name, std::string_view value) {
  std::string text = fmt::format("{}: {}", name, value);
  std::ranges::replace(text, '\n', ' ');
  return text + '\n';
}

}  // namespace

std::string_view own_version() { return RH_VERSION; }

std::string values_of(const Region& region) {
  std::string text;
  const auto add = [&](const std::vector<ValueId>& values, char sign) {
    for (ValueId id : values) text += fmt::format("{}{} ", sign, region.graph->value(id).name);
  };
  add(region.inputs, '<');
  add(region.outputs, '>');
  std::ranges::replace(text, '\n', ' ');
  return text;
}

std::string Artifact::to_bytes() const {
  std::string text = line("provider", provider) + line("made_by", made_by) + line("region", region) + line("values", values) +
                     line("key", key) + line("roundhouse", own_version()) + line("bytes", std::to_string(payload.size()));
  ContentHash hash;
  hash.add_text(text);
  hash.add_text(payload);
  return std::string(kHead) + text + line("sha256", hash.hex()) + '\n' + payload;
}

std::optional<Artifact> Artifact::from_bytes(std::string_view bytes) {
  if (!bytes.starts_with(kHead)) return {};
  const std::string_view rest = bytes.substr(kHead.size());
  const size_t end = rest.find("\n\n"), last = rest.substr(0, end).rfind('\n');
  if (end == rest.npos || last == rest.npos) return {};
  const std::string_view text = rest.substr(0, last + 1), hash_line = rest.substr(last + 1, end - last), payload = rest.substr(end + 2);
  ContentHash hash;
  hash.add_text(text);
  hash.add_text(payload);
  if (hash_line != line("sha256", hash.hex())) return {};
  Artifact artifact;
  const std::map<std::string_view, std::string*> fields = {{"provider", &artifact.provider},
                                                           {"made_by", &artifact.made_by},
                                                           {"region", &artifact.region},
                                                           {"values", &artifact.values},
                                                           {"key", &artifact.key}};
  for (std::string_view left = text; !left.empty();) {
    const std::string_view one = left.substr(0, left.find('\n'));
    left.remove_prefix(one.size() + 1);
    const size_t colon = one.find(": ");
    const auto field = fields.find(one.substr(0, colon));
    if (colon != one.npos && field != fields.end()) *field->second = one.substr(colon + 2);
  }
  artifact.payload = payload;
  return artifact;
}

}  // namespace rh::kit
