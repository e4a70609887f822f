"""Gives a wheel the tag of the platform that its program is for, in MOCK_GATEWAY_PLATFORM; any Python 3 will do."""

import os

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PlatformTag(BuildHookInterface):
    def initialize(self, version, build_data):
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{os.environ['MOCK_GATEWAY_PLATFORM']}"
