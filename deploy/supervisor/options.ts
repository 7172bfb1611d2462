import { resolve } from "node:path";
import { parseArgs } from "node:util";
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
}

const FLAGS = {
  port: { type: "string" },
  data: { type: "string" },
  "no-demo": { type: "boolean" },
  speed: { type: "string" },
  fresh: { type: "boolean" },
  "ready-file": { type: "string" },
  cluster: { type: "boolean" },
} as const;

/** An option wins over the environment. Throws a StepError that names what is wrong. */
export function parseOptions(args: string[], env: NodeJS.ProcessEnv, project: string): Options {
  const given = parseFlags(args);
  const from = env.INIT_CWD ?? project;
  const readyFile = given["ready-file"] ?? (env.VOICE_READY_FILE || undefined);
  const data = given.data ?? (env.VOICE_DATA || undefined);
  return {
    port: parseNumber(given.port ?? env.VOICE_PORT, 8080, "port", 0, 65535, true),
    data: data === undefined ? resolve(project, "data") : resolve(from, data),
    demo: !(given["no-demo"] ?? parseSwitch(env.VOICE_NO_DEMO)),
    speed: parseNumber(given.speed ?? env.VOICE_SPEED, 1, "speed", 0.1, 100, false),
    fresh: given.fresh ?? parseSwitch(env.VOICE_FRESH),
    cluster: given.cluster ?? parseSwitch(env.VOICE_CLUSTER),
    readyFile: readyFile === undefined ? undefined : resolve(from, readyFile),
  };
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

function parseNumber(
  text: string | undefined,
  fallback: number,
  name: string,
  least: number,
  most: number,
  whole: boolean,
): number {
  if (text === undefined || text === "") return fallback;
  const value = Number(text);
  const fits = value >= least && value <= most && (!whole || Number.isInteger(value));
  if (fits) return value;
  throw new StepError(
    `--${name} is ${JSON.stringify(text)}`,
    `give a ${whole ? "whole " : ""}number from ${least} to ${most}`,
  );
}

function parseSwitch(text: string | undefined): boolean {
  return text !== undefined && !["", "0", "false", "no", "off"].includes(text.toLowerCase());
}
