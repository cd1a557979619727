"""Methods that are no search: joint steps on the active block, and expectation maximisation."""
