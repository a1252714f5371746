#include "server-mock/sweep/oracles.hpp"

#include <algorithm>
#include <map>
#include <regex>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "api-client/base/ascii.hpp"
#include "api-client/base/utf8.hpp"
#include "api-client/contract/operations.hpp"

namespace ws::mock::sweep {
namespace {

using Kind = Difference::Kind;

constexpr std::size_t shown_lines = 3;
// Tolerance for differences between the client's and the server's clock.
constexpr std::int64_t early_ms = 100;

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

/// The finding word and sentence for a state that differs from the clean run's.
struct StateFinding {
  std::string word = {};
  std::string sentence = {};
};
std::vector<StateFinding> read_differences(const std::vector<Difference>& differences) {
  std::vector<StateFinding> found;
  if (count_kind(differences, Kind::extra) > 0) {
    found.push_back({"doubled", objects_of(differences, Kind::extra) + " too many"});
  }
  if (count_kind(differences, Kind::missing) > 0) {
    found.push_back({"lost", objects_of(differences, Kind::missing) + " missing"});
  }
  if (!found.empty()) return found;
  for (const Difference& one : differences) {
    if (one.is_as_before) return {{"lost", "a change is missing: " + change_of(one)}};
  }
  if (!differences.empty()) found.push_back({"wrong", change_of(differences.front())});
  return found;
}

std::vector<std::string> lines_of_last(const std::vector<SentRequest>& sent) {
  std::vector<std::string> lines;
  const std::size_t at = sent.size() < shown_lines ? 0 : sent.size() - shown_lines;
  for (std::size_t i = at; i < sent.size(); ++i) lines.push_back(line_of(sent[i]));
  return lines;
}

/// The journal lines around the row's request, or the last lines.
std::vector<std::string> lines_around(const std::vector<SentRequest>& sent) {
  const auto hit = std::ranges::find_if(sent, [](const SentRequest& one) { return !one.fault.empty(); });
  if (hit == sent.end()) return lines_of_last(sent);
  std::vector<std::string> lines;
  for (auto one = hit; one != sent.end() && lines.size() < shown_lines; ++one) lines.push_back(line_of(*one));
  return lines;
}

std::vector<std::string> last_lines(std::string_view text) {
  std::vector<std::string> lines;
  text = trimmed_end(text, "\n");
  while (!text.empty() && lines.size() < shown_lines) {
    const std::size_t begin = text.rfind('\n') == std::string_view::npos ? 0 : text.rfind('\n') + 1;
    lines.insert(lines.begin(), std::string(text.substr(begin)));
    text = text.substr(0, begin == 0 ? 0 : begin - 1);
  }
  return lines;
}

class Judge {
 public:
  Judge(const Reference& reference, const Row& row, const Run& run) : reference_(reference), row_(row), run_(run) {}

  std::vector<Finding> all(const std::optional<Run>& rerun) {
    state(rerun);
    crash();
    if (run_.end.by == RunEnd::By::limit) {
      add("hung",
          fmt::format("the command did not end within {} s and was stopped", run_.end.took.count() / 1000),
          lines_around(run_.sent),
          "bound every wait: a timeout for each request, a number of tries, an end to each loop that polls");
    }
    impatience();
    storm();
    carelessness();
    leak();
    return std::move(found_);
  }

 private:
  void add(std::string word, std::string sentence, std::vector<std::string> lines, std::string advice) {
    if (std::ranges::find(found_, word, &Finding::word) != found_.end()) return;
    const std::string id = word + ":" + row_.id;
    found_.push_back({std::move(word), std::move(sentence), std::move(lines), std::move(advice), id});
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
    return compare_states(*reference_.first_state, *reference_.clean.state, *run.state);
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
      return "the API document leaves this open, and a service may do it so: let the command take it, or end with an "
             "exit code that is not 0";
    }
    if (const Fault* fault = find_fault(row_.fault); fault != nullptr && !fault->advice.empty()) {
      return filled_in(std::string(fault->advice), "CALL", call);
    }
    return "look at the answer of " + call +
           ": continue only after a 2xx whose body can be read, else end with an exit code that is not 0";
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
               " that is the same when the command is run again: make it of what "
               "is created";
    }
    if (!others.empty()) {
      advice +=
          (advice.empty() ? "" : "; ") + std::string("before ") + others + ", look whether an earlier run has done it";
    }
    return advice.empty() ? "let the command look for what an earlier run left undone, and finish it" : advice;
  }

  void state(const std::optional<Run>& rerun) {
    if (succeeded(run_)) {
      for (StateFinding& one : read_differences(differences(run_))) {
        const std::string advice = advice_for(one.word);
        add(one.word,
            fmt::format("{}; the command ended with 0, and left {}", cause(), one.sentence),
            lines_around(run_.sent),
            advice);
      }
      return;
    }
    if (!rerun || run_.end.by != RunEnd::By::itself) return;
    // The API has no call that deletes a file: the damaged one remains, whatever the client does.
    if (row_.fault == "put-damaged") return;
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
    const std::vector<StateFinding> left = read_differences(differences(*rerun));
    if (left.empty()) return;
    add("stuck",
        fmt::format("{}; the command failed, and running it again left {}", cause(), left.front().sentence),
        lines_around(run_.sent),
        left.front().word == "doubled" ? advice_for("stuck")
                                       : "let the command look for what an earlier run left undone, and finish it");
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

  void impatience() {
    if (!reference_.has_real_clock || row_.rule.find(retry_after_member) == std::string::npos) return;
    const std::int64_t wait_ms = std::chrono::milliseconds(retry_after).count();
    for (std::size_t i = 0; i < run_.sent.size(); ++i) {
      if (run_.sent[i].fault.empty()) continue;
      for (std::size_t k = i + 1; k < run_.sent.size(); ++k) {
        if (!run_.sent[k].same_call(run_.sent[i])) continue;
        const std::int64_t gap = run_.sent[k].time_ms - run_.sent[i].time_ms;
        if (gap + early_ms >= wait_ms) return;
        add("impatient",
            fmt::format("{}; the call was sent again after {} ms, not after the {} s of Retry-After",
                        cause(),
                        gap,
                        wait_ms / 1000),
            {line_of(run_.sent[i]), line_of(run_.sent[k])},
            "wait as long as Retry-After says before the next try");
        return;
      }
    }
  }

  /// How often each call was sent with the same body.
  static std::map<std::string, std::size_t> sends_of(const std::vector<SentRequest>& sent) {
    std::map<std::string, std::size_t> counts;
    for (const SentRequest& one : sent) ++counts[call_of(one)];
    return counts;
  }
  static std::string call_of(const SentRequest& sent) {
    return sent.method + " " + sent.path + "?" + sent.query + "\n" + sent.body;
  }

  void storm() {
    const std::map<std::string, std::size_t> usual = sends_of(reference_.clean.sent);
    std::map<std::string, std::size_t> counts;
    std::size_t at_most = 0;
    for (const SentRequest& one : run_.sent) {
      if (one.status != 0 && one.status < 400) continue;  // a usable response is no reason to repeat the call
      const std::string call = call_of(one);
      const auto found = usual.find(call);
      at_most = reference_.max_sends + (found == usual.end() ? 0 : found->second);
      if (++counts[call] <= at_most) continue;
      const std::size_t all = sends_of(run_.sent)[call];
      add("storm",
          fmt::format("{}; {} {} was sent {} times", cause(), one.method, one.path, all),
          lines_around(run_.sent),
          "stop after a few tries, and wait longer before each");
      return;
    }
  }

  void carelessness() {
    keys_changed();
    key_shared();
    refusal_repeated();
  }

  /// Finds a create that was sent again without its key after an unknown outcome.
  void keys_changed() {
    const Fault* fault = find_fault(row_.fault);
    if (fault == nullptr || fault->outcome != Outcome::unknown) return;
    for (std::size_t i = 0; i < run_.sent.size(); ++i) {
      const SentRequest& lost = run_.sent[i];
      if (lost.fault.empty() || !lost.is_create()) continue;
      const std::size_t usual = sends_of(reference_.clean.sent)[call_of(lost)];
      if (sends_of(run_.sent)[call_of(lost)] <= usual) continue;
      for (std::size_t k = i + 1; k < run_.sent.size(); ++k) {
        const SentRequest& again = run_.sent[k];
        if (call_of(again) != call_of(lost)) continue;
        if (!again.idempotency_key.empty() && again.idempotency_key == lost.idempotency_key) continue;
        add("careless",
            fmt::format("{}; {} was sent again {}, though the first one may have taken effect",
                        cause(),
                        lost.operation,
                        again.idempotency_key.empty() ? "without an Idempotency-Key" : "with another Idempotency-Key"),
            {line_of(lost), line_of(again)},
            fmt::format("send an Idempotency-Key with {}: the same one with each try", lost.operation));
        return;
      }
    }
  }

  void key_shared() {
    std::map<std::string, const SentRequest*> first;
    for (const SentRequest& one : run_.sent) {
      if (one.idempotency_key.empty() || !one.is_create()) continue;
      const auto [found, is_new] = first.emplace(one.idempotency_key, &one);
      if (is_new || call_of(*found->second) == call_of(one)) continue;
      add("careless",
          fmt::format("one Idempotency-Key was sent with two different bodies or paths ({} and {})",
                      found->second->operation,
                      one.operation),
          {line_of(*found->second), line_of(one)},
          "make a key for each object to be created, and keep key and body together over all tries");
      return;
    }
  }

  static bool is_final_refusal(int status) {
    return status >= 400 && status < 500 && status != 408 && status != 409 && status != 425 && status != 429;
  }
  static std::size_t repeated_refusals(const std::vector<SentRequest>& sent, const SentRequest** where) {
    std::size_t count = 0;
    for (std::size_t i = 1; i < sent.size(); ++i) {
      if (!is_final_refusal(sent[i - 1].status) || call_of(sent[i]) != call_of(sent[i - 1])) continue;
      ++count;
      if (where != nullptr && *where == nullptr) *where = &sent[i];
    }
    return count;
  }

  void refusal_repeated() {
    const SentRequest* again = nullptr;
    if (repeated_refusals(run_.sent, &again) <= repeated_refusals(reference_.clean.sent, nullptr)) return;
    const SentRequest* before = again - 1;
    add("careless",
        fmt::format("{}; {} was sent again unchanged after {}, which the next try cannot change",
                    cause(),
                    again->operation.empty() ? again->path : again->operation,
                    before->status),
        {line_of(*before), line_of(*again)},
        "repeat a call only after 408, 409, 425, 429, 5xx or a broken connection; tell the person about any other 4xx");
  }

  void leak() {
    for (const SentRequest& one : run_.sent) {
      if (!one.has_key || !one.host.starts_with("localhost")) continue;
      add("leaked",
          "the key was sent to another origin, where a redirect led",
          {line_of(one) + "  Host: " + one.host + ", with Authorization"},
          "follow no redirect to another origin, or leave Authorization out there");
      return;
    }
    if (run_.token.empty() || (run_.end.out + run_.end.err).find(run_.token) == std::string::npos) return;
    add("leaked",
        fmt::format("{}; the command printed the key", cause()),
        {},
        "leave the Authorization field out of what is printed or logged");
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
  const RunEnd& end = reference.clean.end;
  const std::string& token = reference.clean.token;
  if (token.empty() || (end.out + end.err).find(token) == std::string::npos) return {};
  return {{.word = "leaked",
           .sentence = "the command printed the key, without any fault",
           .advice = "leave the Authorization field out of what is printed or logged",
           .id = "leaked:clean"}};
}

}  // namespace ws::mock::sweep
