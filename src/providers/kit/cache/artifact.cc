#include "providers/kit/cache/artifact.h"

#include <fmt/core.h>

#include <algorithm>

#include "providers/kit/cache/content_hash.h"

namespace rh::kit {

namespace {

constexpr size_t kPayloadAlignment = 64;  ///< of the payload in a file, for who computes where it lies
constexpr std::string_view kHead = "roundhouse artifact 3\n";

std::string line(std::string_view name, std::string_view value) {
  std::string text = fmt::format("{}: {}", name, value);
  std::ranges::replace(text, '\n', ' ');
  return text + '\n';
}

std::string checksum_text(std::string_view bytes) { return fmt::format("{:016x}", checksum_of(bytes)); }

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

std::string Artifact::head() const {
  std::string text = line("provider", provider) + line("made_by", made_by) + line("region", region) + line("values", values) +
                     line("key", key) + line("roundhouse", own_version()) + line("bytes", std::to_string(payload.view.size())) +
                     line("checksum", checksum_text(payload.view));
  const size_t bytes = kHead.size() + text.size() + line("padding", "").size() + line("sha256", hash_of("")).size() + 1;
  text += line("padding", std::string((kPayloadAlignment - bytes % kPayloadAlignment) % kPayloadAlignment, '.'));
  return std::string(kHead) + text + line("sha256", hash_of(text)) + '\n';
}

std::optional<Artifact> Artifact::from_bytes(const OwnedBytes& bytes) {
  if (!bytes.view.starts_with(kHead)) return {};
  const std::string_view rest = bytes.view.substr(kHead.size());
  const size_t end = rest.find("\n\n"), last = rest.substr(0, end).rfind('\n');
  if (end == rest.npos || last == rest.npos) return {};
  const std::string_view text = rest.substr(0, last + 1), hash_line = rest.substr(last + 1, end - last), payload = rest.substr(end + 2);
  if (hash_line != line("sha256", hash_of(text))) return {};
  Artifact artifact;
  std::string checksum;
  const std::map<std::string_view, std::string*> fields = {{"provider", &artifact.provider}, {"made_by", &artifact.made_by},
                                                           {"region", &artifact.region},     {"values", &artifact.values},
                                                           {"key", &artifact.key},           {"checksum", &checksum}};
  for (std::string_view left = text; !left.empty();) {
    const std::string_view one = left.substr(0, left.find('\n'));
    left.remove_prefix(one.size() + 1);
    const size_t colon = one.find(": ");
    const auto field = fields.find(one.substr(0, colon));
    if (colon != one.npos && field != fields.end()) *field->second = one.substr(colon + 2);
  }
  if (checksum != checksum_text(payload)) return {};
  artifact.payload = {payload, bytes.owner};
  return artifact;
}

}  // namespace rh::kit
