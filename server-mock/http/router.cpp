#include "server-mock/http/router.hpp"

#include <algorithm>
#include <utility>

namespace ws::mock::http {
namespace {

struct Terminal {
  std::string method = {};
  std::size_t id = 0;
  std::vector<std::string> names = {};  // of the path parameters, in order
};

}  // namespace

struct Router::Node {
  struct Place {
    std::string ending = {};  // ":move" of "{node_id}:move"
    std::unique_ptr<Node> next = {};
  };
  std::vector<std::pair<std::string, std::unique_ptr<Node>>> literals = {};
  std::vector<Place> places = {};  // the longest suffix first
  std::vector<Terminal> terminals = {};

  Node& literal(std::string_view text) {
    const auto found = std::ranges::find_if(literals, [&](const auto& entry) { return entry.first == text; });
    if (found != literals.end()) return *found->second;
    return *literals.emplace_back(text, std::make_unique<Node>()).second;
  }
  Node& place(std::string_view ending) {
    const auto found = std::ranges::find(places, ending, &Place::ending);
    if (found != places.end()) return *found->next;
    const auto shorter =
        std::ranges::find_if(places, [&](const Place& other) { return other.ending.size() < ending.size(); });
    return *places.insert(shorter, {std::string(ending), std::make_unique<Node>()})->next;
  }
};

struct Router::Search {
  std::string_view method;
  const std::vector<std::string>& segments;
  std::vector<std::string_view> values = {};
  const Terminal* found = nullptr;
  std::vector<std::string_view> allowed = {};

  bool walk(const Node& node, std::size_t depth);
  bool arrive(const Node& node);
};

bool Router::Search::walk(const Node& node, std::size_t depth) {
  if (depth == segments.size()) return arrive(node);
  const std::string_view segment = segments[depth];
  for (const auto& [text, next] : node.literals) {
    if (text == segment && walk(*next, depth + 1)) return true;
  }
  for (const Node::Place& place : node.places) {
    if (segment.size() <= place.ending.size() || !segment.ends_with(place.ending)) continue;
    values.push_back(segment.substr(0, segment.size() - place.ending.size()));
    if (walk(*place.next, depth + 1)) return true;
    values.pop_back();
  }
  return false;
}

/// Returns true to end the search: the most specific path decides which methods exist, as in OpenAPI. So
/// GET /v1/files/uploads does not read an asset with the id "uploads".
bool Router::Search::arrive(const Node& node) {
  for (const Terminal& terminal : node.terminals) {
    if (terminal.method == method) found = &terminal;
    allowed.emplace_back(terminal.method);
  }
  return !node.terminals.empty();
}

namespace {

std::string allow_header(const std::vector<std::string_view>& methods) {
  std::string text;
  for (const std::string_view method : methods) {
    text.append(method).append(", ");
    if (method == "GET") text.append("HEAD, ");
  }
  return text + "OPTIONS";
}

}  // namespace

Router::Router() : root_(std::make_unique<Node>()) {}
Router::Router(Router&&) noexcept = default;
Router::~Router() = default;

void Router::add(std::string_view method, std::string_view path, std::size_t id) {
  Node* node = root_.get();
  Terminal terminal = {.method = std::string(method), .id = id};
  const auto segments = split_path(path);
  for (const std::string& segment : *segments) {
    const std::size_t close = segment.find('}');
    if (segment.starts_with('{') && close != std::string::npos) {
      terminal.names.push_back(segment.substr(1, close - 1));
      node = &node->place(std::string_view(segment).substr(close + 1));
    } else {
      node = &node->literal(segment);
    }
  }
  node->terminals.push_back(std::move(terminal));
}

Routed Router::find(std::string_view method, std::string_view path) const {
  const auto segments = split_path(path);
  if (!segments) return {.outcome = Routed::Outcome::malformed};
  Search search = {.method = method == "HEAD" ? "GET" : method, .segments = *segments};
  search.walk(*root_, 0);
  if (search.found == nullptr) {
    if (search.allowed.empty()) return {.outcome = Routed::Outcome::no_path};
    return {.outcome = Routed::Outcome::no_method, .allow = allow_header(search.allowed)};
  }
  Routed routed = {.outcome = Routed::Outcome::found, .id = search.found->id};
  for (std::size_t i = 0; i < search.values.size(); ++i) {
    routed.values.emplace_back(search.found->names[i], search.values[i]);
  }
  return routed;
}

}  // namespace ws::mock::http
