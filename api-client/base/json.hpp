/// The only way to read JSON: bounded in bytes, depth and number of values.
///
/// nlohmann/json parses any depth but crashes when it copies or prints 100,000 levels, and turns integers out of range
/// into something else without a word (`safety.md`, "Facts"). `parse_bounded` serves client and mock alike; nothing
/// else parses. Objects keep the order of their keys, so what came can be printed as it came.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "api-client/base/result.hpp"

namespace ws {

using Json = nlohmann::ordered_json;

/// Promise 10 of `safety.md`.
struct JsonBounds {
  std::size_t max_bytes = std::size_t{32} << 20U;
  std::size_t max_values = 1'000'000;
  std::size_t max_depth = 64;
};

/// One value and nothing after it. Fails with `invalid`, naming line, column and reason; input that is not UTF-8 is
/// refused too. A key that stands twice in one object: the last wins. An integer outside int64/uint64 becomes a double.
/// Linear in the bytes, however many keys an object has.
Result<Json> parse_bounded(std::string_view text, const JsonBounds& bounds = {});

/// Owns one value, null at first. Lets a header hold JSON without the 2 s that <nlohmann/json.hpp> costs each file.
class JsonBox {
 public:
  JsonBox();
  JsonBox(Json value);  // NOLINT(google-explicit-constructor): a box is its value
  JsonBox(const JsonBox& other);
  JsonBox(JsonBox&& other) noexcept;
  JsonBox& operator=(const JsonBox& other);
  JsonBox& operator=(JsonBox&& other) noexcept;
  ~JsonBox();

  Json& operator*() noexcept { return *value_; }
  const Json& operator*() const noexcept { return *value_; }
  Json* operator->() noexcept { return value_.get(); }
  const Json* operator->() const noexcept { return value_.get(); }
  bool is_null() const;
  bool operator==(const JsonBox& other) const;

 private:
  std::unique_ptr<Json> value_;  // null only after a move
};

/// An object made member by member, where the keys are known to differ: without the search that `object[key]` makes,
/// and without the copies of an initializer list.
class ObjectBuilder {
 public:
  explicit ObjectBuilder(std::size_t members);  ///< room for so many
  ObjectBuilder& add(std::string_view key, Json value);
  ObjectBuilder& add_or_null(std::string_view key, std::string_view text);  ///< null where it is empty
  Json take();

 private:
  JsonBox object_;
};

/// JSON as `dump` writes it on one line.
struct JsonText {
  std::string text = {};
};

/// As `ObjectBuilder`, but writes at once what `dump` writes for the object: a tree that is only written costs three
/// times as much. Keys are names of our own, in which nothing needs an escape.
class ObjectText {
 public:
  explicit ObjectText(std::size_t members) { text_.reserve(members * 48); }  ///< room for so many short ones
  ObjectText& add(std::string_view key, std::string_view text);
  ObjectText& add(std::string_view key, std::int64_t number);
  ObjectText& add(std::string_view key, const JsonText& json);
  ObjectText& add_or_null(std::string_view key, std::string_view text);  ///< null where it is empty
  JsonText take();

 private:
  std::string& member(std::string_view key);
  std::string text_ = {};
};

/// A value as a tree or as its text, of which the tree is made when somebody asks for it. Null at first.
class LazyJson {
 public:
  LazyJson() = default;
  LazyJson(Json tree);                                 // NOLINT(google-explicit-constructor): it is its value
  LazyJson(JsonText text) : text_(std::move(text)) {}  // NOLINT(google-explicit-constructor)
  Json& operator*() { return tree(); }
  const Json& operator*() const { return tree(); }
  Json* operator->() { return &tree(); }
  const Json* operator->() const { return &tree(); }
  operator JsonBox() &&;  // NOLINT(google-explicit-constructor)
  std::string text() const&;
  std::string text() &&;

 private:
  Json& tree() const;
  mutable std::optional<JsonBox> tree_ = {};  // without it: `text_`
  mutable JsonText text_ = {"null"};
};

/// JSON on one line; with `indent` >= 0 over many. Bytes that are not UTF-8 become U+FFFD; never throws.
std::string dump(const Json& value, int indent = -1);

/// Whether all its texts, the keys among them, are UTF-8: whether `dump` writes them unchanged.
bool is_utf8(const Json& value);

/// The member `key` of an object, or null where `value` is no object or has no such member.
const Json* find(const Json& value, std::string_view key);
/// The member as text, integer, boolean; empty where it is missing or of another type.
std::optional<std::string> find_text(const Json& value, std::string_view key);
std::optional<std::int64_t> find_integer(const Json& value, std::string_view key);
std::optional<bool> find_bool(const Json& value, std::string_view key);
/// The texts in the array `key`, in order; what is no text is passed over, and so is a member that is no array.
std::vector<std::string> find_texts(const Json& value, std::string_view key);

/// The text as JSON; null where it is empty.
Json text_or_null(std::string_view text);

/// Sorted keys, no spaces: equal values give equal bytes. For fingerprints.
std::string canonical(const Json& value);

}  // namespace ws
