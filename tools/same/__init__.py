"""Two builds of misstep side by side: the same commands must leave the same streams and the same files.

A change that moves code without changing behaviour is checked against a build of the code before it:

    python -m tools.same OLD NEW [--only NAME ...] [--cuts N] [--worlds N]

OLD and NEW are Python interpreters with misstep installed. `scenarios.py` has the commands, `mask.py` what may
differ between two runs of one build (times, and nothing else), `intended.py` the differences that a change makes
on purpose, each with its reason. The exit code is 1 where anything else differs.
"""
