/// Reads a JSON object whose list is too long to hold: each item is handed over as soon as it is whole.
///
///     {"source_id": "...", "data": [ITEM, ITEM, ...], "next_cursor": null}
///
/// An item that is JSON in form, and yet cannot be taken as it is, need not end the whole: `on_damaged`.
///
/// Only the ends of items are looked for here; each item, and what stands around the list, is parsed by
/// `parse_bounded`. So memory is bounded by the longest item, whatever the number of items; and no item, or stretch of
/// blanks, is without an end.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"

namespace ws {

struct JsonItemsBounds {
  JsonBounds item = {.max_bytes = std::size_t{8} << 20U};
  JsonBounds rest = {.max_bytes = std::size_t{1} << 20U};  ///< of all that is not in the list
  /// Of an item with what is left out of it, or of blanks between two.
  std::size_t max_passed_bytes = std::size_t{64} << 20U;
};

class JsonItems {
 public:
  using Visit = std::function<Result<void>(const Json& item)>;

  /// `list`: the member of the outermost object whose items are handed over, in order.
  JsonItems(std::string list, Visit visit, const JsonItemsBounds& bounds = {});

  using VisitDamaged = std::function<Result<void>(const Json& item, Failure why)>;
  /// From now on an item over its bound comes with its longest texts empty, and one with a text that is no Unicode with
  /// U+FFFD in it; `why` says which. Without this both are failures.
  void on_damaged(VisitDamaged visit) { visit_damaged_ = std::move(visit); }

  /// The next bytes, cut anywhere. Fails with `invalid` (no JSON, or over a bound), or as `visit` does; then it is
  /// over.
  Result<void> feed(std::string_view piece);
  /// After the last byte: the object, its list empty. Fails with `invalid` where it is not whole.
  Result<Json> finish();
  std::size_t count() const { return count_; }

 private:
  enum class Place { around, before_item, in_item, after_item };

  Result<std::size_t> take_around(std::string_view piece);
  Result<std::size_t> take_between(char c);
  Result<std::size_t> take_item(std::string_view piece);
  Result<void> note_passed(std::size_t bytes);
  Result<void> hand_over();
  Result<void> shorten_item();
  void note_string_end(std::size_t end);
  std::size_t skip_string(std::string_view piece);
  void note_around(char c);

  std::string list_;
  Visit visit_;
  VisitDamaged visit_damaged_ = {};
  JsonItemsBounds bounds_;
  Place place_ = Place::around;
  std::string rest_ = {};          // all that is not in the list
  std::string item_ = {};          // the one under way
  std::string name_ = {};          // the last text of the outermost object: perhaps a key
  std::size_t string_begin_ = 0;   // in `item_`: of the string under way, or the last one, after its quote
  std::size_t longest_begin_ = 0;  // and of its longest one that has ended
  std::size_t longest_bytes_ = 0;
  bool is_shortened_ = false;  // `item_`
  std::size_t count_ = 0;
  std::size_t passed_ = 0;  // bytes of the item under way, or of the blanks before it
  std::size_t depth_ = 0;   // within `rest_` or `item_`
  bool in_string_ = false;
  bool is_escaped_ = false;
  bool is_value_next_ = false;  // after `name_` and a colon
  bool has_list_ = false;
};

}  // namespace ws
