import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CALLERS, type Caller, proofOf } from "../support/policy-callers.ts";
import { PolicyFixture } from "../support/policy-fixture.ts";
import { type Outcome, outcomeOf, type Rule, STATES, type State } from "../support/policy-rules.ts";
import { POLICY_TABLE } from "../support/policy-table.ts";
import { idName } from "../support/seeded-world.ts";

const TABLE = "test/support/policy-table.ts";
const AT_ONCE = 8;
/** Who stands for all of a kind where the rest of the matrix has said what there is to say. */
const FEW: readonly Caller[] = [
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

describe("policy", () => {
  let world: PolicyFixture;
  let operations: Operation[];

  beforeAll(async () => {
    world = await PolicyFixture.open();
    operations = operationsOf(await (await fetch(`${world.api}/openapi.json`)).json());
  });
  afterAll(() => world?.close());

  it("matrix: every route has a row, and every row a route", () => {
    const ids = operations.map(({ id }) => id);
    const missing = ids.filter((id) => POLICY_TABLE[id] === undefined);
    expect(missing, `Say in ${TABLE} who may call these`).toEqual([]);
    const left = Object.keys(POLICY_TABLE).filter((id) => !ids.includes(id));
    expect(left, `Rows of ${TABLE} without a route`).toEqual([]);
  });

  it("matrix: every caller, route and state is answered as the table says", async () => {
    const cells = operations.flatMap(cellsOf);
    const wrong = await walk(cells);
    expect(wrong, `of ${cells.length} calls`).toEqual([]);
    expect(cells.length).toBeGreaterThan(4_000);
  });

  async function walk(cells: readonly Cell[]): Promise<string[]> {
    const wrong: string[] = [];
    const left = cells.values();
    const worker = async () => {
      for (const cell of left) {
        const { operation, rule, caller, state } = cell;
        const expected = outcomeOf(rule, caller, state);
        const { outcome, said } = await call(cell);
        if (outcome === expected) continue;
        const which = rule.ask?.as === undefined ? "" : ` (${rule.ask.as})`;
        wrong.push(`${operation.id}${which}, ${state}, ${caller}: ${said}, not ${expected}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    return wrong.sort();
  }

  async function idsOf({ rule, caller, state }: Cell): Promise<Readonly<Record<string, string>>> {
    const ids = world.ids(state);
    if (rule.ask?.guest === true) return { ...ids, user_id: ids.guest_id ?? "" };
    if (rule.ask?.self === true) return { ...ids, user_id: world.userId(caller) };
    if (rule.ask?.spends !== "session" || state === "unknown") return ids;
    return { ...ids, session_id: await world.addSession(state) };
  }

  async function call(cell: Cell): Promise<{ outcome: Outcome | "fault"; said: string }> {
    const { operation, rule, caller, state } = cell;
    const { beyond, query, spends } = rule.ask ?? {};
    const ids = await idsOf(cell);
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
});

/** Which calls a route gets: all callers where they differ, a few where only the state does. */
function cellsOf(operation: Operation): Cell[] {
  return (POLICY_TABLE[operation.id] ?? []).flatMap((rule) =>
    STATES.filter((state) => isAsked(rule, state)).flatMap((state) =>
      CALLERS.filter((caller) => isTelling(state, caller)).map((caller) => {
        return { operation, rule, caller, state };
      }),
    ),
  );
}

function isAsked({ on }: Rule, state: State): boolean {
  if (state === "live" || on === "session") return true;
  return state === "unknown" && on === "thing";
}

function isTelling(state: State, caller: Caller): boolean {
  if (state === "live") return true;
  if (state === "ended" || state === "deleted") return proofOf(caller) !== "nothing";
  return FEW.includes(caller);
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
