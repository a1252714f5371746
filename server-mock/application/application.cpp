#include "server-mock/application/application.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace ws::mock {
namespace {

constexpr std::size_t json_body_bytes = std::size_t{16} << 20U;
// A ticket tells whose it is: the number of its world (0: at the base URL), and a count below.
constexpr unsigned number_shift = 40;
// A hundred tables and indices, a page each at least: a fresh sandbox costs 100 KiB of them instead of 400.
constexpr int small_page_bytes = 1024;
// Giving memory back costs as much as closing a sandbox does; so many of them hold some megabytes.
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

Application::Application(const ApplicationOptions& options, std::unique_ptr<Sandbox> sandbox, JournalFile journal_file)
    : options_(options.sandbox),
      guard_(options.names, options.sandbox.auth),
      give_memory_back_(options.give_memory_back),
      household_{.control = Control(options.control),
                 .journal_file = std::move(journal_file),
                 .log = options.log,
                 .approval = approval_of(options),
                 .pipeline = {}},
      root_(std::make_unique<Site>(household_, static_cast<Worlds*>(this), std::move(sandbox), 1)) {}

Result<std::unique_ptr<Application>> Application::open(const ApplicationOptions& options) {
  WS_LET(JournalFile journal_file, JournalFile::open(options.journal_file));
  WS_LET(std::unique_ptr<Sandbox> sandbox, Sandbox::open(options.sandbox));
  return std::unique_ptr<Application>(new Application(options, std::move(sandbox), std::move(journal_file)));
}

Result<Json> Application::open(const Wishes& wishes) {
  if (sandboxes_.size() >= most_sandboxes) {
    return fail(Failure::Kind::conflict,
                fmt::format("There are {} sandboxes, and no more at once: DELETE those that are done", most_sandboxes));
  }
  SandboxOptions options = options_;
  options.data = ":memory:";
  options.world.page_bytes = small_page_bytes;
  if (wishes.has_fixtures) {
    options.fixtures = wishes.fixtures;
    options.start = wishes.start;
  }
  options.id = fmt::format("s{}", next_number_);
  WS_LET(std::unique_ptr<Sandbox> sandbox, seeds_.grow(options, wishes.name));
  sandbox->base_url = fmt::format("{}/_s/{}", root_->sandbox().base_url, options.id);
  const std::uint64_t number = next_number_++;
  Json opened = describe(*sandbox);
  sandboxes_.emplace(number,
                     std::make_unique<Site>(household_, nullptr, std::move(sandbox), (number << number_shift) + 1));
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
  if (++closed_ % closed_at_a_time == 0 && give_memory_back_) give_memory_back_();
  return true;
}

Json Application::list() const {
  Json data = Json::array();
  for (const auto& [number, site] : sandboxes_) {
    Json one = describe(site->sandbox());
    one["requests"] = site->sandbox().journal.last_seq();
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

Site* Application::site_of(std::uint64_t ticket) {
  const std::uint64_t number = ticket >> number_shift;
  if (number == 0) return root_.get();
  for (const auto* sites : {&sandboxes_, &ending_}) {
    const auto found = sites->find(number);
    if (found != sites->end()) return found->second.get();
  }
  return nullptr;
}

std::size_t Application::body_limit(const http::Request& /*head*/) { return json_body_bytes; }

Site& Application::site_at(const http::SandboxPath& inside) {
  const auto number = number_of(inside.id);
  const auto found = number ? sandboxes_.find(*number) : sandboxes_.end();
  return found == sandboxes_.end() ? *root_ : *found->second;
}

std::unique_ptr<http::BodySink> Application::open_sink(const http::Request& head) {
  const http::SandboxPath inside = http::within_sandbox(head.path);
  Site& site = site_at(inside);
  if (guard_.objection(head, inside.path)) return nullptr;  // `handle` says so
  return &site == root_.get() ? root_->open_sink(head) : site.open_sink(moved_to(inside.path, head));
}

http::Response Application::handle(const http::Request& request) {
  const http::SandboxPath inside = http::within_sandbox(request.path);
  Site& site = site_at(inside);
  if (const auto refusal = guard_.objection(request, inside.path)) return site.turn_away(request, *refusal);
  call_it_as(request, site);
  return &site == root_.get() ? root_->handle(request) : site.handle(moved_to(inside.path, request));
}

/// Absolute addresses in the answer carry the name by which this client called. Set for each request anew, also for one
/// that has waited: another client may have called by another name meanwhile.
void Application::call_it_as(const http::Request& request, Site& site) {
  const std::string_view host = guard_.called_as(request);
  std::string& root_url = root_->sandbox().base_url;
  root_url = host.empty() ? base_url_ : fmt::format("{}://{}", base_url_.substr(0, base_url_.find(':')), host);
  if (&site != root_.get()) site.sandbox().base_url = root_url + "/_s/" + site.sandbox().options.id;
}

http::Response Application::refuse(const http::Unreadable& why) { return root_->refuse(why); }

http::Response Application::again(std::uint64_t ticket, const http::Request& request, http::Patience patience) {
  Site* site = site_of(ticket);
  if (site == nullptr) return handle(request);
  call_it_as(request, *site);
  if (site == root_.get()) return site->again(ticket, request, patience);
  const bool is_ending = ending_.contains(ticket >> number_shift);
  return site->again(
      ticket, moved_to(http::within_sandbox(request.path).path, request), is_ending ? http::Patience::none : patience);
}

void Application::forget(std::uint64_t ticket) {
  if (Site* site = site_of(ticket); site != nullptr) site->forget(ticket);
}

std::vector<std::uint64_t> Application::take_ready() {
  std::erase_if(ending_, [](const auto& one) { return !one.second->has_waiting(); });
  std::vector<std::uint64_t> tickets;
  root_->take_ready(tickets);
  for (const auto* sites : {&sandboxes_, &ending_}) {
    for (const auto& [number, site] : *sites) {
      if (site->has_waiting()) site->take_ready(tickets);
    }
  }
  return tickets;
}

std::optional<std::chrono::milliseconds> Application::next_ready() {
  std::optional<std::chrono::milliseconds> next = root_->next_ready();
  for (const auto& [number, site] : sandboxes_) {
    if (!site->has_waiting()) continue;
    const auto due = site->next_ready();
    if (due) next = std::min(next.value_or(*due), *due);
  }
  return next;
}

}  // namespace ws::mock
