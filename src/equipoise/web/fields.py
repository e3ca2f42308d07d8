"""Text fields that keep what is typed while their page still connects.

After every value that the server gives to a field, NiceGUI tells the browser to show it. For values given
while a page is being made this waits until the browser is connected, a tenth of a second later or more,
and then undoes what was typed meanwhile. The page has those values already: until it is connected the
browser need not be told.
"""

from __future__ import annotations

from typing import Any

from nicegui import ui
from nicegui.awaitable_response import AwaitableResponse, NullResponse


class Field(ui.input):
    """One line of text."""

    def run_method(self, name: str, *args: Any, timeout: float = 1) -> AwaitableResponse:
        """Run a method of the field in the browser, if one is connected."""
        if not self.client.has_socket_connection:
            return NullResponse()
        return super().run_method(name, *args, timeout=timeout)


class Sheet(Field, ui.textarea):
    """Several lines of text."""
