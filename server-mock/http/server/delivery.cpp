#include "server-mock/http/server/delivery.hpp"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace ws::mock::http {
namespace {

constexpr std::size_t piece_bytes = std::size_t{64} << 10U;

void append_number(std::string& out, std::uint64_t number) {
  char digits[20];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), number).ptr;
  out.append(digits, end);
}

/// The text of a second is made once.
void append_date(std::string& out) {
  constexpr std::string_view days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::string_view months[] = {
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  thread_local std::time_t second = -1;
  thread_local std::string line;
  if (const std::time_t now = std::time(nullptr); now != second) {
    std::tm utc{};
    ::gmtime_r(&now, &utc);
    line = fmt::format("Date: {}, {:02} {} {} {:02}:{:02}:{:02} GMT\r\n",
                       days[utc.tm_wday],
                       utc.tm_mday,
                       months[utc.tm_mon],
                       utc.tm_year + 1900,
                       utc.tm_hour,
                       utc.tm_min,
                       utc.tm_sec);
    second = now;
  }
  out += line;
}

}  // namespace

void append_head(std::string& out, const Response& answer, Keep keep) {
  out += "HTTP/1.1 ";
  append_number(out, static_cast<std::uint64_t>(answer.status()));
  out += ' ';
  out += reason_phrase(answer.status());
  out += "\r\n";
  out += answer.headers();
  // RFC 9110, 6.6.1. Real time, also where the clock of a sandbox is frozen: a client compares it with its own.
  if (!answer.has_header("Date")) append_date(out);
  if (!answer.is_bodiless()) {
    const auto& wire_fault = answer.wire_fault();
    const bool lies = wire_fault && wire_fault->content_length;
    out += "Content-Length: ";
    append_number(out, lies ? *wire_fault->content_length : answer.body_bytes());
    out += "\r\n";
  }
  if (keep == Keep::no) out += "Connection: close\r\n";
  out += "\r\n";
}

Delivery::Delivery(Response&& answer, std::string head, WithBody body)
    : answer_(std::move(answer)), wire_fault_(answer_.wire_fault().value_or(WireFault())), text_(std::move(head)) {
  pause_ = wire_fault_.delay;
  if (wire_fault_.end != WireFault::End::as_usual) {
    text_.clear();
    ends_connection_ = true;
    return;
  }
  ends_connection_ = wire_fault_.truncate_at || wire_fault_.content_length;
  if (body == WithBody::no) return;
  const std::uint64_t size = std::min(answer_.body_bytes(), wire_fault_.truncate_at.value_or(answer_.body_bytes()));
  if (answer_.source() == nullptr) {
    text_.append(answer_.text(), 0, static_cast<std::size_t>(size));
  } else {
    source_bytes_ = size;
  }
}

void Delivery::hurry() {
  pause_ = std::chrono::milliseconds{0};
  wire_fault_.dribble_bytes = 0;
}

bool Delivery::is_done() const { return !hangs() && at_ == text_.size() && source_bytes_ == 0; }

void Delivery::fill(std::string& out) {
  const std::uint64_t wanted = wire_fault_.dribble_bytes == 0 ? piece_bytes : wire_fault_.dribble_bytes;
  const auto at_most = static_cast<std::size_t>(std::min<std::uint64_t>(wanted, piece_bytes));
  const std::size_t from_text = std::min(at_most, text_.size() - at_);
  out.append(text_, at_, from_text);
  at_ += from_text;
  fill_from_source(out, at_most - from_text);
  if (wire_fault_.dribble_bytes > 0 && !is_done()) pause_ = wire_fault_.dribble_every;
}

void Delivery::fill_from_source(std::string& out, std::size_t at_most) {
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(at_most, source_bytes_));
  if (count == 0) return;
  const std::size_t start = out.size();
  out.resize(start + count);
  const std::size_t read = answer_.source()->read({out.data() + start, count});
  out.resize(start + read);
  source_bytes_ -= read;
  if (read > 0) return;
  source_bytes_ = 0;
  ends_connection_ = true;
}

}  // namespace ws::mock::http
