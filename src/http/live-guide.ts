import { LIVE_NAMES } from "../rest/live-names.ts";
import { CLOSE } from "../wire/close-codes.ts";
import type { WarningCode } from "../wire/notice-codes.ts";
import { DEFAULT_LIVE_LIMITS as LIMITS } from "./sockets/live-limits.ts";

type Closes = Readonly<Record<keyof typeof CLOSE, string>>;

const CLOSE_TEXT: Closes = {
  done: "done",
  goingAway:
    "the service is stopping, or the Error before says what it cannot do just now: reconnect, not all at once",
  tooLarge: "a frame was too large",
  protocol: "frames that make no sense",
  auth: "no longer signed in",
  forbidden: "no right to the session, or no longer",
  unknownSession: "no such session, or it was deleted",
  idle: "nothing was heard for too long",
  superseded: "a newer connection took its place",
  tooSlow: "frames were not read in time: reconnect, and go on where you were",
  rate: "too many connections or frames",
};

const DEVICE_CLOSE_TEXT: Closes = {
  ...CLOSE_TEXT,
  done: "after CloseStream: all is stored. After the Error `session_ended` (the session was stopped, before or while this streamed): do not reconnect, what lies behind the last AudioAck is not stored",
};

function closeTable(texts: Closes): string {
  const rows = Object.entries(CLOSE).map(
    ([name, code]) => `| ${code} | ${texts[name as keyof Closes]} |`,
  );
  return ["| close code | meaning |", "|---|---|", ...rows].join("\n");
}

const WARNING_TEXT: Readonly<Record<WarningCode, string>> = {
  position_unknown:
    "The session does not have the event `from_seq`, or not one of `from_at`: forget what you have of it, and take the Snapshot that follows.",
  resumed: "Recognition goes on after an interruption. Nothing to do.",
  device_offline:
    "Nothing is heard of the recording device: three of its heartbeats did not come. Tell people; its audio may come later.",
  device_online: "It is back.",
  renew_key:
    "To a device: its key runs out within 7 days. Fetch a fresh one with POST /devices/pair/claim-auth.",
  stop_recording:
    "To a device whose Heartbeat says that it records, while no session of it is open. Stop, or begin one.",
};

const WARNING_TABLE = [
  "| code of a Warning | meaning, and what to do |",
  "|---|---|",
  ...Object.entries(WARNING_TEXT).map(([code, text]) => `| \`${code}\` | ${text} |`),
  "| a code of errors | As `message` says. Of recognition (`overloaded`, `unavailable`, `engine_unavailable`): text comes later, nothing is lost, and `resumed` follows. `language_unsupported`: no engine reads the language that the session inherited; its audio is kept, and read by a redo. Of what a device sends (`overloaded`, `not_audio`): see its channel. |",
].join("\n");

/** The guide at the head of the AsyncAPI document, in Markdown. */
export const LIVE_GUIDE = [
  "Sessions as they happen, over WebSocket: `/api/live` for people, programs and guests who read along, `/api/devices/{device_id}/stream` for devices that record. Everything else is [HTTP](docs). The document is the service's: what it receives is what you send.",
  "**Sign in** with the same credentials as REST: `Authorization: Bearer` (a user's or guest's token) or `X-API-Key` (a service key) at `/api/live`, the device's key as `X-API-Key` at its stream, where no token is taken. A browser cannot set headers on a WebSocket: it asks POST /auth/live-ticket and opens `/api/live?ticket=…`, once, within 30 s. A connection ends with the right that opened it: a person's with their access token, after 1 h at most, also where a ticket opened it. Then 4401 comes: get a fresh token, connect, and go on with `from_seq`.",
  "**Follow** a session with Subscribe. Durable events have `seq` and `at`, are in order and without a gap. What has no `at` describes the moment and may be left out for a slow viewer; the `seq` of such ones (Snapshot, Heartbeat, SessionEnded, Begin) names the session's newest event: check yours against it, do not count it. Times within a session are seconds of its timeline, `at` is the time of day.",
  "**Which message it is** say `type` and `is_final`. `type` is the message's name here, but for three that share one: a `Results` with `is_final` false is InterimResults (it has neither `seq` nor `at`), one with `is_final` true FinalResults; a `JobStatus` without `seq` is JobProgress; the `Heartbeat` that a device sends is DeviceHeartbeat. Ignore types and members that you do not know.",
  "**Words** have capitals and sentence marks: those of their model, or for English, where it writes none, by rule. `transcript` of a final is the `text` of its segment over REST and gRPC, letter for letter.",
  "**Go on after a break**: connect again, later each time, and send Subscribe with `from_seq`, the newest `seq` that you have. What came since is sent first, each event once, however long ago it was: events are kept as long as their session, and what is no longer in memory is read from the record. `from_seq` 0 gives the whole session from its first event on. Results come with their words as they stand now; where words were replaced or erased since, a Stub of the same `seq` stands in place of the event that had them. A `from_seq` that the session has not reached is answered by the Warning `position_unknown` and a Snapshot. Send the `at` of that event as `from_at` too (after a Snapshot its `seq_at`): where the service was restored from a backup, another event may have the same `seq`, and you are told in the same way. Without `from_seq` a Snapshot tells the state instead.",
  `**A dead line**: a Heartbeat of every session that is followed or streamed to comes every 5 s until it has ended, and at the latest every ${LIMITS.quietMs / 1000} s to viewers. Whoever hears nothing for 30 s takes the connection for dead, and connects again. The service pings every ${LIMITS.pingMs / 1000} s, and closes a socket from which nothing came, no pong either, for ${LIMITS.idleMs / 1000} s.`,
  `**The same over REST** has other names:\n\n${LIVE_NAMES}`,
  `**Limits**: ${LIMITS.subscriptionsPerSocket} sessions on a socket, ${LIMITS.socketsPerCaller} sockets of one caller, text frames of ${LIMITS.frameBytes / 1024} KiB, ${LIMITS.messages.perMinute} frames a minute (${LIMITS.messages.burst} at once). A viewer for whom more than ${LIMITS.bufferedBytes / 1024 / 1024} MiB wait is closed.`,
  `**Errors**: what is refused is told by an Error frame: \`code\` is one of its schema's list, \`message\` says what to do, \`retryable\` whether the same may work later. A frame that is no JSON or not as its schema says gets \`bad_request\`; after ${LIMITS.badFrames} such frames 4400 follows. Most of what ends a connection is told by an Error first, then by a close code, which each channel lists. Without an Error come 1001 where the service stops, 1009, 4408, 4410, 4401 to viewers and where a device's key has run out, and 4429 for too many frames: there the reason of the close says it.`,
  `**Warnings** end nothing:\n\n${WARNING_TABLE}`,
].join("\n\n");

const conversation = (...lines: string[]): string =>
  `\`\`\`text\n${lines.join("\n")}\n\`\`\`\nIn short: messages have more members.`;

const SESSION = '"session_id":"019c…"';

/** What is told of the channel for those who follow. */
export const VIEWER_CHANNEL = [
  "Text frames of JSON. Pages of other origins are refused unless the setting `ALLOWED_ORIGINS` names them.",
  conversation(
    `→ Subscribe {${SESSION},"from_seq":0}`,
    '← SessionStatus {"seq":1,"status":"recording"}',
    "← …",
    '← Results {"seq":10,"is_final":true,"transcript":"let us begin"}',
    "✂ the connection breaks; connect again",
    `→ Subscribe {${SESSION},"from_seq":10}`,
    '← Results {"seq":11,"is_final":true,"transcript":"with the budget"}',
    "← …",
    '← SessionStatus {"seq":27,"status":"completed"}',
    '← SessionEnded {"seq":27,"status":"completed"}',
  ),
  closeTable(CLOSE_TEXT),
].join("\n\n");

/** What is told of the channel for devices. */
export const DEVICE_CHANNEL = [
  "Opened with the device's key as `X-API-Key`, or with `?ticket=`. Send Configure (or, after a break, Resume), wait for Begin, send audio from its `audio_offset_bytes` on, and keep what no AudioAck named yet.",
  conversation(
    '→ Configure {"encoding":"pcm_s16le","sample_rate":16000,"channels":1}',
    `← Begin {${SESSION},"audio_offset_bytes":0}`,
    "→ bytes from 0 on, in binary messages",
    '← AudioAck {"audio_offset_bytes":64000,"chunk_sequence":1}',
    "✂ the connection breaks; connect again, with all bytes from 64000 on",
    `→ Resume {${SESSION},"audio_offset_bytes":64000}`,
    `← Begin {${SESSION},"audio_offset_bytes":67200}`,
    "→ bytes from 67200 on",
    "→ CloseStream {}",
    '← AudioAck {"audio_offset_bytes":160000,"chunk_sequence":2}',
    "← close 1000; then POST /devices/{device_id}/session/stop, without last_chunk_sequence",
  ),
  "**To end**, send CloseStream and wait: everything that came is stored, then the last AudioAck and 1000 come. The session goes on until it is stopped: POST /devices/{device_id}/session/stop, without `last_chunk_sequence` where all was streamed (the `chunk_sequence` of AudioAck is the number of the next chunk: a session that is told it waits for a chunk that never comes). It is answered with `processing`, and later with how the session ended. A session that is stopped while the stream is open ends it: SessionStatus, the Error `session_ended` and 1000; so close the stream first. Who never stops is stopped after 15 min without a sign of the device, where the operator set nothing else; an open stream is one.",
  "A newer connection of the session closes the older with 4409.",
  "When the device's right ends (its owner left or was disabled, its key was revoked, it was unpaired), what came is stored, and an Error, the last AudioAck and 4401 follow: what lies behind that AudioAck may still be uploaded for 24 h, from its `chunk_sequence` on.",
  "`audio_offset_bytes` counts the bytes of all binary messages of the session's stream, over all connections, as the device sent them: of Opus those of its packets (with `length_prefixed` their lengths too), not samples. In Begin and AudioAck it falls on the end of a sample of all channels, or of a message of Opus packets.",
  "**Lost audio**: when the oldest byte that Resume names is not stored yet, what lies between is silence: up to 120 s (beyond, the Error `conflict`), rounded up to whole samples, see Begin; of Opus nothing stands in its place. Neither completeness nor the transcript's `gaps` tell of it: they know chunks that did not come, and this one came.",
  "**Pace**: AudioAck comes as soon as audio is stored, at most ten times a second. Up to 1 MiB may lie ahead of the newest AudioAck; from there on the Warning `overloaded` says to wait (once, and again after less than 256 KiB lay ahead), and all is taken still. The message with which more than 8 MiB would lie ahead is not taken: the Error `overloaded` and 4429 come, what came before is stored, and the device goes on with Resume from the `audio_offset_bytes` of Begin. A device that keeps half a MiB ahead at most never meets either.",
  "**Words** come on this socket only when three things hold: Configure or Resume says `transcript` true, the device's owner has set `may_read` (PATCH /devices/{device_id}), and the session that it records is that owner's own and still recording. Begin says in `configuration.transcript` whether they do. Then come `Results`, `SegmentRevised`, `TranscriptReplaced`, `SpeakerRevision` and `Redacted`; otherwise the Error `forbidden`, and the recording goes on. With `from_seq` 0 the words of the whole session come first; there is no Snapshot, and a `from_seq` beyond the session's newest event counts as that event.",
  "Files are refused at the first bytes (`unsupported_media_type`), text and what is no Opus packets too (`not_audio`), each with 4400; a session that this Configure began then ends as `failed`. For a single broken packet there is the Warning `not_audio`, and silence in its place.",
  "4408 comes 10 s after the connection when nothing was said, and later after 60 s without any message or pong: a device that pauses answers pings or sends KeepAlive.",
  closeTable(DEVICE_CLOSE_TEXT),
].join("\n\n");

/** The channel of service keys, in Markdown. */
export const SESSION_CHANNEL = [
  "With a service key that has `sessions:write`, into a session of its workspace that records: POST /sessions begins one. Everything is as at `/devices/{device_id}/stream`, the resumption too, but for three things. The address names the session: Configure leaves out `session_id`, and title, language, engine and vocabulary, which are said when the session is made. Nothing is begun or ended here: POST /sessions/{session_id}/stop ends the recording. And words come with `transcript` true where the key has `sessions:read`: as long as the connection lasts, so whoever wants the last ones here sends Finalize and waits for its Results before CloseStream; afterwards they are read at GET /sessions/{session_id}/transcript, or followed at `/live`.",
  conversation(
    '→ Configure {"encoding":"pcm_s16le","sample_rate":16000,"channels":1,"transcript":true}',
    `← Begin {${SESSION},"audio_offset_bytes":0}`,
    "→ bytes from 0 on, in binary messages",
    '← AudioAck {"audio_offset_bytes":64000,"chunk_sequence":1}',
    '← Results {"seq":10,"is_final":true,"transcript":"Let us begin."}',
    "→ CloseStream {}",
    '← AudioAck {"audio_offset_bytes":160000,"chunk_sequence":2}',
    "← close 1000; then POST /sessions/{session_id}/stop",
  ),
  "A session takes one stream at a time, whoever came last; the one before is closed with 4409. A key may have 200 streams at once.",
].join("\n\n");
