"""How the tests of a release run a command, and which of its ends is a mistake."""

import subprocess


def ran(*command, limit, code=0, **options):
    """What a command says, which is to end so, within `limit` seconds: a net for what hangs, never a pace."""
    done = subprocess.run([*map(str, command)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=limit, **options)
    assert done.returncode == code, f"{command} ended with {done.returncode}:\n{done.stdout}"
    return done.stdout
