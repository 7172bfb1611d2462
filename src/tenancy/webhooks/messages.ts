import { type TObject, type TProperties, Type } from "@sinclair/typebox";
import { WEBHOOK_MESSAGE_TYPES, type WebhookMessageType } from "../../session/webhook-event.ts";

const SESSION_IDS: TProperties = {
  session_id: Type.String(),
  workspace_id: Type.String(),
  seq: Type.Optional(
    Type.Integer({
      description:
        "Number of the event within its session, as on the live channel; absent of stored audio that was found damaged later",
    }),
  ),
};

const TEST_IDS: TProperties = { webhook_id: Type.String(), workspace_id: Type.String() };

/** What `data` of each message holds besides the ids of session and workspace. */
const OWN_DATA: Readonly<Record<WebhookMessageType, [summary: string, members: TProperties]>> = {
  "session.started": [
    "A session began",
    { status: Type.Literal("recording"), job_id: Type.String() },
  ],
  "session.stopped": [
    "A recording stopped, and is still being read",
    {
      status: Type.Literal("processing"),
      reason: Type.Optional(
        Type.String({
          description: "Set when the service stopped it",
          examples: ["device_silent"],
        }),
      ),
    },
  ],
  "session.completed": ["A session was read to its end", { status: Type.Literal("completed") }],
  "session.failed": [
    "Nothing of a session could be read",
    {
      status: Type.Literal("failed"),
      reason: Type.Optional(
        Type.String({
          description: "Why; absent of sessions that an earlier release ended",
          examples: ["audio_unreadable"],
        }),
      ),
    },
  ],
  "session.deleted": [
    "A session was deleted, with its words and audio",
    {
      status: Type.Literal("deleted"),
      kind: Type.String({
        description: "What deleted it",
        examples: ["session_deleted_by_owner"],
      }),
    },
  ],
  "chunk.failed": [
    "A chunk could not be read, or its stored audio was found damaged later",
    {
      chunk_id: Type.String(),
      chunk_sequence: Type.Integer(),
      code: Type.String({
        description:
          "Why: `not_audio`, `audio_unreadable`, or `audio_damaged` where its stored file is gone or holds other bytes since",
        examples: ["not_audio"],
      }),
      status: Type.Union([Type.Literal("failed"), Type.Literal("completed")], {
        description: "`completed`: it had been read before its stored audio was damaged",
      }),
    },
  ],
  "transcript.segment_revised": [
    "A person corrected a segment",
    { segment_id: Type.String(), revision: Type.Integer({ examples: [2] }) },
  ],
  "transcript.replaced": [
    "A span was read once more",
    {
      job_id: Type.String(),
      start_ms: Type.Integer(),
      end_ms: Type.Integer(),
      edits_replaced: Type.Integer({ description: "Segments edited by people that were replaced" }),
    },
  ],
  "speaker.claimed": [
    "Somebody claimed a voice, or was named for it",
    {
      speaker_label: Type.String(),
      source: Type.String({ examples: ["self_claim"] }),
      claimed_user_id: Type.String(),
    },
  ],
  "summary.completed": [
    "A summary is there",
    {
      job_id: Type.String(),
      summary_type: Type.String({ description: "Which summary", examples: ["brief"] }),
      status: Type.Literal("completed"),
    },
  ],
  "summary.ready": [
    "All notes of an ended session are there, or there again after its words changed; for each a `summary.completed` was sent too",
    {
      job_id: Type.String({ description: "Of the summary that came last" }),
      status: Type.Literal("completed"),
    },
  ],
  "concern.raised": [
    "Somebody found something wrong",
    {
      concern_id: Type.String({ description: "UUID of the concern" }),
      status: Type.Literal("open"),
    },
  ],
  "redaction.applied": ["Words were taken out for good", { redaction_id: Type.String() }],
  "webhook.test": ["An owner asked for a test", {}],
};

/** One message that a webhook may get, for the document. */
interface WebhookMessage {
  type: WebhookMessageType;
  summary: string;
  schema: TObject;
}

/** Every message that a webhook may get, with the schema of its body. */
export const WEBHOOK_MESSAGES: readonly WebhookMessage[] = WEBHOOK_MESSAGE_TYPES.map((type) => {
  const [summary, members] = OWN_DATA[type];
  const ids = type === "webhook.test" ? TEST_IDS : SESSION_IDS;
  const data = Type.Object(
    { ...ids, ...members },
    { description: "Ids, numbers, labels and states; never words" },
  );
  const schema = Type.Object(
    {
      type: Type.Literal(type, { description: "Which message it is" }),
      timestamp: Type.String({
        format: "date-time",
        description: "When it happened: RFC 3339, UTC, milliseconds",
      }),
      data,
    },
    { $id: `${nameOf(type)}Message` },
  );
  return { type, summary, schema };
});

/** `transcript.segment_revised` as `TranscriptSegmentRevised`. */
function nameOf(type: string): string {
  return type.replaceAll(/(?:^|[._])([a-z])/g, (_all, letter: string) => letter.toUpperCase());
}
