/// Pairs of changes of one entry that are brought about on purpose, so that rare ones are not left to chance.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/property/bound_folder.hpp"
#include "tests/property/coverage.hpp"
#include "tests/property/script.hpp"
#include "tests/property/service.hpp"
#include "tests/property/user_actions.hpp"

namespace ws::property {

/// New notes and pictures, each of them linked from a note.
void add_entries(BoundFolder& place, const Step& step, Words& words);

/// The path of an entry that `place`, the service and, for a picture, `other` have alike; or one that is free
/// everywhere; none of `taken`. Empty: there is none.
std::optional<std::string> entry_for(const Cell& pair,
                                     const BoundFolder& place,
                                     const BoundFolder& other,
                                     Service& service,
                                     const std::set<std::string>& taken,
                                     const Step& step,
                                     Words& words);

/// One change of it in a folder or, of a note, on the service. `agreed`: its path before both changes; `path`: where it
/// is by now. A document's change is added to `items`, which are published at once.
void change_file(
    BoundFolder& place, Happening what, const std::string& agreed, std::string& path, const Step& step, Words& words);
void change_document(Service& service,
                     Happening what,
                     const std::string& agreed,
                     std::string& path,
                     const Step& step,
                     Words& words,
                     std::vector<Item>& items);

/// A note, or a picture, gets other texts here and there, at the same place. A document's change is added to `items`.
void change_apart(BoundFolder& place,
                  BoundFolder& other,
                  Service& service,
                  const std::string& here,
                  const std::string& there,
                  Words& words,
                  std::vector<Item>& items);

}  // namespace ws::property
