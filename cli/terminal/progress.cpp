#include "cli/terminal/progress.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/clean.hpp"
#include "api-client/base/json.hpp"
#include "cli/terminal/table.hpp"

namespace ws::cli {
namespace {

constexpr std::chrono::milliseconds quiet_start{300};
constexpr std::chrono::milliseconds min_pause{100};
constexpr Sequence clear_line = "\r\033[K";
constexpr std::size_t bar_columns = 20;
constexpr int columns_for_bar = 70;
constexpr double seconds_for_rate = 1.0;  ///< before that the rate is unstable

std::string_view name(Counted counted) {
  switch (counted) {
    case Counted::items: return "items";
    case Counted::bytes: return "bytes";
    case Counted::seconds: return "seconds";
  }
  return "items";
}

std::string amount(std::uint64_t done, std::uint64_t total, Counted counted) {
  const auto mebibytes = [](std::uint64_t bytes) { return static_cast<double>(bytes) / (1U << 20U); };
  switch (counted) {
    case Counted::bytes:
      if (total == 0) return fmt::format("{:.1f} MiB", mebibytes(done));
      return fmt::format(
          "{:.1f} of {:.1f} MiB, {} %", mebibytes(done), mebibytes(total), std::min(done, total) * 100 / total);
    case Counted::seconds: return fmt::format("{} s", done);
    case Counted::items: break;
  }
  // Work done in a single request would show "0 of 1500" until its end.
  if (total == 0 || done == 0) return std::to_string(std::max(done, total));
  return fmt::format("{} of {}", done, total);
}

/// "96/s" or "3.1 MiB/s".
std::string rate(double each_second, Counted counted) {
  if (counted == Counted::bytes) return fmt::format("{:.1f} MiB/s", each_second / (1U << 20U));
  return fmt::format("{:.{}f}/s", each_second, each_second < 10 ? 1 : 0);
}

/// "45 s", "3 min", "2 h 5 min".
std::string duration(std::uint64_t seconds) {
  if (seconds < 100) return fmt::format("{} s", seconds);
  const std::uint64_t minutes = (seconds + 59) / 60;
  return minutes < 60 ? fmt::format("{} min", minutes) : fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

std::string bar(std::uint64_t done, std::uint64_t total) {
  const std::size_t full = bar_columns * std::min(done, total) / total;
  return "[" + std::string(full, '#') + std::string(bar_columns - full, '.') + "]";
}

}  // namespace

Result<ProgressStyle> parse_progress(const std::optional<std::string>& text, const Terminal& terminal) {
  if (!text || *text == "auto") {
    if (!terminal.is_terminal(Stream::err) || terminal.is_quiet()) return ProgressStyle::none;
    return terminal.is_plain() ? ProgressStyle::plain : ProgressStyle::line;
  }
  if (*text == "plain") return ProgressStyle::plain;
  if (*text == "json") return ProgressStyle::json;
  if (*text == "none") return ProgressStyle::none;
  return fail(Failure::Kind::usage, "--progress takes auto, plain, json or none, not `" + *text + "`");
}

ProgressLine::ProgressLine(Terminal& terminal, ProgressStyle style)
    : terminal_(terminal), style_(style), began_(std::chrono::steady_clock::now()) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::update(
    std::string_view stage, std::uint64_t done, std::uint64_t total, Counted counted, std::string_view more) {
  if (style_ == ProgressStyle::none) return;
  const Instant now = std::chrono::steady_clock::now();
  if (stage != stage_) {
    stage_ = stage;
    stage_began_ = now;
    at_first_ = done;
  }
  if (now - began_ < quiet_start || now - shown_at_ < min_pause) return;
  shown_at_ = now;
  if (style_ == ProgressStyle::json) {
    const Json progress = {{"stage", stage}, {"done", done}, {"total", total}, {"unit", name(counted)}};
    terminal_.write(Stream::err, escape_json(dump(Json{{"v", 1}, {"progress", progress}})) + "\n");
    return;
  }
  std::string text = fmt::format("{}{}{}", stage, stage.empty() ? "" : " ", amount(done, total, counted));
  const double seconds = std::chrono::duration<double>(now - stage_began_).count();
  if (style_ == ProgressStyle::line && done > at_first_ && done < total && seconds > seconds_for_rate) {
    const double each_second = static_cast<double>(done - at_first_) / seconds;
    const auto left = static_cast<std::uint64_t>(static_cast<double>(total - done) / each_second);
    text += fmt::format(", {}, {} left", rate(each_second, counted), duration(left));
  }
  if (!more.empty()) text += fmt::format(", {}", more);
  if (style_ == ProgressStyle::line && total > 0 && done > 0 && terminal_.columns() >= columns_for_bar) {
    text = bar(done, total) + " " + text;
  }
  text = clean(text, Breaks::space);
  if (style_ == ProgressStyle::plain) return terminal_.write(Stream::err, text + "\n");
  terminal_.set_transient({});
  terminal_.write(Stream::err,
                  terminal_.marked(clear_line) + cut(text, static_cast<std::size_t>(terminal_.columns()) - 1));
  shown_ = true;
  terminal_.set_transient([this] { clear(); });
}

void ProgressLine::clear() {
  if (!shown_) return;
  shown_ = false;
  terminal_.set_transient({});
  terminal_.write(Stream::err, terminal_.marked(clear_line));
}

}  // namespace ws::cli
