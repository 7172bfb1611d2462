import { type ChildProcessByStdio, type SpawnOptions, spawn } from "node:child_process";
import { type FileHandle, open } from "node:fs/promises";
import { setPriority } from "node:os";
import type { Readable } from "node:stream";
import { isAudioFormatError, parseWavHeader, wavFileHeader } from "../audio/wav.ts";
import { DECODER_EXIT, type DecoderLimits } from "./decoder-limits.ts";
import type { DecoderProgram } from "./decoder-program.ts";

/** FFmpeg's header in front of samples of one or two channels, and ours. */
const HEADER_BYTES = 44;
/** Of what comes out: 16 bits at 16 kHz in two channels at most. */
export const BYTES_PER_SECOND = 64_000;
const MOST_ERROR_TEXT = 2_000;
const MOST_REASON = 200;
/** Below live sound and everything else, but not so far that a busy machine never answers an upload. */
const NICE = 5;

export interface DecodeOptions {
  limits: DecoderLimits;
  /** Until the program is killed, milliseconds. */
  longestMs: number;
  signal: AbortSignal;
}

/**
 * Why a file was not decoded, in a sentence: `undecodable` for what is no sound, or damaged;
 * `too_large` for what would take more than the limits; `no_decoder` when it cannot be started.
 */
export class DecodeFailure extends Error {
  readonly reason: "undecodable" | "too_large" | "no_decoder";

  constructor(reason: DecodeFailure["reason"], message: string) {
    super(message);
    this.name = "DecodeFailure";
    this.reason = reason;
  }
}

/** Shape of the WAV file that was written. */
export interface DecodedShape {
  sampleRate: number;
  channels: number;
  /** Samples of each channel. */
  frames: number;
}

/**
 * Decodes `input` to the new WAV file `output` by a process that ends with this call. Throws
 * `DecodeFailure`, or the abort reason of `signal`.
 */
export async function decodeFile(
  program: DecoderProgram,
  input: string,
  output: string,
  { limits, longestMs, signal }: DecodeOptions,
): Promise<DecodedShape> {
  signal.throwIfAborted();
  const source = await open(input, "r");
  const target = await open(output, "wx", 0o600);
  try {
    const run = new DecoderRun(program, source, limits);
    const timer = setTimeout(() => run.kill("It takes too long to decode."), longestMs);
    const stop = (): void => run.kill("The caller has gone.");
    signal.addEventListener("abort", stop, { once: true });
    try {
      return await run.writeTo(target);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      run.kill("It was left.");
      signal.throwIfAborted();
    }
  } finally {
    await Promise.all([source.close(), target.close()]);
  }
}

class DecoderRun {
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;
  readonly #limits: DecoderLimits;
  readonly #exit: Promise<number | null>;
  #errors = "";
  #killedFor: string | undefined;

  constructor(program: DecoderProgram, source: FileHandle, limits: DecoderLimits) {
    this.#limits = limits;
    const options = { cwd: "/", env: {}, stdio: [source.fd, "pipe", "pipe"] };
    const child: unknown = spawn(program.command, program.args(limits), options as SpawnOptions);
    this.#child = child as ChildProcessByStdio<null, Readable, Readable>;
    this.#exit = new Promise((resolve, reject) => {
      this.#child.once("error", reject);
      this.#child.once("close", resolve);
    });
    this.#exit.catch(() => undefined);
    this.#child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#errors = (this.#errors + text).slice(-MOST_ERROR_TEXT);
    });
    this.#child.once("spawn", () => beNice(this.#child.pid));
  }

  /** The first reason counts. */
  kill(reason: string): void {
    this.#killedFor ??= reason;
    this.#child.kill("SIGKILL");
  }

  async writeTo(target: FileHandle): Promise<DecodedShape> {
    let head = Buffer.alloc(0);
    let bytes = 0;
    for await (const part of this.#child.stdout as AsyncIterable<Buffer>) {
      const missing = HEADER_BYTES - head.length;
      if (missing > 0) head = Buffer.concat([head, part.subarray(0, missing)]);
      const samples = part.subarray(Math.max(0, missing));
      bytes += samples.length;
      if (bytes > this.#limits.outputBytes) this.kill(tooLong(this.#limits));
      await writeAll(target, samples, HEADER_BYTES + bytes - samples.length);
    }
    const code = await this.#exit.catch((error: Error) => {
      throw new DecodeFailure("no_decoder", `The decoder cannot be started: ${error.message}.`);
    });
    this.#judge(code);
    const format = parseWavHeader(head, HEADER_BYTES + bytes);
    if (isAudioFormatError(format)) throw new DecodeFailure("undecodable", this.#reason());
    const { sampleRate, channels, frames } = format;
    await writeAll(target, wavFileHeader({ sampleRate, channels, frames }), 0);
    return { sampleRate, channels, frames };
  }

  #judge(code: number | null): void {
    if (code === DECODER_EXIT.tooLong) this.#killedFor ??= tooLong(this.#limits);
    if (code === DECODER_EXIT.tooLarge) this.#killedFor ??= "It takes too much memory to decode.";
    if (this.#killedFor !== undefined) throw new DecodeFailure("too_large", this.#killedFor);
    if (code !== 0) throw new DecodeFailure("undecodable", this.#reason());
  }

  /** What the decoder said last that is of use to people. */
  #reason(): string {
    const lines = this.#errors.split("\n").filter((line) => !/^\s*$|^Aborted\(/.test(line));
    if (lines.some((line) => /matches no streams/.test(line))) return "The file has no sound.";
    const last = lines
      .at(-1)
      ?.replace(/^.*\/(in|fd\/0): /, "")
      .slice(0, MOST_REASON);
    return last === undefined ? "It cannot be decoded." : `It cannot be decoded: ${last}.`;
  }
}

function tooLong({ outputBytes }: DecoderLimits): string {
  const minutes = Math.round(outputBytes / BYTES_PER_SECOND / 60);
  return `Its sound is longer than the ${minutes} min that are taken at once.`;
}

function beNice(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, NICE);
  } catch {
    // It has ended already.
  }
}

async function writeAll(target: FileHandle, bytes: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await target.write(bytes, done, bytes.length - done, at + done);
    done += bytesWritten;
  }
}
