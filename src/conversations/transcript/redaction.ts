import { type Static, Type } from "@sinclair/typebox";
import {
  isOpusMediaType,
  joinOpusPackets,
  opusPacketSamples,
  splitOpusPackets,
} from "../../base/audio/opus-packets.ts";
import { SAMPLES_PER_MS, SESSION_RATE } from "../../base/audio/sample-rate.ts";
import {
  bytesPerFrame,
  isAudioFormatError,
  type PcmFormat,
  parsePcmMediaType,
  parseWavHeader,
  type SampleEncoding,
} from "../../base/audio/wav.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { soundKind } from "../../base/codecs/sound-kinds.ts";
import { SOUND_FILE_TYPES } from "../../base/codecs/sound-types.ts";
import { AppError, errorMessage } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { BackedOffItems } from "../../base/work/backed-off-items.ts";
import { commandIdOf } from "../../rest/idempotency.ts";
import { defineRoute, type Route } from "../../rest/route.ts";
import { sha256Of } from "../recording/integrity/sha256.ts";
import { requireSession } from "../sessions/access.ts";
import type { SessionCommandOptions } from "../sessions/actors.ts";
import { sessionParams } from "../sessions/schema.ts";

/** A span of a chunk's audio, in seconds from its beginning. */
interface ChunkSpan {
  from: number;
  to: number;
}

/** Opus counts time at 48 kHz (RFC 6716, section 2). */
const OPUS_CLOCK = 48_000;
/** First bytes of full-band CELT packets of 20, 10, 5 and 2.5 ms (RFC 6716, section 3.1). */
const SILENT_TOCS = [
  { toc: 0xf8, length: 960 },
  { toc: 0xf0, length: 480 },
  { toc: 0xe8, length: 240 },
  { toc: 0xe0, length: 120 },
];

/**
 * The byte value of silence where it is not 0: unsigned samples rest in the middle, µ-law and
 * A-law are inverted.
 */
const QUIET: Partial<Record<SampleEncoding, number>> = { u8: 0x80, mulaw: 0xff, alaw: 0xd5 };

/**
 * Replaces the spans by silence; container, duration and the audio outside of the spans stay as
 * they are. Returns undefined when the audio cannot be read.
 */
export function silenceSpans(
  bytes: Uint8Array,
  mediaType: string,
  spans: readonly ChunkSpan[],
): Uint8Array | undefined {
  if (isOpusMediaType(mediaType)) return silencePackets(bytes, spans);
  const samples = samplesOf(bytes, mediaType);
  if (samples === undefined) return undefined;
  const { format, offset, frames } = samples;
  const copy = Uint8Array.from(bytes);
  const size = bytesPerFrame(format);
  const quiet = QUIET[format.encoding] ?? 0;
  for (const { from, to } of spans) {
    const first = Math.max(0, Math.floor(from * format.sampleRate));
    const last = Math.min(frames, Math.ceil(to * format.sampleRate));
    if (last > first) copy.fill(quiet, offset + first * size, offset + last * size);
  }
  return copy;
}

/** Replaces packets that touch a span by silent ones of the same duration. */
function silencePackets(bytes: Uint8Array, spans: readonly ChunkSpan[]): Uint8Array {
  const packets: Uint8Array[] = [];
  let at = 0;
  for (const packet of splitOpusPackets(bytes)) {
    const end = at + opusPacketSamples(packet, OPUS_CLOCK);
    const isHeard = !spans.some(
      ({ from, to }) => from * OPUS_CLOCK < end && to * OPUS_CLOCK > at && end > at,
    );
    if (isHeard) packets.push(packet);
    else packets.push(...silentPackets(end - at));
    at = end;
  }
  return joinOpusPackets(packets);
}

function silentPackets(samples: number): Uint8Array[] {
  const packets: Uint8Array[] = [];
  let left = samples;
  for (const { toc, length } of SILENT_TOCS) {
    for (; left >= length; left -= length) packets.push(Uint8Array.of(toc, 0xff, 0xfe));
  }
  return packets;
}

function samplesOf(
  bytes: Uint8Array,
  mediaType: string,
): { format: PcmFormat; offset: number; frames: number } | undefined {
  if (mediaType.startsWith("audio/pcm")) {
    const format = parsePcmMediaType(mediaType);
    if (isAudioFormatError(format)) return undefined;
    return { format, offset: 0, frames: Math.floor(bytes.byteLength / bytesPerFrame(format)) };
  }
  const wav = parseWavHeader(bytes);
  if (isAudioFormatError(wav)) return undefined;
  return { format: wav, offset: wav.dataOffset, frames: wav.frames };
}

/** A chunk that overlaps redacted spans, with all these spans. Positions are samples at 16 kHz. */
export interface RedactedChunk {
  sequence: number;
  start: number;
  length: number;
  mediaType: string;
  /** SHA-256 in hex of the uploaded bytes; it is the name of the file. */
  blob: string;
  spans: readonly { from: number; to: number }[];
  /** Of a later part of a stream: what belongs before its bytes. */
  lead?: Uint8Array | undefined;
  /** SHA-256 in hex of what the file may hold; undefined where an earlier release did not note it. */
  digests?: readonly string[] | undefined;
}

/** What a chunk's file holds when its redacted spans are silent. */
export interface SilencedFile {
  bytes: number;
  /** SHA-256 in hex; absent for a file that was damaged before, and stays so on record. */
  sha256?: string;
  /** Puts it in the place of the present one; absent when that is silent already. */
  replace?(): Promise<void>;
}

export interface ChunkName {
  sessionId: string;
  sequence: number;
}

/** Port: chunks whose files still contain redacted audio. */
export interface RedactionRecords {
  /** Names of such chunks, in a fixed order, after `after` when given. */
  pending(limit: number, after?: ChunkName): Promise<ChunkName[]>;
  /**
   * Runs `work` with the chunk and its present spans, unless another process is working on this
   * session; true when it ran. A chunk whose place or spans change meanwhile becomes pending again.
   * `work` returns what its file shall hold, and must not use the database. The digest of that is
   * on record before the file is replaced, beside the one before it until it was.
   */
  exclusively(
    chunk: ChunkName,
    work: (chunk: RedactedChunk) => Promise<SilencedFile>,
  ): Promise<boolean>;
}

/** Audio files by session and SHA-256 in hex. */
export interface RedactionFiles {
  read(sessionId: string, sha256: string): Promise<Uint8Array>;
  /** The bytes of a file, behind `lead`, as WAV; undefined when they have no sound that can be read. */
  wave(bytes: Uint8Array, lead?: Uint8Array): Promise<Uint8Array | undefined>;
  /** Replaces an existing file atomically and durably. */
  replace(sessionId: string, sha256: string, bytes: Uint8Array): Promise<void>;
}

/** What a simulation replaces. */
interface RedactionSurroundings {
  clock?: Clock;
  /** SHA-256 in hex; beside the event loop unless given. */
  hash?(bytes: Uint8Array): Promise<string>;
}

/**
 * Removes redacted spans from the stored audio: each file that touches one gets silence there and
 * keeps its name, so that a repeated upload is recognised and does not restore the sound.
 * Repeatable after any interruption.
 */
export class AudioRedaction {
  readonly #records: RedactionRecords;
  readonly #files: RedactionFiles;
  readonly #log: Log;
  readonly #resting: BackedOffItems;
  readonly #hash: (bytes: Uint8Array) => Promise<string>;
  #after: ChunkName | undefined;

  constructor(
    records: RedactionRecords,
    files: RedactionFiles,
    log: Log,
    { clock = systemClock, hash = sha256Of }: RedactionSurroundings = {},
  ) {
    this.#hash = hash;
    this.#resting = new BackedOffItems(clock);
    this.#records = records;
    this.#files = files;
    this.#log = log;
  }

  /**
   * Processes up to `limit` chunks; returns how many are up to date. One that fails rests, longer
   * each time.
   */
  async run(limit = 100): Promise<number> {
    const chunks = await this.#records.pending(limit, this.#after);
    // A chunk that fails does not delay those after it.
    this.#after = chunks.length < limit ? undefined : chunks.at(-1);
    let done = 0;
    for (const name of chunks) {
      const key = `${name.sessionId}/${name.sequence}`;
      if (this.#resting.isBackingOff(key)) continue;
      try {
        const ran = await this.#records.exclusively(name, (chunk) =>
          this.#silenceChunk(name.sessionId, chunk),
        );
        if (ran) done += 1;
        this.#resting.worked(key);
      } catch (error) {
        this.#resting.failed(key);
        const { sessionId: session_id, sequence } = name;
        const fields = { session_id, sequence, error: errorMessage(error) };
        this.#log.error(fields, "redacted audio could not be silenced yet");
      }
    }
    return done;
  }

  async #silenceChunk(sessionId: string, chunk: RedactedChunk): Promise<SilencedFile> {
    const { blob, digests, mediaType, spans } = chunk;
    const bytes = await this.#files.read(sessionId, blob);
    const sha256 = await this.#hash(bytes);
    // What is damaged is silenced all the same, and stays damaged.
    const isWhole = digests === undefined || digests.includes(sha256);
    const sound = await this.#editable(chunk, bytes);
    const quiet = sound && silenceSpans(sound, mediaType, spans.map(within(chunk)));
    // Audio that cannot be decoded cannot be silenced; it is deleted with its session.
    if (quiet === undefined || Buffer.compare(bytes, quiet) === 0) {
      return { bytes: bytes.byteLength, ...(isWhole && { sha256 }) };
    }
    return {
      bytes: quiet.byteLength,
      ...(isWhole && { sha256: await this.#hash(quiet) }),
      replace: () => this.#files.replace(sessionId, blob, quiet),
    };
  }

  /** Compressed sound becomes WAV, in which it can be silenced and stays as it is elsewhere. */
  async #editable(
    { mediaType, lead }: RedactedChunk,
    bytes: Uint8Array,
  ): Promise<Uint8Array | undefined> {
    const [essence = ""] = mediaType.split(";");
    if (!SOUND_FILE_TYPES.has(essence) || soundKind(bytes) === "wav") return bytes;
    return this.#files.wave(bytes, lead);
  }
}

/**
 * Converts a span to seconds of the chunk. Samples beyond the chunk's place belong to the end of
 * the place.
 */
function within({
  start,
  length,
}: RedactedChunk): (span: { from: number; to: number }) => ChunkSpan {
  return ({ from, to }) => ({
    from: (from - start) / SESSION_RATE,
    to: to >= start + length ? Number.POSITIVE_INFINITY : (to - start) / SESSION_RATE,
  });
}

/** A position beyond the end of any session, in samples; such a span also covers future audio. */
const OPEN_END = 2 ** 40;
const MAX_MS = OPEN_END / SAMPLES_PER_MS;

const body = Type.Object(
  {
    start_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_MS })),
    end_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_MS })),
    speaker_label: Type.Optional(Type.String({ pattern: "^S[1-9][0-9]{0,5}$" })),
  },
  { examples: [{ start_ms: 12_000, end_ms: 15_500 }] },
);

const answer = Type.Object(
  {
    success: Type.Literal(true),
    redaction_id: Type.String(),
    segment_ids: Type.Array(Type.String(), { description: "Segments whose words were taken out" }),
  },
  { $id: "Redaction" },
);

/** POST /sessions/{id}/redactions. */
export function redactionRoutes({ directory, actors }: SessionCommandOptions): Route[] {
  const redact = defineRoute({
    method: "post",
    path: "/sessions/{session_id}/redactions",
    id: "redactSession",
    tag: "Session",
    throughActor: true,
    summary: "Take out a time span, one speaker, or one speaker within a span, for good",
    description:
      "Every segment that touches the span loses its words, the audio of the span becomes silence, and summaries and the graph are made anew without it. With a speaker and no span it covers all that this voice says, also what is still to come. By the session's owner or a moderator of its workspace; by an administrator who does not belong to it under an elevation. It cannot be undone, and a redo does not bring it back.",
    auth: ["bearer", "service_key"],
    params: sessionParams,
    body: { kind: "json", schema: body },
    responses: { 201: { description: "What was taken out", schema: answer } },
    errors: ["elevation_required"],
    resolve: ({ principal, params }) =>
      requireSession(directory, principal, params.session_id, "session.redact"),
    async handle(request, { principal }) {
      const { params, body: wish } = request;
      const redactionId = commandIdOf(request);
      const { from, to } = spanOf(wish);
      const command = {
        type: "Redact" as const,
        redactionId,
        from,
        to,
        label: wish.speaker_label ?? "",
        byUserId: principal.id,
      };
      const done = (await actors.ask(params.session_id, command, redactionId)) as {
        segmentIds: string[];
      };
      return {
        status: 201,
        body: { success: true, redaction_id: redactionId, segment_ids: done.segmentIds },
      };
    },
  });
  return [redact];
}

/** The span in samples at 16 kHz. */
function spanOf(wish: Static<typeof body>): { from: number; to: number } {
  const { start_ms: start, end_ms: end, speaker_label: label } = wish;
  if (start === undefined && end === undefined && label === undefined) {
    throw new AppError("invalid_body", "Send `start_ms` and `end_ms`, `speaker_label`, or all.");
  }
  if ((start === undefined) !== (end === undefined)) {
    throw new AppError("invalid_body", "`start_ms` and `end_ms` go together.");
  }
  if (start === undefined || end === undefined) return { from: 0, to: OPEN_END };
  if (end <= start) throw new AppError("invalid_body", "`end_ms` must be after `start_ms`.");
  return { from: start * SAMPLES_PER_MS, to: end * SAMPLES_PER_MS };
}
