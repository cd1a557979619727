"""Reports: what a comparison or a model says, as one page that needs no network. What is computed is apart from how it is written."""
