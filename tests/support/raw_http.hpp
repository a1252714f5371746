/// HTTP at the level of bytes, for requests that no client library would send.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ws::test {

struct RawAnswer {
  int status = 0;
  std::map<std::string, std::string> headers = {};  ///< names in lower case
  std::string body = {};

  std::string header(const std::string& name) const;  ///< empty: none
};

enum class AnswerTo { get, head };

/// Removes one response from the front of `bytes`; empty if it is incomplete. A response to HEAD has no body.
std::optional<RawAnswer> take_answer(std::string& bytes, AnswerTo request = AnswerTo::get);

/// A connection to 127.0.0.1.
class RawConnection {
 public:
  explicit RawConnection(std::uint16_t port);
  RawConnection(const RawConnection&) = delete;
  RawConnection& operator=(const RawConnection&) = delete;
  ~RawConnection();

  void send(std::string_view bytes);
  /// The next response; empty if the connection ends or nothing arrives for `at_most`.
  std::optional<RawAnswer> read(AnswerTo request = AnswerTo::get,
                                std::chrono::milliseconds at_most = std::chrono::seconds{10});
  enum class End { none, closed, reset };
  struct Rest {
    std::string bytes = {};
    End end = End::none;
  };
  /// Everything that still arrives until the connection ends or is idle for `at_most`.
  Rest read_rest(std::chrono::milliseconds at_most = std::chrono::seconds{10});
  /// Whether the peer closes the connection within that time.
  bool ends(std::chrono::milliseconds at_most = std::chrono::seconds{10});

 private:
  bool pump(std::chrono::milliseconds at_most);

  int socket_ = -1;
  std::string bytes_ = {};
};

struct RawRequest {
  std::string method = "GET";
  std::string target = "/";
  std::string token = {};                 ///< empty: no `Authorization`
  std::string json = {};                  ///< empty: no body
  std::vector<std::string> headers = {};  ///< "Name: value"
};
/// The request in wire format.
std::string render(const RawRequest& request);
/// Sends one request on a new connection. Throws if there is no response.
RawAnswer ask(std::uint16_t port, const RawRequest& request);

}  // namespace ws::test
