pytest_plugins = ["mock_gateway", "pytester"]
