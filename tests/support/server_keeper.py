"""A program that starts an embedded server and does not stop it. Arguments: `wait` or `exit`."""

import asyncio
import sys

from temperance.embedded import EmbeddedServer


async def main(then: str) -> None:
    server = EmbeddedServer(headless=True)
    await server.start()
    sys.stdout.write(f"{server.pid}\nready\n")
    sys.stdout.flush()
    if then == "wait":
        await server.wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
