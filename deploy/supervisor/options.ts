import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { clearTextProblems } from "../../src/base/clear-text.ts";
import { mayBe, parseSetting, SettingsReader, settingProblems } from "../../src/base/settings.ts";
import { SETTINGS } from "../../src/base/settings-table.ts";
import { StepError } from "../setup/step-error.mjs";

/** What `npm run up` was asked to do. */
export interface Options {
  readonly port: number;
  readonly data: string;
  readonly demo: boolean;
  /** Times real time. */
  readonly speed: number;
  readonly fresh: boolean;
  readonly readyFile: string | undefined;
  /** Two of each part and three nats-servers instead of one of each. */
  readonly cluster: boolean;
  /** Passwords, words and audio may cross a network in clear. */
  readonly insecure: boolean;
  /** The service and the workers are restarted whenever their sources change. */
  readonly watch: boolean;
  /** Ports that a person chose; the others are picked and kept. */
  readonly ports: Readonly<Record<"ops" | "grpc_sessions" | "worker", number | undefined>>;
}

const FLAGS = {
  port: { type: "string" },
  data: { type: "string" },
  "no-demo": { type: "boolean" },
  speed: { type: "string" },
  fresh: { type: "boolean" },
  "ready-file": { type: "string" },
  cluster: { type: "boolean" },
  watch: { type: "boolean" },
  insecure: { type: "boolean" },
} as const;

/** An option wins over the environment. Throws a StepError that names what is wrong. */
export function parseOptions(args: string[], env: NodeJS.ProcessEnv, project: string): Options {
  const given = parseFlags(args);
  const problems = settingProblems(env);
  if (problems.length > 0) throw wrongSettings(problems);
  const insecure = given.insecure || new SettingsReader(env).get("ALLOW_INSECURE");
  const reader = new SettingsReader(insecure ? { ...env, ALLOW_INSECURE: "1" } : env);
  const inClear = clearTextProblems(reader, ["web", "grpc", "worker", "nats", "database"]);
  if (inClear.length > 0) throw exposed(inClear);
  const from = env.INIT_CWD ?? project;
  const readyFile = given["ready-file"] ?? reader.get("VOICE_READY_FILE");
  const data = given.data ?? reader.get("VOICE_DATA");
  return {
    port: parseFlag("port", given.port, "VOICE_PORT") ?? reader.get("VOICE_PORT"),
    data: data === undefined ? resolve(project, "data") : resolve(from, data),
    demo: !(given["no-demo"] ?? reader.get("VOICE_NO_DEMO")),
    speed: parseFlag("speed", given.speed, "VOICE_SPEED") ?? reader.get("VOICE_SPEED"),
    fresh: given.fresh ?? reader.get("VOICE_FRESH"),
    cluster: given.cluster ?? reader.get("VOICE_CLUSTER"),
    watch: given.watch ?? false,
    insecure,
    readyFile: readyFile === undefined ? undefined : resolve(from, readyFile),
    ports: chosenPorts(reader),
  };
}

/** Of those that `up` picks itself otherwise; with several processes of a kind, the first one's. */
function chosenPorts(reader: SettingsReader): Options["ports"] {
  const port = (name: "OPS_PORT" | "GRPC_SESSIONS_PORT" | "WORKER_PORT") =>
    reader.has(name) && reader.get(name) !== 0 ? reader.get(name) : undefined;
  return {
    ops: port("OPS_PORT"),
    grpc_sessions: port("GRPC_SESSIONS_PORT"),
    worker: port("WORKER_PORT"),
  };
}

function exposed(problems: readonly string[]): StepError {
  const rows = problems.map((problem) => `\n    ${problem}`);
  return new StepError(
    `something would cross a network in clear:${rows.join("")}`,
    "deploy/one-machine.md says how to put TLS there",
  );
}

function wrongSettings(problems: readonly string[]): StepError {
  const rows = problems.map((problem) => `\n    ${problem}`);
  return new StepError(
    `the settings are not right:${rows.join("")}`,
    "correct them in the environment or in .env; npm run up -- --help lists all",
  );
}

function parseFlags(args: string[]) {
  try {
    return parseArgs({ args, options: FLAGS, strict: true, allowPositionals: false }).values;
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    const why = text.split(". To specify")[0] ?? text;
    throw new StepError(why, `npm run up -- --help shows the options${hintFor(args)}`);
  }
}

/** npm swallows options that come without the two dashes before them. */
function hintFor(args: string[]): string {
  const bare = args.length === 1 ? args.find((arg) => !arg.startsWith("-")) : undefined;
  return bare ? ` (options go after two dashes: npm run up -- --port ${bare})` : "";
}

function parseFlag(
  flag: string,
  text: string | undefined,
  name: "VOICE_PORT" | "VOICE_SPEED",
): number | undefined {
  if (text === undefined || text === "") return undefined;
  const value = parseSetting(SETTINGS[name], text);
  if (typeof value === "number") return value;
  throw new StepError(`--${flag} is ${JSON.stringify(text)}`, `give ${mayBe(SETTINGS[name])}`);
}
