"""What a search works on, and what it leaves behind: sets of functions at ridges, budgets, journals, fits."""
