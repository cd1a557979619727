"""Reports on comparisons and models, as one page that needs no network. What is computed is apart from how it is written."""
