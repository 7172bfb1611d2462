import { setTimeout as delay } from "node:timers/promises";
import type { Command } from "commander";
import { ApiClient } from "../../client/api-client.ts";
import { ApiError, reasonOf } from "../../client/errors.ts";
import { type CommandContext, CommandFailure, writeJson } from "../client/command-context.ts";
import { exitCodeOf } from "../client/exit-codes.ts";
import { chooseWorkspace, describeChoice, withConnectionFlags } from "../client/flags.ts";
import {
  baseUrlOf,
  CONTACT_MS,
  type ConnectionOptions,
  openUserSession,
  type UserSession,
} from "../client/user-session.ts";
import { cutIntoChunks } from "../device/audio-chunks.ts";
import { unpair, VirtualDevice } from "../device/virtual-device.ts";
import { readWave, type WaveAudio } from "../device/wave-file.ts";
import { printable } from "../view/transcript-line.ts";
import { CONVERSATION } from "./demo.ts";

/** Runs one step, and reports its name, its result or error, and its duration. */
type Step = <T>(
  name: string,
  advice: string,
  work: () => Promise<[result: T, found: string]>,
) => Promise<T>;

const NEW_ROW = "\r\u001b[K";

/**
 * Reports each step as a row on a terminal, else as an object. A step that fails throws with its
 * advice.
 */
function stepRunner({ stdout }: Pick<CommandContext, "stdout">): Step {
  const report = (name: string, ok: boolean, found: string, ms: number, advice: string) => {
    if (stdout.isTTY) {
      // Overwrites the ^C that the terminal may have shown.
      stdout.write(
        `${NEW_ROW}${ok ? "✓" : "✗"} ${name.padEnd(10)} ${printable(found)} (${spent(ms)})\n`,
      );
    } else {
      const outcome = ok ? { found } : { reason: found, advice };
      writeJson(stdout, { step: name, ok, ...outcome, ms });
    }
  };
  return async (name, advice, work) => {
    const start = performance.now();
    const ms = () => Math.round(performance.now() - start);
    try {
      const [result, found] = await work();
      report(name, true, found, ms(), advice);
      return result;
    } catch (error) {
      const isAborted = error instanceof Error && error.name === "AbortError";
      const reason = isAborted ? "interrupted" : reasonOf(error);
      report(name, false, reason, ms(), advice);
      const text = `${name} failed: ${reason}. Advice: ${advice}`;
      throw new CommandFailure(text, error, exitCodeOf(error));
    }
  };
}

function spent(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

/** Data that an examination has created in the service so far. */
interface Traces {
  sessionId?: string;
  deviceId?: string;
  workspaceId?: string;
}

/**
 * Deletes the data; each deletion is attempted whatever happens to the others. Without data there
 * is no step.
 */
async function cleanUp(
  user: UserSession,
  { sessionId, deviceId, workspaceId }: Traces,
  step: Step,
): Promise<void> {
  const tasks: [what: string, work: () => Promise<unknown>][] = [];
  if (sessionId) tasks.push([`session ${sessionId}`, () => deleteSession(user, sessionId)]);
  if (deviceId) tasks.push([`device ${deviceId}`, () => unpair(user, deviceId)]);
  if (workspaceId) tasks.push(["its workspace", () => deleteWorkspace(user, workspaceId)]);
  if (tasks.length === 0) return;
  const left: string[] = [];
  const advice = "delete them by hand: DELETE /api/sessions/{id}, /api/devices/{id}";
  await step("cleanup", advice, async () => {
    for (const [what, work] of tasks) await work().catch(() => left.push(what));
    if (left.length > 0) throw new Error(`left behind: ${left.join(", ")}`);
    return [undefined, `deleted ${tasks.map(([what]) => what).join(", ")}`];
  });
}

async function deleteSession(user: UserSession, id: string): Promise<void> {
  const params = { path: { session_id: id } };
  await user.call((client) => client.DELETE("/sessions/{session_id}", { params }));
}

async function deleteWorkspace(user: UserSession, id: string): Promise<void> {
  await user.call((client) => client.DELETE("/workspaces/{id}", { params: { path: { id } } }));
}

/** One second of the shipped conversation, in the middle of its first words. */
const FROM_S = 0.4;
const TO_S = 1.7;
const TRANSCRIPT_LIMIT_MS = 30_000;
const POLL_MS = 250;

/** `voice doctor`: checks each step of a conversation and names the first problem. */
export function addDoctor(program: Command, context: CommandContext): void {
  const command = program
    .command("doctor")
    .description("walk the whole path, from health to transcript, and name what is wrong")
    .option("--workspace <id>", "workspace for the test session (default: your oldest)");
  withConnectionFlags(command)
    .addHelpText("after", "\nThe device and the session that it makes for this go at the end.")
    .action((options: DoctorOptions) => examine(options, context));
}

interface DoctorOptions extends ConnectionOptions {
  readonly workspace?: string;
}

async function examine(options: DoctorOptions, context: CommandContext): Promise<void> {
  const step = stepRunner(context);
  const baseUrl = baseUrlOf(options, context.env);
  const api = new ApiClient(baseUrl);
  await step("health", "is the service running there? start it with `npm run up`", async () => {
    const health = await api.once((client) => client.GET("/health"), { timeoutMs: CONTACT_MS });
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
  const traces: Traces = {};
  try {
    await walk(user, options, traces, step, context.signal);
  } catch (error) {
    // The first failure is thrown; failures of the clean-up have been reported already.
    await cleanUp(user, traces, step).catch(() => undefined);
    throw error;
  }
  await cleanUp(user, traces, step);
}

async function walk(
  user: UserSession,
  options: DoctorOptions,
  traces: Traces,
  anyStep: Step,
  signal: AbortSignal,
): Promise<void> {
  const step: Step = (...about) => {
    signal.throwIfAborted();
    return anyStep(...about);
  };
  const device = await step(
    "pairing",
    "may this user pair devices in this workspace?",
    async () => {
      const workspace = await chooseWorkspace(user, options.workspace, "Doctor's test");
      if (workspace.because === "new") traces.workspaceId = workspace.id;
      const request = { name: "Doctor", workspaceId: workspace.id };
      const paired = await VirtualDevice.pair(user, request);
      traces.deviceId = paired.id;
      await paired.heartbeat({ recording: false });
      return [paired, `device ${paired.id} in ${describeChoice(workspace)}`];
    },
  );
  const sessionId = await step("session", "see the log of the main process", async () => {
    traces.sessionId = await device.startSession({ title: "Doctor's test" });
    return [traces.sessionId, traces.sessionId];
  });
  await step("upload", "is there room where the audio is stored?", async () => {
    const [chunk] = [...cutIntoChunks([sample()], TO_S, "wav")];
    if (chunk) await device.upload(sessionId, chunk, signal);
    await device.stopSession(sessionId, 0);
    return [undefined, "stored"];
  });
  await step(
    "transcript",
    "is a worker running? see /api/health and the worker's log",
    async () => [undefined, `"${await awaitTranscript(user, sessionId, signal)}"`],
  );
  await step("speakers", "see the worker's log", async () => [
    undefined,
    await describeSpeakers(user, sessionId),
  ]);
  await step("networks", "see the worker's log and INFERENCE_PROVIDERS", async () => [
    undefined,
    await describeNetworks(user),
  ]);
}

/** By what the worker told the session's voices apart, which administrators may see. */
async function describeSpeakers(user: UserSession, sessionId: string): Promise<string> {
  const query = { session_id: sessionId };
  try {
    const { items } = await user.call((client) =>
      client.GET("/admin/jobs/transcriptions", { params: { query } }),
    );
    const method = items[0]?.diarisation_model_version;
    if (method === undefined) throw new CommandFailure("the session's job does not say by what");
    return `told apart by ${method}`;
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 403) throw error;
    return "told apart by what administrators are shown";
  }
}

/** By what the workers run their networks, which administrators may see. */
async function describeNetworks(user: UserSession): Promise<string> {
  try {
    const { workers } = await user.call((client) => client.GET("/admin/overview"));
    const known = workers.flatMap(({ networks }) => networks ?? []);
    const each = known.map(({ provider, reason }) =>
      reason === undefined ? `run with ${provider}` : reason,
    );
    return each.length === 0 ? "no worker tells" : [...new Set(each)].sort().join("; ");
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 403) throw error;
    return "run with what administrators are shown";
  }
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
