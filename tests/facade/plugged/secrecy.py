"""A codec that encrypts and a storage outside of the server, as a user brings them."""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b
from itertools import count
from pathlib import Path
from uuid import uuid4

from temporalio.api.common.v1 import Payload
from temporalio.converter import (
    DataConverter,
    DefaultFailureConverter,
    ExternalStorage,
    PayloadCodec,
    StorageDriver,
    StorageDriverClaim,
    StorageDriverRetrieveContext,
    StorageDriverStoreContext,
)

_KEY = b"made up for a test"


class Cipher(PayloadCodec):
    """Encrypts whole payloads with a keystream; good enough to be unreadable."""

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [
            Payload(
                metadata={"encoding": b"binary/encrypted"},
                data=_crypt(payload.SerializeToString()),
            )
            for payload in payloads
        ]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [
            Payload.FromString(_crypt(payload.data))
            if payload.metadata["encoding"] == b"binary/encrypted"
            else payload
            for payload in payloads
        ]


def _crypt(data: bytes) -> bytes:
    stream = bytearray()
    for block in count():
        if len(stream) >= len(data):
            break
        stream += blake2b(block.to_bytes(8, "big"), key=_KEY).digest()
    return bytes(a ^ b for a, b in zip(data, stream, strict=False))


class SecretiveFailures(DefaultFailureConverter):
    """Failures whose message and stack go through the codec too."""

    def __init__(self) -> None:
        super().__init__(encode_common_attributes=True)


class Shelf(StorageDriver):
    """Keeps payloads as files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def contents(self) -> list[bytes]:
        """What is kept."""
        return [file.read_bytes() for file in self.folder.iterdir()]

    def name(self) -> str:
        return "shelf"

    async def store(
        self, context: StorageDriverStoreContext, payloads: Sequence[Payload]
    ) -> list[StorageDriverClaim]:
        claims = [StorageDriverClaim({"file": uuid4().hex}) for _ in payloads]
        for claim, payload in zip(claims, payloads, strict=True):
            (self.folder / claim.claim_data["file"]).write_bytes(payload.SerializeToString())
        return claims

    async def retrieve(
        self, context: StorageDriverRetrieveContext, claims: Sequence[StorageDriverClaim]
    ) -> list[Payload]:
        return [
            Payload.FromString((self.folder / claim.claim_data["file"]).read_bytes())
            for claim in claims
        ]


def secretive() -> DataConverter:
    """A user's data converter: encrypted payloads, encrypted messages of failures."""
    return replace(
        DataConverter.default,
        payload_codec=Cipher(),
        failure_converter_class=SecretiveFailures,
    )


def shelved(folder: Path) -> DataConverter:
    """A user's data converter: what is over a kilobyte lies in files."""
    storage = ExternalStorage(drivers=[Shelf(folder)], payload_size_threshold=1024)
    return replace(DataConverter.default, external_storage=storage)
