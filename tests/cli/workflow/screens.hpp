/// Screens of `ws`, one after the other as in a terminal's history, to be held beside golden files.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "tests/cli/workflow/stage.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/on_terminal.hpp"

namespace ws::test {

/// The words of a command line; single quotes keep blanks.
inline std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  bool is_quoted = false;
  bool is_in_word = false;
  for (const char sign : line) {
    const bool ends = sign == ' ' && !is_quoted;
    if (sign == '\'') is_quoted = !is_quoted;
    if (!ends && !is_in_word) words.emplace_back();
    is_in_word = !ends;
    if (!ends && sign != '\'') words.back() += sign;
  }
  return words;
}

/// A folder whose name is as long in every run: lines break, and tables are as wide, as the paths in them ask.
struct ScreensFolder {
  std::filesystem::path path = fmt::format("/tmp/ws-screens-{:07}", getpid());

  ScreensFolder() { std::filesystem::create_directories(path); }
  ~ScreensFolder() { std::filesystem::remove_all(path); }
  ScreensFolder(const ScreensFolder&) = delete;
  ScreensFolder& operator=(const ScreensFolder&) = delete;

  /// Colours, and nothing that a person keeps elsewhere.
  void make_home_of(Person& person, const std::string& name) const {
    person.environment.erase("NO_COLOR");
    person.environment["TERM"] = "xterm-256color";
    person.environment["WS_PAGER"] = "cat";
    for (const char* const what : {"CONFIG", "DATA", "STATE", "CACHE"}) {
      person.environment["XDG_" + std::string(what) + "_HOME"] = (path / name / what).string();
    }
  }
};

/// Runs commands on a terminal of one width and collects what they show.
class Screens {
 public:
  Screens(const MockProcess& server, int columns, std::vector<std::string> flags)
      : server_(server), columns_(columns), flags_(std::move(flags)) {}

  /// `NAME` in a line stands for what the function says at that time.
  std::map<std::string, std::function<std::string()>> names = {};

  /// Runs `ws LINE` and returns what was shown; `note` is put behind the line.
  std::string show(const Person& person,
                   const std::string& line,
                   const std::filesystem::path& folder = {},
                   const std::string& note = {}) {
    std::vector<std::string> words = words_of(line);
    for (std::string& word : words) {
      if (const auto name = names.find(word); name != names.end()) word = name->second();
    }
    // Not behind `--`: what follows there is another program's.
    words.insert(std::ranges::find(words, "--"), flags_.begin(), flags_.end());
    words.insert(std::ranges::find(words, "--"), {"--progress", "none"});  // seen only where the machine is slow
    const Screen screen = run_on_terminal(person.command(words, folder.empty() ? person.home() : folder), columns_);
    all_ += "$ ws " + line + (note.empty() ? "" : "    # " + note) + "\n";
    all_ += told(screen.text) + "[" + std::to_string(screen.exit) + "]\n\n";
    return screen.text;
  }

  void check(const std::string& file) const { CHECK(all_ == golden("cli/golden/" + file, all_)); }

 private:
  /// What differs from run to run is put in capitals; what a terminal obeys is made visible.
  std::string told(std::string text) const {
    for (std::size_t at = 0; (at = text.find(server_.base_url())) != std::string::npos;) {
      text.replace(at, server_.base_url().size(), "http://SERVER");
    }
    text = std::regex_replace(text, std::regex("request [0-9a-f-]{36}"), "request ID");
    // The first half of an id is the time at which it was made.
    text = std::regex_replace(text, std::regex("[0-9a-f]{8}-[0-9a-f]{4}(-7[0-9a-f]{3}-)"), "019b76da-a800$1");
    text = std::regex_replace(text, std::regex("\\b[0-9a-f]{10}\\b"), "STATE_____");
    text = std::regex_replace(text, std::regex("20[0-9]{2}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}"), "DATE       TIME ");
    text = std::regex_replace(text, std::regex("20[0-9]{2}-[0-9]{2}-[0-9]{2}"), "DATE______");
    text = std::regex_replace(text, std::regex("/tmp/ws-screens-[0-9]{7}"), "/tmp/ws-screens-PROCESS");
    return std::regex_replace(text, std::regex("\033"), "␛");
  }

  const MockProcess& server_;
  int columns_;
  std::vector<std::string> flags_;
  std::string all_ = {};
};

}  // namespace ws::test
