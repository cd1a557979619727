"""Backward elimination after evidence."""
