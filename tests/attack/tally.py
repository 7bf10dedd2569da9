"""Fails unless every operation succeeded at least once, and enough requests were made; prints the answers."""

import json
import sys

LEAST = 5_000

with open(sys.argv[1], encoding="utf-8") as file:
    answered = json.load(file)
for operation, statuses in sorted(answered.items()):
    print(f"  {operation:24}", " ".join(f"{status}:{count}" for status, count in sorted(statuses.items())))
asked = sum(sum(statuses.values()) for statuses in answered.values())
never = [name for name, statuses in answered.items() if not any(status.startswith("2") for status in statuses)]
print(f"  {asked} requests")
if never:
    sys.exit(f"never answered with what it is for: {', '.join(never)}")
if asked < LEAST:
    sys.exit(f"{asked} requests are less than {LEAST}")
