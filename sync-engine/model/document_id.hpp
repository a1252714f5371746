/// The service's id of a document, flat: a tree holds many copies of each.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace ws::sync {

/// A UUID, spelled as it came; its digits compare first, then which of them were capitals. Empty: the document exists
/// here only.
class DocumentId {
 public:
  DocumentId() = default;
  /// A UUID of either case (RFC 9562, 4), or any text of at most 16 bytes without NUL. Anything else is no id: empty.
  explicit DocumentId(std::string_view text);

  std::string text() const;
  bool empty() const noexcept { return size_ == 0; }
  auto operator<=>(const DocumentId&) const = default;

 private:
  friend std::hash<DocumentId>;

  std::array<std::uint8_t, 16> bytes_ = {};
  std::uint32_t capitals_ = 0;  ///< a bit for each hexadecimal digit, the first one's the lowest
  std::uint8_t size_ = 0;       ///< of the text, in bytes
};

}  // namespace ws::sync

template <>
struct std::hash<ws::sync::DocumentId> {
  std::size_t operator()(const ws::sync::DocumentId& id) const noexcept {
    return std::hash<std::string_view>()({reinterpret_cast<const char*>(id.bytes_.data()), id.bytes_.size()});
  }
};
