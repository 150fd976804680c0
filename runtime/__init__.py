"""The governed core: pydantic and the standard library only; it knows no Temporal."""
