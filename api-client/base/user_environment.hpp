/// The environment variables by which a person sets up `ws` (`ws help environment`). A program that is run against a
/// mock does not get them: they could lead it to another server, or to another key.
#pragma once

#include <string_view>

namespace ws {

inline constexpr std::string_view user_environment[] = {"WS_ALLOW_HTTP",
                                                        "WS_BASE_URL",
                                                        "WS_CONFIG_DIR",
                                                        "WS_CREDENTIAL_STORE",
                                                        "WS_DEBUG",
                                                        "WS_EVENT_ID",
                                                        "WS_FORMAT",
                                                        "WS_LEASE_TOKEN",
                                                        "WS_MAX_WAIT",
                                                        "WS_NO_INPUT",
                                                        "WS_PAGER",
                                                        "WS_PROFILE",
                                                        "WS_TOKEN",
                                                        "WS_TOKEN_FILE",
                                                        "WS_TRUSTED_FOLDERS",
                                                        "WS_WORKSPACE"};

}  // namespace ws
