import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { CommandFailure } from "../client/command-context.ts";
import type { PcmSource } from "./pcm-source.ts";

const RATE = 16_000;

/** Programs that write a microphone's sound, in order of preference, with what they are to do. */
const RECORDERS: readonly (readonly [program: string, args: readonly string[]])[] = [
  ["arecord", ["-q", "-t", "raw", "-f", "S16_LE", "-r", String(RATE), "-c", "1"]],
  ["rec", ["-q", "-t", "raw", "-e", "signed", "-b", "16", "-r", String(RATE), "-c", "1", "-"]],
  [
    "sox",
    ["-q", "-d", "-t", "raw", "-e", "signed", "-b", "16", "-r", String(RATE), "-c", "1", "-"],
  ],
];

/** A microphone that is being recorded. */
interface Microphone {
  readonly source: PcmSource;
  /** Ends the recording; what came until then is still read. */
  stop(): void;
}

/** Time until the first sound, milliseconds; a microphone that works gives some at once. */
const FIRST_SOUND_MS = 10_000;

/**
 * Starts to record the default microphone, and waits for its first sound. Throws where no program
 * for it is installed, or none comes.
 */
export async function openMicrophone(env: NodeJS.ProcessEnv): Promise<Microphone> {
  const found = RECORDERS.find(([program]) => isInstalled(program, env));
  if (found === undefined) {
    throw new CommandFailure(
      "a microphone needs the program arecord (package alsa-utils), or rec or sox (package sox), and none is installed; anything that writes samples can be piped in: voice device stream - --rate 16000",
    );
  }
  const [program, args] = found;
  // Of a process group of its own: Ctrl-C of the terminal reaches this command, which stops it.
  const child = spawn(program, args, { env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const sound = soundOf(child, program);
  const stop = () => void child.kill("SIGTERM");
  const limit = setTimeout(stop, FIRST_SOUND_MS);
  const first = await sound.next().finally(() => clearTimeout(limit));
  if (first.done) throw new CommandFailure(`${program} gets no sound from the microphone`);
  const fragments = withFirst(first.value, sound);
  return { source: { sampleRate: RATE, channels: 1, fragments }, stop };
}

async function* withFirst(
  first: Uint8Array,
  rest: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield first;
  yield* rest;
}

/** The child's output; throws when it ends by itself, as a microphone does not end. */
async function* soundOf(child: ChildProcess, program: string): AsyncGenerator<Uint8Array> {
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) return;
  let said = "";
  stderr.on("data", (text) => {
    said = (said + String(text)).slice(-500);
  });
  let failure: Error | undefined;
  child.on("error", (error) => {
    failure = error;
  });
  const closed = once(child, "close").catch(() => undefined);
  try {
    yield* stdout;
    await closed;
  } finally {
    if (child.exitCode === null && !child.killed) child.kill("SIGTERM");
  }
  if (child.killed) return;
  const reason = said.trim().split("\n").at(-1) || failure?.message || `code ${child.exitCode}`;
  throw new CommandFailure(`${program} cannot record the microphone: ${reason}`);
}

function isInstalled(program: string, { PATH = "" }: NodeJS.ProcessEnv): boolean {
  return PATH.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
