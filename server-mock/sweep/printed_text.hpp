/// What a command printed or wrote, with everything replaced that may differ between two equal runs: ids, times,
/// hashes, the key and the addresses of the run. Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/json.hpp"

namespace ws::mock::sweep {

/// Texts that belong to one run, each with the name that replaces it.
using OwnTexts = std::vector<std::pair<std::string, std::string>>;

/// The ids in a state.
std::set<std::string> ids_in(const Json& state);

/// Replaces ids by their number in order of appearance, so that two texts are equal if a renaming of ids makes them so.
class TextBinder {
 public:
  /// `kept`: ids that stay as they are; must outlive this object.
  explicit TextBinder(const std::set<std::string>& kept, OwnTexts own = {}) : kept_(kept), own_(std::move(own)) {}
  std::string bind(std::string_view text);

 private:
  const std::set<std::string>& kept_;
  OwnTexts own_;
  std::map<std::string, std::size_t> numbers_ = {};
};

/// What `TextBinder::bind` made, with every id alike.
std::string without_id_numbers(std::string_view bound);

/// A line as it was printed, and with ids and times replaced.
struct PrintedLine {
  std::string raw = {};
  std::string bound = {};
};
std::vector<PrintedLine> printed_lines(std::string_view text, TextBinder& binder);

/// Whether a text shows the key: 16 of its characters in a row, as they are or in base64.
bool shows_key(std::string_view text, std::string_view key);

}  // namespace ws::mock::sweep
