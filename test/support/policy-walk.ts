import { CALLERS, type Caller, proofOf } from "./policy-callers.ts";
import { PolicyFixture } from "./policy-fixture.ts";
import { type Outcome, outcomeOf, type Rule, STATES, type State } from "./policy-rules.ts";
import { POLICY_TABLE } from "./policy-table.ts";
import { idName } from "./seeded-world.ts";

const AT_ONCE = 8;
/** Who stands for all of a kind where the rest of the matrix has said what there is to say. */
export const FEW_CALLERS: readonly Caller[] = [
  "anonymous",
  "admin",
  "owner",
  "member",
  "workspace owner",
  "moderator",
  "stranger",
  "guest",
  "guest by code",
  "device",
  "key of all scopes",
];

/** Who calls a route in a state. */
type CallersOf = (state: State, route: string) => readonly Caller[];

interface Operation {
  id: string;
  method: string;
  path: string;
  hasJson: boolean;
  isUpload: boolean;
}

interface Cell {
  operation: Operation;
  rule: Rule;
  caller: Caller;
  state: State;
}

/** Calls every route of the service as everybody, in every state, and holds the answers against the table. */
export class PolicyWalk {
  readonly #world: PolicyFixture;
  readonly #operations: readonly Operation[];

  private constructor(world: PolicyFixture, operations: readonly Operation[]) {
    this.#world = world;
    this.#operations = operations;
  }

  static async open(): Promise<PolicyWalk> {
    const world = await PolicyFixture.open();
    const document: unknown = await (await fetch(`${world.api}/openapi.json`)).json();
    return new PolicyWalk(world, operationsOf(document));
  }

  get routes(): string[] {
    return this.#operations.map(({ id }) => id);
  }

  close(): Promise<void> {
    return this.#world.close();
  }

  /** `wrong`: a line for each answer that is not the table's. */
  async run(callersOf: CallersOf): Promise<{ calls: number; wrong: string[] }> {
    const cells = this.#operations.flatMap((operation) => cellsOf(operation, callersOf));
    const wrong: string[] = [];
    const left = cells.values();
    const worker = async () => {
      for (const cell of left) {
        const { operation, rule, caller, state } = cell;
        const expected = outcomeOf(rule, caller, state);
        const { outcome, said } = await this.#call(cell);
        if (outcome === expected) continue;
        const which = rule.ask?.as === undefined ? "" : ` (${rule.ask.as})`;
        wrong.push(`${operation.id}${which}, ${state}, ${caller}: ${said}, not ${expected}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    return { calls: cells.length, wrong: wrong.sort() };
  }

  async #idsOf({ rule, caller, state }: Cell): Promise<Readonly<Record<string, string>>> {
    const world = this.#world;
    const ids = world.ids(state);
    if (rule.ask?.guest === true) return { ...ids, user_id: ids.guest_id ?? "" };
    if (rule.ask?.self === true) return { ...ids, user_id: world.userId(caller) };
    if (rule.ask?.spends !== "session" || state === "unknown") return ids;
    return { ...ids, session_id: await world.addSession(state) };
  }

  async #call(cell: Cell): Promise<{ outcome: Outcome | "fault"; said: string }> {
    const { operation, rule, caller, state } = cell;
    const world = this.#world;
    const { beyond, query, spends } = rule.ask ?? {};
    const ids = await this.#idsOf(cell);
    const headers =
      spends === "login" ? await world.headersToSpend(caller) : world.headers(caller, state);
    const path = fill(operation.path, (name) => ids[idName(operation.path, name)]);
    const search = query === undefined ? "" : `?${fill(query, (name) => ids[name])}`;
    const response = await fetch(world.api + path + search, {
      method: operation.method,
      redirect: "manual",
      signal: AbortSignal.timeout(30_000),
      ...bodyOf(cell, headers, ids),
    });
    const text = await response.text();
    const code = response.headers.get("x-error-code");
    const said = `${response.status} ${code ?? ""} ${code === null ? "" : text}`;
    const isBeyond = beyond !== undefined && text.includes(beyond);
    return { outcome: isBeyond ? "ok" : classify(response.status, code), said };
  }
}

/** Of whom one hears more in this state than of those who stand for all. */
export function callersThatTell(state: State): readonly Caller[] {
  if (state === "live") return CALLERS;
  if (state !== "ended" && state !== "deleted") return FEW_CALLERS;
  return CALLERS.filter((caller) => proofOf(caller) !== "nothing");
}

function cellsOf(operation: Operation, callersOf: CallersOf): Cell[] {
  return (POLICY_TABLE[operation.id] ?? []).flatMap((rule) =>
    STATES.filter((state) => isAsked(rule, state)).flatMap((state) =>
      callersOf(state, operation.id).map((caller) => {
        return { operation, rule, caller, state };
      }),
    ),
  );
}

function isAsked({ on }: Rule, state: State): boolean {
  if (state === "live" || on === "session") return true;
  return state === "unknown" && on === "thing";
}

function fill(text: string, value: (name: string) => string | undefined): string {
  return text.replaceAll(/\{(\w+)\}/g, (all, name: string) => value(name) ?? all);
}

function bodyOf(
  { operation, rule }: Cell,
  headers: Readonly<Record<string, string>>,
  ids: Readonly<Record<string, string>>,
): RequestInit {
  if (operation.isUpload) {
    return { headers: { ...headers, "content-type": "audio/wav" }, body: "no audio" };
  }
  const isHarmless = operation.method === "DELETE" && rule.ask?.spends === undefined;
  if (isHarmless) return { headers: { ...headers, "if-match": '"never"' } };
  if (!operation.hasJson) return { headers };
  const body = rule.ask?.body === undefined ? "[]" : JSON.stringify(rule.ask.body);
  return {
    headers: { ...headers, "content-type": "application/json" },
    body: fill(body, (name) => ids[name]),
  };
}

/** What came after the right was looked at counts as `ok`, whatever it found. */
function classify(status: number, code: string | null): Outcome | "fault" {
  if (status === 401) return "401";
  if (status === 403) return code === "elevation_required" ? "403 elevation_required" : "403";
  if (status === 404) return "404";
  const isAfter = status < 400 || [400, 409, 412, 416, 422].includes(status);
  return isAfter ? "ok" : "fault";
}

interface Document {
  paths: Record<string, Record<string, { operationId: string; requestBody?: { content: object } }>>;
}

function operationsOf(document: unknown): Operation[] {
  return Object.entries((document as Document).paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { operationId, requestBody }]) => {
      const hasJson = requestBody !== undefined && "application/json" in requestBody.content;
      return {
        id: operationId,
        method: method.toUpperCase(),
        path,
        hasJson,
        isUpload: requestBody !== undefined && !hasJson,
      };
    }),
  );
}
