#include "api-client/http/curl.hpp"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api-client/base/shared_library.hpp"
#include "api-client/http/curl_exchange.hpp"

namespace ws::http {
namespace {

using Steady = CurlExchange::Steady;
using Milliseconds = std::chrono::milliseconds;

/// Loads and initialises the library, which is never closed. Fails with `disk`, naming what is missing.
Result<CurlLibrary> load_curl(const std::string& file_name) {
  WS_LET(SharedLibrary opened, SharedLibrary::open(file_name, "install libcurl (Debian: apt install libcurl4)"));
  CurlLibrary curl;
  opened.find(curl.global_init, "curl_global_init");
  opened.find(curl.easy_init, "curl_easy_init");
  opened.find(curl.easy_reset, "curl_easy_reset");
  opened.find(curl.easy_cleanup, "curl_easy_cleanup");
  opened.find(curl.easy_setopt, "curl_easy_setopt");
  opened.find(curl.easy_getinfo, "curl_easy_getinfo");
  opened.find(curl.easy_strerror, "curl_easy_strerror");
  opened.find(curl.slist_append, "curl_slist_append");
  opened.find(curl.slist_free_all, "curl_slist_free_all");
  opened.find(curl.multi_init, "curl_multi_init");
  opened.find(curl.multi_cleanup, "curl_multi_cleanup");
  opened.find(curl.multi_setopt, "curl_multi_setopt");
  opened.find(curl.multi_add_handle, "curl_multi_add_handle");
  opened.find(curl.multi_remove_handle, "curl_multi_remove_handle");
  opened.find(curl.multi_perform, "curl_multi_perform");
  opened.find(curl.multi_poll, "curl_multi_poll");
  opened.find(curl.multi_info_read, "curl_multi_info_read");
  WS_TRY(opened.complete());
  // Reference-counted by libcurl; never released, since other users in the process may still need it.
  if (const CURLcode code = curl.global_init(CURL_GLOBAL_DEFAULT); code != CURLE_OK) {
    return fail(Failure::Kind::internal, fmt::format("{} does not start: {}", file_name, curl.easy_strerror(code)));
  }
  return curl;
}

class CurlTransport final : public Transport {
 public:
  CurlTransport(CurlLibrary curl, CurlOptions options)
      : curl_(curl), options_(std::move(options)), multi_(curl_.make_multi()) {}
  ~CurlTransport() override;
  Result<void> open();

  void start(Request request, std::function<void(Outcome)> done) override;
  void run(Milliseconds at_most) override;
  std::size_t under_way() const override { return waiting_.size() + active_.size() + ended_.size(); }
  void cancel_all() override;

 private:
  using Exchange = std::unique_ptr<CurlExchange>;
  struct Ended {
    Exchange exchange;
    Outcome outcome;
  };

  void begin_waiting();
  void move();
  void end(CURL* easy, CURLcode code);
  void end_idle();
  void refuse_newest();
  Milliseconds patience(Milliseconds at_most) const;
  void deliver();
  Exchange detach(std::size_t place);
  CurlLibrary::Easy take_handle();

  // Order matters: exchanges and handles go before the multi handle, and all of them before the functions.
  CurlLibrary curl_;
  CurlOptions options_;
  CurlLibrary::Multi multi_;
  std::vector<CurlLibrary::Easy> spare_;  // a used handle keeps its TLS sessions: far cheaper than a new one
  std::deque<Exchange> waiting_;
  std::vector<Exchange> active_;
  std::deque<Ended> ended_;
  bool moving_ = false;  // libcurl is at work, and may be calling a sink
};

CurlTransport::~CurlTransport() {
  while (!active_.empty()) detach(active_.size() - 1);
}

Result<void> CurlTransport::open() {
  if (multi_ == nullptr) return fail(Failure::Kind::internal, "libcurl returned no multi handle");
  const long cached = static_cast<long>(std::max<std::size_t>(options_.max_connections, 1));
  if (const CURLMcode code = curl_.multi_setopt(multi_.get(), CURLMOPT_MAXCONNECTS, cached); code != CURLM_OK) {
    return fail(Failure::Kind::internal, "libcurl refuses the size of its connection pool");
  }
  return {};
}

void CurlTransport::start(Request request, std::function<void(Outcome)> done) {
  waiting_.push_back(std::make_unique<CurlExchange>(curl_, options_, std::move(request), std::move(done)));
}

/// Gives as many as may be under way at a time to libcurl. Those that cannot begin end at once, with nothing sent.
void CurlTransport::begin_waiting() {
  while (!waiting_.empty() && active_.size() < std::max<std::size_t>(options_.max_connections, 1)) {
    Exchange exchange = std::move(waiting_.front());
    waiting_.pop_front();
    Result<void> ready = exchange->prepare(take_handle());
    if (ready && curl_.multi_add_handle(multi_.get(), exchange->easy()) != CURLM_OK) {
      ready = fail(Failure::Kind::internal, "libcurl refused the request");
    }
    if (ready) {
      active_.push_back(std::move(exchange));
    } else {
      ended_.push_back(
          {std::move(exchange), TransportError{TransportError::Stage::nothing_sent, std::move(ready).error()}});
    }
  }
}

CurlLibrary::Easy CurlTransport::take_handle() {
  if (spare_.empty()) return curl_.make_easy();
  CurlLibrary::Easy easy = std::move(spare_.back());
  spare_.pop_back();
  return easy;
}

CurlTransport::Exchange CurlTransport::detach(std::size_t place) {
  Exchange exchange = std::move(active_[place]);
  active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(place));
  curl_.multi_remove_handle(multi_.get(), exchange->easy());
  return exchange;
}

void CurlTransport::end(CURL* easy, CURLcode code) {
  for (std::size_t place = 0; place < active_.size(); ++place) {
    if (active_[place]->easy() != easy) continue;
    Exchange exchange = detach(place);
    Outcome outcome = exchange->outcome(code);
    CurlLibrary::Easy used = exchange->give_back();
    curl_.easy_reset(used.get());
    spare_.push_back(std::move(used));
    ended_.push_back({std::move(exchange), std::move(outcome)});
    return;
  }
}

void CurlTransport::end_idle() {
  const auto now = Steady::now();
  for (std::size_t place = active_.size(); place-- > 0;) {
    const auto deadline = active_[place]->idle_deadline();
    if (!deadline || now < *deadline) continue;
    Exchange exchange = detach(place);
    Outcome outcome = exchange->ended_idle();
    ended_.push_back({std::move(exchange), std::move(outcome)});
  }
}

void CurlTransport::move() {
  begin_waiting();
  int running = 0;
  moving_ = true;
  const CURLMcode code = curl_.multi_perform(multi_.get(), &running);
  moving_ = false;
  if (code != CURLM_OK) {
    // Out of memory or worse: nothing that is under way will end by itself.
    while (!active_.empty()) end(active_.back()->easy(), CURLE_FAILED_INIT);
    return;
  }
  int left = 0;
  while (const CURLMsg* const message = curl_.multi_info_read(multi_.get(), &left)) {
    // The message dies with its handle's removal.
    if (message->msg == CURLMSG_DONE) end(message->easy_handle, message->data.result);
  }
  end_idle();
  begin_waiting();
}

/// How long to wait: no longer than until the next one has been silent for too long.
Milliseconds CurlTransport::patience(Milliseconds at_most) const {
  Milliseconds wait = std::clamp(at_most, Milliseconds{0}, Milliseconds{std::numeric_limits<int>::max()});
  const auto now = Steady::now();
  for (const Exchange& exchange : active_) {
    if (const auto deadline = exchange->idle_deadline()) {
      const auto left = std::chrono::ceil<Milliseconds>(*deadline - now);
      wait = std::min(wait, std::max(left, Milliseconds{0}));
    }
  }
  return wait;
}

void CurlTransport::run(Milliseconds at_most) {
  if (moving_) {
    refuse_newest();
    return deliver();
  }
  if (ended_.empty()) move();
  if (ended_.empty()) {
    curl_.multi_poll(multi_.get(), nullptr, 0, static_cast<int>(patience(at_most).count()), nullptr);
    move();
  }
  deliver();
}

/// Who takes the bytes of one answer cannot wait for another: libcurl moves nothing meanwhile.
void CurlTransport::refuse_newest() {
  if (waiting_.empty()) return;
  Exchange exchange = std::move(waiting_.back());
  waiting_.pop_back();
  Failure nested{.kind = Failure::Kind::internal, .what = "a call was made while an answer was being read"};
  ended_.push_back({std::move(exchange), TransportError{TransportError::Stage::nothing_sent, std::move(nested)}});
}

/// One after the other out of the queue: `done` may start, run or cancel others.
void CurlTransport::deliver() {
  while (!ended_.empty()) {
    Ended ended = std::move(ended_.front());
    ended_.pop_front();
    if (ended.exchange->done()) ended.exchange->done()(std::move(ended.outcome));
  }
}

void CurlTransport::cancel_all() {
  while (!active_.empty()) {
    Exchange exchange = detach(active_.size() - 1);
    Outcome outcome = exchange->ended_early();
    ended_.push_back({std::move(exchange), std::move(outcome)});
  }
  while (!waiting_.empty()) {
    Outcome outcome = waiting_.front()->ended_early();
    ended_.push_back({std::move(waiting_.front()), std::move(outcome)});
    waiting_.pop_front();
  }
  deliver();
}

}  // namespace

Result<std::unique_ptr<Transport>> make_curl_transport(const CurlOptions& options) {
  WS_LET(const CurlLibrary curl, load_curl(options.library));
  CurlOptions settled = options;
  if (settled.ca_file.empty()) {
    if (const char* const file = std::getenv("SSL_CERT_FILE")) settled.ca_file = file;
  }
  auto transport = std::make_unique<CurlTransport>(curl, std::move(settled));
  WS_TRY(transport->open());
  return std::unique_ptr<Transport>(std::move(transport));
}

Result<std::string> curl_version(const std::string& library) {
  WS_LET(SharedLibrary opened, SharedLibrary::open(library, ""));
  decltype(&::curl_version_info) version_info = nullptr;
  opened.find(version_info, "curl_version_info");
  WS_TRY(opened.complete());
  return std::string(version_info(CURLVERSION_NOW)->version);
}

}  // namespace ws::http
