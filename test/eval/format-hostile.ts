import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DecoderProgram } from "../../src/base/decoder/decoder-program.ts";
import { isAppError } from "../../src/base/errors.ts";
import { FileConverter } from "../../src/conversations/recording/audio-files/file-converter.ts";
import { withExternalSound } from "../support/external-mp4.ts";
import { ChildMemory } from "./child-memory.ts";

const SOUNDS = new URL("../fixtures/sounds/", import.meta.url);
/** Longest sound that an upload may hold, seconds. */
const SECONDS = 900;
/** Files that the hostile account brings at a time: what it may have waiting. */
const AT_A_TIME = 5;
const ROUNDS = 5;
/** The other account's file may take so many times as long, and so much more. */
const MARK = { times: 3, moreMs: 1_000 };

export interface HostileOutcome {
  name: string;
  bytes: number;
  /** How one of them ends. */
  end: string;
  /** How long one of them takes, milliseconds. */
  ms: number;
  decoderMiB: number;
  /** Median of the other account's file beside them, milliseconds. */
  besideMs: number;
  met: boolean;
}

/** Files that want to take more than their share, each beside a small one of another account. */
export async function measureHostile(
  program: DecoderProgram | undefined,
): Promise<{ aloneMs: number; outcomes: HostileOutcome[] }> {
  const folder = mkdtempSync(join(tmpdir(), "voice-hostile-"));
  try {
    const converter = new FileConverter({ folder, program });
    const memo = sound("mono.m4a");
    const other = () => timed(converter, memo, "other");
    await other();
    const alone = await rounds(other);
    const outcomes: HostileOutcome[] = [];
    for (const [name, data] of hostileFiles(folder)) {
      const memory = new ChildMemory();
      const one = await timed(converter, data, "hostile");
      memory.stop();
      const besideMs = await beside(converter, data, other);
      const met = besideMs <= MARK.times * alone + MARK.moreMs;
      const cost = { ms: one.ms, decoderMiB: memory.most };
      outcomes.push({ name, bytes: data.length, end: one.end, ...cost, besideMs, met });
    }
    return { aloneMs: alone, outcomes };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function sound(name: string): Buffer {
  return readFileSync(new URL(name, SOUNDS));
}

function hostileFiles(folder: string): [name: string, data: Buffer][] {
  const frames = sound("mono.aac");
  const memo = sound("mono.m4a");
  return [
    ["46 min of AAC", Buffer.concat(Array.from({ length: 2_000 }, () => frames))],
    ["zeros, 60 MB", Buffer.alloc(60_000_000)],
    ["an index at the end, 20 MB", withFiller(memo, 20_000_000)],
    ["a playlist", Buffer.from("#EXTM3U\n#EXTINF:1,\nfile:///etc/hostname\n")],
    ["a list of parts", Buffer.from("ffconcat version 1.0\nfile '/etc/hostname'\n")],
    ["sound in another file", withExternalSound(memo, join(folder, "outside.m4a"))],
    ["a box in itself without end", Buffer.concat(Array.from({ length: 500_000 }, () => box()))],
  ];
}

/** An empty box of MP4 that says it holds the rest of the file. */
function box(): Buffer {
  return Buffer.from("\0\0\0\0moov", "latin1");
}

/** A box of nothing between the sound and its index. */
function withFiller(file: Buffer, bytes: number): Buffer {
  const index = file.indexOf("moov", 0, "latin1") - 4;
  const filler = Buffer.alloc(bytes);
  filler.writeUInt32BE(bytes, 0);
  filler.write("free", 4, "latin1");
  return Buffer.concat([file.subarray(0, index), filler, file.subarray(index)]);
}

async function timed(converter: FileConverter, data: Buffer, accountId: string) {
  const begun = performance.now();
  const end = await converter
    .convert({ kind: "memory", data }, { accountId, seconds: SECONDS, signal: NEVER })
    .then(
      ({ path, frames }) => {
        rmSync(path);
        return `${(frames / 16_000).toFixed(1)} s of sound`;
      },
      (error: unknown) => {
        if (!isAppError(error)) throw error;
        return `${error.code}: ${error.message}`;
      },
    );
  return { ms: performance.now() - begun, end };
}

const NEVER = new AbortController().signal;

async function beside(
  converter: FileConverter,
  data: Buffer,
  other: () => Promise<{ ms: number }>,
): Promise<number> {
  let isOver = false;
  const bring = async () => {
    while (!isOver) await timed(converter, data, "hostile");
  };
  const all = Array.from({ length: AT_A_TIME }, bring);
  const ms = await rounds(other);
  isOver = true;
  await Promise.all(all);
  return ms;
}

/** Median of what it takes, milliseconds. */
async function rounds(work: () => Promise<{ ms: number }>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) times.push((await work()).ms);
  return times.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
}
