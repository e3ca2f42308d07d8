"""What all tests share."""

from __future__ import annotations

import signal

# A shell that starts the tests in the background has Ctrl-C ignored, and children inherit that: tests
# that press it would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)
