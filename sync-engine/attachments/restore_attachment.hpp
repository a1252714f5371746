/// The states of attachments that this tree knows, and one of them brought back: from what is kept here, else from the
/// service, which never loses an Asset.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/clock.hpp"
#include "api-client/base/result.hpp"
#include "sync-engine/attachments/survey_attachments.hpp"
#include "sync-engine/session/session.hpp"
#include "sync-engine/state/history_log.hpp"

namespace ws::sync {

/// Of one file, the newest first. The id of a state is that of its bytes. Empty: it never was an attachment.
Result<std::vector<HistoryState>> attachment_states(Session& session, const RelativePath& path);

/// Carries out the step of one file that no run makes, and records it. `file`: what comes; empty: the file goes. Fails
/// as `bring_bytes` and `ensure_backup` do, and where the file changed since.
Result<void> put_in_place(Session& session,
                          const FileStep& step,
                          const std::optional<Attachment>& file,
                          ChangeOrigin origin);

/// `at`: the beginning of a state's id; empty: the newest whose bytes are not those of the file now. Fails with
/// `not_found`; with code `needs_service` where the bytes are on the service alone and it cannot be asked.
Result<Restored> restore_attachment(
    Session& session, const Clock& clock, const RelativePath& path, const std::optional<std::string>& at, bool dry_run);

/// One attachment, for people.
struct ListedAttachment {
  RelativePath path;
  std::optional<Attachment> file = {};  ///< as the service has it, else as it is here
  std::string_view state = {};          ///< "in step", "to send", "conflict", "too_large"
  std::vector<RelativePath> notes = {};
  std::string by = {};  ///< who wrote the text that named a foreign one; empty: it is not known
};
/// In order of path, those left alone among them.
std::vector<ListedAttachment> list_attachments(const AttachmentSurvey& found);
/// The document of the list that names the file, as the service was last heard to have it; empty: none does.
Result<DocumentId> find_list_part(Session& session, const RelativePath& file);

}  // namespace ws::sync
