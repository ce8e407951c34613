#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace rh::kit {

/// Bytes, and what keeps them.
struct OwnedBytes {
  OwnedBytes() = default;
  OwnedBytes(std::string_view bytes, std::shared_ptr<const void> kept_by = nullptr) : view(bytes), owner(std::move(kept_by)) {}
  OwnedBytes(std::string text) : OwnedBytes(std::make_shared<const std::string>(std::move(text))) {}
  explicit OwnedBytes(const std::shared_ptr<const std::string>& text) : view(*text), owner(text) {}

  std::string_view view;
  std::shared_ptr<const void> owner;
};

}  // namespace rh::kit
