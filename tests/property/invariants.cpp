#include "tests/property/invariants.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "api-client/base/sha256.hpp"
#include "api-client/base/utf8.hpp"
#include "sync-engine/git/repository.hpp"

namespace ws::property {
namespace {

bool is_note(const std::string& path, const FileFacts& file) {
  return path.ends_with(".md") && path.front() != '.' && S_ISREG(file.mode);
}

bool is_picture(const std::string& path, const FileFacts& file) { return path.ends_with(".png") && S_ISREG(file.mode); }

std::string first_line(const std::string& text) { return text.substr(0, 40) + (text.size() > 40 ? "..." : ""); }

bool too_many(std::size_t deletes, std::size_t tracked) {
  return (deletes > 10 && deletes * 4 > tracked) || (tracked >= 4 && deletes * 2 > tracked) ||
         (deletes >= 2 && deletes == tracked);
}

/// Of the files that the list names: those that were in place here and are gone, and the rows that are gone there.
std::string picture_deletes_are_bounded(const Observation& before, const Observation& after) {
  std::set<std::string> kept;
  for (const auto& [path, file] : after.files) kept.insert(file.text);
  std::set<std::string> listed;
  for (const auto& [path, hash] : after.listed) listed.insert(hash);
  std::size_t here = 0;
  std::size_t there = 0;
  for (const auto& [path, hash] : before.listed) {
    const auto file = before.files.find(path);
    if (file != before.files.end() && !after.files.contains(path) && !kept.contains(file->second.text)) ++here;
    if (!after.listed.contains(path) && !listed.contains(hash)) ++there;
  }
  const std::size_t tracked = before.listed.size();
  if (!too_many(here, tracked) && !too_many(there, tracked)) return {};
  return fmt::format("I11: of {} files {} went here and {} there", tracked, here, there);
}

bool is_part_of_a_move(const sync::Report* report, const std::string& path) {
  if (report == nullptr) return true;
  return std::any_of(report->rows.begin(), report->rows.end(), [&](const sync::Row& row) {
    return row.action.previous_path && (row.action.path.text() == path || row.action.previous_path->text() == path);
  });
}

}  // namespace

Observation look(const BoundFolder& place, Service& service) {
  // First, since opening the state for the first time creates it.
  std::map<sync::DocumentId, sync::BaseRow> base = place.base();
  return {.files = place.files(),
          .outside = place.files_outside(),
          .own = place.own_files(),
          .documents = service.documents(),
          .base = std::move(base),
          .listed = service.listed()};
}

Observation glance(const BoundFolder& place, Service& service) {
  return {.files = place.files(), .documents = service.documents(), .listed = service.listed()};
}

std::set<std::string> texts_of(const Observation& observation) {
  std::set<std::string> texts;
  for (const auto& [path, file] : observation.files) {
    if (S_ISREG(file.mode)) texts.insert(file.text);
  }
  for (const auto& [id, document] : observation.documents) texts.insert(document.text);
  return texts;
}

std::string nothing_is_lost(const std::set<std::string>& owed,
                            const Observation& after,
                            const BoundFolder& place,
                            Service& service) {
  std::set<std::string> gone = owed;
  for (const std::string& text : texts_of(after)) gone.erase(text);
  if (gone.empty()) return {};
  for (const std::string& text : place.spare_texts()) gone.erase(text);
  gone = place.forgotten(std::move(gone));
  if (gone.empty()) return {};
  const std::set<std::string> assets = service.asset_hashes();
  std::erase_if(gone, [&](const std::string& text) { return assets.contains(Sha256::of(text).hex()); });
  return gone.empty() ? std::string() : "I1: a text is lost: " + first_line(*gone.begin());
}

std::string nothing_is_written(const Observation& before, const Observation& after) {
  for (const auto& [path, file] : after.files) {
    const auto old = before.files.find(path);
    if (old == before.files.end()) return "a file was made: " + path;
    if (old->second != file) return "a file was changed: " + path;
  }
  if (before.files.size() != after.files.size()) return "a file was removed";
  for (const auto& [path, file] : after.own) {
    const auto old = before.own.find(path);
    const bool same = old != before.own.end() && old->second.text == file.text;
    if (!same) return "state was written: " + path;
  }
  if (before.documents != after.documents) return "the service was changed";
  return {};
}

std::string deletes_are_bounded(const Observation& before, const Observation& after) {
  std::size_t here = 0;
  std::size_t there = 0;
  std::set<std::string> kept;
  for (const auto& [path, file] : after.files) kept.insert(file.text);
  // A file that was renamed with its document, and edited, is no delete.
  std::set<std::string> moved;
  for (const auto& [document, row] : before.base) {
    const auto now = after.documents.find(document.text());
    if (now == after.documents.end()) continue;
    const auto file = after.files.find(now->second.path);
    if (file != after.files.end() && file->second.text == now->second.text) moved.insert(row.disk_path().string());
  }
  for (const auto& [path, file] : before.files) {
    const bool is_here = after.files.contains(path) || kept.contains(file.text) || moved.contains(path);
    if (is_note(path, file) && !is_here) ++here;
  }
  for (const auto& [id, document] : before.documents) {
    if (!after.documents.contains(id)) ++there;
  }
  if (std::string wrong = picture_deletes_are_bounded(before, after); !wrong.empty()) return wrong;
  if (!too_many(here, before.base.size()) && !too_many(there, before.base.size())) return {};
  return fmt::format("I11: of {} documents {} went here and {} there", before.base.size(), here, there);
}

std::string strangers_are_untouched(const Observation& before, const Observation& after) {
  if (before.outside != after.outside) return "I12: something outside of the folder was touched";
  for (const auto& [path, file] : before.files) {
    if (is_note(path, file) || is_picture(path, file)) continue;
    const auto now = after.files.find(path);
    if (now == after.files.end() || now->second != file) return "I12: a file of no concern was touched: " + path;
  }
  for (const auto& [path, file] : after.files) {
    if (!is_note(path, file) && !is_picture(path, file) && !before.files.contains(path))
      return "I12: a file of no concern was made: " + path;
  }
  return {};
}

std::string pushes_know_their_base(const std::vector<std::string>& sent, const Observation& before, Service& service) {
  for (const std::string& request : sent) {
    if (request.find("/v1/sync/push ") == std::string::npos) continue;
    const auto body = parse_bounded(std::string_view(request).substr(request.find('{')));
    if (!body) return "I14: a push that cannot be read";
    for (const Json& item : body->at("items")) {
      if (item.at("action") == "push_create") continue;
      const std::string id = item.at("document_id").is_string() ? item.at("document_id").get<std::string>() : "";
      if (!item.at("expected_content_revision").is_number()) return "I14: no revision expected of " + item.dump();
      const auto expected = item.at("expected_content_revision").get<std::uint64_t>();
      const auto base = before.base.find(sync::DocumentId(id));
      const bool of_base = base != before.base.end() && base->second.entry.revision.number == expected;
      if (!of_base && !service.known_texts().contains({id, expected}) && !service.has_returned(id, expected))
        return "I14: a revision that nobody saw, " + item.dump();
    }
  }
  return {};
}

std::string base_is_true(const Observation& after, const BoundFolder& place, Service& service) {
  for (const auto& [document, row] : after.base) {
    const sync::Entry& entry = row.entry;
    const auto known = service.known_texts().find({document.text(), entry.revision.number});
    if (known != service.known_texts().end() && Sha256::of(known->second) != entry.hash) {
      return fmt::format("I15: the base has another text of {} at revision {} than the service had",
                         entry.path.text(),
                         entry.revision.number);
    }
    const auto now = after.documents.find(document.text());
    if (now != after.documents.end() && now->second.revision < entry.revision.number) {
      return fmt::format("I15: the base of {} is ahead of the service", entry.path.text());
    }
  }
  if (after.base.empty()) return {};
  auto history = sync::git::Repository::open(place.own("history.git"));
  if (!history) return "I15: the history cannot be read: " + history.error().what;
  for (const auto& [document, row] : after.base) {
    const auto text = history->read_blob(row.blob);
    if (!text || Sha256::of(*text) != row.entry.hash)
      return "I15: the history does not hold the base of " + row.entry.path.string();
  }
  return {};
}

std::string files_do_not_drift(const Observation& before, const Observation& after, const sync::Report* report) {
  for (const auto& [path, file] : after.files) {
    const auto old = before.files.find(path);
    if (old == before.files.end() || is_part_of_a_move(report, path)) continue;
    if (old->second.mode != file.mode) return "I20: the mode changed of " + path;
    if (old->second.text == file.text && old->second != file) return "I20: a file was written anew: " + path;
  }
  return {};
}

std::string identities_stay(const std::map<sync::DocumentId, std::uint64_t>& holders,
                            const Observation& before,
                            const Observation& after) {
  std::map<std::uint64_t, std::string> notes;
  for (const auto& [path, file] : before.files) {
    if (is_note(path, file)) notes.emplace(file.inode, path);
  }
  for (const auto& [document, inode] : holders) {
    if (!before.documents.contains(document.text()) || after.documents.contains(document.text())) continue;
    const auto file = notes.find(inode);
    if (file != notes.end())
      return "I21: archived though its file is there: " + before.documents.at(document.text()).path + " at " +
             file->second;
  }
  return {};
}

std::string pictures_agree(const Observation& observation) {
  std::map<std::string, std::set<std::string>> here;  // two files may have one name in two forms: one of them is synced
  for (const auto& [path, file] : observation.files) {
    if (is_picture(path, file)) here[utf8::nfc(path)].insert(Sha256::of(file.text).hex());
  }
  for (const auto& [path, hash] : observation.listed) {
    const auto file = here.find(utf8::nfc(path));
    if (file == here.end()) return "I2: a listed file is not here: " + path;
    if (!file->second.contains(hash)) return "I2: a listed file has other bytes here: " + path;
  }
  return {};
}

std::string sides_agree(const Observation& observation, const BoundFolder& place) {
  std::map<std::string, std::string> here;
  for (const auto& [path, text] : place.tree()) here[utf8::nfc(path)] = text;
  std::map<std::string, std::string> there;
  for (const auto& [id, document] : observation.documents) {
    there[document.path] = document.text;
    const auto base = observation.base.find(sync::DocumentId(id));
    if (base == observation.base.end()) return "I2: the base lacks " + document.path;
    const sync::Entry& entry = base->second.entry;
    if (entry.hash != Sha256::of(document.text) || entry.revision.number != document.revision ||
        utf8::nfc(entry.path.text()) != document.path) {
      return fmt::format("I2: the base of {} is {} at revision {}, and the service has revision {}",
                         document.path,
                         entry.path.text(),
                         entry.revision.number,
                         document.revision);
    }
  }
  if (observation.base.size() != observation.documents.size()) return "I2: the base has a document too many";
  if (here == there) return {};
  std::string difference = "I2: the sides differ:";
  for (const auto& [path, text] : here) {
    if (!there.contains(path)) difference += " only here " + path;
    if (there.contains(path) && there.at(path) != text) difference += " another text at " + path;
  }
  for (const auto& [path, text] : there) {
    if (!here.contains(path)) difference += " only there " + path;
  }
  return difference;
}

std::vector<std::string> rows_of(const sync::Report& report) {
  std::vector<std::string> rows;
  for (const sync::Row& row : report.rows) {
    std::string line = std::string(name(row.action.kind)) + " " + row.action.path.string();
    if (row.action.previous_path) line += " <- " + row.action.previous_path->string();
    rows.push_back(std::move(line));
  }
  return rows;
}

std::string otherwise_than_foreseen(const sync::Report& foreseen, const sync::Report& done, bool only_reads) {
  sync::Report planned = done;
  // What the preview lists as skipped: a twin whose name the run itself frees, and what the key of the last run could
  // not send, which a mere look does not ask again.
  std::erase_if(planned.rows, [&foreseen](const sync::Row& row) {
    using sync::ActionKind;
    const ActionKind kind = row.action.kind;
    const bool is_file = row.action.attachment;
    const bool sends = kind == ActionKind::push_create || (is_file && kind == ActionKind::push_update);
    const bool comes = is_file && (kind == ActionKind::pull_create || kind == ActionKind::pull_move);
    return std::any_of(foreseen.skipped.begin(), foreseen.skipped.end(), [&](const sync::Skipped& each) {
      const bool may_go = (each.reason == sync::SkipReason::twin && (sends || comes)) ||
                          (each.reason == sync::SkipReason::missing_scope && is_file && sends);
      return may_go && each.path == row.action.path.text();
    });
  });
  // The operations are the same set: in which order, I10 leaves open.
  const auto set_of = [](const sync::Report& report) {
    std::vector<std::string> rows = rows_of(report);
    std::sort(rows.begin(), rows.end());
    return rows;
  };
  if (set_of(planned) == set_of(foreseen)) return {};
  // A note that the run itself moves may show another file afterwards, or none: README.md, "What is left".
  sync::Report expected = foreseen;
  const bool moves_notes = std::any_of(foreseen.rows.begin(), foreseen.rows.end(), [](const sync::Row& row) {
    return row.action.kind == sync::ActionKind::pull_move && !row.action.attachment;
  });
  if (moves_notes || only_reads) {
    for (sync::Report* const report : {&planned, &expected})
      std::erase_if(report->rows, [](const sync::Row& row) { return row.action.attachment; });
  }
  std::string told;
  const auto only_in = [&told](const char* where, const sync::Report& one, const sync::Report& other) {
    const std::vector<std::string> others = rows_of(other);
    for (const std::string& row : rows_of(one)) {
      if (std::find(others.begin(), others.end(), row) == others.end()) told += fmt::format("\n  {}: {}", where, row);
    }
  };
  only_in("only foreseen", expected, planned);
  only_in("only done", planned, expected);
  if (told.empty() && set_of(planned) != set_of(expected)) told = "\n  a row more than once";
  return told;
}

}  // namespace ws::property
