"""``python -m fortuna.bench``: how fast this machine is, as ratios against what a Python program would use instead."""
