import { afterEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import type { Principal } from "../../src/access/principal.ts";
import { newId } from "../../src/base/ids.ts";
import { DEFAULT_LIVE_LIMITS } from "../../src/http/sockets/live-limits.ts";
import { startFront, type TestFront, type TestFrontOptions } from "../support/front.ts";
import { knownSessionId } from "../support/live-fixture.ts";
import { until } from "../support/until.ts";

let front: TestFront | undefined;
const sockets: WebSocket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.terminate();
  await front?.stop();
  front = undefined;
});

async function start(options: Partial<TestFrontOptions> = {}): Promise<TestFront> {
  front = await startFront({ routes: [], ...options });
  return front;
}

/**
 * Opens `count` sockets of callers who are all asked who they are before the first of them is let
 * in; resolves with what each got.
 */
async function openAtOnce(here: TestFront, count: number, caller: (n: number) => string) {
  const { callers } = here;
  let asked = 0;
  let letIn = (): void => {};
  const gate = new Promise<void>((resolve) => {
    letIn = resolve;
  });
  const authenticate = callers.authenticate.bind(callers);
  callers.authenticate = async (...given) => {
    asked += 1;
    await gate;
    return authenticate(...given);
  };
  let refused = 0;
  const all = Array.from({ length: count }, async (_, n) => {
    const status = await open(here, { authorization: `Bearer user-${caller(n)}` });
    if (status !== 101) refused += 1;
    return status;
  });
  await until(() => asked + refused === count, "all to be asked or refused");
  letIn();
  const statuses = await Promise.all(all);
  callers.authenticate = authenticate;
  return statuses;
}

/** Opens a socket; resolves with 101 or the status of the refusal. */
function open(
  { port }: TestFront,
  headers: Record<string, string>,
  { query = "", from = "127.0.0.1" } = {},
): Promise<number> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/api/live${query}`, {
    headers,
    localAddress: from,
  });
  sockets.push(socket);
  return new Promise((resolve) => {
    socket.on("open", () => resolve(101));
    socket.on("unexpected-response", (_request, answer) => resolve(answer.statusCode ?? 0));
    socket.on("error", () => {});
  });
}

function guest(sessionId: string): Principal {
  const id = newId();
  return {
    kind: "guest",
    id,
    role: "guest",
    sessionId,
    displayName: "Eve",
    tokenId: id,
    expiresAt: Date.now() + 3_600_000,
  };
}

/** A ticket's query for this caller. */
function ticketOf({ tickets }: TestFront, principal: Principal): string {
  const ticket = newId();
  tickets.set(ticket, principal);
  return `?ticket=${ticket}`;
}

const opened = (statuses: readonly number[]) => statuses.filter((status) => status === 101).length;
const { shares } = DEFAULT_LIVE_LIMITS;

describe("socket places", () => {
  it("holds to a caller's limit when many sockets are opened at once", async () => {
    const here = await start({ liveLimits: { socketsPerCaller: 5 } });
    const eve = { authorization: "Bearer user-eve" };
    const statuses = await openAtOnce(here, 40, () => "eve");
    expect(opened(statuses)).toBe(5);
    expect(statuses.filter((status) => status === 429)).toHaveLength(35);
    expect(await open(here, { authorization: "Bearer user-bob" })).toBe(101);
    // What is closed is free again.
    for (const socket of sockets) if (socket.readyState === WebSocket.OPEN) socket.close();
    await until(() => here.server.sockets === 0, "the end of all");
    expect(await open(here, eve)).toBe(101);
  });

  it("holds to the limit of all when many sockets are opened at once", async () => {
    const here = await start({ liveLimits: { sockets: 6 } });
    const statuses = await openAtOnce(here, 30, (n) => `u${n}`);
    expect(opened(statuses)).toBe(6);
  });

  it("lets one address have its share, and others connect", async () => {
    const here = await start({ liveLimits: { sockets: 20, shares: { ...shares, network: 4 } } });
    const own = Array.from({ length: 10 }, (_, n) =>
      open(here, { authorization: `Bearer user-u${n}` }, { from: "127.0.0.7" }),
    );
    expect(opened(await Promise.all(own))).toBe(4);
    expect(await open(here, { authorization: "Bearer user-bob" })).toBe(101);
  });

  it("lets the guests of a session have their share together, however many they are", async () => {
    const sessionId = knownSessionId();
    const here = await start({ liveLimits: { shares: { ...shares, session: 3 } } });
    const minted = Array.from({ length: 8 }, () => guest(sessionId));
    const statuses = await Promise.all(
      minted.map((each) => open(here, {}, { query: ticketOf(here, each) })),
    );
    expect(opened(statuses)).toBe(3);
    const other = guest(knownSessionId());
    expect(await open(here, {}, { query: ticketOf(here, other) })).toBe(101);
    expect(await open(here, { authorization: "Bearer user-bob" })).toBe(101);
  });

  it("keeps half of the sockets from guests", async () => {
    const here = await start({ liveLimits: { sockets: 8, shares: { ...shares, guests: 4 } } });
    const statuses = await Promise.all(
      Array.from({ length: 8 }, () =>
        open(here, {}, { query: ticketOf(here, guest(knownSessionId())) }),
      ),
    );
    expect(opened(statuses)).toBe(4);
    expect(await open(here, { authorization: "Bearer user-bob" })).toBe(101);
  });

  it("frees the places of callers that vanish while they are asked who they are", async () => {
    let asked = 0;
    let answer = (): void => {};
    const gate = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const here = await start({ liveLimits: { sockets: 3 } });
    const { callers } = here;
    const authenticate = callers.authenticate.bind(callers);
    callers.authenticate = async (...given) => {
      asked += 1;
      await gate;
      return authenticate(...given);
    };
    for (let n = 0; n < 3; n += 1) void open(here, { authorization: `Bearer user-u${n}` });
    await until(() => asked === 3, "all three");
    expect(await open(here, { authorization: "Bearer user-bob" })).toBe(503);
    for (const socket of sockets) socket.terminate();
    await new Promise((resolve) => setTimeout(resolve, 50));
    answer();
    await until(
      async () => (await open(here, { authorization: "Bearer user-bob" })) === 101,
      "room",
    );
  });
});

describe("socket replays", () => {
  it("slows down who asks for the same history again and again, and no neighbour", async () => {
    const here = await start({
      liveLimits: {
        replays: { perMinute: 0.001, burst: 4 },
        messages: { perMinute: 6e5, burst: 1e4 },
      },
    });
    const sessionId = knownSessionId();
    for (let n = 0; n < 20; n += 1) here.source.append(sessionId);
    const greedy = await replay(here, "eve", sessionId, 30);
    await until(() => greedy.subscribed === 30, "all requests");
    const modest = await replay(here, "bob", sessionId, 1);
    await until(() => modest.durable >= 20, "the neighbour's replay");
    expect(greedy.durable).toBeLessThan(30 * 20);
    expect(greedy.durable).toBeLessThanOrEqual(4 * 20);
  });
});

/** Subscribes from the beginning `times` over, and counts the durable frames that come. */
async function replay(here: TestFront, user: string, sessionId: string, times: number) {
  const state = { durable: 0, subscribed: 0 };
  const socket = new WebSocket(`ws://127.0.0.1:${here.port}/api/live`, {
    headers: { authorization: `Bearer user-${user}` },
  });
  sockets.push(socket);
  socket.on("message", (data) => {
    if ((JSON.parse(String(data)) as { seq?: number; at?: string }).at !== undefined) {
      state.durable += 1;
    }
  });
  await new Promise((resolve) => socket.on("open", resolve));
  for (let n = 0; n < times; n += 1) {
    const checked = here.checks.length;
    socket.send(JSON.stringify({ type: "Subscribe", session_id: sessionId, from_seq: 0 }));
    await until(() => here.checks.length > checked, "the request");
    state.subscribed += 1;
  }
  return state;
}
