#include "cli/walk/conflict_story.hpp"

#include <utility>

#include <fmt/format.h>

#include "cli/output/human.hpp"
#include "cli/output/sync_report.hpp"

namespace ws::cli::walk {
namespace {

using sync::Conflict;
using sync::ConflictCase;

class Story {
 public:
  Story(const sync::ConflictTexts& texts, const Facts& facts)
      : texts_(texts), conflict_(texts.conflict), facts_(facts) {
    shown_conflict_.name = conflict_.path.string();
    shown_conflict_.what = conflict_.row().title;
    shown_conflict_.has_history = true;
  }

  ShownConflict tell() {
    say_what_happened();
    return std::move(shown_conflict_);
  }

 private:
  void say_what_happened() {
    switch (conflict_.which) {
      case ConflictCase::edited_on_both:
      case ConflictCase::edited_at_one_revision: return conflict_.remote ? edited_on_both() : not_seen_yet();
      case ConflictCase::created_on_both: return conflict_.remote ? created_on_both() : not_seen_yet();
      case ConflictCase::edited_and_archived: return edited_and_archived();
      case ConflictCase::deleted_and_edited: return deleted_and_edited();
      case ConflictCase::renamed_on_both:
      case ConflictCase::renamed_on_both_kept_here: return renamed_on_both();
      case ConflictCase::two_documents:
      case ConflictCase::two_documents_kept_here: return two_documents();
      case ConflictCase::folder_there: return folder_there();
      case ConflictCase::document_there: return document_there();
      case ConflictCase::became_folder: return became_folder();
      case ConflictCase::not_synced: return not_synced();
      case ConflictCase::folder_at_old_name: return folder_at_old_name();
      case ConflictCase::place_refused: return place_refused();
      case ConflictCase::service_went_back: return service_went_back();
      case ConflictCase::document_went_back: return document_went_back();
      case ConflictCase::attachment_edited_on_both:
      case ConflictCase::attachment_added_on_both: return two_files();
      case ConflictCase::attachment_edited_and_removed: return file_removed_there();
      case ConflictCase::attachment_removed_and_edited: return file_removed_here();
      case ConflictCase::attachment_renamed_on_both: return file_renamed();
      case ConflictCase::attachment_folder_there: return folder_for_file();
      case ConflictCase::attachment_folder_here: return file_for_folder();
    }
  }

  void say(std::string sentence) { shown_conflict_.story.push_back(std::move(sentence)); }
  void offer(Keep keep, std::string effects) {
    const sync::ConflictResolution* const resolution = conflict_.row().find(keep);
    if (resolution == nullptr) return;
    shown_conflict_.offers.push_back(
        {.keep = keep, .what = std::string(resolution->offer), .effects = {std::move(effects)}});
  }

  std::string my_when(std::string_view word = "last on") const {
    return facts_.my_time ? fmt::format(", {} {}", word, *facts_.my_time) : "";
  }
  /// "here, on desk"
  std::string here() const { return conflict_.device.empty() ? "here" : "here, on " + conflict_.device; }
  std::string they() const { return facts_.their_name.value_or("Somebody"); }
  std::string their_when() const { return facts_.their_time ? " on " + *facts_.their_time : ""; }
  std::string their_revision() const {
    return conflict_.remote ? fmt::format(": revision {}", conflict_.remote->revision.number) : "";
  }
  std::string old_path() const { return conflict_.base ? conflict_.base->path.string() : ""; }
  std::string there_path() const { return conflict_.remote ? conflict_.remote->path.string() : ""; }

  void say_base() {
    if (conflict_.base) say(fmt::format("Both began with revision {}.", conflict_.base->revision.number));
  }

  void say_renamed_here() {
    if (conflict_.local && conflict_.base && conflict_.local->path != conflict_.base->path) {
      say(fmt::format("You renamed it here, from {}.", old_path()));
    }
  }

  void show_texts() {
    shown_conflict_.base = texts_.base;
    shown_conflict_.mine = texts_.local;
    shown_conflict_.theirs = texts_.remote;
    shown_conflict_.merge_later = texts_.merge_later;
  }

  void edited_on_both() {
    show_texts();
    say(fmt::format("You edited it {}{}.", here(), my_when()));
    say_renamed_here();
    say(fmt::format("{} edited it on the service{}{}.", they(), their_when(), their_revision()));
    say_base();
    offer_texts();
  }

  void created_on_both() {
    show_texts();
    say(fmt::format("You made this file {}{}.", here(), my_when("last changed on")));
    say(fmt::format("{} made a document at the same place on the service{}{}.",
                    they(),
                    facts_.their_time ? ", last changed on " + *facts_.their_time : "",
                    their_revision()));
    offer_texts();
  }

  void offer_texts() {
    offer(Keep::local, "Your text becomes a new revision on the service. Theirs goes to the local history.");
    offer(Keep::remote, "The file here gets their text. Yours goes to the local history.");
    offer(Keep::merged, "The result goes into the file here and to the service. Both texts go to the local history.");
    offer(Keep::both,
          "The file here gets their text. Yours stays beside it, with (local) in its name, as a document of its own.");
  }

  /// Without texts: describes both files.
  void two_files() {
    say_my_file();
    say_their_file();
    offer(Keep::local, "The next `ws sync` sends it. `ws sync restore` restores theirs.");
    offer(Keep::remote, "The file here gets their bytes. Yours are kept: `ws sync restore` restores them.");
    offer(Keep::both, "Your file stays here, theirs stays beside it with (remote) in its name; both are sent.");
  }

  void file_removed_there() {
    say_my_file();
    say("On the service it was removed.");
    offer(Keep::local, "The next `ws sync` sends it again.");
    offer(Keep::remote, "The file here is removed. Its bytes are kept: `ws sync restore` restores them.");
  }

  void file_removed_here() {
    say("You removed it here, and a folder has its name now.");
    say_their_file();
    offer(Keep::local, "The next `ws sync` removes it on the service too. `ws sync restore` restores it.");
    offer(Keep::both, "Their file stays, with (remote) in its name, and is sent.");
  }

  void file_renamed() {
    say(fmt::format("You renamed it here to {}.", conflict_.path.text()));
    say(fmt::format("On the service it was renamed to {}.", there_path()));
    offer(Keep::local, "The next `ws sync` gives it your name on the service too.");
    offer(Keep::remote, "The file here gets their name.");
  }

  void folder_for_file() {
    say_my_file();
    say("On the service a folder has its name.");
    offer(Keep::remote, "Your file gets (local) in its name now. The next `ws sync` receives the folder.");
  }

  void file_for_folder() {
    say(fmt::format("You have a folder here at {}.", conflict_.path.text()));
    say_their_file();
    offer(Keep::local, "Their file has (remote) in its name, which the next `ws sync` gives it on the service too.");
  }

  void say_my_file() {
    say(fmt::format("Mine, {}: {}, {}{}.", here(), conflict_.path.text(), facts_.my_file, my_when("changed on")));
  }

  void say_their_file() {
    say(fmt::format("Theirs, from the service: {}, {}{}.",
                    facts_.their_place.empty() ? there_path() : facts_.their_place,
                    facts_.their_file,
                    facts_.their_time ? ", sent on " + *facts_.their_time : ""));
    // The service names nobody with a file; whoever sends one changes the list.
    if (!facts_.list_changed.empty()) say("The last change to the files on the service: " + facts_.list_changed + ".");
    show_files();
  }

  /// Both can be opened where a copy of theirs lies here.
  void show_files() {
    if (facts_.their_place.empty() || !conflict_.local) return;
    shown_conflict_.files = {conflict_.path.string(), facts_.their_place};
  }

  /// Recorded by a commit; their text has not been pulled yet.
  void not_seen_yet() {
    shown_conflict_.base = texts_.base;
    shown_conflict_.mine = texts_.local;
    say(fmt::format("You edited it {}{}.", here(), my_when()));
    say("The text of the service was not received yet: `ws sync` fetches it.");
    say_base();
  }

  void edited_and_archived() {
    shown_conflict_.base = texts_.base;
    shown_conflict_.mine = texts_.local;
    const bool edited = conflict_.base && conflict_.local && conflict_.local->hash != conflict_.base->hash;
    if (edited || !conflict_.base) say(fmt::format("You edited it {}{}.", here(), my_when()));
    say_renamed_here();
    say("On the service it was archived.");
    if (conflict_.base) say(fmt::format("What is here began with revision {}.", conflict_.base->revision.number));
    offer(Keep::local, "What is here becomes a new document on the service.");
    offer(Keep::remote, "The file here is removed. Its text goes to the local history.");
  }

  void deleted_and_edited() {
    shown_conflict_.base = texts_.base;
    shown_conflict_.theirs = texts_.remote;
    say("You deleted it here.");
    say(fmt::format("{} changed it on the service{}{}.", they(), their_when(), their_revision()));
    if (conflict_.base) say(fmt::format("What you deleted was revision {}.", conflict_.base->revision.number));
    offer(Keep::local, "It is archived on the service. Their text goes to the local history.");
    offer(Keep::remote, "The file comes back here, with their text.");
  }

  void renamed_on_both() {
    say(fmt::format("You renamed it here: {} is now {}.", old_path(), conflict_.path.text()));
    say(fmt::format("On the service it was renamed too, to {}{}.", there_path(), by_them()));
    offer(
        Keep::local,
        fmt::format("It stays {} here. The next `ws sync` gives it that name on the service.", conflict_.path.text()));
    offer(Keep::remote, fmt::format("The file here is renamed to {} now. Its text stays as it is.", there_path()));
  }

  std::string by_them() const {
    if (!facts_.their_name) return "";
    return fmt::format(" (last changed by {}{})", *facts_.their_name, their_when());
  }

  void two_documents() {
    show_both();
    say(fmt::format("Mine, {}: {}{}.", here(), conflict_.path.text(), my_when("changed on")));
    say(fmt::format("Theirs, another document of that name on the service{}: here it is {}.",
                    by_them(),
                    facts_.their_place.empty() ? "a copy with (remote) in its name" : facts_.their_place));
    show_files();
    offer(Keep::local,
          "Your file stays where it is. The next `ws sync` gives the other document, on the service, the name that it "
          "has here.");
    offer(Keep::remote,
          "Your file gets (local) in its name now. The next `ws sync` puts the other document in its place.");
  }

  void became_folder() {
    shown_conflict_.base = texts_.base;
    shown_conflict_.theirs = texts_.remote;
    say(fmt::format("You have a folder here where the file {} was.", conflict_.path.text()));
    say(fmt::format("{} edited the document on the service{}{}. Here it is a file with (remote) in its name.",
                    they(),
                    their_when(),
                    their_revision()));
    offer(Keep::local,
          "The file with (remote) in its name is removed here, and the next `ws sync` archives its document. Its text "
          "goes to the local history.");
    offer(Keep::remote, "The folder stays, and the document keeps the name that it has here.");
  }

  void folder_at_old_name() {
    shown_conflict_.mine = texts_.local;
    say(fmt::format("You renamed it here: {} is now {}.", old_path(), conflict_.path.text()));
    say("On the service it was archived, and a folder has its old name.");
    offer(Keep::local, "The next `ws sync` makes a new document of it.");
    offer(Keep::remote, "The file here is removed. Its text goes to the local history.");
  }

  void place_refused() {
    show_both();
    say(fmt::format("You made this file here{}.", my_when()));
    say("On the service a document has the name of the file's folder, so the file cannot be sent yet.");
    offer(Keep::local, "The next `ws sync` sends it, once the document has left that name.");
    offer(Keep::remote, "The file here is removed. Its text goes to the local history.");
  }

  void folder_there() {
    show_both();
    say(fmt::format("You have a file here at {}.", conflict_.path.text()));
    say(fmt::format("On the service a folder has that name, with {} in it{}.", there_path(), by_them()));
    offer(Keep::local,
          "Your file stays where it is. The files of the folder are in a folder with (remote) in its name.");
    offer(Keep::remote, "Your file gets (local) in its name now. The next `ws sync` receives the folder.");
  }

  void document_there() {
    show_both();
    say(fmt::format("You have a file here at {}.", conflict_.path.text()));
    say(fmt::format(
        "On the service {} is a document; here it is the name of the file's folder{}.", there_path(), by_them()));
    offer(Keep::local,
          "Your file stays where it is. The document has (remote) in its name here, and the next `ws sync` gives it "
          "that name on the service.");
    offer(Keep::remote,
          "Your file moves to a folder with (local) in its name now. The next `ws sync` receives the document.");
  }

  void not_synced() {
    shown_conflict_.theirs = texts_.remote;
    say(fmt::format("Something that is not synced is here at {}.", conflict_.path.text()));
    say(fmt::format("On the service {} is a document{}.", there_path(), by_them()));
    say("`ws` does not move it: move it elsewhere, then `ws sync` puts the document in its place.");
    offer(Keep::local,
          "The document has (remote) in its name here, and the next `ws sync` gives it that name on the service.");
  }

  void service_went_back() {
    shown_conflict_.has_history = false;
    shown_conflict_.name = "the whole folder";
    show_both();
    const bool is_known = facts_.rewound.has_value();
    say(is_known
            ? fmt::format("The service went back from revision {} to {}: it was restored from a backup, or replaced.",
                          facts_.rewound->before.number,
                          facts_.rewound->now.number)
            : "The service went back to an older state: it was restored from a backup, or replaced.");
    say("Nothing is synced until you choose which side to keep.");
    if (is_known) list_rewound(*facts_.rewound);
    offer_states();
  }

  void document_went_back() {
    show_both();
    const std::string before = conflict_.base ? std::to_string(conflict_.base->revision.number) : "a later one";
    say(conflict_.remote ? fmt::format("On the service it went back from revision {} to {}{}.",
                                       before,
                                       conflict_.remote->revision.number,
                                       by_them())
                         : fmt::format("Both sides had revision {}; the service does not have it any more.", before));
    offer_states();
  }

  void list_rewound(const sync::Rewound& rewound) {
    std::vector<std::string>& lines = shown_conflict_.details;
    lines.push_back(rewound.documents.empty() ? "No document differs from what both sides agreed on."
                                              : counted(rewound.documents.size(), "document") + " differ" +
                                                    (rewound.documents.size() == 1 ? "s:" : ":"));
    for (const sync::RewoundDocument& each : rewound.documents) {
      const std::string path = each.path.string();
      lines.push_back(!each.now ? fmt::format("  {}: revision {} is missing on the service", path, each.before->number)
                      : !each.before
                          ? fmt::format("  {}: revision {}, not known here", path, each.now->number)
                          : fmt::format("  {}: revision {} -> {}", path, each.before->number, each.now->number));
    }
  }

  void offer_states() {
    offer(Keep::local, "What is here counts as an edit of what the service has now. The next `ws sync` sends it.");
    offer(Keep::remote,
          "The next `ws sync` receives the older state. The texts that it replaces go to the local history, and the "
          "guard against mass deletion counts the files that it removes.");
  }

  /// Shows both texts without merging them.
  void show_both() {
    shown_conflict_.mine = texts_.local;
    shown_conflict_.theirs = texts_.remote;
  }

  const sync::ConflictTexts& texts_;
  const Conflict& conflict_;
  const Facts& facts_;
  ShownConflict shown_conflict_ = {};
};

}  // namespace

ShownConflict tell_conflict(const sync::ConflictTexts& texts, const Facts& facts) { return Story(texts, facts).tell(); }

}  // namespace ws::cli::walk
