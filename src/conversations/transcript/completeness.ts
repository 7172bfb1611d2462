import { type Static, Type } from "@sinclair/typebox";
import { toMilliseconds } from "../../base/audio/sample-rate.ts";
import { toTimestamp } from "../../base/clock.ts";
import { defineRoute, type Route } from "../../rest/route.ts";
import { timestamp } from "../../rest/schemas.ts";
import type { Patience } from "../../session/limits.ts";
import { LAG } from "../../wire/field-descriptions.ts";
import { requireSession } from "../sessions/access.ts";
import { presentWaiting, waitingSchema } from "../sessions/awaited-audio.ts";
import type { AwaitedAudioStore } from "../sessions/awaited-audio-store.ts";
import { sessionParams } from "../sessions/schema.ts";
import type { SessionStore } from "../sessions/store.ts";
import type { AudioInventory, AudioInventoryStore } from "./audio-inventories-store.ts";
import type { SegmentStore } from "./segments-store.ts";
import type { GapRecord } from "./writing/segment-record.ts";

interface CompletenessOptions {
  directory: SessionStore;
  inventories: AudioInventoryStore;
  gaps: SegmentStore;
  awaited: AwaitedAudioStore;
  patience: Patience;
}

const REASONS = ["missing", "undecodable", "damaged", "late"] as const;
type Reason = (typeof REASONS)[number];

const missingSchema = Type.Object(
  {
    start_ms: Type.Integer(),
    end_ms: Type.Integer(),
    reason: Type.Union(
      REASONS.map((reason) => Type.Literal(reason)),
      {
        description:
          "`missing`: did not come. `undecodable`: came, but holds no audio that can be read: a chunk, or a part of one in whose place there is silence. `damaged`: came whole, and its stored file is gone, cannot be read or holds other bytes since, which is no fault of the device; what had been read of it before stays in the text. The same upload again mends it. `late`: came after it had been given up, and is not in the text yet: chunks that come late wait a little for one another and are read together.",
      },
    ),
    awaited: Type.Optional(
      Type.Boolean({
        description:
          "Of what is `missing`: true while it is waited for, false once it was given up. Even then it is taken until `accepted_until`, and its part of the text made again",
      }),
    ),
    chunk_sequences: Type.Array(Type.Integer()),
  },
  { $id: "MissingAudio" },
);

const clampedSchema = Type.Object(
  {
    chunk_sequence: Type.Integer(),
    at_ms: Type.Integer({ description: "End of its place, where the words of the excess stand" }),
    excess_ms: Type.Integer({ description: "So much longer is the sound" }),
  },
  { $id: "ClampedChunk" },
);

const completenessSchema = Type.Object(
  {
    received_ms: Type.Integer({ description: "Length of all chunks that were stored" }),
    lag_ms: Type.Integer({ description: LAG }),
    complete: Type.Boolean({
      description:
        "The session has ended, every chunk of it came and was read whole, and none was found damaged since",
    }),
    expected_last_sequence: Type.Optional(
      Type.Integer({ description: "Known once the session has ended; -1 without any chunk" }),
    ),
    missing: Type.Array(missingSchema, {
      description:
        "Spans without words, because their audio is missing or could not be read, or whose stored audio was damaged later",
    }),
    accepted_until: Type.Optional(
      Type.Unsafe<string>({
        ...timestamp,
        description: "Until then chunks that are missing are taken. Absent when none is",
      }),
    ),
    waiting: Type.Optional(waitingSchema),
    times_clamped: Type.Array(clampedSchema, {
      description:
        "Chunks that came late and are longer than the place that was kept for them. They are read and kept whole; time does not move, so that the words of the excess stand at the end of the place, marked `times_clamped`",
    }),
  },
  {
    $id: "Completeness",
    examples: [
      {
        received_ms: 58_000,
        lag_ms: 0,
        complete: false,
        expected_last_sequence: 29,
        missing: [
          {
            start_ms: 10_000,
            end_ms: 12_000,
            reason: "missing",
            awaited: false,
            chunk_sequences: [5],
          },
        ],
        accepted_until: "2026-02-01T09:30:00.000Z",
        times_clamped: [],
      },
    ],
  },
);

interface Span extends GapRecord {
  reason: Reason;
  awaited?: boolean;
}

/** Spans without usable audio, in order; neighbours with the same reason are joined. */
function missingSpans(
  inventory: AudioInventory,
  gaps: readonly GapRecord[],
): Static<typeof missingSchema>[] {
  const came = new Set(
    [...inventory.late, ...inventory.undecodable].map(({ sequence }) => sequence),
  );
  const spans: Span[] = [
    ...gaps
      .filter(({ sequence }) => !came.has(sequence))
      .map((gap): Span => ({ ...gap, reason: "missing", awaited: false })),
    ...inventory.late.map((chunk): Span => ({ ...chunk, reason: "late" })),
    ...inventory.undecodable.map(
      ({ isDamaged, ...chunk }): Span => ({
        ...chunk,
        reason: isDamaged ? "damaged" : "undecodable",
      }),
    ),
    ...inventory.damaged.map((chunk): Span => ({ ...chunk, reason: "damaged" })),
    ...inventory.broken.map((audio): Span => ({ ...audio, reason: "undecodable" })),
    // These chunks get their place on the timeline when the wait for them ends.
    ...inventory.absent.map((sequence, index): Span => {
      const start = inventory.end + index * inventory.nominal;
      return { sequence, start, length: inventory.nominal, reason: "missing", awaited: true };
    }),
  ];
  spans.sort((a, b) => a.sequence - b.sequence || a.start - b.start);
  return joinSpans(spans);
}

function joinSpans(spans: readonly Span[]): Static<typeof missingSchema>[] {
  const joined: { from: Span; end: number; sequences: number[] }[] = [];
  for (const span of spans) {
    const last = joined.at(-1);
    const follows =
      last?.from.reason === span.reason &&
      last.from.awaited === span.awaited &&
      last.end === span.start &&
      last.sequences.at(-1) === span.sequence - 1;
    if (last === undefined || !follows) {
      joined.push({ from: span, end: span.start + span.length, sequences: [span.sequence] });
    } else {
      last.end = span.start + span.length;
      last.sequences.push(span.sequence);
    }
  }
  return joined.map(({ from, end, sequences }) => ({
    start_ms: toMilliseconds(from.start),
    end_ms: toMilliseconds(end),
    reason: from.reason,
    ...(from.awaited === undefined ? {} : { awaited: from.awaited }),
    chunk_sequences: sequences,
  }));
}

function presentCompleteness(
  inventory: AudioInventory,
  gaps: readonly GapRecord[],
): Static<typeof completenessSchema> {
  const { ended, failed, settled, expectedLast, acceptedUntil, clamped } = inventory;
  const missing = missingSpans(inventory, gaps);
  const lacks = missing.some(({ reason }) => reason === "missing");
  return {
    received_ms: Math.round(inventory.seconds * 1_000),
    lag_ms: inventory.lagMs,
    complete: ended && !failed && settled && missing.length === 0,
    ...(ended && expectedLast !== undefined ? { expected_last_sequence: expectedLast } : {}),
    missing,
    ...(lacks && acceptedUntil !== undefined ? { accepted_until: toTimestamp(acceptedUntil) } : {}),
    times_clamped: clamped.map(({ sequence, end, excess }) => ({
      chunk_sequence: sequence,
      at_ms: toMilliseconds(end),
      excess_ms: toMilliseconds(excess),
    })),
  };
}

/** GET /sessions/{id}/completeness. */
export function completenessRoutes(options: CompletenessOptions): Route[] {
  const completeness = defineRoute({
    method: "get",
    path: "/sessions/{session_id}/completeness",
    id: "getCompleteness",
    tag: "Session",
    summary: "Which audio of a session is missing, late or could not be read",
    description:
      "Spans on the session's timeline with their chunk sequences. A sequence that was just noticed to be missing is shown behind the audio so far, with the length of the chunk before; it gets its place when it comes, or as a gap once it is given up: after 10 s while the session records, after the stop when `waiting` says.",
    auth: ["bearer", "service_key"],
    params: sessionParams,
    responses: { 200: { description: "As it stands", schema: completenessSchema } },
    resolve: ({ principal, params }) =>
      requireSession(options.directory, principal, params.session_id, "session.read"),
    async handle({ params }) {
      const [inventory, gaps, awaited] = await Promise.all([
        options.inventories.of(params.session_id),
        options.gaps.gaps(params.session_id),
        options.awaited.of(params.session_id),
      ]);
      const body = presentCompleteness(inventory, gaps);
      if (awaited !== undefined) body.waiting = presentWaiting(awaited, options.patience);
      return { status: 200, body };
    },
  });
  return [completeness];
}
