from ws_mock import main

main()
