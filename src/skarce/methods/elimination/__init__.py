"""Backward elimination of a model that was learned by evidence."""
