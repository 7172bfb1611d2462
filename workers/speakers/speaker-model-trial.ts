import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { type SpeakerModel, SpeakerModelError } from "./speaker-model.ts";

const ENTRY = new URL("./speaker-model-trial-entry.ts", import.meta.url);
/** A large network on a slow disk. */
const LIMIT_MS = 120_000;
const LONGEST_REASON = 600;

/** How a network did in its trial. */
interface SpeakerModelTrial {
  /** Processor time for a vector of 1.5 s of sound, milliseconds. */
  embedMs: number;
  /** Memory by which the process grew with the network, bytes. */
  memoryBytes: number;
}

/** The message of the process that tries the network. */
export type TrialReport = { ok: true; trial: SpeakerModelTrial } | { ok: false; reason: string };

/**
 * Loads a network and asks it for vectors in a process of its own, because the native library ends
 * the process that gives it a file it cannot use. Rejects with SpeakerModelError.
 */
export async function trySpeakerModel(model: SpeakerModel): Promise<SpeakerModelTrial> {
  const child = fork(ENTRY, [JSON.stringify(model)], {
    execArgv: ["--disable-warning=ExperimentalWarning"],
    silent: true,
  });
  const limit = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
  try {
    return await outcomeOf(child, model);
  } finally {
    clearTimeout(limit);
  }
}

async function outcomeOf(child: ChildProcess, { path }: SpeakerModel): Promise<SpeakerModelTrial> {
  let report: TrialReport | undefined;
  let errors = "";
  child.on("message", (message) => {
    report = message as TrialReport;
  });
  child.stdout?.resume();
  child.stderr?.on("data", (text) => {
    errors = `${errors}${text}`.slice(-LONGEST_REASON);
  });
  const [code, signal] = await once(child, "close");
  if (report?.ok && code === 0) return report.trial;
  if (report?.ok === false) throw new SpeakerModelError(report.reason);
  const said = errors.trim().split(/\s+/).join(" ") || "nothing";
  throw new SpeakerModelError(
    `SPEAKER_MODEL_DIR: sherpa-onnx cannot use ${path}: its process ended with ${signal ?? code} and said: ${said}. Take another model, or leave the setting out`,
  );
}
