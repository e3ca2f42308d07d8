"""The browser's table and pages: NiceGUI on FastAPI, bound to this machine unless told otherwise."""
