import { setTimeout as delay } from "node:timers/promises";
import type { Command } from "commander";
import { ApiClient, ApiFailure } from "../api-client.ts";
import { cutIntoChunks } from "../audio-chunks.ts";
import { type CommandContext, writeJson } from "../command-context.ts";
import { CommandFailure, reasonOf } from "../command-failure.ts";
import { withConnectionFlags } from "../connection-flags.ts";
import {
  baseUrlOf,
  type ConnectionOptions,
  openUserSession,
  type UserSession,
} from "../user-session.ts";
import { VirtualDevice } from "../virtual-device.ts";
import { readWave, type WaveAudio } from "../wave-file.ts";
import { chooseWorkspace } from "../workspace-choice.ts";
import { CONVERSATION } from "./demo.ts";

/** One second of the shipped conversation, in the middle of its first words. */
const FROM_S = 0.4;
const TO_S = 1.7;
const TRANSCRIPT_LIMIT_MS = 30_000;
const POLL_MS = 250;
/** A doctor tells at once what a device would wait out. */
const IMPATIENT = { attempts: 2, firstMs: 200, longestMs: 500 };

/** `voice doctor`: walks the path of a conversation and names the first thing that is wrong. */
export function addDoctor(program: Command, context: CommandContext): void {
  const command = program
    .command("doctor")
    .description("walk the whole path, from health to transcript, and name what is wrong")
    .option("--workspace <id>", "workspace for the test session (default: your first)");
  withConnectionFlags(command).action((options: ConnectionOptions & { workspace?: string }) =>
    examine(options, context),
  );
}

type Step = <T>(name: string, advice: string, work: () => Promise<[T, string]>) => Promise<T>;

async function examine(
  options: ConnectionOptions & { workspace?: string },
  context: CommandContext,
): Promise<void> {
  const step = stepRunner(context);
  const baseUrl = baseUrlOf(options, context.env);
  const api = new ApiClient(baseUrl, IMPATIENT);
  await step("health", "is the service running there? start it with `npm run up`", async () => {
    const health = await api.call((client) => client.GET("/health"));
    if (health.status !== "ok") {
      throw new CommandFailure(`it is ${health.status}: ${JSON.stringify(health.checks)}`);
    }
    return [undefined, `${baseUrl}, version ${health.version}`];
  });
  const user = await step("login", "check e-mail and password, or run `voice login`", async () => {
    const session = await openUserSession(options, context.env);
    const params = { query: { limit: 1 } };
    await session.call((client) => client.GET("/sessions", { params }));
    return [session, "accepted"];
  });
  const device = await step(
    "pairing",
    "may this user pair devices in this workspace?",
    async () => {
      const workspaceId = await chooseWorkspace(user, options.workspace);
      const paired = await VirtualDevice.pair(user, { name: "Doctor", workspaceId });
      await paired.heartbeat({ recording: false });
      return [paired, `device ${paired.id}`];
    },
  );
  const sessionId = await step("session", "see the log of the main process", async () => {
    const id = await device.startSession({ title: "Doctor's test" });
    return [id, id];
  });
  await step("upload", "is there room where the audio is stored?", async () => {
    const [chunk] = [...cutIntoChunks([sample()], TO_S, "wav")];
    if (chunk) await device.upload(sessionId, chunk, context.signal);
    await device.stopSession(sessionId, 0);
    return [undefined, "stored"];
  });
  await step(
    "transcript",
    "is a worker running? see /api/health and the worker's log",
    async () => [undefined, `"${await awaitTranscript(user, sessionId, context.signal)}"`],
  );
}

function sample(): WaveAudio {
  const audio = readWave(CONVERSATION);
  const at = (seconds: number) => Math.round(seconds * audio.sampleRate) * 2 * audio.channels;
  return { ...audio, data: audio.data.subarray(at(FROM_S), at(TO_S)) };
}

async function awaitTranscript(
  user: UserSession,
  sessionId: string,
  signal: AbortSignal,
): Promise<string> {
  const deadline = performance.now() + TRANSCRIPT_LIMIT_MS;
  const params = { path: { session_id: sessionId } };
  let status = "";
  while (performance.now() < deadline) {
    const session = await user.call((client) => client.GET("/sessions/{session_id}", { params }));
    status = session.status;
    if (status === "failed") throw new CommandFailure("the session's transcription failed");
    if (status === "completed") return readText(user, sessionId);
    await delay(POLL_MS, undefined, { signal });
  }
  throw new CommandFailure(`still ${status} after ${TRANSCRIPT_LIMIT_MS / 1000} s`);
}

async function readText(user: UserSession, sessionId: string): Promise<string> {
  const params = { path: { session_id: sessionId }, query: { format: "txt" as const } };
  const answer = await user.call((client) =>
    client.GET("/sessions/{session_id}/transcript", { params, parseAs: "text" }),
  );
  const text = answer.trim();
  if (text === "") throw new CommandFailure("it is empty although there was speech");
  return text.split(/\s+/).join(" ");
}

function stepRunner({ stdout }: CommandContext): Step {
  return async (name, advice, work) => {
    const start = performance.now();
    try {
      const [result, found] = await work();
      const ms = Math.round(performance.now() - start);
      if (stdout.isTTY) stdout.write(`✓ ${name.padEnd(10)} ${found} (${ms} ms)\n`);
      else writeJson(stdout, { step: name, ok: true, found, ms });
      return result;
    } catch (error) {
      const reason = error instanceof ApiFailure ? error.message : reasonOf(error);
      if (stdout.isTTY) stdout.write(`✗ ${name.padEnd(10)} ${reason}\n`);
      else writeJson(stdout, { step: name, ok: false, reason, advice });
      throw new CommandFailure(`${name} failed: ${reason}. Advice: ${advice}`, error);
    }
  };
}
