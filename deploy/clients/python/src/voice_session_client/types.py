# Made from the service's schemas by `npm run client:python`; not edited by hand.
"""What the service sends and takes, as the shapes of its OpenAPI and AsyncAPI documents."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Literal, TypedDict, Union

if TYPE_CHECKING:
    from typing_extensions import NotRequired


class SessionWarning(TypedDict):
    warning: Literal['language_unsupported']
    message: str


SessionStatus = Literal['recording', 'processing', 'completed', 'failed', 'deleted']


class Session(TypedDict):
    id: str
    workspace_id: str
    owner_id: str
    device_id: NotRequired[str]
    transcription_job_id: str
    title: str
    external_id: NotRequired[str]
    metadata: Dict[str, Any]
    tags: List[str]
    language: str
    engine: NotRequired[str]
    sound_leaves: NotRequired[bool]
    warnings: NotRequired[List[SessionWarning]]
    compat: NotRequired[Literal['openai', 'deepgram']]
    status: SessionStatus
    visibility: Literal['private', 'workspace']
    guest_access: Literal['open', 'invitation', 'closed']
    workshop_id: NotRequired[str]
    notes_template: NotRequired[Literal['general', 'interview', 'standup', 'sales_call', 'lecture']]
    speaker_channels: NotRequired[int]
    started_at: str
    stopped_at: NotRequired[str]
    duration_ms: NotRequired[int]
    stop_reason: NotRequired[Literal['device_silent', 'not_audio']]
    reason: NotRequired[Literal['audio_unreadable', 'language_unsupported']]
    completed_at: NotRequired[str]
    created_at: str


class SessionDetailWarning(TypedDict):
    warning: Literal['language_unsupported']
    message: str


class AwaitedAudio(TypedDict):
    chunk_sequences: List[int]
    device_heard_at: str
    given_up_at: str
    message: str


class ReadingProgress(TypedDict):
    received_seconds: float
    read_seconds: float
    expected_end_at: NotRequired[str]


class SessionDetail(TypedDict):
    id: str
    workspace_id: str
    owner_id: str
    device_id: NotRequired[str]
    transcription_job_id: str
    title: str
    external_id: NotRequired[str]
    metadata: Dict[str, Any]
    tags: List[str]
    language: str
    engine: NotRequired[str]
    sound_leaves: NotRequired[bool]
    warnings: NotRequired[List[SessionDetailWarning]]
    compat: NotRequired[Literal['openai', 'deepgram']]
    status: SessionStatus
    visibility: Literal['private', 'workspace']
    guest_access: Literal['open', 'invitation', 'closed']
    workshop_id: NotRequired[str]
    notes_template: NotRequired[Literal['general', 'interview', 'standup', 'sales_call', 'lecture']]
    speaker_channels: NotRequired[int]
    started_at: str
    stopped_at: NotRequired[str]
    duration_ms: NotRequired[int]
    stop_reason: NotRequired[Literal['device_silent', 'not_audio']]
    reason: NotRequired[Literal['audio_unreadable', 'language_unsupported']]
    completed_at: NotRequired[str]
    created_at: str
    waiting: NotRequired[AwaitedAudio]
    reading: NotRequired[ReadingProgress]


class NewSession(TypedDict):
    title: NotRequired[str]
    language: NotRequired[str]
    external_id: NotRequired[str]
    metadata: NotRequired[Dict[str, Any]]
    tags: NotRequired[List[str]]
    workspace_id: NotRequired[str]
    engine: NotRequired[str]
    vocabulary: NotRequired[List[str]]
    speaker_channels: NotRequired[int]
    workshop_id: NotRequired[str]
    device_id: NotRequired[str]
    visibility: NotRequired[Literal['private', 'workspace']]


class Overlap(TypedDict):
    speaker_label: str
    segment_id: str
    start_ms: int
    end_ms: int


class Word(TypedDict):
    word: str
    start_ms: int
    end_ms: int
    confidence: float
    unclear: NotRequired[bool]
    times_clamped: NotRequired[bool]


class Segment(TypedDict):
    id: str
    start_ms: int
    end_ms: int
    speaker_label: NotRequired[str]
    text: str
    confidence: NotRequired[float]
    speaker_confidence: Union[float, None]
    also_speaking: NotRequired[List[str]]
    overlaps: NotRequired[List[Overlap]]
    revision: int
    words: NotRequired[List[Word]]


class SegmentPage(TypedDict):
    items: List[Segment]
    next_cursor: Union[str, None]


class MissingAudio(TypedDict):
    start_ms: int
    end_ms: int
    reason: Literal['missing', 'undecodable', 'damaged', 'late']
    awaited: NotRequired[bool]
    chunk_sequences: List[int]


class ClampedChunk(TypedDict):
    chunk_sequence: int
    at_ms: int
    excess_ms: int


class Completeness(TypedDict):
    received_ms: int
    lag_ms: int
    complete: bool
    expected_last_sequence: NotRequired[int]
    missing: List[MissingAudio]
    accepted_until: NotRequired[str]
    waiting: NotRequired[AwaitedAudio]
    times_clamped: List[ClampedChunk]


class Upload(TypedDict):
    id: str
    session_id: str
    filename: str
    media_type: str
    size: int
    received: int
    status: Literal['receiving', 'received', 'storing', 'stored', 'failed']
    error_code: NotRequired[str]
    error: NotRequired[str]
    created_at: str
    expires_at: str


class DeletionReceipt(TypedDict):
    success: Literal[True]
    message: str
    receipt_id: str
    session_id: str
    kind: str
    deleted_at: str
    removed: Dict[str, Any]
    audio_erased: bool


class Citation(TypedDict):
    session_id: str
    segment_id: str
    start_ms: int
    end_ms: int
    speaker_label: str
    speaker_name: NotRequired[str]
    text: str


class Answer(TypedDict):
    answer: str
    tools_used: List[str]
    citations: List[Citation]
    model: NotRequired[str]


class SnapshotFrameSessionWarning(TypedDict):
    warning: Literal['language_unsupported']
    message: str


class SnapshotFrameSession(TypedDict):
    id: str
    workspace_id: str
    title: str
    status: Literal['recording', 'processing', 'completed', 'failed', 'deleted']
    language: str
    engine: NotRequired[str]
    sound_leaves: NotRequired[bool]
    warnings: NotRequired[List[SnapshotFrameSessionWarning]]
    started_at: str
    stopped_at: NotRequired[str]


class SnapshotFrameSpeaker(TypedDict):
    speaker_label: str
    source: NotRequired[Literal['self_claim', 'moderator_assignment']]
    claimed_user_id: NotRequired[str]
    display_name: NotRequired[str]
    free_name: NotRequired[str]


class SnapshotFrameSegmentOverlap(TypedDict):
    speaker: str
    segment_id: str
    start: float
    end: float


class SnapshotFrameSegment(TypedDict):
    segment_id: str
    start: float
    duration: float
    transcript: str
    confidence: float
    speaker: str
    speaker_confidence: NotRequired[Union[float, None]]
    also_speaking: NotRequired[List[str]]
    overlaps: NotRequired[List[SnapshotFrameSegmentOverlap]]
    revision: int
    unclear_words: NotRequired[List[int]]


class SnapshotFrameInterimOverlap(TypedDict):
    speaker: str
    segment_id: str
    start: float
    end: float


class SnapshotFrameInterimWord(TypedDict):
    word: str
    start: float
    end: float
    confidence: float
    unclear: NotRequired[bool]
    times_clamped: NotRequired[bool]
    speaker: str


class SnapshotFrameInterim(TypedDict):
    type: Literal['Results']
    session_id: str
    segment_id: str
    start: float
    duration: float
    transcript: str
    confidence: float
    speaker: str
    speaker_confidence: NotRequired[Union[float, None]]
    also_speaking: NotRequired[List[str]]
    overlaps: NotRequired[List[SnapshotFrameInterimOverlap]]
    channel: NotRequired[int]
    revision: int
    words: List[SnapshotFrameInterimWord]
    is_final: Literal[False]
    stable_words: int


class SnapshotFrame(TypedDict):
    type: Literal['Snapshot']
    session_id: str
    seq: int
    seq_at: NotRequired[str]
    session: SnapshotFrameSession
    speakers: List[SnapshotFrameSpeaker]
    segments: List[SnapshotFrameSegment]
    segments_cursor: NotRequired[str]
    interim: NotRequired[SnapshotFrameInterim]


class InterimResultsFrameOverlap(TypedDict):
    speaker: str
    segment_id: str
    start: float
    end: float


class InterimResultsFrameWord(TypedDict):
    word: str
    start: float
    end: float
    confidence: float
    unclear: NotRequired[bool]
    times_clamped: NotRequired[bool]
    speaker: str


class InterimResultsFrame(TypedDict):
    type: Literal['Results']
    session_id: str
    segment_id: str
    start: float
    duration: float
    transcript: str
    confidence: float
    speaker: str
    speaker_confidence: NotRequired[Union[float, None]]
    also_speaking: NotRequired[List[str]]
    overlaps: NotRequired[List[InterimResultsFrameOverlap]]
    channel: NotRequired[int]
    revision: int
    words: List[InterimResultsFrameWord]
    is_final: Literal[False]
    stable_words: int


class FinalResultsFrameOverlap(TypedDict):
    speaker: str
    segment_id: str
    start: float
    end: float


class FinalResultsFrameWord(TypedDict):
    word: str
    start: float
    end: float
    confidence: float
    unclear: NotRequired[bool]
    times_clamped: NotRequired[bool]
    speaker: str


class FinalResultsFrame(TypedDict):
    type: Literal['Results']
    session_id: str
    seq: int
    at: str
    segment_id: str
    start: float
    duration: float
    transcript: str
    confidence: float
    speaker: str
    speaker_confidence: NotRequired[Union[float, None]]
    also_speaking: NotRequired[List[str]]
    overlaps: NotRequired[List[FinalResultsFrameOverlap]]
    channel: NotRequired[int]
    revision: int
    words: List[FinalResultsFrameWord]
    is_final: Literal[True]


class SpeechStartedFrame(TypedDict):
    type: Literal['SpeechStarted']
    session_id: str
    start: float
    channel: NotRequired[int]


class UtteranceEndFrame(TypedDict):
    type: Literal['UtteranceEnd']
    session_id: str
    end: float


class SegmentRevisedFrame(TypedDict):
    type: Literal['SegmentRevised']
    session_id: str
    seq: int
    at: str
    segment_id: str
    revision: int
    transcript: str
    speaker: str


class TranscriptReplacedFrameSpan(TypedDict):
    start: float
    end: float


class TranscriptReplacedFrame(TypedDict):
    type: Literal['TranscriptReplaced']
    session_id: str
    seq: int
    at: str
    job_id: str
    span: TranscriptReplacedFrameSpan
    removed_segment_ids: List[str]
    segment_ids: List[str]
    edits_replaced: int


class SpeakerRevisionFrameRevision(TypedDict):
    segment_id: str
    speaker: str


SpeakerRevisionFrameMerge = TypedDict(
    "SpeakerRevisionFrameMerge",
    {
        "from": "str",
        "into": "str",
    },
)


class SpeakerRevisionFrame(TypedDict):
    type: Literal['SpeakerRevision']
    session_id: str
    seq: int
    at: str
    revisions: List[SpeakerRevisionFrameRevision]
    merges: List[SpeakerRevisionFrameMerge]


class SpeakerClaimedFrame(TypedDict):
    type: Literal['SpeakerClaimed']
    session_id: str
    seq: int
    at: str
    speaker_label: str
    source: NotRequired[Literal['self_claim', 'moderator_assignment']]
    claimed_user_id: NotRequired[str]
    display_name: NotRequired[str]
    revoked: bool


class SpeakerNamedFrame(TypedDict):
    type: Literal['SpeakerNamed']
    session_id: str
    seq: int
    at: str
    speaker_label: str
    free_name: NotRequired[str]


class ChunkStatusFrame(TypedDict):
    type: Literal['ChunkStatus']
    session_id: str
    seq: int
    at: str
    chunk_id: NotRequired[str]
    chunk_sequence: int
    transcription_status: Literal['pending', 'processing', 'completed', 'failed']
    missing: NotRequired[bool]
    start: NotRequired[float]
    duration: NotRequired[float]
    message: NotRequired[str]


class SessionStatusFrame(TypedDict):
    type: Literal['SessionStatus']
    session_id: str
    seq: int
    at: str
    status: Literal['recording', 'processing', 'completed', 'failed', 'deleted']
    reason: NotRequired[Literal['device_silent', 'not_audio', 'audio_unreadable', 'language_unsupported']]


class SessionEndedFrame(TypedDict):
    type: Literal['SessionEnded']
    session_id: str
    status: Literal['completed', 'failed']
    seq: int


class JobStatusFrame(TypedDict):
    type: Literal['JobStatus']
    session_id: str
    seq: int
    at: str
    job_id: str
    status: Literal['queued', 'running', 'completed', 'failed', 'cancelled']
    progress: float
    error: NotRequired[str]
    engine: NotRequired[str]
    sound_leaves: NotRequired[bool]


class JobProgressFrame(TypedDict):
    type: Literal['JobStatus']
    session_id: str
    job_id: str
    status: Literal['queued', 'running', 'completed', 'failed', 'cancelled']
    progress: float
    error: NotRequired[str]


class SummaryUpdatedFrame(TypedDict):
    type: Literal['SummaryUpdated']
    session_id: str
    seq: int
    at: str
    job_id: str
    summary_type: str


class RedactedFrameSpan(TypedDict):
    start: float
    end: float


class RedactedFrame(TypedDict):
    type: Literal['Redacted']
    session_id: str
    seq: int
    at: str
    redaction_id: str
    span: RedactedFrameSpan
    speaker: NotRequired[str]
    segment_ids: List[str]


class ConcernRaisedFrame(TypedDict):
    type: Literal['ConcernRaised']
    session_id: str
    seq: int
    at: str
    concern_id: str


class AnnotationChangedFrame(TypedDict):
    type: Literal['AnnotationChanged']
    session_id: str
    seq: int
    at: str
    annotation_type: Literal['mark', 'action_item']
    annotation_id: str
    removed: bool


class GuestJoinedFrame(TypedDict):
    type: Literal['GuestJoined']
    session_id: str
    seq: int
    at: str
    guest_id: str
    display_name: str


class StubFrame(TypedDict):
    type: Literal['Stub']
    session_id: str
    seq: int
    at: str


class HeartbeatFrameDevice(TypedDict):
    presence: Literal['online', 'offline']
    last_seen_at: str
    battery_percent: NotRequired[float]
    buffered_chunks: NotRequired[int]


class HeartbeatFrame(TypedDict):
    type: Literal['Heartbeat']
    session_id: str
    seq: int
    audio_received: float
    audio_finalised: float
    lag_ms: float
    gaps: int
    device: NotRequired[HeartbeatFrameDevice]


class WarningFrame(TypedDict):
    type: Literal['Warning']
    session_id: NotRequired[str]
    code: Literal['bad_request', 'invalid_json', 'invalid_body', 'invalid_parameter', 'unauthorized', 'invalid_credentials', 'invalid_token', 'invalid_api_key', 'forbidden', 'key_suspended', 'elevation_required', 'proof_required', 'quota_exceeded', 'guest_access_closed', 'not_found', 'method_not_allowed', 'conflict', 'code_in_use', 'not_paired', 'already_recording', 'already_claimed', 'external_id_taken', 'chunk_conflict', 'session_ended', 'superseded', 'session_deleted', 'job_active', 'idempotency_in_progress', 'body_timeout', 'precondition_failed', 'payload_too_large', 'unsupported_media_type', 'range_not_satisfiable', 'not_audio', 'upload_held', 'checksum_mismatch', 'language_unsupported', 'idempotency_mismatch', 'rate_limited', 'slow_down', 'internal', 'unavailable', 'overloaded', 'worker_broken', 'engine_unavailable', 'storage_full', 'lease_lost', 'stale_epoch', 'timeout', 'too_late', 'outcome_unknown', 'position_unknown', 'resumed', 'device_offline', 'device_online', 'renew_key', 'stop_recording']
    message: str
    retryable: bool


class ErrorFrame(TypedDict):
    type: Literal['Error']
    session_id: NotRequired[str]
    code: Literal['bad_request', 'invalid_json', 'invalid_body', 'invalid_parameter', 'unauthorized', 'invalid_credentials', 'invalid_token', 'invalid_api_key', 'forbidden', 'key_suspended', 'elevation_required', 'proof_required', 'quota_exceeded', 'guest_access_closed', 'not_found', 'method_not_allowed', 'conflict', 'code_in_use', 'not_paired', 'already_recording', 'already_claimed', 'external_id_taken', 'chunk_conflict', 'session_ended', 'superseded', 'session_deleted', 'job_active', 'idempotency_in_progress', 'body_timeout', 'precondition_failed', 'payload_too_large', 'unsupported_media_type', 'range_not_satisfiable', 'not_audio', 'upload_held', 'checksum_mismatch', 'language_unsupported', 'idempotency_mismatch', 'rate_limited', 'slow_down', 'internal', 'unavailable', 'overloaded', 'worker_broken', 'engine_unavailable', 'storage_full', 'lease_lost', 'stale_epoch', 'timeout', 'too_late', 'outcome_unknown', 'position_unknown', 'resumed', 'device_offline', 'device_online', 'renew_key', 'stop_recording']
    message: str
    retryable: bool


ServerFrame = Union[SnapshotFrame, InterimResultsFrame, FinalResultsFrame, SpeechStartedFrame, UtteranceEndFrame, SegmentRevisedFrame, TranscriptReplacedFrame, SpeakerRevisionFrame, SpeakerClaimedFrame, SpeakerNamedFrame, ChunkStatusFrame, SessionStatusFrame, SessionEndedFrame, JobStatusFrame, JobProgressFrame, SummaryUpdatedFrame, RedactedFrame, ConcernRaisedFrame, AnnotationChangedFrame, GuestJoinedFrame, StubFrame, HeartbeatFrame, WarningFrame, ErrorFrame]


class BeginFrameConfiguration(TypedDict):
    encoding: Literal['pcm_s16le', 'opus', 'mulaw']
    sample_rate: int
    channels: int
    framing: Literal['packet', 'length_prefixed']
    interim_results: bool
    transcript: bool


class BeginFrame(TypedDict):
    type: Literal['Begin']
    session_id: str
    seq: int
    audio_offset_bytes: int
    chunk_sequence: int
    configuration: BeginFrameConfiguration


class AudioAckFrame(TypedDict):
    type: Literal['AudioAck']
    session_id: str
    audio_offset_bytes: int
    chunk_sequence: int


StreamServerFrame = Union[BeginFrame, AudioAckFrame, SpeechStartedFrame, UtteranceEndFrame, SessionStatusFrame, HeartbeatFrame, WarningFrame, InterimResultsFrame, FinalResultsFrame, SegmentRevisedFrame, TranscriptReplacedFrame, SpeakerRevisionFrame, RedactedFrame, ErrorFrame]


class SessionStartedMessageData(TypedDict):
    session_id: str
    workspace_id: str
    seq: NotRequired[int]
    status: Literal['recording']
    job_id: str


class SessionStartedMessage(TypedDict):
    type: Literal['session.started']
    timestamp: str
    data: SessionStartedMessageData


class SessionStoppedMessageData(TypedDict):
    session_id: str
    workspace_id: str
    seq: NotRequired[int]
    status: Literal['processing']
    reason: NotRequired[str]


class SessionStoppedMessage(TypedDict):
    type: Literal['session.stopped']
    timestamp: str
    data: SessionStoppedMessageData


class SessionCompletedMessageData(TypedDict):
    session_id: str
    workspace_id: str
    seq: NotRequired[int]
    status: Literal['completed']


class SessionCompletedMessage(TypedDict):
    type: Literal['session.completed']
    timestamp: str
    data: SessionCompletedMessageData


class SessionFailedMessageData(TypedDict):
    session_id: str
    workspace_id: str
    seq: NotRequired[int]
    status: Literal['failed']
    reason: NotRequired[str]


class SessionFailedMessage(TypedDict):
    type: Literal['session.failed']
    timestamp: str
    data: SessionFailedMessageData


class SessionDeletedMessageData(TypedDict):
    session_id: str
    workspace_id: str
    seq: NotRequired[int]
    status: Literal['deleted']
    kind: str


class SessionDeletedMessage(TypedDict):
    type: Literal['session.deleted']
    timestamp: str
    data: SessionDeletedMessageData


class ChunkFailedMessageData(TypedDict):
    session_id: str
    workspace_id: str
    seq: NotRequired[int]
    chunk_id: str
    chunk_sequence: int
    code: str
    status: Union[Literal['failed'], Literal['completed']]


class ChunkFailedMessage(TypedDict):
    type: Literal['chunk.failed']
    timestamp: str
    data: ChunkFailedMessageData


class TranscriptSegmentRevisedMessageData(TypedDict):
    session_id: str
    workspace_id: str
    seq: NotRequired[int]
    segment_id: str
    revision: int


class TranscriptSegmentRevisedMessage(TypedDict):
    type: Literal['transcript.segment_revised']
    timestamp: str
    data: TranscriptSegmentRevisedMessageData


class TranscriptReplacedMessageData(TypedDict):
    session_id: str
    workspace_id: str
    seq: NotRequired[int]
    job_id: str
    start_ms: int
    end_ms: int
    edits_replaced: int


class TranscriptReplacedMessage(TypedDict):
    type: Literal['transcript.replaced']
    timestamp: str
    data: TranscriptReplacedMessageData


class SpeakerClaimedMessageData(TypedDict):
    session_id: str
    workspace_id: str
    seq: NotRequired[int]
    speaker_label: str
    source: str
    claimed_user_id: str


class SpeakerClaimedMessage(TypedDict):
    type: Literal['speaker.claimed']
    timestamp: str
    data: SpeakerClaimedMessageData


class SummaryCompletedMessageData(TypedDict):
    session_id: str
    workspace_id: str
    seq: NotRequired[int]
    job_id: str
    summary_type: str
    status: Literal['completed']


class SummaryCompletedMessage(TypedDict):
    type: Literal['summary.completed']
    timestamp: str
    data: SummaryCompletedMessageData


class SummaryReadyMessageData(TypedDict):
    session_id: str
    workspace_id: str
    seq: NotRequired[int]
    job_id: str
    status: Literal['completed']


class SummaryReadyMessage(TypedDict):
    type: Literal['summary.ready']
    timestamp: str
    data: SummaryReadyMessageData


class ConcernRaisedMessageData(TypedDict):
    session_id: str
    workspace_id: str
    seq: NotRequired[int]
    concern_id: str
    status: Literal['open']


class ConcernRaisedMessage(TypedDict):
    type: Literal['concern.raised']
    timestamp: str
    data: ConcernRaisedMessageData


class RedactionAppliedMessageData(TypedDict):
    session_id: str
    workspace_id: str
    seq: NotRequired[int]
    redaction_id: str


class RedactionAppliedMessage(TypedDict):
    type: Literal['redaction.applied']
    timestamp: str
    data: RedactionAppliedMessageData


class WebhookTestMessageData(TypedDict):
    webhook_id: str
    workspace_id: str


class WebhookTestMessage(TypedDict):
    type: Literal['webhook.test']
    timestamp: str
    data: WebhookTestMessageData


WebhookMessage = Union[SessionStartedMessage, SessionStoppedMessage, SessionCompletedMessage, SessionFailedMessage, SessionDeletedMessage, ChunkFailedMessage, TranscriptSegmentRevisedMessage, TranscriptReplacedMessage, SpeakerClaimedMessage, SummaryCompletedMessage, SummaryReadyMessage, ConcernRaisedMessage, RedactionAppliedMessage, WebhookTestMessage]


class StreamConfiguration(TypedDict):
    session_id: NotRequired[str]
    encoding: Literal['pcm_s16le', 'opus', 'mulaw']
    sample_rate: int
    channels: int
    framing: NotRequired[Literal['packet', 'length_prefixed']]
    title: NotRequired[str]
    language: NotRequired[str]
    engine: NotRequired[str]
    vocabulary: NotRequired[List[str]]
    interim_results: NotRequired[bool]
    transcript: NotRequired[bool]
    from_seq: NotRequired[int]
