#include "providers/kit/host/host.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "base/unicode.h"

namespace rh::kit {

Host connect(const OrtApiBase& base) {
  const std::string_view version(base.GetVersionString());  // "1.24.0"
  const size_t point = version.find('.');
  const auto given = point == version.npos ? 0u : static_cast<uint32_t>(std::strtoul(version.data() + point + 1, nullptr, 10));
  Host host;
  host.version = std::min<uint32_t>(given, ORT_API_VERSION);
  if (host.version >= kLeastHostVersion) host.api = base.GetApi(host.version);
  if (host.api) host.ep = host.api->GetEpApi();
  host.is_roundhouse = host.api && std::string_view(host.api->GetBuildInfoString()).find("Roundhouse") != std::string_view::npos;
  if (!host.ep) {
    fail(ErrorCode::fail, "the runtime is of version {}, expected 1.{} or newer: install a newer one", version, kLeastHostVersion);
  }
  return host;
}

void check(const Host& host, OrtStatus* status) {
  if (!status) return;
  const auto code = static_cast<ErrorCode>(host.api->GetErrorCode(status));
  std::string message = host.api->GetErrorMessage(status);
  host.api->ReleaseStatus(status);
  throw Error(code, std::move(message));
}

namespace {

/// Vendors' messages may hold any bytes; programs read texts in UTF-8.
std::string as_utf8(std::string_view text) {
  std::string clean;
  for (uint32_t character = 0; !text.empty();) {
    const size_t bytes = first_character(text, character);
    clean += bytes == 0 ? std::string_view("?") : text.substr(0, bytes);
    text.remove_prefix(std::max<size_t>(1, bytes));
  }
  return clean;
}

}  // namespace

OrtStatus* status_of_current_exception(const OrtApi& api) noexcept {
  const Status status = rh::status_of_current_exception();
  return api.CreateStatus(static_cast<OrtErrorCode>(status.code()), as_utf8(status.message()).c_str());
}

}  // namespace rh::kit
