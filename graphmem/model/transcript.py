"""Transcripts (002, Write-back): how their sources and memories are called."""

import hashlib

_TRANSCRIPT = "channel_transcript:"


def transcript_key(message_id: str) -> str:
    """The source key of a message."""
    return f"{_TRANSCRIPT}{message_id}"


def message_uid(message_id: str) -> str:
    """What the memory of a message is called, if it is a new one: equal for the same id."""
    return f"message-{hashlib.sha256(message_id.encode()).hexdigest()[:32]}"


def message_of(source_key: str, uid: str) -> str | None:
    """The id of the message whose memory has a source key and uid; None where it is of none."""
    message_id = source_key.removeprefix(_TRANSCRIPT)
    is_message = message_id != source_key and uid == message_uid(message_id)
    return message_id if is_message else None
