"""What a fit becomes: weights with their uncertainty, ready to predict."""
