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

/// A change of a file's bytes that no run makes, with the operation in hand, so that it can be taken back: before it is
/// made. Empty: there was none, or there is none now.
Result<void> record_bytes(Session& session,
                          ChangeOrigin origin,
                          const RelativePath& path,
                          const std::optional<Sha256>& before,
                          const std::optional<Sha256>& after);

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
