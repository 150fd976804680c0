"""Text from elsewhere, made fit to be read by a person who relies on it."""


def printable(text: str) -> str:
    """Text from elsewhere, without what could steer a terminal or turn letters around on a page.

    Line ends are kept; any other character that cannot be seen is written as its escape.
    """
    return "".join(
        letter if letter.isprintable() or letter == "\n" else repr(letter)[1:-1] for letter in text
    )
