# The transport, the retries, the client, login.
set(WS_API_CLIENT_SOURCES
  http/curl.cpp
  http/curl_exchange.cpp
  http/curl_library.cpp
  http/retry.cpp
  http/transport.cpp)
