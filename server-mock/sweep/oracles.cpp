#include "server-mock/sweep/oracles.hpp"

#include <algorithm>
#include <map>
#include <regex>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "api-client/base/ascii.hpp"
#include "api-client/base/text.hpp"
#include "api-client/base/utf8.hpp"
#include "api-client/contract/operations.hpp"
#include "server-mock/faults/faults.hpp"

namespace ws::mock::sweep {
namespace {

using Kind = Difference::Kind;

bool succeeded(const Run& run) { return run.end.by == RunEnd::By::itself && run.end.exit == 0; }

std::string count_of(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// "2 documents (Notes)", for the objects of one kind; tree nodes are named only if there are no others.
std::string objects_of(const std::vector<Difference>& differences, Kind kind) {
  std::map<std::string, std::pair<std::size_t, std::string>> nouns;
  std::string node_title;
  for (const Difference& one : differences) {
    if (one.kind != kind) continue;
    if (one.table == "nodes") node_title = one.title;
    auto& [count, title] = nouns[one.table];
    ++count;
    if (title.empty()) title = one.title;
  }
  if (nouns.size() > 1) nouns.erase("nodes");
  std::vector<std::string> parts;
  for (const auto& [table, counted] : nouns) {
    const std::string& title = counted.second.empty() ? node_title : counted.second;
    parts.push_back(count_of(counted.first, noun_of(table)) + (title.empty() ? "" : fmt::format(" (\"{}\")", title)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::size_t count_kind(const std::vector<Difference>& differences, Kind kind) {
  return static_cast<std::size_t>(std::ranges::count(differences, kind, &Difference::kind));
}

/// The text as a JSON string on one line, without quotes.
std::string shortened(const std::string& text) {
  const std::string line = dump(Json(text));
  const std::string_view inner = std::string_view(line).substr(1, line.size() - 2);
  return utf8::code_points(inner) <= 60 ? std::string(inner) : std::string(utf8::prefix(inner, 57)) + "...";
}

std::string change_of(const Difference& one) {
  const std::string name = one.title.empty() ? "" : fmt::format(" \"{}\"", one.title);
  if (one.kind == Kind::unlinked) return fmt::format("a {}{} belongs to another object", noun_of(one.table), name);
  return fmt::format("{} of a {}{} is \"{}\" in place of \"{}\"",
                     one.column,
                     noun_of(one.table),
                     name,
                     shortened(one.is),
                     shortened(one.was));
}

/// Whether the run tried to change the object, and the member still has the value that the service answered first.
bool is_as_first_answered(const Difference& difference, const std::vector<SentRequest>& sent) {
  const auto changes_it = [&difference](const SentRequest& one) {
    return one.method != "GET" && one.path.find(difference.id) != std::string::npos;
  };
  if (difference.id.empty() || std::ranges::none_of(sent, changes_it)) return false;
  for (const SentRequest& one : sent) {
    const Json* value = find(*one.response_body, difference.column);
    const bool is_of_it = one.status < 300 && find_text(*one.response_body, "id").value_or("") == difference.id;
    if (!is_of_it || value == nullptr) continue;
    return (value->is_string() ? value->get<std::string>() : dump(*value)) == difference.is;
  }
  return false;
}

/// The finding word and sentence for a state that differs from the clean run's.
struct StateFinding {
  std::string word = {};
  std::string sentence = {};
};
std::vector<StateFinding> read_differences(const std::vector<Difference>& differences,
                                           const std::vector<SentRequest>& sent) {
  std::vector<StateFinding> found;
  if (count_kind(differences, Kind::extra) > 0) {
    found.push_back({"doubled", objects_of(differences, Kind::extra) + " too many"});
  }
  if (count_kind(differences, Kind::missing) > 0) {
    found.push_back({"lost", objects_of(differences, Kind::missing) + " missing"});
  }
  if (!found.empty()) return found;
  for (const Difference& one : differences) {
    if (one.is_as_before || is_as_first_answered(one, sent))
      return {{"lost", "a change is missing: " + change_of(one)}};
  }
  if (!differences.empty()) found.push_back({"wrong", change_of(differences.front())});
  return found;
}

/// Without the line that somebody else added, and with single blanks: a merge may put it anywhere.
void remove_edit(Json& value) {
  if (value.is_structured()) {
    for (Json& one : value) remove_edit(one);
    return;
  }
  if (!value.is_string()) return;
  const std::string text = replace_all(value.get<std::string>(), somebody_elses_line, "");
  std::string plain;
  for (const char c : text) {
    const bool is_blank = c == ' ' || c == '\n';
    if (!is_blank || (!plain.empty() && plain.back() != ' ')) plain += is_blank ? ' ' : c;
  }
  while (plain.ends_with(' ')) plain.pop_back();
  value = plain;
}

Json without_edit(const Json& state) {
  Json plain = state;
  remove_edit(plain);
  return plain;
}

/// The places where a run shows its key.
std::vector<Finding> leaks_of(const Run& run, const std::string& cause) {
  std::vector<Finding> found;
  const auto add = [&](std::string what, std::vector<std::string> lines, std::string advice) {
    found.push_back({.word = "leaked",
                     .sentence = fmt::format("{}; {}", cause, what),
                     .lines = std::move(lines),
                     .advice = std::move(advice),
                     .id = "leaked:clean"});
  };
  for (const SentRequest& one : run.sent) {
    if (one.operation != "upload.put" || !one.has_key) continue;
    add("the key was sent to the upload address, which may be at another origin",
        {line_of(one) + "  with Authorization"},
        "send upload_headers and nothing else to upload_url");
    break;
  }
  if (shows_key(run.end.out + "\n" + run.end.err, run.token)) {
    add("the command printed the key, or a part of it",
        {},
        "leave the Authorization field out of what is printed or logged");
  }
  if (!run.leaked_in.empty()) {
    add(fmt::format("the command left the key, or a part of it, in the file {}", run.leaked_in.front()),
        {},
        "leave the Authorization field out of what is written or logged");
  }
  return found;
}

std::vector<std::string> last_lines(std::string_view text) {
  const std::vector<std::string_view> all = split_lines(trimmed_end(text, "\n"));
  return {all.end() - static_cast<std::ptrdiff_t>(std::min(all.size(), shown_lines)), all.end()};
}

class Judge {
 public:
  Judge(const Reference& reference, const Row& row, const Run& run) : reference_(reference), row_(row), run_(run) {}

  std::vector<Finding> all(const std::optional<Run>& rerun) {
    lease_left();  // before `state`, which may find that the same run is stuck, and knows less of why
    state(rerun);
    hidden();
    overwritten();
    output();
    half_written();
    crash();
    if (run_.end.by == RunEnd::By::limit) {
      add("hung",
          fmt::format("the command did not end within {} s and was stopped", run_.end.took.count() / 1000),
          lines_around(run_.sent),
          "limit every wait: a timeout for each request, a number of tries, an end to each polling loop");
    }
    for (Finding& one : judge_manners(reference_, row_, run_, cause())) {
      add(std::move(one.word), std::move(one.sentence), std::move(one.lines), std::move(one.advice));
    }
    leak();
    return std::move(found_);
  }

 private:
  void add(std::string word, std::string sentence, std::vector<std::string> lines, std::string advice) {
    if (std::ranges::find(found_, word, &Finding::word) != found_.end()) return;
    const std::string id = word + ":" + row_.id;
    found_.push_back({std::move(word), std::move(sentence), std::move(lines), std::move(advice), id});
  }

  /// `sentence` after the cause, with the requests around the fault.
  void tell(std::string word, std::string_view sentence, std::string advice) {
    add(std::move(word), fmt::format("{}; {}", cause(), sentence), lines_around(run_.sent), std::move(advice));
  }

  std::string cause() const {
    const Fault* fault = find_fault(row_.fault);
    if (fault == nullptr) return "the service answered with " + row_.assumption;
    std::string what(fault->what);
    if (const std::size_t at = what.find("PATIENCE"); at != std::string::npos) {
      what.replace(at, 8, std::to_string(row_.extra.count() / 1000));
    }
    return what;
  }

  std::vector<Difference> differences(const Run& run) const {
    const bool is_edited = row_.fault == "bump-revision";
    const Json& clean = *reference_.clean.state;
    std::vector<Difference> found =
        is_edited ? compare_states(*reference_.first_state, without_edit(clean), without_edit(*run.state))
                  : compare_states(*reference_.first_state, clean, *run.state);
    // An object that had vanished may be made again.
    if (row_.fault == "404-before") {
      std::erase_if(found, [](const Difference& one) { return one.kind == Kind::extra; });
    }
    // The fault itself took it away.
    if (row_.fault == "member-removed") {
      std::erase_if(found, [](const Difference& one) { return one.kind == Kind::missing && one.table == "members"; });
    }
    // The service keeps what failed.
    if (row_.fault == "operation-fails") {
      std::erase_if(found, [](const Difference& one) { return one.table == "organize_runs"; });
    }
    return found;
  }

  /// Advice for duplicated objects: how to send the row's call, or the creates of a repeated run, twice safely.
  std::string advice_for(std::string_view word) const {
    const contract::Operation* operation = contract::find_operation(row_.operation);
    const bool has_key = operation != nullptr && operation->idempotency == contract::Idempotency::key;
    const std::string call = row_.operation.empty() ? "each call" : row_.operation;
    if (word == "doubled" && has_key) return "send an Idempotency-Key with " + call + ": the same one with each try";
    if (word == "doubled") return "before " + call + " is sent again, read whether it took effect";
    if (word == "stuck") return advice_for_runs();
    if (row_.operation.empty()) {
      return "the API document leaves this open, and a service may do it this way: let the command accept it, or end "
             "with an exit code other than 0";
    }
    if (const Fault* fault = find_fault(row_.fault); fault != nullptr && !fault->advice.empty()) {
      return replace_all(std::string(fault->advice), "CALL", call);
    }
    return "look at the answer of " + call +
           ": continue only after a 2xx with a body that can be read; otherwise end with an exit code other than 0";
  }

  std::string advice_for_runs() const {
    std::string keyed;
    std::string others;
    for (const SentRequest& sent : reference_.clean.sent) {
      if (sent.method != "POST") continue;
      std::string& names = sent.is_create() ? keyed : others;
      if (names.find(sent.operation) == std::string::npos) names += (names.empty() ? "" : ", ") + sent.operation;
    }
    std::string advice;
    if (!keyed.empty()) {
      advice = "send an Idempotency-Key with " + keyed +
               " that is the same when the command is run again: derive it from the object to create";
    }
    if (!others.empty()) {
      advice +=
          (advice.empty() ? "" : "; ") + std::string("before ") + others + ", look whether an earlier run has done it";
    }
    return advice.empty() ? "let the command look for what an earlier run left undone, and finish it" : advice;
  }

  void state(const std::optional<Run>& rerun) {
    if (succeeded(run_)) {
      // What comes later is for a later run.
      if (row_.fault == "queue-empty") return;
      const bool is_run_again = rerun && succeeded(*rerun);
      for (StateFinding& one : read_differences(differences(is_run_again ? *rerun : run_), run_.sent)) {
        tell(one.word,
             fmt::format("the command ended with 0, and {}left {}",
                         is_run_again ? "run again after the lease had ended " : "",
                         one.sentence),
             advice_for(one.word));
      }
      return;
    }
    if (!rerun || run_.end.by != RunEnd::By::itself) return;
    // The API has no call that deletes a file: the damaged one remains, whatever the client does.
    if (row_.fault == "put-damaged") return;
    // Which of two edits counts is for a person to decide.
    if (row_.fault == "bump-revision" && !succeeded(*rerun)) return;
    if (!succeeded(*rerun)) {
      const std::vector<std::string> said = last_lines(rerun->end.err.empty() ? rerun->end.out : rerun->end.err);
      add("stuck",
          fmt::format("{}; the command failed, and failed again (exit {}) when it was run again without the fault",
                      cause(),
                      rerun->end.exit),
          said.empty() ? lines_of_last(rerun->sent) : said,
          "let the command continue from what an earlier run left: use an object that exists already");
      return;
    }
    const std::vector<StateFinding> left = read_differences(differences(*rerun), run_.sent);
    if (left.empty()) return;
    if (is_completed_before()) {
      tell("lost",
           "the command failed after it had completed the event, which never comes again, and running it again left " +
               left.front().sentence,
           "complete an event after the work for it is done: send events.complete last");
      return;
    }
    const bool is_doubled = row_.fault == "lost-and-down" && left.front().word == "doubled";
    tell(is_doubled ? "doubled" : "stuck",
         "the command failed, and running it again left " + left.front().sentence,
         left.front().word == "doubled" ? advice_for("stuck")
                                        : "let the command look for what an earlier run left undone, and finish it");
  }

  /// Whether the change that the fault hit was part of the work for an event that had been completed before.
  bool is_completed_before() const {
    const auto hit = std::ranges::find_if(run_.sent, [](const SentRequest& one) { return !one.fault.empty(); });
    if (hit == run_.sent.end() || hit->method == "GET" || hit->operation.starts_with("events.")) return false;
    for (auto one = std::make_reverse_iterator(hit); one != run_.sent.rend(); ++one) {
      if (one->operation == "events.claim") return false;
      if (one->operation == "events.complete" && one->status == 200) return true;
    }
    return false;
  }

  /// The request that the fault refused for good; null: none, or it was answered later.
  const SentRequest* refused() const {
    for (std::size_t i = 0; i < run_.sent.size(); ++i) {
      const SentRequest& one = run_.sent[i];
      if (one.fault.empty() || (one.status != 409 && !is_final_refusal(one.status))) continue;
      const auto is_answered = [&one](const SentRequest& later) {
        return later.same_call(one) && later.status != 0 && later.status < 400;
      };
      if (std::none_of(run_.sent.begin() + static_cast<std::ptrdiff_t>(i), run_.sent.end(), is_answered)) return &one;
    }
    return nullptr;
  }
  /// The lines of the output that the clean run did not print.
  std::vector<PrintedLine> new_lines() const {
    std::multiset<std::string> usual;
    for (const auto text : {&RunEnd::out, &RunEnd::err}) {
      TextBinder binder(reference_.ids, reference_.clean.own);
      for (PrintedLine& line : printed_lines(reference_.clean.end.*text, binder)) usual.insert(std::move(line.bound));
    }
    std::vector<PrintedLine> lines;
    for (const auto text : {&RunEnd::out, &RunEnd::err}) {
      TextBinder binder(reference_.ids, run_.own);
      for (PrintedLine& line : printed_lines(run_.end.*text, binder)) {
        const auto known = usual.find(line.bound);
        if (known == usual.end()) {
          lines.push_back(std::move(line));
        } else {
          usual.erase(known);
        }
      }
    }
    return lines;
  }

  /// Whether the line tells that a call from the fault on had no usable answer: its status, code, id, path or
  /// operation.
  bool says(const std::string& line) const {
    if (!reference_.says.empty() && std::regex_search(line, std::regex(reference_.says))) return true;
    bool is_hit = false;
    return std::ranges::any_of(run_.sent, [&](const SentRequest& one) {
      is_hit = is_hit || !one.fault.empty();
      if (!is_hit || (one.fault.empty() && one.status != 0 && one.status < 400)) return false;
      std::vector<std::string> names = {one.operation, one.path, find_text(*one.response_body, "code").value_or("")};
      if (one.status >= 400) names.push_back(std::to_string(one.status));
      for (std::string_view rest = one.path; !rest.empty();) {
        const std::string_view part = rest.substr(0, rest.find_first_of("/:"));
        rest.remove_prefix(std::min(part.size() + 1, rest.size()));
        if (part.size() == 36) names.emplace_back(part);
      }
      return std::ranges::any_of(
          names, [&line](const std::string& name) { return !name.empty() && line.find(name) != std::string::npos; });
    });
  }

  /// Whether a line of the output tells in which state an operation is: that it failed, or that it has not ended yet.
  bool tells_operation() const {
    static const std::regex state("\\b(failed|queued|running|pending|started)\\b", std::regex::icase);
    return std::regex_search(run_.end.out, state) || std::regex_search(run_.end.err, state);
  }

  void hidden() {
    if (!succeeded(run_) || !reference_.is_text_stable) return;
    if (row_.fault == "operation-fails" && !tells_operation()) {
      tell("hidden", "the command ended with 0 and did not report it", advice_for("hidden"));
      return;
    }
    const SentRequest* const one = refused();
    if (one == nullptr) return;
    if (std::ranges::any_of(new_lines(), [this](const PrintedLine& line) { return says(line.raw); })) return;
    add("hidden",
        fmt::format("{}; {} was answered with {}, and the command ended with 0 and did not report it",
                    cause(),
                    one->operation.empty() ? one->path : one->operation,
                    one->status),
        {line_of(*one)},
        "say what was refused, with its status and id, and end with an exit code other than 0");
  }

  void overwritten() {
    if (!succeeded(run_) || row_.fault != "bump-revision") return;
    const std::string now = dump(rows_of(*run_.state, "documents"));
    const std::string then = dump(rows_of(*run_.state, "document_revisions"));
    if (now.find(somebody_elses_line) != std::string::npos) return;
    if (then.find(somebody_elses_line) == std::string::npos) return;
    tell("overwritten",
         "the command ended with 0, and the line that someone else had added is missing",
         advice_for("overwritten"));
  }

  /// What the run printed on standard output, without lines that tell of the fault.
  std::vector<std::string> told_output() const {
    std::set<std::string> fault_lines;
    for (const PrintedLine& line : new_lines()) {
      if (says(line.raw)) fault_lines.insert(line.raw);
    }
    TextBinder binder(reference_.ids, run_.own);
    std::vector<std::string> lines;
    for (PrintedLine& line : printed_lines(run_.end.out, binder)) {
      if (!fault_lines.contains(line.raw)) lines.push_back(std::move(line.bound));
    }
    return lines;
  }

  void output() {
    // Another edit, and another way that the service may answer, are no less right.
    const bool is_comparable = reference_.is_text_stable && !row_.fault.empty() && row_.fault != "bump-revision";
    if (!succeeded(run_) || !found_.empty() || !is_comparable) return;
    std::string difference = file_difference();
    if (difference.empty()) difference = line_difference();
    if (difference.empty()) return;
    tell("output", "the command ended with 0, " + difference, advice_for("output"));
  }

  /// Finds a file that a failed run left in place of the whole one.
  void half_written() {
    if (succeeded(run_) || run_.end.by != RunEnd::By::itself || !reference_.is_text_stable || row_.fault.empty())
      return;
    // Ids are numbered as they are met: of fewer files another one has the number.
    std::map<std::string, std::set<std::string>> whole;
    for (const auto& [name, text] : bound_files(reference_, reference_.clean))
      whole[without_id_numbers(name)].insert(without_id_numbers(text));
    for (const auto& [name, text] : bound_files(reference_, run_)) {
      const auto found = whole.find(without_id_numbers(name));
      if (found == whole.end() || found->second.contains(without_id_numbers(text))) continue;
      tell("output",
           fmt::format("the command failed, and left the file {} with another text than the whole one", name),
           "write to a file beside it, and rename that to its name when it is whole");
      return;
    }
  }

  /// Finds an event that the run claimed and did not give back when it failed, though the service could be told.
  void lease_left() {
    const Fault* fault = find_fault(row_.fault);
    const bool is_only_one = fault != nullptr && fault->effect.find("1000000") == std::string_view::npos;
    const bool can_tell = is_only_one && row_.fault != "lost-and-down" && row_.fault != "member-removed" &&
                          !row_.fault.starts_with("key-") && !row_.operation.starts_with("events.");
    if (succeeded(run_) || run_.end.by != RunEnd::By::itself || !can_tell) return;
    std::map<std::string, const SentRequest*> held;
    for (const SentRequest& sent : run_.sent) {
      const Json* event = find(*sent.response_body, "event");
      if (sent.operation == "events.claim" && sent.status == 200 && event != nullptr && event->is_object()) {
        held[find_text(*event, "id").value_or("")] = &sent;
      } else if (sent.operation == "events.complete" || sent.operation == "events.fail") {
        std::erase_if(held, [&sent](const auto& one) { return sent.path.find(one.first) != std::string::npos; });
      }
    }
    if (held.empty()) return;
    const auto& [id, claim] = *held.begin();
    std::vector<std::string> lines = lines_around(run_.sent);
    lines.insert(lines.begin(), line_of(*claim));
    lines.resize(std::min(lines.size(), shown_lines));
    add("stuck",
        fmt::format("{}; the command failed and kept the event {} under its lease, so that no worker gets it before "
                    "the lease ends",
                    cause(),
                    id),
        std::move(lines),
        "give the event back with events.fail where the work for it fails");
  }

  std::string file_difference() const {
    const auto usual = bound_files(reference_, reference_.clean);
    const auto files = bound_files(reference_, run_);
    for (const auto& [name, text] : usual) {
      const auto found = files.find(name);
      if (found == files.end()) return fmt::format("and the file {} is missing", name);
      if (found->second != text) return fmt::format("and the file {} has another text", name);
    }
    for (const auto& [name, text] : files) {
      if (!usual.contains(name)) return fmt::format("and the file {} is one too many", name);
    }
    return {};
  }

  std::string line_difference() const {
    const std::vector<std::string> lines = told_output();
    TextBinder binder(reference_.ids, reference_.clean.own);
    const std::vector<PrintedLine> usual = printed_lines(reference_.clean.end.out, binder);
    for (std::size_t i = 0; i < std::max(lines.size(), usual.size()); ++i) {
      if (i >= lines.size()) return fmt::format("and did not print \"{}\"", shortened(usual[i].raw));
      if (i >= usual.size()) return fmt::format("and printed \"{}\" besides", shortened(lines[i]));
      if (lines[i] == usual[i].bound) continue;
      return fmt::format("and printed \"{}\" in place of \"{}\"", shortened(lines[i]), shortened(usual[i].raw));
    }
    return {};
  }

  void crash() {
    const std::string advice = "catch the failure where the call is made, and end with one sentence and an exit code";
    if (run_.end.by == RunEnd::By::itself && run_.end.is_signal && run_.end.exit <= 128 + 31) {
      add("crashed",
          fmt::format("{}; the command was ended by signal {}", cause(), run_.end.exit - 128),
          last_lines(run_.end.err),
          advice);
      return;
    }
    if (reference_.trace_pattern.empty()) return;
    const std::regex trace(reference_.trace_pattern);
    if (!std::regex_search(run_.end.err, trace) || std::regex_search(reference_.clean.end.err, trace)) return;
    add("crashed",
        fmt::format("{}; the command printed the trace of an error that nothing handled", cause()),
        last_lines(run_.end.err),
        advice);
  }

  void leak() {
    for (const SentRequest& one : run_.sent) {
      if (!one.has_key || !one.host.starts_with("localhost") || one.operation == "upload.put") continue;
      add("leaked",
          "the key was sent to another origin, where a redirect led",
          {line_of(one) + "  Host: " + one.host + ", with Authorization"},
          "follow no redirect to another origin, or leave Authorization out there");
      return;
    }
    for (Finding& one : leaks_of(run_, cause())) {
      add("leaked", std::move(one.sentence), std::move(one.lines), std::move(one.advice));
    }
  }

  const Reference& reference_;
  const Row& row_;
  const Run& run_;
  std::vector<Finding> found_ = {};
};

}  // namespace

std::vector<Finding> judge(const Reference& reference,
                           const Row& row,
                           const Run& run,
                           const std::optional<Run>& rerun) {
  return Judge(reference, row, run).all(rerun);
}

std::vector<Finding> judge_clean(const Reference& reference) {
  std::vector<Finding> found = leaks_of(reference.clean, "no fault");
  if (found.size() > 1) found.resize(1);
  return found;
}

bool leaves_leases(const Reference& reference, const Run& run) {
  const auto leased = [](const Json& state) {
    const Json events = rows_of(state, "agent_events");
    return std::ranges::count_if(events, [](const Json& one) { return find_text(one, "status") == "leased"; });
  };
  return succeeded(run) && leased(*run.state) > leased(*reference.clean.state);
}

std::map<std::string, std::string> bound_files(const Reference& reference, const Run& run) {
  TextBinder names(reference.ids, run.own);
  std::map<std::string, std::string> files;
  for (const auto& [name, text] : run.files) {
    files.emplace(names.bind(name), TextBinder(reference.ids, run.own).bind(text));
  }
  return files;
}

bool is_same_text(const Reference& reference, const Run& one, const Run& other) {
  const auto bound = [&reference](const Run& run) {
    std::vector<std::string> texts;
    for (const auto text : {&RunEnd::out, &RunEnd::err}) {
      texts.push_back(TextBinder(reference.ids, run.own).bind(run.end.*text));
    }
    for (const auto& [name, text] : bound_files(reference, run)) {
      texts.push_back(name);
      texts.push_back(text);
    }
    return texts;
  };
  return bound(one) == bound(other);
}

std::span<const std::string_view> finding_words() {
  static constexpr std::string_view words[] = {"doubled",
                                               "lost",
                                               "wrong",
                                               "stuck",
                                               "crashed",
                                               "hung",
                                               "hidden",
                                               "storm",
                                               "careless",
                                               "impatient",
                                               "leaked",
                                               "output",
                                               "overwritten"};
  return words;
}

}  // namespace ws::mock::sweep
