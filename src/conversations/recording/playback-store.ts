import { createHash } from "node:crypto";
import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { toSessionSamples } from "../../base/audio/sample-rate.ts";
import { AppError } from "../../base/errors.ts";
import { optionalColumn } from "../../postgres/optional-column.ts";
import { Tenants } from "../../postgres/tenants.ts";
import type { Span } from "../../session/segments.ts";
import { leadOf } from "../transcript/audio-parts-store.ts";
import type { AudioStore, LentFile } from "./audio-store/audio-store.ts";
import type { TimedFile } from "./chunk-samples.ts";
import { digestsOf } from "./integrity/stored-digests-store.ts";
import type { VerifiedAudio } from "./integrity/verified-audio.ts";
import type { Sounds } from "./sounds.ts";

interface AudioParts {
  blobs: Pick<AudioStore, "lend">;
  sounds: Pick<Sounds, "samples">;
  verified: Pick<VerifiedAudio, "check">;
}

/** What became of the chunks of one read that did not hold what their rows say. */
class DoubtfulFiles {
  readonly damaged = new Set<number>();
  /** Whole all the same: replaced meanwhile, or shared with another chunk. */
  readonly whole = new Set<number>();
}

interface WantedSamples {
  file: TimedFile;
  before?: TimedFile | undefined;
  after?: TimedFile | undefined;
  /** Counted from the chunk's first sample. */
  position: number;
  count: number;
  doubts: DoubtfulFiles;
}

const spanRow = z.object({ start: z.number(), end: z.number() });

/** Reads redacted spans from the redactions and from the segments that they changed. */
export class PostgresRedactedSpans implements RedactedSpans {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  async of(sessionId: string): Promise<Span[]> {
    const rows = await this.#pool.any(sql.type(spanRow)`
      select start_sample as start, end_sample as "end" from redactions
      where session_id = ${sessionId}
      union
      select start_sample, end_sample from segments
      where session_id = ${sessionId} and redacted
      order by start`);
    return mergeSpans(rows);
  }
}

/** Merges spans that touch; `spans` come in order of their start. */
function mergeSpans(spans: readonly Span[]): Span[] {
  const merged: Span[] = [];
  for (const { start, end } of spans) {
    const last = merged.at(-1);
    if (last === undefined || start > last.end) merged.push({ start, end });
    else last.end = Math.max(last.end, end);
  }
  return merged;
}

/** Samples of one part: 64 KiB. */
const PART_SAMPLES = 32 * 1024;
/** Number of chunk rows read at a time. */
const PAGE = 64;

const timelineRow = z.object({ samples: z.number(), placed: z.number(), mended: z.string() });
const nothing = z.object({}).strict();

const fileRow = z.object({
  sequence: z.number(),
  start: z.number(),
  length: z.number(),
  sampleRate: z.number(),
  mediaType: z.string(),
  sha256: z.string(),
  bytes: z.number(),
  lead: optionalColumn(z.instanceof(Buffer)),
  digests: optionalColumn(z.array(z.string())),
});

const FILE_COLUMNS = sql.fragment`
  case when media_type like '%;piece' then ${leadOf(
    sql.fragment`chunks.session_id`,
    sql.fragment`chunks.sequence`,
  )} end as lead,
  sequence, start_sample as start, length_samples as length, sample_rate as "sampleRate",
  media_type as "mediaType", encode(sha256, 'hex') as sha256, bytes,
  ${digestsOf(sql.fragment`chunks`)} as digests`;

/**
 * Recordings of sessions, put together from the chunks on the timeline while they are read. Throws
 * `unavailable` when storage is away.
 */
export class RecordingStore {
  readonly #pool: DatabasePool;
  readonly #options: AudioParts;
  readonly #redacted: RedactedSpans;
  readonly #tenants: Tenants;

  constructor(pool: DatabasePool, options: AudioParts, redacted: RedactedSpans) {
    this.#pool = pool;
    this.#options = options;
    this.#redacted = redacted;
    this.#tenants = new Tenants(pool);
  }

  async open(sessionId: string): Promise<Recording> {
    const spans = await this.#redacted.of(sessionId);
    // A placed chunk never changes, so the number of placed chunks identifies the timeline.
    const { samples, placed, mended } = await this.#pool.one(sql.type(timelineRow)`
      select coalesce(max(start_sample + length_samples), 0) as samples, count(*) as placed,
        ${mendedAt(sessionId)} as mended
      from chunks where session_id = ${sessionId} and start_sample is not null`);
    const redactions = digestOf(spans);
    return {
      samples,
      version: digest([sessionId, samples, placed, redactions, mended]),
      redactions,
      read: (from, to) => this.#read(sessionId, from, Math.min(to, samples)),
    };
  }

  /**
   * Opens one chunk from its first sample to its last, even where its place on the timeline is
   * shorter. Undefined when there is no such chunk, or it has no place yet.
   */
  async openChunk(sessionId: string, sequence: number): Promise<Recording | undefined> {
    const spans = await this.#redacted.of(sessionId);
    const chunkRow = fileRow.extend({ frames: z.number(), mended: z.string() });
    const file = await this.#pool.maybeOne(sql.type(chunkRow)`
      select ${FILE_COLUMNS}, frames, ${mendedAt(sessionId)} as mended from chunks
      where session_id = ${sessionId} and sequence = ${sequence} and start_sample is not null`);
    if (file === null) return undefined;
    const { frames, sampleRate, start, length, mended } = file;
    const samples = Math.max(length, toSessionSamples(frames, sampleRate));
    const redactions = digestOf(spans);
    return {
      samples,
      version: digest([sessionId, sequence, samples, redactions, mended]),
      redactions,
      read: (from, to) =>
        this.#readWhole(
          sessionId,
          file,
          spans.map((span) => withExcess(span, start, length, samples)),
          from,
          Math.min(to, samples),
        ),
    };
  }

  /** Reads a whole chunk; positions count from its first sample. */
  async *#readWhole(
    sessionId: string,
    file: TimedFile,
    spans: readonly Span[],
    from: number,
    to: number,
  ): AsyncGenerator<Uint8Array> {
    const doubts = new DoubtfulFiles();
    for (let position = from; position < to; position += PART_SAMPLES) {
      const count = Math.min(PART_SAMPLES, to - position);
      const samples = await this.#samples(sessionId, { file, position, count, doubts });
      erase(samples, position, spans);
      yield new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
    }
  }

  async *#read(sessionId: string, from: number, to: number): AsyncGenerator<Uint8Array> {
    let position = from;
    const doubts = new DoubtfulFiles();
    for await (const { file, before, after, spans } of this.#chunks(sessionId, from, to)) {
      const { start, length } = file;
      yield* silence(position, Math.min(start, to));
      position = Math.max(position, start);
      const end = Math.min(start + length, to);
      while (position < end) {
        const count = Math.min(PART_SAMPLES, end - position);
        const wanted = { file, before, after, position: position - start, count, doubts };
        const samples = await this.#samples(sessionId, wanted);
        erase(samples, position, spans);
        yield new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
        position += count;
      }
    }
    yield* silence(position, to);
  }

  /** Samples of a chunk; silence where its stored file is damaged, which is noted. */
  async #samples(sessionId: string, wanted: WantedSamples): Promise<Int16Array> {
    const { file, before, after, doubts } = wanted;
    const { samples, damaged } = await this.#decode(sessionId, wanted);
    const isNews = (sequence: number) =>
      !doubts.damaged.has(sequence) && !doubts.whole.has(sequence);
    const news = damaged.filter(isNews);
    if (news.length === 0) return samples;
    for (const each of [file, before, after]) {
      if (each !== undefined && news.includes(each.sequence)) {
        await this.#check(sessionId, each, doubts);
      }
    }
    return this.#samples(sessionId, wanted);
  }

  async #decode(sessionId: string, wanted: WantedSamples) {
    const { file, before, after, position, count, doubts } = wanted;
    const lent: LentFile[] = [];
    const found = async (each: TimedFile) => {
      const digests = doubts.whole.has(each.sequence) ? undefined : each.digests;
      const copy = await this.#options.blobs.lend(sessionId, each.sha256, digests);
      lent.push(copy);
      return { ...each, path: copy.path, digests };
    };
    try {
      const tenant = await this.#tenants.ofSession(sessionId);
      const own = await found(file);
      const neighbours = {
        before: before && (await found(before)),
        after: after && (await found(after)),
      };
      return await this.#options.sounds.samples(tenant, own, position, count, neighbours);
    } finally {
      for (const copy of lent) copy.release();
    }
  }

  async #check(
    sessionId: string,
    { sequence, sha256 }: TimedFile,
    doubts: DoubtfulFiles,
  ): Promise<void> {
    const { damage } = await this.#options.verified.check({ sessionId, sha256 });
    if (damage === undefined) doubts.whole.add(sequence);
    else doubts.damaged.add(sequence);
  }

  /** The chunks that overlap [from, to), each with its neighbours. */
  async *#chunks(sessionId: string, from: number, to: number) {
    let before: TimedFile | undefined;
    let file: TimedFile | undefined;
    let files = await this.#filesFrom(sessionId, from);
    // Read again with each page, so that new redactions take effect while a listener reads.
    let spans = await this.#redacted.of(sessionId);
    while (files.length > 0) {
      for (const after of files) {
        if (file !== undefined && overlaps(file, from, to)) yield { file, before, after, spans };
        if (file !== undefined && file.start >= to) return;
        before = file;
        file = after;
      }
      files = await this.#filesAfter(sessionId, files.at(-1)?.sequence ?? 0);
      spans = await this.#redacted.of(sessionId);
    }
    if (file !== undefined && overlaps(file, from, to)) {
      yield { file, before, after: undefined, spans };
    }
  }

  /** A page of chunks that begins two chunks before position `from`. */
  async #filesFrom(sessionId: string, from: number): Promise<readonly TimedFile[]> {
    const first = await this.#pool.any(sql.type(z.object({ sequence: z.number() }))`
      select sequence from chunks
      where session_id = ${sessionId} and start_sample <= ${from}
      order by sequence desc limit 2`);
    return this.#filesAfter(sessionId, (first.at(-1)?.sequence ?? 0) - 1);
  }

  async #filesAfter(sessionId: string, sequence: number): Promise<readonly TimedFile[]> {
    const files = await this.#pool.any(sql.type(fileRow)`
      select ${FILE_COLUMNS} from chunks
      where session_id = ${sessionId} and sequence > ${sequence} and start_sample is not null
      order by sequence limit ${PAGE}`);
    await this.#assertThere(sessionId);
    return files;
  }

  /**
   * Throws `session_deleted` for a deleted session, whose missing files would otherwise read as
   * silence.
   */
  async #assertThere(sessionId: string): Promise<void> {
    const there = await this.#pool.exists(sql.type(nothing)`
      select 1 from sessions where id = ${sessionId} and status <> 'deleted'`);
    if (!there) throw new AppError("session_deleted", "This session was deleted.");
  }
}

/** SQL: changes when damaged audio was mended. */
function mendedAt(sessionId: string) {
  return sql.fragment`
    coalesce((select max(mended_at) from damaged_audio where session_id = ${sessionId})::text, '')`;
}

function digestOf(spans: readonly Span[]): string {
  return digest(spans.map(({ start, end }) => `${start}-${end}`));
}

/**
 * The span relative to the chunk at `start`. Samples beyond the chunk's place belong to the end of
 * the place.
 */
function withExcess(span: Span, start: number, length: number, samples: number): Span {
  const isOverEnd = span.start < start + length && span.end >= start + length;
  return {
    start: span.start - start,
    end: isOverEnd ? samples : Math.min(span.end - start, length),
  };
}

function overlaps({ start, length }: TimedFile, from: number, to: number): boolean {
  return start < to && start + length > from;
}

function digest(options: readonly (string | number)[]): string {
  return createHash("sha256").update(options.join("\n")).digest("base64url").slice(0, 27);
}

function* silence(from: number, to: number): Generator<Uint8Array> {
  for (let at = from; at < to; at += PART_SAMPLES) {
    yield new Uint8Array(2 * Math.min(PART_SAMPLES, to - at));
  }
}

/** Silences the parts of `samples` that `spans` cover; the samples begin at `position`. */
function erase(samples: Int16Array, position: number, spans: readonly Span[]): void {
  for (const { start, end } of spans) {
    if (start < position + samples.length && end > position) {
      samples.fill(0, Math.max(0, start - position), Math.max(0, end - position));
    }
  }
}

/** A session's audio on its timeline: 16 kHz, mono, 16 bits. */
export interface Recording {
  /** Length from the start of the timeline to the end of the last placed chunk, in samples. */
  samples: number;
  /** Changes whenever any sample may have changed. */
  version: string;
  /** Changes whenever more was redacted. */
  redactions: string;
  /**
   * Yields the samples of [from, to) in order, little endian, in parts of at most 64 KiB. Audio
   * that is missing, cannot be decoded or was redacted is silence. Reads audio only when the next
   * part is requested. Throws `session_deleted` when the session was deleted meanwhile.
   */
  read(from: number, to: number): AsyncIterable<Uint8Array>;
}

/** Port: the redacted spans of a session, in order and without overlaps. */
export interface RedactedSpans {
  of(sessionId: string): Promise<Span[]>;
}
