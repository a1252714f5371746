#include "server-mock/application/application.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace ws::mock {
namespace {

constexpr std::size_t json_body_bytes = std::size_t{16} << 20U;
// A ticket holds the number of its sandbox in the upper bits (0: the one at the base URL) and a counter below.
constexpr unsigned number_shift = 40;
// The schema has a hundred tables and indices of at least one page each: small pages save 300 KiB in a fresh sandbox.
constexpr int small_page_bytes = 1024;
// Releasing memory costs as much as closing a sandbox, so it is done once for several of them.
constexpr std::uint64_t closed_at_a_time = 16;

std::optional<std::uint64_t> number_of(std::string_view id) {
  std::uint64_t number = 0;
  if (!id.starts_with('s') || id.size() < 2 || id[1] == '0') return std::nullopt;
  const auto [end, error] = std::from_chars(id.data() + 1, id.data() + id.size(), number);
  if (error != std::errc() || end != id.data() + id.size()) return std::nullopt;
  return number;
}

pages::Approval approval_of(const ApplicationOptions& options) {
  using By = pages::Approval::By;
  const By untold = options.names.is_open_to_others() ? By::nobody : By::anybody;
  return {options.control.token.empty() ? untold : By::control_token, options.control.token};
}

http::Request moved_to(std::string_view path, const http::Request& request) {
  http::Request moved = request;
  moved.path = path;
  return moved;
}

}  // namespace

Application::Application(const ApplicationOptions& options, std::unique_ptr<Sandbox> sandbox, LineOutput journal_file)
    : options_(options.sandbox),
      guard_(options.names, options.sandbox.auth, options.public_url),
      public_url_(options.public_url),
      release_memory_(options.release_memory),
      shared_{.control = Control(options.control),
              .journal_file = std::move(journal_file),
              .observer = options.observer,
              .log = options.log,
              .approval = approval_of(options),
              .pipeline = {}},
      root_(std::make_unique<SandboxEndpoint>(shared_, static_cast<Sandboxes*>(this), std::move(sandbox), 1)) {}

Result<std::unique_ptr<Application>> Application::open(const ApplicationOptions& options) {
  WS_LET(LineOutput journal_file, open_journal_file(options.journal_file));
  WS_LET(std::unique_ptr<Sandbox> sandbox, Sandbox::open(options.sandbox));
  return std::unique_ptr<Application>(new Application(options, std::move(sandbox), std::move(journal_file)));
}

Result<Json> Application::open(const SandboxRequest& wanted) {
  if (sandboxes_.size() >= max_sandboxes) {
    return fail(Failure::Kind::conflict,
                fmt::format("There are {} sandboxes, which is the limit: DELETE those that are done", max_sandboxes));
  }
  SandboxOptions options = options_;
  options.data = ":memory:";
  options.world.page_bytes = small_page_bytes;
  if (wanted.has_fixtures) {
    options.fixtures = wanted.fixtures;
    options.start = wanted.start;
  }
  options.id = fmt::format("s{}", next_number_);
  WS_LET(std::unique_ptr<Sandbox> sandbox, seed_worlds_.copy_of(options, wanted.name));
  sandbox->base_url = fmt::format("{}/_s/{}", root_->sandbox().base_url, options.id);
  const std::uint64_t number = next_number_++;
  Json opened = describe(*sandbox);
  sandboxes_.emplace(
      number, std::make_unique<SandboxEndpoint>(shared_, nullptr, std::move(sandbox), (number << number_shift) + 1));
  return opened;
}

bool Application::close(std::string_view id) {
  const auto number = number_of(id);
  auto found = number ? sandboxes_.extract(*number) : decltype(sandboxes_)::node_type();
  if (found.empty()) return false;
  found.mapped()->end();
  if (found.mapped()->has_waiting()) {
    ending_.insert(std::move(found));
  } else {
    found.mapped().reset();
  }
  if (++closed_ % closed_at_a_time == 0 && release_memory_) release_memory_();
  return true;
}

Json Application::list() const {
  Json data = Json::array();
  for (const auto& [number, endpoint] : sandboxes_) {
    Json one = describe(endpoint->sandbox());
    one["requests"] = endpoint->sandbox().journal.last_seq();
    data.push_back(std::move(one));
  }
  return data;
}

Json Application::describe(const Sandbox& sandbox) const {
  const std::string base_url = fmt::format("{}/_s/{}", root_->sandbox().base_url, sandbox.options.id);
  return {{"id", sandbox.options.id},
          {"base_url", base_url},
          {"control_url", base_url + "/_mock"},
          {"token", sandbox.built_in.token}};
}

SandboxEndpoint* Application::endpoint_of(std::uint64_t ticket) {
  const std::uint64_t number = ticket >> number_shift;
  if (number == 0) return root_.get();
  for (const auto* sites : {&sandboxes_, &ending_}) {
    const auto found = sites->find(number);
    if (found != sites->end()) return found->second.get();
  }
  return nullptr;
}

std::size_t Application::body_limit(const http::Request& /*head*/) { return json_body_bytes; }

SandboxEndpoint& Application::endpoint_at(const http::SandboxPath& inside) {
  const auto number = number_of(inside.id);
  const auto found = number ? sandboxes_.find(*number) : sandboxes_.end();
  return found == sandboxes_.end() ? *root_ : *found->second;
}

std::unique_ptr<http::BodySink> Application::open_sink(const http::Request& head) {
  const http::SandboxPath inside = http::within_sandbox(head.path);
  SandboxEndpoint& endpoint = endpoint_at(inside);
  if (guard_.rejection(head, inside.path)) return nullptr;  // `handle` answers with the rejection
  return &endpoint == root_.get() ? root_->open_sink(head) : endpoint.open_sink(moved_to(inside.path, head));
}

http::Response Application::handle(const http::Request& request) {
  const http::SandboxPath inside = http::within_sandbox(request.path);
  SandboxEndpoint& endpoint = endpoint_at(inside);
  if (const auto api_error = guard_.rejection(request, inside.path)) return endpoint.reject(request, *api_error);
  use_request_host(request, endpoint);
  return &endpoint == root_.get() ? root_->handle(request) : endpoint.handle(moved_to(inside.path, request));
}

/// Sets the base URL of the URLs in the response from this request's Host. Also done for a resumed request: another
/// client may have used another name meanwhile.
void Application::use_request_host(const http::Request& request, SandboxEndpoint& endpoint) {
  const std::string_view host = guard_.request_host(request);
  std::string& root_url = root_->sandbox().base_url;
  root_url = !public_url_.empty() ? public_url_
             : host.empty()       ? base_url_
                                  : fmt::format("{}://{}", base_url_.substr(0, base_url_.find(':')), host);
  if (&endpoint != root_.get()) endpoint.sandbox().base_url = root_url + "/_s/" + endpoint.sandbox().options.id;
}

http::Response Application::refuse(const http::MalformedRequest& why) { return root_->refuse(why); }

http::Response Application::resume(std::uint64_t ticket, const http::Request& request, http::MayWait may_wait) {
  SandboxEndpoint* endpoint = endpoint_of(ticket);
  if (endpoint == nullptr) return handle(request);
  use_request_host(request, *endpoint);
  if (endpoint == root_.get()) return endpoint->resume(ticket, request, may_wait);
  const bool is_ending = ending_.contains(ticket >> number_shift);
  return endpoint->resume(
      ticket, moved_to(http::within_sandbox(request.path).path, request), is_ending ? http::MayWait::no : may_wait);
}

void Application::cancel(std::uint64_t ticket) {
  if (SandboxEndpoint* endpoint = endpoint_of(ticket); endpoint != nullptr) endpoint->cancel(ticket);
}

std::vector<std::uint64_t> Application::take_ready() {
  std::erase_if(ending_, [](const auto& one) { return !one.second->has_waiting(); });
  std::vector<std::uint64_t> tickets;
  root_->take_ready(tickets);
  for (const auto* sites : {&sandboxes_, &ending_}) {
    for (const auto& [number, endpoint] : *sites) {
      if (endpoint->has_waiting()) endpoint->take_ready(tickets);
    }
  }
  return tickets;
}

std::optional<std::chrono::milliseconds> Application::next_ready() {
  std::optional<std::chrono::milliseconds> next = root_->next_ready();
  for (const auto& [number, endpoint] : sandboxes_) {
    if (!endpoint->has_waiting()) continue;
    const auto due = endpoint->next_ready();
    if (due) next = std::min(next.value_or(*due), *due);
  }
  return next;
}

}  // namespace ws::mock
