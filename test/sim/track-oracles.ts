import { createHash } from "node:crypto";
import { hasNoRoom } from "../../src/session/fit-segments.ts";
import type { Word } from "../../src/session/write.ts";
import type { ChunkRow } from "../support/record/rows.ts";
import type { Run } from "./speech.ts";
import { isExcused, type Tables } from "./tables.ts";
import { FRAME_BYTES, isPoison, SPREAD, TRACK_TYPE, trackRuns } from "./track.ts";
import type { SimSession, World } from "./world.ts";

/** Where a chunk lies comes from all frames before it: its length and its sound differ by so much. */
const ROUNDING = 2;

/** Samples of the timeline. */
interface Span {
  start: number;
  end: number;
}

interface TrackChunk {
  row: ChunkRow;
  data: Buffer;
  /** Of the track, in bytes. */
  from: number;
}

/**
 * What was streamed is stored byte for byte and once, as far as the service said so, and each
 * sample of each word stands once in the transcript, however the words were cut.
 */
export function checkTrack(
  world: World,
  session: SimSession,
  tables: Tables,
  heard: ReadonlyMap<string, Word[]>,
): void {
  const { streamer, uploads } = session.device;
  if (streamer === undefined) return;
  const fail = (what: string) => world.fail(session.id, what);
  // A number that was tried may be another's: what was uploaded is known by its bytes.
  const uploaded = new Map(uploads.recorded.map(({ data, from }) => [sha256Of(data), from]));
  const rows = tables.chunks.filter(({ media_type }) => media_type === TRACK_TYPE);
  rows.sort((a, b) => a.sequence - b.sequence);
  const chunks: TrackChunk[] = [];
  let stored = 0;
  for (const row of rows) {
    const { data } = world.blobs.peek(session.id, row.sha256) ?? {};
    if (data === undefined) return fail(`chunk ${row.sequence} has no audio`);
    const from = uploaded.get(row.sha256) ?? stored;
    if (!uploaded.has(row.sha256)) stored += data.length;
    chunks.push({ row, data, from });
  }
  if (stored < streamer.acknowledged) {
    return fail(`${streamer.acknowledged} bytes were acknowledged, and ${stored} are stored`);
  }
  const wrong = chunks.map((chunk) => wrongByte(session, tables, chunk)).find((each) => each);
  if (wrong !== undefined) return fail(wrong);
  for (const { row, data } of chunks) {
    const isHopeless = trackRuns(data).some(isPoison);
    if (row.status === "failed" && !isHopeless && !world.mayBlame) {
      return fail(`chunk ${row.sequence} of the stream failed: ${row.error}`);
    }
  }
  const missing = wrongWord(tables, chunks, heard);
  if (missing !== undefined) fail(missing);
}

/** Something that was neither said, nor lost by the device, nor taken out. */
function wrongByte(
  { device }: SimSession,
  { redactions }: Tables,
  { row, data, from }: TrackChunk,
): string | undefined {
  const { track, dropped } = device.streamer ?? {};
  if (track === undefined || dropped === undefined) return undefined;
  if (track.data.subarray(from, from + data.length).equals(data)) return undefined;
  const { sequence, start_sample: start, length_samples: length } = row;
  for (let at = 0; at < data.length; at += FRAME_BYTES) {
    const byte = from + at;
    const [said, is] = [track.data.readUInt16LE(byte), data.readUInt16LE(at)];
    if (said === is) continue;
    const place = (start ?? 0) + Math.min((at / FRAME_BYTES) * SPREAD, length ?? 0);
    const isSilenced =
      dropped.some((span) => span.from <= byte && byte < span.to) ||
      redactions.some((span) => span.start_sample <= place + SPREAD && span.end_sample >= place);
    if (is === 0 && isSilenced) continue;
    return `chunk ${sequence} has ${is} at byte ${at}, and ${said} was said at byte ${byte} of the stream`;
  }
  return undefined;
}

function wrongWord(
  tables: Tables,
  chunks: readonly TrackChunk[],
  heard: ReadonlyMap<string, Word[]>,
): string | undefined {
  const expected = new Map<string, Span[]>();
  /** What was read before its chunk was given up stands all the same. */
  const given = new Map<string, Span[]>();
  /** The ends of the chunks in which they have no room. */
  const clamped = new Map<string, Span[]>();
  for (const { row, data } of chunks) {
    const [start, length] = [row.start_sample ?? 0, row.length_samples ?? 0];
    for (const run of trackRuns(data)) {
      const { text } = run;
      if (text === undefined || isPoison(run)) continue;
      const said = row.status === "failed" ? given : expected;
      // What came late and is longer than its place stands at its end.
      const end = { start: start + length - 1, end: start + length };
      if (run.end > length) clamped.set(text, [...(clamped.get(text) ?? []), end]);
      said.set(text, [...(said.get(text) ?? []), placed(run, start)]);
    }
  }
  for (const [text, spans] of expected) {
    const words = heard.get(text) ?? [];
    const twice = overlap(words.filter((word) => !hasNoRoom(word)));
    if (twice !== undefined) return `${text} stands twice from ${twice.start} to ${twice.end}`;
    if (words.some(({ timesClamped }) => timesClamped) || clamped.has(text)) {
      const [squeezed, ends] = [words.filter(hasNoRoom).length, clamped.get(text) ?? []];
      const most = ends.length;
      if (squeezed > most) return `${text} stands ${squeezed} times without room, not ${most}`;
      const places = [...spans, ...ends];
      if (words.length > 0 || places.some(({ start, end }) => isExcused(tables, start, end)))
        continue;
      return `${text} is not in the transcript`;
    }
    const left = spans.flatMap((span) => without(span, words));
    const lost = left.find(({ start, end }) => !isExcused(tables, start, end));
    if (lost !== undefined && isOfAnother(tables, spans)) continue;
    if (lost !== undefined) return `${text} is missing from ${lost.start} to ${lost.end}`;
    const said = [...spans, ...(given.get(text) ?? [])];
    const stray = words.flatMap((word) => without(word, said));
    const [first] = stray.filter(
      ({ start, end }) => end - start > ROUNDING && !isExcused(tables, start, end),
    );
    if (first !== undefined)
      return `${text} stands from ${first.start} to ${first.end}, where it was not said`;
  }
  return undefined;
}

/** A word belongs where its middle lies: to what a person wrote, or had taken out. */
function isOfAnother(tables: Tables, spans: readonly Span[]): boolean {
  const start = Math.min(...spans.map((span) => span.start));
  const end = Math.max(...spans.map((span) => span.end));
  const middle = (start + end) / 2;
  return isExcused(tables, middle - ROUNDING, middle + ROUNDING);
}

function placed({ start, end }: Run, at: number): Span {
  return { start: at + start, end: at + end };
}

function overlap(words: readonly Span[]): Span | undefined {
  const sorted = words.toSorted((a, b) => a.start - b.start);
  for (const [index, word] of sorted.entries()) {
    const next = sorted[index + 1];
    if (next !== undefined && next.start < word.end) return { start: next.start, end: word.end };
  }
  return undefined;
}

/** What of the span none of the others covers. */
function without(span: Span, others: readonly Span[]): Span[] {
  let left: Span[] = [{ start: span.start, end: span.end }];
  for (const { start, end } of others) {
    left = left.flatMap((each) =>
      [
        { start: each.start, end: Math.min(each.end, start) },
        { start: Math.max(each.start, end), end: each.end },
      ].filter((part) => part.start < part.end),
    );
  }
  return left;
}

function sha256Of(data: Buffer): string {
  return createHash("sha256").update(data).digest("hex");
}
