/// Finds what is registered for a method and a path: a trie over path segments, built once at start.
///
/// Templates are those of the operation table: "/v1/nodes/{node_id}:move". A literal segment wins over a parameter, and
/// a parameter with a longer suffix over one with a shorter suffix. A path that is registered only under other methods
/// gives `no_method` with a list of these methods.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "server-mock/http/target.hpp"

namespace ws::mock::http {

struct Routed {
  enum class Outcome { found, no_path, no_method, malformed };
  Outcome outcome = Outcome::no_path;
  std::size_t id = 0;      ///< with `found`
  Pairs values = {};       ///< path parameters, percent-decoded
  std::string allow = {};  ///< with `no_method`: "GET, HEAD, OPTIONS"
};

class Router {
 public:
  Router();
  Router(Router&&) noexcept;
  ~Router();

  void add(std::string_view method, std::string_view path, std::size_t id);
  /// HEAD matches GET. OPTIONS gives `no_method` for every registered path.
  Routed find(std::string_view method, std::string_view path) const;

 private:
  struct Node;
  struct Search;
  std::unique_ptr<Node> root_;
};

}  // namespace ws::mock::http
