#include "server-mock/http/router.hpp"

#include <catch2/catch.hpp>

#include "api-client/contract/operations.hpp"

using namespace ws;
using namespace ws::mock::http;
using RouteOutcome = Routed::Outcome;

namespace {

Router router_of_the_table() {
  Router router;
  std::size_t id = 0;
  for (const contract::Operation* operation : contract::operations()) {
    router.add(contract::name(operation->method), operation->path, id++);
  }
  return router;
}

std::string_view operation_at(std::string_view method, std::string_view path) {
  static const Router router = router_of_the_table();
  const Routed routed = router.find(method, path);
  return routed.outcome == RouteOutcome::found ? contract::operations()[routed.id]->id : std::string_view();
}

}  // namespace

TEST_CASE("router: every operation of the table is found by its own path", "[server-mock]") {
  for (const contract::Operation* operation : contract::operations()) {
    std::string path(operation->path);
    for (std::size_t open = path.find('{'); open != std::string::npos; open = path.find('{')) {
      path.replace(open, path.find('}') - open + 1, "0198");
    }
    CAPTURE(path);
    CHECK(operation_at(contract::name(operation->method), path) == operation->id);
  }
}

TEST_CASE("router: a verb behind a colon is part of its segment, encoded or not", "[server-mock]") {
  CHECK(operation_at("POST", "/v1/nodes/n1:move") == "nodes.move");
  CHECK(operation_at("POST", "/v1/nodes/n1%3Amove") == "nodes.move");
  CHECK(operation_at("POST", "/v1/files/uploads:finalize") == "files.upload_finish");
  CHECK(operation_at("POST", "/v1/files/a:organize") == "files.organize");
  CHECK(operation_at("POST", "/v1/nodes/:move").empty());
}

TEST_CASE("router: a path parameter matches one segment, decoded once", "[server-mock]") {
  const Router router = router_of_the_table();
  const Routed routed = router.find("GET", "/v1/documents/a%2Fb%2525");
  REQUIRE(routed.outcome == RouteOutcome::found);
  CHECK(routed.values == Pairs{{"document_id", "a/b%25"}});
}

TEST_CASE("router: an unknown path differs from a known path with another method", "[server-mock]") {
  const Router router = router_of_the_table();
  for (const char* path :
       {"/", "/v2", "/v1/", "/v1/documents/", "/v1/documents//comments", "/v1/Documents", "/v1/nodes/a"}) {
    CAPTURE(path);
    CHECK(router.find("GET", path).outcome == RouteOutcome::no_path);
  }
  const Routed routed = router.find("PATCH", "/v1/documents/a");
  CHECK(routed.outcome == RouteOutcome::no_method);
  CHECK(routed.allow == "GET, HEAD, PUT, DELETE, OPTIONS");
  CHECK(router.find("GET", "/v1/documents/%zz").outcome == RouteOutcome::malformed);
  CHECK(router.find("HEAD", "/v1/me").outcome == RouteOutcome::found);
}

TEST_CASE("router: the most specific path decides which methods exist", "[server-mock]") {
  const Router router = router_of_the_table();
  const auto allowed_at = [&](const char* path) {
    const Routed routed = router.find("GET", path);
    return routed.outcome == RouteOutcome::no_method ? routed.allow : std::string();
  };
  CHECK(allowed_at("/v1/files/uploads") == "POST, OPTIONS");
  CHECK(allowed_at("/v1/files/uploads:finalize") == "POST, OPTIONS");
  CHECK(allowed_at("/v1/files/a:organize") == "POST, OPTIONS");
  CHECK(allowed_at("/v1/sync/conflicts/a%3Aresolve") == "POST, OPTIONS");
  CHECK(operation_at("GET", "/v1/files/a") == "files.get");
}
