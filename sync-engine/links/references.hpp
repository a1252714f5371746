/// What a note links to and shows: every reference in its text, with the bytes at which its target stands. Pure.
///
/// cmark-gfm says where code and HTML stand and which links there are; the offsets are found in the source. Nothing in
/// code blocks, code spans and HTML comments is a reference, nor is what leads out of the tree (`https:`, `mailto:`,
/// `//host`). Time is about linear in the text, whatever it holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ws::sync::links {

struct Reference {
  enum class Kind : std::uint8_t {
    link,          ///< `[text](target)`
    image,         ///< `![text](target)`
    definition,    ///< `[label]: target`
    autolink,      ///< `<target>`: a file only where one exists
    html,          ///< `src` or `href` of img, video, audio, source, a
    wiki_link,     ///< `[[target|text]]`
    wiki_embed,    ///< `![[target|300]]`
    front_matter,  ///< a value of front matter: a file only where one exists
  };
  enum class Encoding : std::uint8_t { plain, percent, angle };

  Kind kind = Kind::link;
  Encoding encoding = Encoding::plain;  ///< `angle`: between `<` and `>`, percent signs or not
  std::size_t begin = 0;                ///< of the whole reference
  std::size_t end = 0;
  std::size_t target_begin = 0;  ///< of path, query and fragment, without brackets, quotes and title
  std::size_t target_end = 0;
  std::size_t path_end = 0;   ///< the path stands at [target_begin, path_end)
  std::string path = {};      ///< decoded, as written: relative to the note, `/x` from the root, a wiki name. Empty:
                              ///< the note itself
  std::string fragment = {};  ///< decoded, without `#`
  bool has_fragment = false;

  bool operator==(const Reference&) const = default;

  bool is_wiki() const { return kind == Kind::wiki_link || kind == Kind::wiki_embed; }
  /// Wiki names without a folder, which are looked for in the whole tree.
  bool is_wiki_name() const { return is_wiki() && path.find('/') == std::string::npos; }
  /// Names a file only where one exists: it is never broken.
  bool is_guess() const { return kind == Kind::autolink || kind == Kind::front_matter; }
};

struct NoteLinks {
  std::vector<Reference> references = {};  ///< in order of their place; an image within a link is one of its own
  std::vector<std::string> anchors =
      {};               ///< where fragments lead: GitHub's slugs of its headings, the later of equal ones with `-1`,
                        ///< `-2`; `id`s
  bool is_cut = false;  ///< markup was too dense to be read within the bound on work: there may be more references
};

/// `text`: valid UTF-8, front matter and all.
NoteLinks read_note(std::string_view text);
std::vector<Reference> read_references(std::string_view text);

struct Place {
  std::size_t line = 1;
  std::size_t column = 1;  ///< in bytes
};
/// Places in one text: it is read once, however many are asked for.
class TextPlaces {
 public:
  explicit TextPlaces(std::string_view text);
  Place of(std::size_t offset) const;

 private:
  std::vector<std::size_t> lines_ = {0};  ///< where each begins
};

}  // namespace ws::sync::links
