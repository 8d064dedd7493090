"""Hooks of coding agents: what their events mean to memory, and how they are set up.

No event of an agent ends in an error of the agent's. Import what you need from its module, so that
a hook loads no more than it needs.
"""
