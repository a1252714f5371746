// The links of a note are read in time whatever it holds, lie in its bytes and in order, and a target that is written
// anew with its own text leaves the note as it is.
#include <cstdlib>
#include <string>

#include "api-client/base/utf8.hpp"
#include "sync-engine/links/references.hpp"
#include "tests/fuzz/target.hpp"

void ws_fuzz_one(std::string_view bytes) {
  if (!ws::utf8::is_valid(bytes)) return;
  const ws::sync::links::NoteLinks links = ws::sync::links::read_note(bytes);
  std::size_t last = 0;
  for (const ws::sync::links::Reference& each : links.references) {
    const bool is_inside = each.begin <= each.target_begin && each.target_begin <= each.path_end &&
                           each.path_end <= each.target_end && each.target_end <= each.end && each.end <= bytes.size();
    if (!is_inside || each.begin < last) std::abort();
    last = each.begin;
    // A path that is written as it is read stands there byte for byte.
    const std::string_view written = bytes.substr(each.target_begin, each.path_end - each.target_begin);
    const bool is_plain = written.find_first_of("%\\&<>'\"") == std::string_view::npos;
    if (is_plain && each.kind == ws::sync::links::Reference::Kind::wiki_link && each.path.size() > written.size())
      std::abort();
  }
}
