#include <fmt/format.h>

#include "server-mock/pages/pages.hpp"

namespace ws::mock::pages {
namespace {

constexpr std::string_view style = R"css(
:root { color-scheme: light dark; --text: #1c1c1e; --soft: #5a5a60; --page: #f4f4f2; --card: #ffffff; --line: #c9c9c4;
  --accent: #0b57a4; --on-accent: #ffffff; --deny: #a3201d; }
@media (prefers-color-scheme: dark) {
  :root { --text: #f0f0ee; --soft: #b3b3ad; --page: #151517; --card: #202023; --line: #4a4a50; --accent: #8ec1ff;
    --on-accent: #0c1a2b; --deny: #ffaaa5; }
}
* { box-sizing: border-box; }
body { margin: 0; padding: 1rem; background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 34rem; margin: 1rem auto; padding: 1.25rem 1.5rem; background: var(--card); border: 1px solid var(--line);
  border-radius: .75rem; overflow-wrap: anywhere; }
h1 { margin: 0 0 .75rem; font-size: 1.4rem; line-height: 1.25; }
h2 { margin: 1rem 0 .25rem; font-size: 1rem; }
p { margin: .5rem 0; }
.soft { color: var(--soft); }
.code { font: 600 1.5rem/1.4 ui-monospace, monospace; letter-spacing: .08em; }
.alert { padding: .6rem .8rem; border-left: .3rem solid var(--deny); background: color-mix(in srgb, var(--deny) 10%, transparent); }
ul.scopes { margin: .25rem 0 0; padding: 0; list-style: none; display: flex; flex-wrap: wrap; gap: 0 1rem; }
code { font-family: ui-monospace, monospace; font-size: .95em; }
label.field { display: block; margin: .9rem 0 .3rem; font-weight: 600; }
select { width: 100%; padding: .55rem .5rem; font: 1rem system-ui, sans-serif; color: inherit; background: var(--card);
  border: 1px solid var(--soft); border-radius: .5rem; }
input[type=text], input[type=password] { width: 100%; padding: .6rem .7rem; font: 600 1.25rem ui-monospace, monospace; letter-spacing: .08em;
  color: inherit; background: transparent; border: 1px solid var(--soft); border-radius: .5rem; }
input[type=text] { text-transform: uppercase; }
.buttons { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1rem; }
button { flex: 1 1 9rem; min-height: 2.9rem; padding: .5rem 1rem; font: 600 1rem system-ui, sans-serif; cursor: pointer;
  border-radius: .5rem; border: 2px solid var(--accent); background: var(--accent); color: var(--on-accent); }
button.deny { background: transparent; border-color: var(--deny); color: var(--deny); }
@media (max-width: 30rem) {
  body { padding: .5rem; }
  main { margin: 0 auto; padding: 1rem; }
}
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
)css";

}  // namespace

std::string escape(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      case '\'': escaped += "&#39;"; break;
      default: escaped += c;  // not an enum: every other character
    }
  }
  return escaped;
}

http::Response page(int status, std::string_view title, std::string_view main) {
  http::Response response(status);
  response
      .body("text/html; charset=utf-8",
            fmt::format("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                        "<title>{} - Workspace mock</title>\n<link rel=\"icon\" href=\"data:,\">\n"
                        "<style>{}</style>\n</head>\n<body>\n<main>\n{}</main>\n</body>\n</html>\n",
                        escape(title),
                        style,
                        main))
      .header("Content-Security-Policy",
              "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; "
              "frame-ancestors 'none'; base-uri 'none'")
      .header("X-Content-Type-Options", "nosniff")
      .header("Referrer-Policy", "same-origin")  // without a referrer browsers send `Origin: null` with a form
      .header("Cache-Control", "no-store");
  return response;
}

http::Response script_page(int status, std::string_view type, std::string text) {
  http::Response response(status);
  response.body(type, std::move(text))
      .header("Content-Security-Policy",
              "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; form-action "
              "'none'; frame-ancestors 'none'; base-uri 'none'")
      .header("X-Content-Type-Options", "nosniff")
      .header("Referrer-Policy", "no-referrer")
      .header("Cache-Control", "no-store");
  return response;
}

}  // namespace ws::mock::pages
