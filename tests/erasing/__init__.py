"""Erasing for good: nothing of the words is left, whoever looks, writes or dies meanwhile."""
