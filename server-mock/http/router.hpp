/// From method and path to what was registered for them: a trie over the segments, made once at start.
///
/// Templates are those of the operation table: "/v1/nodes/{node_id}:move". A literal segment goes before a value, a
/// value with a longer ending before one with a shorter. A path that is there under another method is told with the
/// methods that it has.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server-mock/http/target.hpp"

namespace ws::mock::http {

struct Routed {
  enum class Outcome { found, no_path, no_method, malformed };
  Outcome outcome = Outcome::no_path;
  std::size_t id = 0;      ///< with `found`
  Pairs values = {};       ///< of the path's places, decoded
  std::string allow = {};  ///< with `no_method`: "GET, HEAD, OPTIONS"
};

class Router {
 public:
  Router();
  Router(Router&&) noexcept;
  ~Router();

  void add(std::string_view method, std::string_view path, std::size_t id);
  /// HEAD finds what GET does. OPTIONS finds every path, as `no_method`.
  Routed find(std::string_view method, std::string_view path) const;

 private:
  struct Node;
  struct Search;
  std::unique_ptr<Node> root_;
};

}  // namespace ws::mock::http
