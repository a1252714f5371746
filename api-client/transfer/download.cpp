#include "api-client/transfer/download.hpp"

#include <charconv>
#include <memory>
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

/// One download from its first byte to the last. It lives as long as a callback of the client holds it.
class Download : public std::enable_shared_from_this<Download> {
 public:
  Download(Client& client, DownloadRequest request, Destination& destination)
      : client_(client), request_(std::move(request)), destination_(destination) {}

  /// Until it is complete, or an answer was cut.
  void begin(std::function<void(Result<Downloaded>)> done) {
    done_ = std::move(done);
    if (request_.size_bytes && destination_.size_bytes() > *request_.size_bytes) {
      if (auto emptied = destination_.restart(); !emptied) return done_(fail(std::move(emptied).error()));
    }
    has_old_bytes_ = destination_.size_bytes() > 0;
    if (!report_) report_ = Downloaded{.resumed_at_bytes = destination_.size_bytes()};
    receive();
  }

  /// The last answer was cut after some bytes came: the same may be begun again, and goes on behind them.
  bool may_go_on(const Failure& failure) const { return failure.kind == Failure::Kind::unreachable && got_ > 0; }

 private:
  bool is_complete() const { return request_.size_bytes && destination_.size_bytes() == *request_.size_bytes; }

  Failure mismatch(std::string what) const {
    return {.kind = Failure::Kind::integrity,
            .what = fmt::format("file {}: {}", request_.asset_id, std::move(what)),
            .hint = "download it again; if that fails too, the stored file may be damaged",
            .code = "hash_mismatch",
            .call = {.operation = "files.content"}};
  }

  void receive() {
    got_ = 0;
    if (is_complete() && destination_.size_bytes() > 0) return conclude();
    before_bytes_ = destination_.size_bytes();
    client_.start(next_call(),
                  [self = shared_from_this()](Result<Reply> reply) { self->take_reply(std::move(reply)); });
  }

  void take_reply(Result<Reply> reply) {
    if (reply) {
      const bool is_nothing = reply->status == 200 && reply->body.empty() && got_ == 0 && before_bytes_ > 0;
      if (is_nothing) {
        if (auto emptied = destination_.restart(); !emptied) return done_(fail(std::move(emptied).error()));
      }
      return conclude();
    }
    // What is kept does not go with what is there: of another file, or longer than it.
    const bool is_stale = reply.error().call.http_status == 416 || is_other_file_;
    if (!is_stale || before_bytes_ == 0 || std::exchange(was_stale_, true)) return done_(fail(reply.error()));
    if (auto emptied = destination_.restart(); !emptied) return done_(fail(std::move(emptied).error()));
    has_old_bytes_ = false;
    receive();
  }

  void conclude() {
    if (request_.size_bytes && !is_complete()) {
      const std::uint64_t came = destination_.size_bytes();
      static_cast<void>(destination_.restart());
      return done_(fail(mismatch(fmt::format("{} bytes were received, {} were declared", came, *request_.size_bytes))));
    }
    auto hash = destination_.hash();
    if (!hash) return done_(fail(std::move(hash).error()));
    report_->sha256 = *hash;
    report_->size_bytes = destination_.size_bytes();
    report_->is_checked = request_.sha256.has_value();
    if (!request_.sha256 || *request_.sha256 == report_->sha256) return done_(*report_);
    // Bytes of an earlier run may have been of an earlier file.
    const bool may_begin_anew = has_old_bytes_ && !std::exchange(has_begun_anew_, true);
    const Result<void> emptied = destination_.restart();
    if (!may_begin_anew || !emptied)
      return done_(fail(mismatch("the hash of the received bytes is not the declared one")));
    has_old_bytes_ = false;
    report_->resumed_at_bytes = 0;
    receive();
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
    if (const std::string encoding = http::encoding_of(headers); !encoding.empty()) {
      return fail(mismatch(fmt::format("the bytes were sent with the Content-Encoding `{}`, not unchanged", encoding)));
    }
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
    return fail(mismatch("the service sent another range than requested"));
  }

  Result<void> take(std::string_view piece) {
    if (request_.size_bytes && destination_.size_bytes() + piece.size() > *request_.size_bytes) {
      return fail(mismatch(fmt::format("more than the declared {} bytes were received", *request_.size_bytes)));
    }
    WS_TRY(destination_.append(piece));
    got_ += piece.size();
    if (request_.progress) request_.progress(destination_.size_bytes());
    return {};
  }

  Client& client_;
  DownloadRequest request_;
  Destination& destination_;
  std::uint64_t got_ = 0;           // of the answer under way
  bool is_other_file_ = false;      // so the head of the answer under way says
  std::uint64_t before_bytes_ = 0;  // what the destination held before it
  bool has_old_bytes_ = false;      // some bytes came before the first answer
  bool was_stale_ = false;
  bool has_begun_anew_ = false;
  std::optional<Downloaded> report_ = {};
  std::function<void(Result<Downloaded>)> done_ = {};
};

}  // namespace

Result<Downloaded> download(Client& client, const DownloadRequest& request, Destination& destination) {
  const auto one = std::make_shared<Download>(client, request, destination);
  for (int cuts = 1;; ++cuts) {
    std::optional<Result<Downloaded>> outcome;
    one->begin([&outcome](Result<Downloaded> ended) { outcome.emplace(std::move(ended)); });
    while (!outcome) client.run(std::chrono::milliseconds{1000});
    if (*outcome || !one->may_go_on(outcome->error()) || !client.spend_retry(cuts)) return std::move(*outcome);
  }
}

void start_download(Client& client,
                    DownloadRequest request,
                    Destination& destination,
                    std::function<void(Result<Downloaded>, bool may_go_on)> done) {
  const auto one = std::make_shared<Download>(client, std::move(request), destination);
  one->begin([one = one.get(), done = std::move(done)](Result<Downloaded> ended) {
    const bool may_go_on = !ended && one->may_go_on(ended.error());
    done(std::move(ended), may_go_on);
  });
}

}  // namespace ws
