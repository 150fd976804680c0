"""The same agent, tool and script: by hand, governed, and with the agent plugins for Temporal."""
