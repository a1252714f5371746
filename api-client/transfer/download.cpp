#include "api-client/transfer/download.hpp"

#include <charconv>
#include <utility>

#include <fmt/format.h>

namespace ws {
namespace {

/// "bytes 100-199/200": where a piece begins, and how much there is in all (empty: "*").
struct ContentRange {
  std::uint64_t begin = 0;
  std::optional<std::uint64_t> total = {};
};

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<ContentRange> parse_content_range(std::string_view text) {
  constexpr std::string_view unit = "bytes ";
  const std::size_t dash = text.find('-');
  const std::size_t slash = text.find('/');
  if (text.substr(0, unit.size()) != unit || dash == std::string_view::npos || slash == std::string_view::npos) {
    return std::nullopt;
  }
  const auto begin = number_of(text.substr(unit.size(), dash - unit.size()));
  if (!begin || dash > slash) return std::nullopt;
  return ContentRange{.begin = *begin, .total = number_of(text.substr(slash + 1))};
}

/// Only a strong one says that the bytes are the same (RFC 9110, 13.1.5).
bool is_strong(std::string_view etag) { return etag.size() >= 2 && etag.front() == '"'; }

class Download {
 public:
  Download(Client& client, const DownloadRequest& request, Destination& destination)
      : client_(client), request_(request), destination_(destination) {}

  Result<Downloaded> run() {
    if (request_.size_bytes && destination_.size_bytes() > *request_.size_bytes) WS_TRY(destination_.restart());
    Downloaded report{.resumed_at_bytes = destination_.size_bytes()};
    bool has_begun_anew = false;
    bool has_old_bytes = report.resumed_at_bytes > 0;
    while (true) {
      WS_TRY(receive_all(has_old_bytes));
      WS_LET(report.sha256, destination_.hash());
      report.size_bytes = destination_.size_bytes();
      report.is_checked = request_.sha256.has_value();
      if (!request_.sha256 || *request_.sha256 == report.sha256) return report;
      // Bytes of an earlier run may have been of an earlier file.
      const bool may_begin_anew = has_old_bytes && !has_begun_anew;
      const Result<void> emptied = destination_.restart();
      if (!may_begin_anew || !emptied) return fail(mismatch("the hash of what came is not the declared one"));
      has_begun_anew = true;
      has_old_bytes = false;
      report.resumed_at_bytes = 0;
    }
  }

 private:
  bool is_complete() const { return request_.size_bytes && destination_.size_bytes() == *request_.size_bytes; }

  Failure mismatch(std::string what) const {
    return {.kind = Failure::Kind::integrity,
            .what = fmt::format("file {}: {}", request_.asset_id, std::move(what)),
            .hint = "download it again; if that fails too, the stored file is damaged",
            .code = "hash_mismatch",
            .call = {.operation = "files.content"}};
  }

  /// Answer after answer until all bytes are there. `has_old_bytes`: some of them came before the first one.
  Result<void> receive_all(bool& has_old_bytes) {
    int cuts = 0;
    bool has_begun_anew = false;
    while (!is_complete() || destination_.size_bytes() == 0) {
      const std::uint64_t before = destination_.size_bytes();
      const Result<Reply> reply = client_.call(next_call());
      if (reply) {
        if (reply->status == 200 && reply->body.empty() && got_ == 0 && before > 0) WS_TRY(destination_.restart());
        break;
      }
      // What is kept does not go with what is there: of another file, or longer than it.
      const bool is_stale = reply.error().call.http_status == 416 || is_other_file_;
      if (is_stale && before > 0 && !std::exchange(has_begun_anew, true)) {
        WS_TRY(destination_.restart());
        has_old_bytes = false;
        continue;
      }
      const bool was_cut = reply.error().kind == Failure::Kind::unreachable && got_ > 0;
      if (!was_cut || !client_.spend_retry(++cuts)) return fail(reply.error());
      has_old_bytes = true;
    }
    if (request_.size_bytes && !is_complete()) {
      const std::uint64_t came = destination_.size_bytes();
      static_cast<void>(destination_.restart());
      return fail(mismatch(fmt::format("{} bytes came, {} were declared", came, *request_.size_bytes)));
    }
    return {};
  }

  Call next_call() {
    got_ = 0;
    is_other_file_ = false;
    Call call{.operation = "files.content", .parameters = {{"asset_id", request_.asset_id}}};
    // Ranges count the bytes as they are sent.
    call.headers.emplace_back("Accept-Encoding", "identity");
    if (destination_.size_bytes() > 0) {
      call.headers.emplace_back("Range", fmt::format("bytes={}-", destination_.size_bytes()));
      if (is_strong(destination_.etag())) call.headers.emplace_back("If-Range", destination_.etag());
    }
    call.head = [this](int status, const http::Headers& headers) { return take_head(status, headers); };
    call.sink = [this](std::string_view piece) { return take(piece); };
    return call;
  }

  Result<void> take_head(int status, const http::Headers& headers) {
    const std::string etag(http::find_header(headers, "ETag").value_or(""));
    if (status != 206) {
      // The service does no ranges, or the file is another one now.
      if (destination_.size_bytes() > 0) WS_TRY(destination_.restart());
      return destination_.set_etag(etag);
    }
    const auto range = parse_content_range(http::find_header(headers, "Content-Range").value_or(""));
    const bool is_other = is_strong(etag) && is_strong(destination_.etag()) && etag != destination_.etag();
    const bool other_size = range && range->total && request_.size_bytes && *range->total != *request_.size_bytes;
    is_other_file_ = !range || range->begin != destination_.size_bytes() || is_other || other_size;
    if (!is_other_file_) return destination_.set_etag(etag);
    if (is_other || other_size) return fail(mismatch("the file changed while it was downloaded"));
    return fail(mismatch("the service sent another range than the one that was asked for"));
  }

  Result<void> take(std::string_view piece) {
    if (request_.size_bytes && destination_.size_bytes() + piece.size() > *request_.size_bytes) {
      return fail(mismatch(fmt::format("more than the declared {} bytes came", *request_.size_bytes)));
    }
    WS_TRY(destination_.append(piece));
    got_ += piece.size();
    if (request_.progress) request_.progress(destination_.size_bytes());
    return {};
  }

  Client& client_;
  const DownloadRequest& request_;
  Destination& destination_;
  std::uint64_t got_ = 0;       // of the answer under way
  bool is_other_file_ = false;  // so the head of the answer under way says
};

}  // namespace

Result<Downloaded> download(Client& client, const DownloadRequest& request, Destination& destination) {
  return Download(client, request, destination).run();
}

}  // namespace ws
