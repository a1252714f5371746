/// What the workflow tests share: the JSON that `ws` prints, and the mock's control.
#pragma once

#include <string>

#include "api-client/base/json.hpp"
#include "tests/support/mock_process.hpp"
#include "tests/support/two_people.hpp"

namespace ws::test {

/// An id that no object has.
inline constexpr const char* nobody = "018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b";

/// Somebody whose server says what the test wants.
struct At : Person {
  explicit At(const std::string& origin);
};

/// Throws where `text` is no JSON.
Json parse(const std::string& text);
/// The member at a dotted path as text; empty where it is missing.
std::string text_at(const Json& value, const std::string& path);
/// The `error` that `ws --json` writes on stderr.
Json error_of(const Ended& ended);

/// A call under `/_mock`; throws where the mock refuses it.
std::string control(const MockProcess& server,
                    const std::string& method,
                    const std::string& path,
                    const std::string& json);
/// GET of the API as bytes, with the key of every scope.
std::string body_of(const MockProcess& server, const std::string& path);

/// Arguments of `ws-mock` for a Workspace, Harbour, of ada@example.com (owner) and grace@example.com (editor).
std::vector<std::string> two_people(const TemporaryFolder& folder);

}  // namespace ws::test
