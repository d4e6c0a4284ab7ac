"""Campaigns: many tests (tasks x policies x configurations x seeds) that survive whatever happens to them.

    FILE.toml -> plan -> jobs in a database -> coordinator -> engine (local processes, Ray) -> results, records

The database owns all that is to be remembered; engines only run jobs, each by a session as everywhere.
"""
