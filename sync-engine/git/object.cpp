#include "sync-engine/git/object.hpp"

#include <fmt/format.h>

#include "api-client/base/ascii.hpp"
#include "api-client/base/sha256.hpp"

namespace ws::sync::git {
namespace {

std::string_view name(ObjectType type) {
  switch (type) {
    case ObjectType::commit: return "commit";
    case ObjectType::tree: return "tree";
    case ObjectType::blob: return "blob";
  }
  return "";
}

}  // namespace

Failure too_deep_tree() {
  return {.kind = Failure::Kind::integrity,
          .what = fmt::format("the history holds a tree of more than {} levels", max_tree_depth),
          .hint = "another program wrote it. Move .ws/history.git out of the way: the next sync makes a new history"};
}

std::string ObjectId::hex() const {
  std::string text;
  text.reserve(40);
  for (const std::uint8_t byte : bytes) {
    text += "0123456789abcdef"[byte >> 4U];
    text += "0123456789abcdef"[byte & 0x0FU];
  }
  return text;
}

std::optional<ObjectId> ObjectId::from_hex(std::string_view text) {
  if (text.size() != 40) return std::nullopt;
  ObjectId id;
  for (std::size_t i = 0; i < id.bytes.size(); ++i) {
    const int high = hex_digit(text[2 * i]);
    const int low = hex_digit(text[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    id.bytes[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return id;
}

ObjectId object_id(ObjectType type, std::string_view data) {
  thread_local Sha1Stream stream;
  std::string header = fmt::format("{} {}", name(type), data.size());
  header += '\0';
  stream.update(header);
  stream.update(data);
  return {stream.finish()};
}

}  // namespace ws::sync::git
