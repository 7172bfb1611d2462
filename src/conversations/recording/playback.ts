import { Type } from "@sinclair/typebox";
import type { Authenticator } from "../../access/authenticator.ts";
import { maySession } from "../../access/policy.ts";
import type { Principal } from "../../access/principal.ts";
import { wavHeader } from "../../base/audio/wav.ts";
import type { Clock } from "../../base/clock.ts";
import { AppError, shown as readable } from "../../base/errors.ts";
import { type ByteRange, isKnown, parseByteRange, rangeStillFits } from "../../rest/byte-range.ts";
import {
  type BodyStream,
  defineRoute,
  HUMAN_ROLES,
  type Reply,
  type Route,
} from "../../rest/route.ts";
import { assertAllowed, requireSession } from "../sessions/access.ts";
import { sessionParams } from "../sessions/schema.ts";
import type { SessionStore } from "../sessions/store.ts";
import type { Recording, RecordingStore } from "./playback-store.ts";

interface SessionAudioOptions {
  directory: SessionStore;
  recordings: RecordingStore;
  authenticator: Pick<Authenticator, "revalidate">;
  clock: Clock;
}

/** A download checks the caller's right again after this time, milliseconds. */
const RECHECK_MS = 2_000;

/** GET /sessions/{id}/audio and /sessions/{id}/chunks/{chunk_sequence}/audio. */
export function sessionAudioRoutes(options: SessionAudioOptions): Route[] {
  return [sessionAudio(options), chunkAudio(options)];
}

function sessionAudio(options: SessionAudioOptions): Route {
  return defineRoute({
    method: "get",
    path: "/sessions/{session_id}/audio",
    id: "getSessionAudio",
    tag: "Session",
    summary: "The session's audio as one WAV file",
    description:
      "16 kHz, mono, 16 bits, as it lies on the session's timeline, so that the times of segments are times in the file: a header of 44 bytes, then 32 bytes for each millisecond. What a citation quotes is `Range: bytes=A-B` with A = 44 + 32 × `start_ms` and B = 43 + 32 × `end_ms`. Audio that is missing, cannot be decoded or was redacted is silence. While the session records, it is what has its place so far. One byte range can be asked for with `Range` (several are answered whole), safely continued with `If-Range` and the `ETag`. For the session's owner, moderators of its workspace, and administrators under an elevation.",
    auth: ["bearer", "service_key"],
    roles: HUMAN_ROLES,
    params: sessionParams,
    responses: {
      200: { description: "All of it", mediaTypes: ["audio/wav"] },
      206: { description: "The range that was asked for", mediaTypes: ["audio/wav"] },
      304: { description: "Still what `If-None-Match` names" },
    },
    errors: ["elevation_required", "range_not_satisfiable", "session_deleted"],
    async resolve({ principal, params }) {
      const { session_id: id } = params;
      const grant = await requireSession(options.directory, principal, id, "session.audio");
      const session = await options.directory.get(id);
      if (session === undefined) throw unknownSession();
      return { principal: grant.principal, session };
    },
    async handle({ method, headers }, { principal, session }) {
      const recording = await options.recordings.open(session.id);
      const still = () => assertStill(options, principal, session.id, recording);
      const shown = {
        ETag: `"${recording.version}"`,
        "Accept-Ranges": "bytes",
        "Cache-Control": session.status === "recording" ? "no-store" : "private, no-cache",
      };
      const file = new WavFile(recording, still, options.clock);
      return reply(file, shown, method, headers, `session-${session.id}`);
    },
  });
}

function chunkAudio(options: SessionAudioOptions): Route {
  return defineRoute({
    method: "get",
    path: "/sessions/{session_id}/chunks/{chunk_sequence}/audio",
    id: "getChunkAudio",
    tag: "Session",
    summary: "One chunk's audio as a WAV file",
    description:
      "16 kHz, mono, 16 bits, whole, also where the chunk came late and is longer than the place that was kept for it on the session's timeline: completeness tells which are, in `times_clamped`. What was redacted is silence. Of a chunk that has no place yet 404. For those who may hear the session.",
    auth: ["bearer", "service_key"],
    roles: HUMAN_ROLES,
    params: Type.Object({
      session_id: Type.String({ description: "UUID of the session" }),
      chunk_sequence: Type.String({
        description: "Number of the chunk within its session, from 0",
        examples: ["0"],
      }),
    }),
    responses: {
      200: { description: "All of it", mediaTypes: ["audio/wav"] },
      206: { description: "The range that was asked for", mediaTypes: ["audio/wav"] },
      304: { description: "Still what `If-None-Match` names" },
    },
    errors: ["elevation_required", "range_not_satisfiable", "session_deleted"],
    resolve: ({ principal, params }) =>
      requireSession(options.directory, principal, params.session_id, "session.audio"),
    async handle({ method, headers, params }, { principal }) {
      const { session_id: id, chunk_sequence: sequence } = params;
      const recording = /^\d{1,6}$/.test(sequence)
        ? await options.recordings.openChunk(id, Number(sequence))
        : undefined;
      if (recording === undefined) {
        const message = `Chunk ${readable(sequence)} is not on this session's timeline.`;
        throw new AppError("not_found", message);
      }
      const still = () => assertStill(options, principal, id, recording);
      const told = {
        ETag: `"${recording.version}"`,
        "Accept-Ranges": "bytes",
        "Cache-Control": "private, no-cache",
      };
      const file = new WavFile(recording, still, options.clock);
      return reply(file, told, method, headers, `session-${id}-chunk-${sequence}`);
    },
  });
}

function reply(
  file: WavFile,
  shown: Record<string, string> & { ETag: string },
  method: string,
  asked: Readonly<Record<string, string>>,
  name: string,
): Reply {
  if (isKnown(asked["if-none-match"], shown.ETag)) return { status: 304, headers: shown };
  const ranged = method.toUpperCase() !== "HEAD" && rangeStillFits(asked["if-range"], shown.ETag);
  const range = ranged ? parseByteRange(asked.range, file.length) : undefined;
  if (range === "unsatisfiable") return unsatisfiable(file.length);
  const headers: Record<string, string> = {
    ...shown,
    "Content-Type": "audio/wav",
    "Content-Disposition": `inline; filename="${name}.wav"`,
  };
  if (range === undefined) {
    return { status: 200, headers, stream: file.bytes({ from: 0, to: file.length }) };
  }
  headers["Content-Range"] = `bytes ${range.from}-${range.to - 1}/${file.length}`;
  return { status: 206, headers, stream: file.bytes(range) };
}

function unsatisfiable(length: number): Reply {
  const { status, code, message } = new AppError(
    "range_not_satisfiable",
    `The audio has ${length} bytes; the range lies beyond.`,
  );
  const headers = { "X-Error-Code": code, "Content-Range": `bytes */${length}` };
  return { status, headers, body: { success: false, message } };
}

/** Throws when the caller may no longer hear the recording, or more of it was redacted. */
async function assertStill(
  { authenticator, directory, recordings }: SessionAudioOptions,
  principal: Principal,
  sessionId: string,
  recording: Recording,
): Promise<void> {
  const current = await authenticator.revalidate(principal);
  const facts = await directory.facts(current, sessionId);
  if (facts === undefined) throw unknownSession();
  assertAllowed(maySession(current, "session.audio", facts));
  const now = await recordings.open(sessionId);
  if (now.redactions !== recording.redactions) {
    throw new AppError("conflict", "The audio was redacted while it was read.");
  }
}

function unknownSession(): AppError {
  return new AppError("not_found", "There is no session with this id.");
}

const NOTHING = Buffer.alloc(0);

/** A recording with its WAV header, as bytes. */
class WavFile {
  readonly length: number;
  readonly #header: Buffer;
  readonly #recording: Recording;
  readonly #still: () => Promise<void>;
  readonly #clock: Clock;

  constructor(recording: Recording, still: () => Promise<void>, clock: Clock) {
    this.#header = wavHeader(recording.samples);
    this.length = this.#header.length + 2 * recording.samples;
    this.#recording = recording;
    this.#still = still;
    this.#clock = clock;
  }

  bytes(range: ByteRange): BodyStream {
    return { length: range.to - range.from, open: (signal) => this.#open(range, signal) };
  }

  async *#open({ from, to }: ByteRange, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const head = this.#header.length;
    // It waits for the first samples: where the store cannot be read, the answer is another one.
    let start = this.#header.subarray(from, to);
    const first = Math.max(0, from - head);
    const last = Math.max(0, to - head);
    // Reads whole samples; of the first and the last one a single byte may be wanted.
    const samples = this.#recording.read(Math.floor(first / 2), Math.ceil(last / 2));
    let at = first - (first % 2);
    let checkedAt = this.#clock.monotonic();
    for await (const part of samples) {
      if (signal.aborted) return;
      const wanted = part.subarray(Math.max(0, first - at), last - at);
      at += part.byteLength;
      if (this.#clock.monotonic() - checkedAt >= RECHECK_MS) {
        await this.#still();
        checkedAt = this.#clock.monotonic();
      }
      if (start.byteLength > 0) yield start;
      start = NOTHING;
      if (wanted.byteLength > 0) yield wanted;
    }
    if (start.byteLength > 0) yield start;
  }
}
