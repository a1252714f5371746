#include <algorithm>

#include <fmt/format.h>

#include "api-client/base/random.hpp"
#include "api-client/base/sha256.hpp"
#include "api-client/contract/schema.hpp"
#include "server-mock/http/target.hpp"
#include "server-mock/output/print.hpp"
#include "server-mock/pages/pages.hpp"
#include "server-mock/services/authorization/device_logins.hpp"

namespace ws::mock::pages {
namespace {

/// 128 random bits.
std::string draw_secret() {
  SystemRandom random;
  return fmt::format("{:016x}{:016x}", random.next(), random.next());
}

http::Response failed(const Failure& failure, std::string_view request_id) {
  tell(fmt::format("ws-mock: {}: internal error: {}", request_id, failure.what));
  return page(
      500,
      "Something broke",
      fmt::format("<h1>Something broke</h1>\n<p>The server's log says more, under {}.</p>\n", escape(request_id)));
}

http::Response ask_for_code(int status, std::string_view error, std::string_view typed) {
  const std::string alert = error.empty()
                                ? std::string()
                                : fmt::format("<p class=\"alert\" role=\"alert\" id=\"error\">{}</p>\n", escape(error));
  return page(status,
              "Enter the code",
              fmt::format("<h1>Log in a program</h1>\n{}<form method=\"get\" action=\"device\">\n"
                          "<label class=\"field\" for=\"user_code\">The code that the program shows</label>\n"
                          "<input type=\"text\" id=\"user_code\" name=\"user_code\" value=\"{}\" required autofocus "
                          "autocomplete=\"off\" autocapitalize=\"characters\" spellcheck=\"false\" maxlength=\"20\" "
                          "placeholder=\"XXXX-XXXX\"{}>\n"
                          "<div class=\"buttons\"><button type=\"submit\">Continue</button></div>\n</form>\n",
                          alert,
                          escape(typed),
                          error.empty() ? "" : " aria-invalid=\"true\" aria-describedby=\"error\""));
}

/// What the form says in the place of a Workspace for a key that is for all of the person's.
constexpr std::string_view all_workspaces = "all";

std::string option_of(const Membership& member, std::string_view workspace, std::string_view words) {
  return fmt::format("<option value=\"{} {}\">{}</option>\n",
                     escape(member.user_id),
                     escape(workspace),
                     escape(fmt::format("{}: {}", member.display_name, words)));
}

/// One list, as high as a line however many people there are: each of their Workspaces, and all of them.
std::string choices(const std::vector<Membership>& people) {
  if (people.empty()) return "<p class=\"alert\" role=\"alert\">No person of this world can approve it.</p>\n";
  std::string html =
      "<label class=\"field\" for=\"as\">Sign in, and pick one Workspace, or all of yours</label>\n"
      "<select id=\"as\" name=\"as\" required>\n";
  for (std::size_t i = 0; i < people.size(); ++i) {
    const Membership& member = people[i];
    if (i == 0 || people[i - 1].user_id != member.user_id) {
      html += fmt::format("<optgroup label=\"{}, {}\">\n", escape(member.display_name), escape(member.email));
    }
    html += option_of(member, member.workspace_id, fmt::format("{} ({})", member.workspace_name, member.role));
    const bool last_of_person = i + 1 == people.size() || people[i + 1].user_id != member.user_id;
    if (last_of_person)
      html += option_of(member, all_workspaces, "all Workspaces, also those to come") + "</optgroup>\n";
  }
  return html + "</select>\n";
}

/// The field for the control token, if the page is reachable from other machines.
std::string_view secret_field(const Approval& approval) {
  if (approval.by() != Approval::By::control_token) return "";
  return "<label class=\"field\" for=\"control_token\">The server's --control-token</label>\n"
         "<input type=\"password\" id=\"control_token\" name=\"control_token\" required autocomplete=\"off\">\n";
}

http::Response ask_to_decide(const DeviceLogin& login,
                             const std::vector<Membership>& people,
                             const Approval& approval) {
  std::string scopes;
  for (const std::string& scope : login.scopes) scopes += fmt::format("<li><code>{}</code></li>\n", escape(scope));
  // What is asked for is above the buttons, and both are on the first screen of a telephone.
  return page(200,
              "Approve a login",
              fmt::format("<h1>Let {0} into a Workspace?</h1>\n"
                          "<p>Compare the code with the one that the program shows:</p>\n<p class=\"code\">{1}</p>\n"
                          "<h2>What it asks for</h2>\n<ul class=\"scopes\">\n{2}</ul>\n"
                          "<form method=\"post\" action=\"device\">\n"
                          "<input type=\"hidden\" name=\"user_code\" value=\"{1}\">\n"
                          "<input type=\"hidden\" name=\"form_token\" value=\"{4}\">\n"
                          "{5}{6}"
                          "<div class=\"buttons\">\n"
                          "<button type=\"submit\" name=\"decision\" value=\"approve\">Approve</button>\n"
                          "<button type=\"submit\" name=\"decision\" value=\"deny\" class=\"deny\">Deny</button>\n"
                          "</div>\n</form>\n"
                          "<p class=\"soft\">This is a mock: no password is asked for. {0}, version {3}</p>\n",
                          escape(login.client_name),
                          escape(login.user_code),
                          scopes,
                          escape(login.cli_version),
                          approval.form_token(login.id),
                          choices(people),
                          secret_field(approval)));
}

http::Response settled(const DeviceLogin& login) {
  const bool approved = login.status == "approved" || login.status == "consumed";
  const std::string_view title = approved ? "Approved" : login.status == "denied" ? "Denied" : "Code expired";
  const std::string_view text = approved ? "The login is approved. You can close this page and go back to the program."
                                : login.status == "denied"
                                    ? "The login is denied: the program gets no key. You can close this page."
                                    : "This code has expired. Start the login again in the program.";
  return page(200,
              title,
              fmt::format("<h1>{}</h1>\n<p role=\"status\">{}</p>\n<p class=\"soft\">{}, code {}</p>\n",
                          title,
                          text,
                          escape(login.client_name),
                          escape(login.user_code)));
}

http::Response not_decided(std::string_view why) {
  return page(403,
              "The login was not decided",
              fmt::format("<h1>The login was not decided</h1>\n<p role=\"alert\">{}</p>\n", why));
}

/// The reason to reject the form; empty: it is valid.
std::string_view objection_to(const http::Pairs& form, const DeviceLogin& login, const Approval& approval) {
  if (http::value_of(form, "form_token") != approval.form_token(login.id)) {
    return "This did not come from our page. Open the page again and decide there.";
  }
  if (approval.by() == Approval::By::nobody) {
    return "Other machines can call this server, and it has no control token that says who may decide. Start "
           "ws-mock with --control-token, or let it decide by itself with --device.";
  }
  if (approval.by() == Approval::By::control_token &&
      !approval.is_control_token(http::value_of(form, "control_token"))) {
    return "That is not the control token of this server. Open the page again and type the one that --control-token "
           "gave it.";
  }
  return {};
}

Result<http::Response> show(World& world, std::string_view typed, const Approval& approval) {
  if (typed.empty()) return ask_for_code(200, "", "");
  WS_LET(const std::optional<DeviceLogin> login, find_device_login(world, typed));
  if (!login) return ask_for_code(404, "No login is waiting under this code.", typed);
  if (login->status != "pending") return settled(*login);
  WS_LET(const std::vector<Membership> people, list_memberships(world));
  return ask_to_decide(*login, people, approval);
}

Result<http::Response> decide(World& world, const http::Pairs& form, const Approval& approval) {
  const std::string_view typed = http::value_of(form, "user_code");
  WS_LET(const std::optional<DeviceLogin> login, find_device_login(world, typed));
  if (!login) return ask_for_code(404, "No login is waiting under this code.", typed);
  if (const std::string_view why = objection_to(form, *login, approval); !why.empty()) return not_decided(why);
  const std::string_view decision = http::value_of(form, "decision");
  if (decision == "deny") {
    WS_TRY(deny_device_login(world, *login));
  } else if (decision == "approve") {
    WS_LET(const std::vector<Membership> people, list_memberships(world));
    const std::string_view as = http::value_of(form, "as");
    const auto is_chosen = [&](const Membership& member, std::string_view which) {
      return fmt::format("{} {}", member.user_id, which) == as;
    };
    const auto chosen = std::ranges::find_if(people, [&](const Membership& member) {
      return is_chosen(member, member.workspace_id) || is_chosen(member, all_workspaces);
    });
    if (chosen == people.end()) return ask_to_decide(*login, people, approval);
    const std::string_view one = is_chosen(*chosen, all_workspaces) ? "" : std::string_view(chosen->workspace_id);
    WS_TRY(approve_device_login(world, *login, chosen->user_id, one));
  }
  WS_LET(const std::optional<DeviceLogin> now, find_device_login(world, typed));
  return settled(now.value_or(*login));
}

}  // namespace

Approval::Approval(By by, std::string control_token)
    : by_(by), control_token_(std::move(control_token)), secret_(draw_secret()) {}

std::string Approval::form_token(std::string_view login_id) const {
  return Sha256::of(fmt::format("{} device page {}", secret_, login_id)).hex();
}

bool Approval::is_control_token(std::string_view typed) const {
  return Sha256::of(secret_ + std::string(typed)) == Sha256::of(secret_ + control_token_);
}

http::Response device(Sandbox& sandbox,
                      const Approval& approval,
                      const http::Request& request,
                      std::string_view request_id) {
  World& world = *sandbox.world;
  if (request.method == "POST") {
    auto decided = decide(world, http::parse_query(request.body), approval);
    return decided ? std::move(*decided) : failed(decided.error(), request_id);
  }
  if (request.method == "GET" || request.method == "HEAD") {
    auto shown = show(world, http::value_of(http::parse_query(request.query), "user_code"), approval);
    return shown ? std::move(*shown) : failed(shown.error(), request_id);
  }
  http::Response response = page(405, "Method not allowed", "<h1>Only GET and POST are known here</h1>\n");
  response.header("Allow", "GET, HEAD, POST, OPTIONS");
  return response;
}

}  // namespace ws::mock::pages
