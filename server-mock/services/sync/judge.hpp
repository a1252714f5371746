/// The service's own three-way judgement of one document: base, local, remote -> what a sync would do.
///
/// Pure. The rows are those of `sync.md`, "Every pair of changes", as far as one document alone decides them; whether a
/// wanted path is free is asked afterwards, of all of them together (`claims.hpp`).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ws::mock {

/// What the client says of one file.
struct LocalFile {
  std::string path = {};
  std::string document_id = {};                    ///< empty: it is no document yet
  std::optional<std::string> content_sha256 = {};  ///< empty: deleted locally
  std::optional<std::int64_t> base_content_revision = {};
  std::optional<std::string> previous_path = {};
};

/// What the service holds under the file's document.
struct RemoteFile {
  bool known = false;    ///< it is or was in the source
  bool present = false;  ///< false: deleted, or moved out
  std::string path = {};
  std::int64_t content_revision = 0;
  std::string content_sha256 = {};
};

struct Judgement {
  std::string action = {};  ///< one of the ten of `decisions.md`
  std::string reason = {};
  std::string path = {};
  std::string previous_path = {};  ///< of a move; or empty
  std::string kind = {};           ///< of a conflict; or empty
};

/// One row, or two where text and path go different ways. `base_sha256`: of the text at the file's base revision; empty
/// where it has none.
std::vector<Judgement> judge(const LocalFile& local, const std::string& base_sha256, const RemoteFile& remote);

}  // namespace ws::mock
