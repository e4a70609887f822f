"""Gives a wheel the platform tag of its program, from MOCK_GATEWAY_PLATFORM. Any Python 3 can install it."""

import os

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PlatformTag(BuildHookInterface):
    def initialize(self, version, build_data):
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{os.environ['MOCK_GATEWAY_PLATFORM']}"
