"""What the numbers of README.md come from: ``python -m benchmarks.<name>`` prints one table each.

Every benchmark runs its subject and its yardstick in turn, in one go, and says how many times the
yardstick's time the subject needed. ``--save`` keeps the table in benchmarks/results/.
"""

__all__: list[str] = []
