"""Runs a command for the tests of a release, and checks how it ends."""

import subprocess


def ran(*command, limit, code=0, **options):
    """Returns the output of a command, which must end with the given status within `limit` seconds."""
    done = subprocess.run([*map(str, command)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=limit, **options)
    assert done.returncode == code, f"{command} ended with {done.returncode}:\n{done.stdout}"
    return done.stdout
