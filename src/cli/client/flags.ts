import { type Command, InvalidArgumentError } from "commander";
import { readPages } from "./pages.ts";
import { DEFAULT_BASE_URL, type UserSession } from "./user-session.ts";

const LONGEST_CHUNK_S = 900;
const MOST_LOSS = 0.9;

/** Parses `2s`, `500ms` or `2` (seconds) to seconds. */
export function parseDuration(text: string): number {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s)?$/.exec(text) ?? [];
  const seconds = Number(amount) / (unit === "ms" ? 1000 : 1);
  if (seconds >= 0.02 && seconds <= LONGEST_CHUNK_S) return seconds;
  throw new InvalidArgumentError("expected 20ms to 900s, for example 2s or 500ms");
}

/** Parses a factor above 0, or `max` as Infinity. */
export function parseSpeed(text: string): number {
  if (text === "max") return Number.POSITIVE_INFINITY;
  const speed = Number(text);
  if (text.trim() !== "" && speed > 0 && Number.isFinite(speed)) return speed;
  throw new InvalidArgumentError("expected a number above 0 (1 is real time), or max");
}

/** Parses `2%` or `0.02` to 0.02. */
export function parseShare(text: string): number {
  const [, amount, percent] = /^(\d+(?:\.\d+)?)(%)?$/.exec(text) ?? [];
  const share = Number(amount) / (percent ? 100 : 1);
  if (share >= 0 && share <= MOST_LOSS) return share;
  throw new InvalidArgumentError("expected 0 to 0.9, for example 0.02 or 2%");
}

/** Creates a parser for a number of seconds within these bounds. */
export function parseSeconds(least: number, most: number): (text: string) => number {
  return (text) => {
    const seconds = Number(text);
    if (text.trim() !== "" && seconds >= least && seconds <= most) return seconds;
    throw new InvalidArgumentError(`expected ${least} to ${most}`);
  };
}

/** Creates a parser for a whole number within these bounds. */
export function parseCount(least: number, most: number): (text: string) => number {
  return (text) => {
    const count = Number(text);
    if (/^\d+$/.test(text) && count >= least && count <= most) return count;
    throw new InvalidArgumentError(`expected a whole number, ${least} to ${most}`);
  };
}

/** Adds examples to a command's help: lines such as `voice tail last`. */
export function withExamples(command: Command, ...lines: string[]): Command {
  return command.addHelpText(
    "after",
    ["\nExamples:", ...lines.map((line) => `  ${line}`)].join("\n"),
  );
}

/** Adds the flags for the service's address and the user. */
export function withConnectionFlags(command: Command): Command {
  return command
    .option(
      "--base-url <url>",
      `address of the service, or VOICE_BASE_URL (default: the last login's, else ${DEFAULT_BASE_URL})`,
    )
    .option("--email <address>", "sign in as this user, or VOICE_EMAIL")
    .option("--password <text>", "with this password, or VOICE_PASSWORD (safer)")
    .option("--token <jwt>", "use this access token, or VOICE_TOKEN")
    .option(
      "--insecure",
      "allow http:// to another machine, where passwords go in clear, or ALLOW_INSECURE=1",
    );
}

const MOST_WORKSPACES = 10_000;

interface Workspace {
  readonly id: string;
  readonly name: string;
}

export interface ChosenWorkspace extends Workspace {
  /** The reason for the choice. */
  readonly because: "given" | "only" | "oldest" | "new";
}

/**
 * Chooses the workspace that a device joins: the given one, else the oldest to which the user
 * belongs, which stays the same whatever is created later, else a new one of this name.
 */
export async function chooseWorkspace(
  user: UserSession,
  given?: string,
  newName = "Simulated devices",
): Promise<ChosenWorkspace> {
  if (given) {
    const params = { path: { id: given } };
    const { id, name } = await user.call((client) => client.GET("/workspaces/{id}", { params }));
    return { id, name, because: "given" };
  }
  const own = await ownWorkspaces(user);
  const oldest = own.at(-1);
  if (oldest) return { ...oldest, because: own.length === 1 ? "only" : "oldest" };
  const body = { name: newName, preferred_language: "en" };
  const { id, name } = await user.call((client) => client.POST("/workspaces", { body }));
  return { id, name, because: "new" };
}

/** The user's workspaces, newest first. */
export async function ownWorkspaces(user: UserSession): Promise<Workspace[]> {
  const { items } = await readPages(
    (query) => user.call((client) => client.GET("/workspaces", { params: { query } })),
    MOST_WORKSPACES,
  );
  return items;
}

/** Text such as `workspace "Demo"`, with the reason when the user did not choose it. */
export function describeChoice({ name, because }: ChosenWorkspace): string {
  const reasons = {
    given: "",
    only: "",
    oldest: " (the oldest of yours; --workspace takes another)",
    new: " (made now: you belonged to none)",
  };
  return `workspace "${name}"${reasons[because]}`;
}
