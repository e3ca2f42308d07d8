"""Many spots at once: jobs, runs, reports."""
