"""Write-backs: what each becomes (002)."""

import pytest

from graphmem.intake.write_backs import (
    PARTS_MAX,
    diagnostics,
    former_parts,
    output_type,
    output_uid,
    transcript,
    workflow_output,
)
from graphmem.model.memory import MemoryType
from graphmem.model.source import CapturedBy, SourceType

SPACE = "orchestrator:main"


def outputs(attempt=1, **values):
    return workflow_output(
        SPACE, workflow_run_id="run-1", step_id="step-1", attempt=attempt, outputs=values
    )


def test_a_message_becomes_an_observation_of_its_conversation():
    (request,) = transcript(SPACE, message_id="m-1", conversation_id="c-1", content="Hello there.")

    assert (MemoryType.OBSERVATION, 45, 0.7) == (
        request.type,
        request.importance,
        request.confidence,
    )
    source = request.source
    assert (SourceType.CHANNEL_TRANSCRIPT, CapturedBy.USER, "c-1", "channel_transcript:m-1") == (
        source.type,
        source.captured_by,
        source.conversation_id,
        source.key,
    )


@pytest.mark.parametrize("blank", ["", " ", "\n\t "])
def test_blank_content_becomes_nothing(blank):
    assert [] == transcript(SPACE, message_id="m", conversation_id="c", content=blank)
    assert diagnostics(SPACE, finding_id="f", content=blank) is None
    assert [] == outputs(result=blank)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Final_Decision", (MemoryType.DECISION, 75)),
        ("todo_list", (MemoryType.TODO, 65)),
        ("goals", (MemoryType.GOAL, 70)),
        ("user_preference", (MemoryType.PREFERENCE, 60)),
        ("result", (MemoryType.FACT, 55)),
    ],
)
def test_the_key_of_an_output_says_its_type_and_importance(name, expected):
    assert expected == output_type(name)


def test_a_later_attempt_has_the_same_uid_and_another_source():
    ((_, (first,)),), ((_, (second,)),) = outputs(result="One."), outputs(attempt=2, result="Two.")

    assert first.uid == second.uid == output_uid("run-1", "step-1", "result")
    assert ("workflow_output:run-1:step-1:1", "workflow_output:run-1:step-1:2") == (
        first.source.key,
        second.source.key,
    )
    assert (0.75, CapturedBy.SYSTEM) == (first.confidence, first.source.captured_by)
    assert first.uid != output_uid("run-1", "step-1", "other")


def test_the_summary_is_the_first_120_characters():
    request = diagnostics(SPACE, finding_id="f-1", content="word " * 100)

    assert ("word " * 24)[:120] == request.summary
    assert (70, 0.8, "diagnostics:f-1") == (
        request.importance,
        request.confidence,
        request.source.key,
    )


def test_a_long_text_is_split_into_parts_of_what_it_begins_with():
    text = "\n\n".join(f"Paragraph {number} of the report. " * 40 for number in range(40))

    whole, *parts = transcript(SPACE, message_id="m-1", conversation_id="c-1", content=text)
    ((_, output),) = outputs(result=text)

    assert text == "".join(part.content for part in parts)
    assert whole.content.startswith(f"A message of {len(parts)} parts. Paragraph 0 of the report.")
    assert {(whole.proposed_uid,)} == {part.part_of for part in parts}
    assert ["channel_transcript:m-1:1", "channel_transcript:m-1:2"] == [
        part.source.key for part in parts[:2]
    ]
    assert [f"{output[0].uid}-1", f"{output[0].uid}-2"] == [part.uid for part in output[1:3]]
    assert len(parts) == len(output) - 1
    assert len(parts) <= PARTS_MAX


def test_a_shorter_attempt_knows_the_parts_that_a_longer_one_may_have():
    ((_, short),) = outputs(attempt=2, result="Short.")

    assert [f"{short[0].uid}-{number}" for number in range(1, PARTS_MAX + 1)] == former_parts(short)
