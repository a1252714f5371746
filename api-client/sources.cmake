# The transport, the retries, the client, login.
set(WS_API_CLIENT_SOURCES
  client/answer_reader.cpp
  client/client.cpp
  client/conclusions.cpp
  client/page_guard.cpp
  client/redactor.cpp
  client/request_builder.cpp
  http/curl.cpp
  http/curl_exchange.cpp
  http/retry.cpp
  http/transport.cpp
  login/device_login.cpp
  transfer/download.cpp
  transfer/partial_file.cpp
  transfer/upload.cpp)
