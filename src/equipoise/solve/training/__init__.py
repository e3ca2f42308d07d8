"""From a recipe to a blueprint."""
