"""The ACPC's protocol: dealer, client, logs."""
