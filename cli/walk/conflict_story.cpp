#include "cli/walk/conflict_story.hpp"

#include <utility>

#include <fmt/format.h>

#include "cli/output/sync_report.hpp"

namespace ws::cli::walk {
namespace {

using sync::Conflict;
using sync::ConflictKind;

class Story {
 public:
  Story(const sync::ConflictTexts& texts, const Facts& facts)
      : texts_(texts), conflict_(texts.conflict), facts_(facts) {
    shown_conflict_.name = conflict_.path.string();
    shown_conflict_.what = sync::reason_of(conflict_);
    shown_conflict_.has_history = true;
  }

  ShownConflict tell() {
    if (conflict_.kind == ConflictKind::rewound) {
      rewound();
    } else if (conflict_.kind == ConflictKind::attachment) {
      attachment();
    } else if (is_about_place(conflict_)) {
      place();
    } else if (!conflict_.remote) {
      edited_and_archived();
    } else if (!conflict_.local) {
      deleted_and_edited();
    } else {
      two_texts();
    }
    return std::move(shown_conflict_);
  }

 private:
  void say(std::string sentence) { shown_conflict_.story.push_back(std::move(sentence)); }
  void offer(Verdict verdict, std::string what, std::vector<std::string> effects) {
    shown_conflict_.offers.push_back({.verdict = verdict, .what = std::move(what), .effects = std::move(effects)});
  }

  std::string my_when() const { return facts_.my_time ? ", last on " + *facts_.my_time : ""; }
  std::string they() const { return facts_.their_name.value_or("Somebody"); }
  std::string their_when() const { return facts_.their_time ? " on " + *facts_.their_time : ""; }
  std::string their_revision() const {
    return conflict_.remote ? fmt::format(": revision {}", conflict_.remote->revision) : "";
  }
  std::string old_path() const { return conflict_.base ? conflict_.base->path.string() : ""; }
  std::string there_path() const { return conflict_.remote ? conflict_.remote->path.string() : ""; }

  void say_base() {
    if (conflict_.base) say(fmt::format("Both began with revision {}.", conflict_.base->revision));
  }

  void say_renamed_here() {
    if (conflict_.local && conflict_.base && conflict_.local->path != conflict_.base->path) {
      say(fmt::format("You renamed it here, from {}.", old_path()));
    }
  }

  void two_texts() {
    shown_conflict_.base = texts_.base;
    shown_conflict_.mine = texts_.local;
    shown_conflict_.theirs = texts_.remote;
    shown_conflict_.merge_later = texts_.merge_later;
    if (conflict_.base) {
      say(fmt::format("You edited it here{}.", my_when()));
      say_renamed_here();
      say(fmt::format("{} edited it on the service{}{}.", they(), their_when(), their_revision()));
      say_base();
    } else {
      say(fmt::format("You made this file here{}.", my_when()));
      say(fmt::format("{} made a document at the same place on the service{}{}.",
                      they(),
                      facts_.their_time ? ", last changed on " + *facts_.their_time : "",
                      their_revision()));
    }
    offer(Verdict::mine,
          "keep mine",
          {"My text becomes a new revision on the service. Theirs goes to the local history."});
    offer(Verdict::theirs, "keep theirs", {"The file here gets their text. Mine goes to the local history."});
    offer(Verdict::merged,
          "take the merge",
          {"The result goes into the file here and to the service. Both texts go to the local history."});
    offer(Verdict::both,
          "keep both",
          {"The file here gets their text. Mine lies beside it, with (local) in its name, as a document of its own."});
  }

  /// No texts: what is known of both files is told.
  void attachment() {
    say(fmt::format("Yours, here: {}{}.", facts_.my_file, my_when()));
    if (!conflict_.remote) {
      say("On the service it was removed.");
      offer(Verdict::mine, "keep mine", {"The next `ws sync` sends it again."});
      offer(Verdict::theirs,
            "let it go",
            {"The file here is removed. Its bytes are kept: `ws sync restore` brings them back."});
      return;
    }
    say(fmt::format("Theirs, on the service: {}{}.",
                    facts_.their_file,
                    facts_.their_time ? ", sent on " + *facts_.their_time : ""));
    offer(Verdict::mine, "keep mine", {"The next `ws sync` sends it. Theirs can be had again: `ws sync restore`."});
    offer(Verdict::theirs,
          "keep theirs",
          {"The file here gets their bytes. Mine are kept: `ws sync restore` brings them back."});
    offer(Verdict::both,
          "keep both",
          {"Mine stays here, theirs stays beside it with (remote) in its name; both are sent."});
  }

  void edited_and_archived() {
    shown_conflict_.base = texts_.base;
    shown_conflict_.mine = texts_.local;
    const bool edited = conflict_.base && conflict_.local && conflict_.local->hash != conflict_.base->hash;
    if (edited || !conflict_.base) say(fmt::format("You edited it here{}.", my_when()));
    say_renamed_here();
    say("On the service it was archived.");
    if (conflict_.base) say(fmt::format("What is here began with revision {}.", conflict_.base->revision));
    offer(Verdict::mine, "keep mine", {"What is here becomes a new document on the service."});
    offer(Verdict::theirs, "let it go", {"The file here is removed. Its text goes to the local history."});
  }

  void deleted_and_edited() {
    shown_conflict_.base = texts_.base;
    shown_conflict_.theirs = texts_.remote;
    say("You deleted it here.");
    say(fmt::format("{} changed it on the service{}{}.", they(), their_when(), their_revision()));
    if (conflict_.base) say(fmt::format("What you deleted was revision {}.", conflict_.base->revision));
    offer(Verdict::mine, "keep it deleted", {"It is archived on the service. Their text goes to the local history."});
    offer(Verdict::theirs, "take it back", {"The file comes back here, with their text."});
  }

  /// The shapes are those that a decision about names tells apart (sync-engine/conflicts/decide_place.cpp).
  void place() {
    shown_conflict_.mine = texts_.local;
    shown_conflict_.theirs = texts_.remote;
    switch (sync::place_matter(conflict_)) {
      case sync::PlaceMatter::renamed_on_both: return renamed_on_both();
      case sync::PlaceMatter::two_documents: return two_documents();
      case sync::PlaceMatter::folder_there: return folder_there();
      case sync::PlaceMatter::document_there: return document_there();
      case sync::PlaceMatter::became_folder: return became_folder();
      case sync::PlaceMatter::not_synced: return not_synced();
      case sync::PlaceMatter::no_document: return conflict_.base ? folder_took_the_old_place() : in_a_taken_folder();
    }
  }

  void renamed_on_both() {
    shown_conflict_.what = "renamed on both sides";
    shown_conflict_.mine.reset();
    shown_conflict_.theirs.reset();
    say(fmt::format("You renamed it here: {} is now {}.", old_path(), conflict_.path.text()));
    say(fmt::format("On the service it was renamed too, to {}{}.", there_path(), by_them()));
    offer(Verdict::mine,
          "keep my name",
          {fmt::format("It stays {} here. The next `ws sync` renames it so on the service.", conflict_.path.text())});
    offer(Verdict::theirs,
          "take their name",
          {fmt::format("The file here is renamed to {} now. Its text stays as it is.", there_path())});
  }

  std::string by_them() const {
    if (!facts_.their_name) return "";
    return fmt::format(" (last changed by {}{})", *facts_.their_name, their_when());
  }

  void two_documents() {
    shown_conflict_.what = "two documents want this name";
    say(fmt::format("You have a file here at {}.", conflict_.path.text()));
    say(
        fmt::format("On the service another document has that name{}. It lies here beside yours, with (remote) in its "
                    "name.",
                    by_them()));
    offer(Verdict::mine,
          "mine has the name",
          {"My file stays where it is. The next `ws sync` renames the other document as it lies here."});
    offer(Verdict::theirs,
          "theirs has the name",
          {"My file gets (local) in its name now. The next `ws sync` puts the other document in its place."});
  }

  void became_folder() {
    shown_conflict_.what = "a folder here, a document there";
    shown_conflict_.base = texts_.base;
    shown_conflict_.mine.reset();
    say("Here a folder took the place of the file.");
    say(fmt::format("{} edited the document on the service{}{}. It lies here with (remote) in its name.",
                    they(),
                    their_when(),
                    their_revision()));
    offer(Verdict::mine,
          "keep the folder alone",
          {"The file with (remote) in its name is removed here, and archived by the next `ws sync`. Its text goes to "
           "the local history."});
    offer(Verdict::theirs, "keep both", {"The folder stays, and the document keeps the name that it lies under here."});
  }

  void folder_took_the_old_place() {
    shown_conflict_.what = "renamed here, a folder there";
    shown_conflict_.theirs.reset();
    say(fmt::format("You renamed it here: {} is now {}.", old_path(), conflict_.path.text()));
    say("On the service it was archived, and a folder has its old place.");
    offer(Verdict::mine, "keep the file", {"The next `ws sync` makes a new document of it."});
    offer(Verdict::theirs, "let it go", {"The file here is removed. Its text goes to the local history."});
  }

  void in_a_taken_folder() {
    shown_conflict_.what = "its folder is a document there";
    say(fmt::format("You made this file here{}.", my_when()));
    say("On the service a document has the name of its folder, so the file has no place there yet.");
    offer(Verdict::mine, "keep the file", {"The next `ws sync` sends it, once the document has left that name."});
    offer(Verdict::theirs, "let it go", {"The file here is removed. Its text goes to the local history."});
  }

  void folder_there() {
    shown_conflict_.what = "a file here, a folder there";
    say(fmt::format("You have a file here at {}.", conflict_.path.text()));
    say(fmt::format("On the service there is a folder of that name, with {} in it{}.", there_path(), by_them()));
    offer(Verdict::mine,
          "my file has the name",
          {"It stays where it is. What is in the folder lies in one with (remote) in its name."});
    offer(Verdict::theirs,
          "the folder has the name",
          {"My file gets (local) in its name now. The next `ws sync` brings the folder."});
  }

  void document_there() {
    shown_conflict_.what = "a folder here, a document there";
    say(fmt::format("You have a file here at {}.", conflict_.path.text()));
    say(fmt::format("On the service {} is a document, where its folder is here{}.", there_path(), by_them()));
    offer(Verdict::mine,
          "my folder has the name",
          {"It stays where it is. The document lies here with (remote) in its name, and is renamed so by the next `ws "
           "sync`."});
    offer(Verdict::theirs,
          "the document has the name",
          {"My file moves to a folder with (local) in its name now. The next `ws sync` brings the document."});
  }

  void not_synced() {
    shown_conflict_.what = "a document wants the name of what is not synced";
    shown_conflict_.mine.reset();
    say(fmt::format("Here is something at {} that is not synced.", conflict_.path.text()));
    say(fmt::format("On the service {} is a document{}.", there_path(), by_them()));
    say("Only you can move what is here: move it elsewhere, then `ws sync` puts the document in its place.");
    offer(Verdict::mine,
          "it stays",
          {"The document lies here with (remote) in its name, and is renamed so by the next `ws sync`."});
  }

  void rewound() {
    shown_conflict_.has_history = !conflict_.document.empty();
    shown_conflict_.mine = texts_.local;
    shown_conflict_.theirs = texts_.remote;
    if (conflict_.document.empty()) {
      shown_conflict_.name = "the whole tree";
      say("The service went back to an older state: it was restored from a backup, or replaced.");
      say("Nothing goes either way until somebody says which side holds.");
    } else {
      say("The service has an older revision of it than the one that both sides agreed on.");
    }
    offer(Verdict::mine,
          "what is here holds",
          {"What is here counts as an edit of what the service has now. The next `ws sync` sends it."});
    offer(Verdict::theirs,
          "what the service has holds",
          {"The next `ws sync` brings the older state here. What it replaces goes to the local history, and the guard "
           "against mass deletion counts what it removes."});
  }

  const sync::ConflictTexts& texts_;
  const Conflict& conflict_;
  const Facts& facts_;
  ShownConflict shown_conflict_ = {};
};

}  // namespace

ShownConflict tell_conflict(const sync::ConflictTexts& texts, const Facts& facts) { return Story(texts, facts).tell(); }

}  // namespace ws::cli::walk
