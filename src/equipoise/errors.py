"""The family of errors that bad input raises.

Every one is a :class:`ValueError` whose text is one sentence that names the cure. The command line
prints that sentence and exits with code 2; nothing else in the package catches them.
"""


class EquipoiseError(ValueError):
    """Something the user gave cannot be used; the text says what to change."""


class CardError(EquipoiseError):
    """A card, a hand or a board that does not exist: `'Ax': no suit 'x'`."""


class RangeError(EquipoiseError):
    """Range text that cannot be read, or a range with no hand left in it."""


class GameError(EquipoiseError):
    """A game, a betting rule or a bet menu that makes no sense."""


class IllegalActionError(EquipoiseError):
    """An action that the rules do not allow in this state."""


class TooLargeError(EquipoiseError):
    """A computation refused before it starts; the text says what to cut."""


class RecipeError(EquipoiseError):
    """A recipe with a key or a value that training cannot use."""


class SolverError(EquipoiseError):
    """A solver that does not apply to this game, or a setting it cannot use."""


class ArtefactError(EquipoiseError):
    """A file that is damaged, foreign, or of another version or configuration."""


class FileError(EquipoiseError):
    """A place where nothing can be written, or that is in use; the text names it."""


class ProtocolError(EquipoiseError):
    """A peer, or a line of it, that does not keep to the ACPC protocol."""


class HistoryError(EquipoiseError):
    """A hand history that cannot be read; the text names the line."""
