# The transport, the retries, the client, login.
set(WS_API_CLIENT_SOURCES
  http/transport.cpp)
