import { type Static, Type } from "@sinclair/typebox";
import { LAG } from "../base/lag.ts";
import { defineRoute, type Route } from "./route.ts";
import { toMilliseconds } from "./segments.ts";
import { requireSession } from "./sessions-access.ts";
import type { SessionDirectory } from "./sessions-directory.ts";
import { sessionParams } from "./sessions-schema.ts";
import type { GapReader, GapRecord } from "./transcript.ts";

/** What is stored of a session's audio. Positions and lengths are samples at 16 kHz. */
export interface AudioInventory {
  /** Length of all stored chunks together, seconds. */
  seconds: number;
  /** Length of what was not read yet, see `LAG`. */
  lagMs: number;
  /** Last sequence that belongs to it, as said at its stop. */
  expectedLast?: number;
  /** Nothing is recorded any more. */
  ended: boolean;
  /** Nothing that came could be read. */
  failed: boolean;
  /** Every stored chunk was decoded or given up. */
  settled: boolean;
  /** End of what has its place on the timeline. */
  end: number;
  /** Length of the newest chunk with a place: what a missing one is taken for. */
  nominal: number;
  /** Stored, but not decodable. */
  undecodable: GapRecord[];
  /** Parts of decodable ones that are not. */
  broken: GapRecord[];
  /** Sequences up to the last one with neither a chunk nor a gap on the timeline, in order. */
  absent: number[];
  /** Sequences whose chunk came after its gap had been declared. */
  late: number[];
}

/** Port: throws `unavailable` when storage is away. */
export interface AudioInventories {
  of(sessionId: string): Promise<AudioInventory>;
}

export interface CompletenessPorts {
  directory: SessionDirectory;
  inventories: AudioInventories;
  gaps: GapReader;
}

type Reason = "missing" | "undecodable" | "late";

const missingSchema = Type.Object({
  start_ms: Type.Integer(),
  end_ms: Type.Integer(),
  reason: Type.Union(
    (["missing", "undecodable", "late"] as const).map((reason) => Type.Literal(reason)),
    {
      description:
        "`missing`: never came. `undecodable`: came, but holds no audio that can be read: a chunk, or a part of one in whose place there is silence. `late`: came after its turn and is being read now.",
    },
  ),
  chunk_sequences: Type.Array(Type.Integer()),
});

const completenessSchema = Type.Object(
  {
    received_ms: Type.Integer({ description: "Length of all chunks that were stored" }),
    lag_ms: Type.Integer({ description: LAG }),
    complete: Type.Boolean({
      description: "The session has ended, and every chunk of it came and was read whole",
    }),
    expected_last_sequence: Type.Optional(
      Type.Integer({ description: "Known once the session has ended; -1 without any chunk" }),
    ),
    missing: Type.Array(missingSchema),
  },
  {
    examples: [
      {
        received_ms: 58_000,
        lag_ms: 0,
        complete: false,
        expected_last_sequence: 29,
        missing: [{ start_ms: 10_000, end_ms: 12_000, reason: "missing", chunk_sequences: [5] }],
      },
    ],
  },
);

interface Span extends GapRecord {
  reason: Reason;
}

/** Spans without usable audio in order, neighbours of one reason joined. */
export function missingSpans(
  inventory: AudioInventory,
  gaps: readonly GapRecord[],
): Static<typeof missingSchema>[] {
  const late = new Set(inventory.late);
  const undecodable = new Set(inventory.undecodable.map(({ sequence }) => sequence));
  const spans: Span[] = [
    ...gaps
      .filter(({ sequence }) => !undecodable.has(sequence))
      .map((gap): Span => ({ ...gap, reason: late.has(gap.sequence) ? "late" : "missing" })),
    ...[...inventory.undecodable, ...inventory.broken].map(
      (audio): Span => ({ ...audio, reason: "undecodable" }),
    ),
    // Not on the timeline yet: they get their place when the wait for them ends.
    ...inventory.absent.map((sequence, index): Span => {
      const start = inventory.end + index * inventory.nominal;
      return { sequence, start, length: inventory.nominal, reason: "missing" };
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
    chunk_sequences: sequences,
  }));
}

/** GET /sessions/{id}/completeness. */
export function completenessRoutes(ports: CompletenessPorts): Route[] {
  const completeness = defineRoute({
    method: "get",
    path: "/sessions/{session_id}/completeness",
    id: "getCompleteness",
    tag: "Session",
    summary: "Which audio of a session is missing or could not be read",
    description:
      "Spans on the session's timeline with their chunk sequences. A sequence that was just noticed to be missing is shown behind the audio so far, with the length of the chunk before; it gets its place when it comes, or as a gap after 10 s.",
    auth: ["bearer", "service_key"],
    params: sessionParams,
    responses: { 200: { description: "As it stands", schema: completenessSchema } },
    errors: ["forbidden", "guest_access_closed", "not_found"],
    resolve: ({ principal, params }) =>
      requireSession(ports.directory, principal, params.session_id, "session.read"),
    async handle({ params }) {
      const [inventory, gaps] = await Promise.all([
        ports.inventories.of(params.session_id),
        ports.gaps.gaps(params.session_id),
      ]);
      const missing = missingSpans(inventory, gaps);
      const body: Static<typeof completenessSchema> = {
        received_ms: Math.round(inventory.seconds * 1_000),
        lag_ms: inventory.lagMs,
        complete: inventory.ended && !inventory.failed && inventory.settled && missing.length === 0,
        missing,
      };
      if (inventory.ended && inventory.expectedLast !== undefined) {
        body.expected_last_sequence = inventory.expectedLast;
      }
      return { status: 200, body };
    },
  });
  return [completeness];
}
