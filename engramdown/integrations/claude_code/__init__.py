"""Hooks of coding agents: what memory does at their events, and how they are set up.

No event makes an agent fail. Import each name from its module, so that a hook loads no more than it
needs.
"""
