import { databaseHosts } from "./database-address.ts";
import { SETTINGS, type Setting } from "./settings-table.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

type Table = typeof SETTINGS;
type SettingName = keyof Table;

/** The type of a setting's value. */
type Value<S> = S extends { type: "integer" | "number" }
  ? number
  : S extends { type: "switch" }
    ? boolean
    : S extends { choices: readonly (infer Choice)[] }
      ? S extends { type: "list" }
        ? Choice[]
        : Choice
      : S extends { type: "list" }
        ? string[]
        : string;

/** A setting's value, undefined only where the table has no default. */
type Read<S> = S extends { default: unknown } | { type: "switch" | "list" }
  ? Value<S>
  : Value<S> | undefined;

type Parsed = string | number | boolean | string[];

const ON = ["1", "true", "yes", "on"];
const OFF = ["0", "false", "no", "off"];

/**
 * Reads settings as the table defines them, and collects all problems so that they can be reported
 * together.
 */
export class SettingsReader {
  readonly problems: string[] = [];
  readonly #env: Environment;

  constructor(env: Environment) {
    this.#env = env;
  }

  /** Whether the variable is set; an empty one counts as unset. */
  has(name: SettingName): boolean {
    return settingText(this.#env, name) !== undefined;
  }

  get<N extends SettingName>(name: N): Read<Table[N]> {
    const setting: Setting = SETTINGS[name];
    const text = settingText(this.#env, name);
    if (text !== undefined) {
      const value = parseSetting(setting, text);
      if (value !== undefined) return value as Read<Table[N]>;
      this.problems.push(problemOf(name, text));
    }
    return fallbackOf(setting) as Read<Table[N]>;
  }

  /** Reads a setting that is required; `advice` says what to do when it is not set. */
  need(name: SettingName, advice?: string): string {
    const value = this.get(name);
    if (value === undefined && !this.has(name)) {
      this.problems.push(`${name} is not set${advice === undefined ? "" : `: ${advice}`}.`);
    }
    return typeof value === "string" ? value : "";
  }

  /** Reads the secret between workers and those that call them, without which neither starts. */
  needWorkerKey(): string {
    return this.need(
      "WORKER_KEY",
      "give the same to the service and all workers, made with `openssl rand -hex 24`",
    );
  }

  /** Throws one error that lists every problem, if there are any. */
  finish(): void {
    if (this.problems.length === 0) return;
    throw new Error(`The settings are not right:\n  ${this.problems.join("\n  ")}`);
  }
}

function isSetting(name: string): name is SettingName {
  return Object.hasOwn(SETTINGS, name);
}

/** Problems of all settings that are set, a sentence each. */
export function settingProblems(env: Environment): string[] {
  const reader = new SettingsReader(env);
  for (const name of Object.keys(SETTINGS)) if (isSetting(name)) reader.get(name);
  return reader.problems;
}

/** Parses a text; undefined when the setting does not allow it. */
export function parseSetting(setting: Setting, text: string): Parsed | undefined {
  switch (setting.type) {
    case "integer":
    case "number": {
      const value = Number(text);
      const isRight = setting.type === "integer" ? /^\d+$/.test(text) : Number.isFinite(value);
      return isRight && value >= setting.low && value <= setting.high ? value : undefined;
    }
    case "switch":
      return parseSwitch(text.toLowerCase());
    case "choice":
      return setting.choices.includes(text) ? text : undefined;
    case "list":
      return parseList(setting.choices, text);
    case "address":
      return isAddress(setting.protocols, text) ? text : undefined;
    default: {
      const { shortest = 0, longest = Number.POSITIVE_INFINITY } = setting;
      return text.length >= shortest && text.length <= longest ? text : undefined;
    }
  }
}

/** Describes the allowed values, for example "a whole number from 0 to 65535". */
export function mayBe(setting: Setting): string {
  switch (setting.type) {
    case "integer":
      return `a whole number from ${setting.low} to ${setting.high}`;
    case "number":
      return `a number from ${setting.low} to ${setting.high}`;
    case "switch":
      return "1 or 0 (or true, false, yes, no, on, off)";
    case "choice":
      return `one of ${setting.choices.join(", ")}`;
    case "list":
      return setting.choices
        ? `a list of ${setting.choices.join(", ")}`
        : "a list, comma-separated";
    case "address":
      return `an address like ${setting.protocols.map((each) => `${each}//…`).join(" or ")}`;
    default: {
      const { shortest, longest } = setting;
      const kind = { text: "text", path: "a path", json: "JSON" }[setting.type];
      if (shortest !== undefined) return `${kind} of ${shortest} characters or more`;
      return longest === undefined ? kind : `${kind} of at most ${longest} characters`;
    }
  }
}

/** True when the address of each host is valid; a database's address may have several hosts. */
function isAddress(protocols: readonly string[], text: string): boolean {
  const addresses = protocols.includes("postgres:") ? databaseHosts(text) : [text];
  return addresses.every((each) => protocols.includes(URL.parse(each)?.protocol ?? ""));
}

function problemOf(name: SettingName, text: string): string {
  const setting: Setting = SETTINGS[name];
  return `${name} must be ${mayBe(setting)}${setting.secret ? "" : `, not "${text}"`}.`;
}

function settingText(env: Environment, name: SettingName): string | undefined {
  const text = env[name];
  const trimmed = text?.trim();
  if (!trimmed) return undefined;
  // A password may begin or end with a space.
  return "secret" in SETTINGS[name] ? text : trimmed;
}

function fallbackOf(setting: Setting): Parsed | undefined {
  if (setting.type === "switch") return false;
  if (setting.type === "list") return [];
  return setting.default;
}

function parseSwitch(text: string): boolean | undefined {
  if (ON.includes(text)) return true;
  return OFF.includes(text) ? false : undefined;
}

function parseList(choices: readonly string[] | undefined, text: string): string[] | undefined {
  const parts = text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  return choices && !parts.every((part) => choices.includes(part)) ? undefined : parts;
}

/**
 * Why a part of the service does not go on as this user, as a sentence that says what to do;
 * undefined when it does. A part started by itself cannot know whom to become: whose the audio and
 * the keys are is its operator's word.
 */
export function rootProblem(env: Environment, uid = process.geteuid?.()): string | undefined {
  if (uid !== 0 || new SettingsReader(env).get("ALLOW_ROOT")) return undefined;
  return "Parts of the service run as an ordinary user, not as root: start this one as the owner of its audio and keys (User= of deploy/systemd/voice@.service, setpriv --reuid, or --user of a container), start all with npm run up, which gives each part a user of its own, or set ALLOW_ROOT=1.";
}
