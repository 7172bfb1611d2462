/**
 * Entry point of the thread that measures, decodes and resamples sound for playback, so that the
 * event loop of the service never does.
 */
import { createHash } from "node:crypto";
import { closeSync, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import { SESSION_RATE } from "../../base/audio/sample-rate.ts";
import { type AudioFormatError, wavFileHeader } from "../../base/audio/wav.ts";
import { bytesInMemory, readAhead } from "../../base/codecs/file-bytes.ts";
import { nextRecording, recordingStarts } from "../../base/codecs/joined-recordings.ts";
import { openSoundFile, type SoundFile, type StreamPart } from "../../base/codecs/sound-file.ts";
import { loadDecoders, SoundReader } from "../../base/codecs/sound-reader.ts";
import { streamBeginning } from "../../base/codecs/stream-beginning.ts";
import { errnoOf } from "../../base/errors.ts";
import { serveThreadCalls } from "../../base/threads/thread-calls.ts";
import { ChunkSamples, type TimedFile } from "./chunk-samples.ts";
import { damageOf } from "./integrity/file-damage.ts";

/** A stored file, or its bytes; of a later part of a stream with what belongs before it. */
export interface SoundSource {
  path?: string;
  data?: Uint8Array;
  lead?: Uint8Array;
}

/** A file by its path. */
export type ThreadFile = TimedFile & { path: string };

export type SoundRequest =
  | { kind: "measure"; source: SoundSource }
  | { kind: "starts"; source: SoundSource }
  | { kind: "wave"; source: SoundSource }
  | SamplesRequest;

interface SamplesRequest {
  kind: "samples";
  file: ThreadFile;
  from: number;
  count: number;
  before: ThreadFile | undefined;
  after: ThreadFile | undefined;
}

/** What a file holds, measured without decoding it. */
export interface MeasuredSound {
  mediaType: string;
  sampleRate: number;
  channels: number;
  frames: number;
  part?: StreamPart;
  /** Another recording follows, which is not counted. */
  isJoined: boolean;
}

export type SoundAnswer =
  | { kind: "measured"; sound: MeasuredSound | AudioFormatError }
  | { kind: "starts"; starts: number[] }
  | { kind: "wave"; bytes: Uint8Array | undefined }
  /** `damaged`: sequences of files that are gone, cannot be read, or hold other bytes. */
  | { kind: "samples"; samples: Int16Array; damaged: number[] };

/** Most files that are kept open: a listener needs the chunk and its neighbours. */
const MOST_OPEN = 6;
/** Frames that are decoded at a time. */
const STEP = 48_000;

/** Most files whose digests are remembered, some 250 bytes each. */
const MOST_DIGESTS = 4_096;
const HASHED_BYTES = 1024 * 1024;
/** Of a file whose boxes are stepped over: of a long recording they lie close to each other. */
const READ_AHEAD_BYTES = 256 * 1024;
/** Version of a file that is not there. */
const ABSENT = "";

const open = new Map<string, ChunkSamples>();
const digests = new Map<string, string>();

serveThreadCalls(carryOut);

async function carryOut(request: SoundRequest): Promise<SoundAnswer> {
  switch (request.kind) {
    case "measure":
      return { kind: "measured", sound: measure(request.source) };
    case "starts":
      return { kind: "starts", starts: startsOf(request.source) };
    case "wave":
      return { kind: "wave", bytes: await toWave(request.source) };
    case "samples": {
      await loadDecoders();
      return { kind: "samples", ...samplesIn(request) };
    }
  }
}

function samplesIn({ file, from, count, before, after }: SamplesRequest) {
  const files = [file, before, after].filter((each) => each !== undefined);
  const damaged = files.filter(isDamaged).map(({ sequence }) => sequence);
  const opened = (each: ThreadFile | undefined) =>
    each === undefined || damaged.includes(each.sequence) ? undefined : samplesOf(each);
  const samples = opened(file)?.samples(from, count, opened(before), opened(after));
  return { samples: samples ?? new Int16Array(count), damaged };
}

/** True when the file is not what its chunk says; what it holds then may not be played. */
function isDamaged({ path, digests }: ThreadFile): boolean {
  try {
    const version = versionOf(path);
    if (version === ABSENT) return true;
    return digests !== undefined && !digests.includes(digestOf(path, version));
  } catch (error) {
    if (damageOf(error) === undefined) throw error;
    return true;
  }
}

/** SHA-256 of a file, computed once for each version of it. */
function digestOf(path: string, version: string): string {
  const key = `${path} ${version}`;
  const known = digests.get(key) ?? reading(path, hashed, "");
  digests.delete(key);
  digests.set(key, known);
  for (const oldest of digests.keys()) {
    if (digests.size <= MOST_DIGESTS) break;
    digests.delete(oldest);
  }
  return known;
}

function hashed(fd: number): string {
  const hash = createHash("sha256");
  const step = Buffer.allocUnsafe(HASHED_BYTES);
  for (let at = 0; ; ) {
    const count = readSync(fd, step, 0, HASHED_BYTES, at);
    if (count === 0) return hash.digest("hex");
    hash.update(step.subarray(0, count));
    at += count;
  }
}

function bytesOf({ path, data, lead }: SoundSource): Uint8Array {
  const bytes = data ?? readFileSync(path ?? "");
  return lead === undefined ? bytes : Buffer.concat([lead, bytes]);
}

/** A file on the disk is looked through part by part, however large it is. */
function startsOf(source: SoundSource): number[] {
  const { path, data } = source;
  if (path === undefined || data !== undefined)
    return recordingStarts(bytesInMemory(bytesOf(source)));
  const fd = openSync(path, "r");
  try {
    const { size } = fstatSync(fd);
    const file = { size, read: (at: number, length: number) => readPart(fd, at, length) };
    return recordingStarts(readAhead(file, READ_AHEAD_BYTES));
  } finally {
    closeSync(fd);
  }
}

function measure(source: SoundSource): MeasuredSound | AudioFormatError {
  const bytes = bytesOf(source);
  const { lead } = source;
  if (lead !== undefined) {
    // Where nothing came yet, the parts behind it tell the kind.
    const beginning = bytes.byteLength === 0 ? "webm" : streamBeginning(bytes);
    if (beginning !== undefined) return begun(beginning, bytes);
  }
  const file = openSoundFile(bytes, lead !== undefined);
  if ("error" in file) return file;
  const { mediaType, sampleRate, channels, frames } = file;
  const part = lead === undefined ? file.part : partAfter(lead, bytes, file.part);
  const isJoined = lead === undefined && nextRecording(bytesInMemory(bytes)) !== undefined;
  return { mediaType, sampleRate, channels, frames, isJoined, ...(part && { part }) };
}

/** The beginning of a stream's headers, kept until the next part comes. */
function begun(kind: "ogg" | "webm", bytes: Uint8Array): MeasuredSound {
  const part = { head: Uint8Array.from(bytes), carry: new Uint8Array(0) };
  const shape = { sampleRate: SESSION_RATE, channels: 1, frames: 0, isJoined: false };
  return { mediaType: `audio/${kind};codecs=opus`, ...shape, part };
}

/** A part with which the stream's headers become whole keeps them for the parts behind it. */
function partAfter(
  lead: Uint8Array,
  bytes: Uint8Array,
  part: StreamPart | undefined,
): StreamPart | undefined {
  const isOpen = lead.byteLength === 0 || streamBeginning(lead) !== undefined;
  if (!isOpen || part === undefined) return part;
  const whole = openSoundFile(bytes);
  return "error" in whole ? part : (whole.part ?? part);
}

/** The whole file as WAV with its own rate and channels; undefined when it cannot be read. */
async function toWave(source: SoundSource): Promise<Uint8Array | undefined> {
  await loadDecoders();
  const bytes = bytesOf(source);
  const file = openSoundFile(bytes, source.lead !== undefined);
  if ("error" in file) return undefined;
  const { sampleRate, channels, frames } = file;
  const head = wavFileHeader({ sampleRate, channels, frames });
  const wave = Buffer.alloc(head.byteLength + 2 * frames * channels);
  head.copy(wave);
  const reader = readerOf(file, bytes);
  if (reader === undefined) return undefined;
  try {
    let at = head.byteLength;
    for (let part = reader.read(STEP); part.length > 0; part = reader.read(STEP)) {
      wave.set(new Uint8Array(part.buffer, part.byteOffset, part.byteLength), at);
      at += part.byteLength;
    }
  } finally {
    reader.close();
  }
  return wave;
}

function readerOf(file: SoundFile, bytes: Uint8Array): SoundReader | undefined {
  try {
    return new SoundReader(file, bytes);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The file's samples; a file that was replaced meanwhile is opened anew. */
function samplesOf(file: ThreadFile): ChunkSamples {
  // Two chunks may have the same bytes, and different places.
  const key = [file.path, file.sequence, file.mediaType, versionOf(file.path)].join(" ");
  const known = open.get(key);
  const chunk = known ?? new ChunkSamples(file, (from, length) => part(file.path, from, length));
  open.delete(key);
  open.set(key, chunk);
  for (const oldest of open.keys()) {
    if (open.size <= MOST_OPEN) break;
    open.delete(oldest);
  }
  // Its place may have become known since.
  chunk.file = file;
  return chunk;
}

function versionOf(path: string): string {
  return reading(
    path,
    (fd) => {
      const { mtimeMs, size, ino } = fstatSync(fd);
      return `${mtimeMs} ${size} ${ino}`;
    },
    ABSENT,
  );
}

function part(path: string, from: number, length: number): Buffer {
  return reading(path, (fd) => readPart(fd, from, length), Buffer.alloc(0));
}

function readPart(fd: number, from: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const count = readSync(fd, buffer, filled, length - filled, from + filled);
    if (count === 0) break;
    filled += count;
  }
  return buffer.subarray(0, filled);
}

/** Opens the file for `work`; `absent` when there is none. */
function reading<T>(path: string, work: (fd: number) => T, absent: T): T {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
    return absent;
  }
  try {
    return work(fd);
  } finally {
    closeSync(fd);
  }
}
