#include "sync-engine/apply/replace_file.hpp"

#include <utility>

namespace ws::sync {

Result<void> replace_file(Session& session,
                          SafeWriter& writer,
                          const RelativePath& path,
                          const std::optional<std::string>& now,
                          const std::optional<std::string>& text) {
  if (now == text) return {};
  std::optional<Sha256> seen;
  if (now) {
    seen = Sha256::of(*now);
    WS_LET(const git::ObjectId blob, session.history.keep(*now));
    WS_TRY(session.history.record_before({{.path = path.string(), .blob = blob}}, {}));
  }
  if (text) {
    WS_LET(const Staged staged, writer.stage(*text));
    WS_TRY(writer.flush_texts());
    WS_TRY(writer.place(staged, path, seen));
  } else {
    WS_TRY(writer.remove(path, *seen));
  }
  return writer.flush_folders();
}

Result<std::optional<std::string>> read_if_there(const SafeWriter& writer, const RelativePath& path) {
  using Text = std::optional<std::string>;
  auto text = writer.read(path);
  if (text) return Text(std::move(*text));
  if (text.error().kind == Failure::Kind::not_found) return Text{};
  return fail(std::move(text).error());
}

}  // namespace ws::sync
