import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { MissingEngine } from "../../../src/wire/worker-announcement.ts";
import type { EngineSettings, SherpaSettings } from "../engine-schemas.ts";

const ENTRY = new URL("./model-trial-entry.ts", import.meta.url);
/** A large model on a slow disk. */
const LIMIT_MS = 180_000;
const LONGEST_REASON = 400;

/** The message of the process that tries a model; without a reason it can be used. */
export interface TrialReport {
  reason?: string;
  /** True when the reason says what is missing and what to do. */
  isMissing?: true;
}

/** The engines that can be used, and those that cannot, with what is missing. */
interface TriedEngines {
  usable: EngineSettings[];
  missing: MissingEngine[];
}

/**
 * Tries each model of sherpa-onnx in a process of its own, because the native library ends the
 * process that gives it a file it cannot use. Undefined when no engines are configured.
 */
export async function tryEngines(
  engines: readonly EngineSettings[] | undefined,
): Promise<TriedEngines | undefined> {
  if (engines === undefined) return undefined;
  const tried: TriedEngines = { usable: [], missing: [] };
  for (const engine of engines) {
    const reason = engine.kind === "sherpa-onnx" ? await reasonAgainst(engine) : undefined;
    if (reason === undefined) tried.usable.push(engine);
    else if ("name" in engine) tried.missing.push({ name: engine.name, reason });
  }
  return tried;
}

async function reasonAgainst(engine: SherpaSettings): Promise<string | undefined> {
  const child = fork(ENTRY, [JSON.stringify(engine)], {
    execArgv: ["--disable-warning=ExperimentalWarning"],
    silent: true,
  });
  const limit = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
  try {
    return await outcomeOf(child, engine);
  } finally {
    clearTimeout(limit);
  }
}

async function outcomeOf(child: ChildProcess, { name, folder }: SherpaSettings) {
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
  if (report?.isMissing === true) return report.reason;
  if (report !== undefined && report.reason === undefined && code === 0) return undefined;
  const ended = `its process ended with ${signal ?? code} and said: ${errors}`;
  // Health is public: it names no folders of the machine.
  const said = (report?.reason ?? ended).replaceAll(folder, "…").trim().split(/\s+/u).join(" ");
  return `sherpa-onnx cannot use the model of "${name}" (${said.slice(0, LONGEST_REASON)}): compare it with voice models verify, or take another model.`;
}
