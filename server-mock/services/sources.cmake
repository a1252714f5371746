# What each operation means, on the store.
set(WS_MOCK_SERVICES_SOURCES)
