import { afterEach, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { DEFAULT_HTTP_LIMITS } from "../../src/http/server/http-limits.ts";
import { JSON_HEADERS, post, raw, start, stopAfterEach } from "../support/front-calls.ts";
import { until } from "../support/until.ts";

type Caller = ReturnType<typeof raw>;

const open: Caller[] = [];

// Before the front stops: it ends with its callers.
afterEach(() => {
  for (const { socket } of open.splice(0)) socket.destroy();
});
stopAfterEach();

const { shares, pace } = DEFAULT_HTTP_LIMITS;
/** Nobody is late, so that only shares decide. */
const PATIENT = { ...pace, firstByteMs: 60_000, graceMs: 60_000 };

/** A request whose body of `length` bytes begins and does not go on. */
function begin(port: number, { from = "127.0.0.1", length = 200, head = "POST /api/things" } = {}) {
  const text = `${head} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n{`;
  const caller = raw(port, text, from);
  open.push(caller);
  return caller;
}

const status = ({ text }: Caller) => /^HTTP\/1\.1 (\d+)/.exec(text)?.[1];
const count = (callers: readonly Caller[], wanted: string) =>
  callers.filter((caller) => status(caller) === wanted).length;

describe("request places", () => {
  it("waits for no byte of a body before it knows who calls, and whether the role may", async () => {
    const { front, echo } = await start({ limits: { pace: PATIENT } });
    const thing = `/api/things/${newId().slice(0, -1)}1`;
    const unknown = begin(front.port, { head: `PUT ${thing}` });
    await until(() => unknown.text.includes("HTTP/1.1 401"), "the refusal of a stranger");
    const bob = raw(
      front.port,
      `PUT ${thing} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer user-bob\r\nContent-Type: application/json\r\nContent-Length: 900000\r\n\r\n{`,
    );
    open.push(bob);
    await until(() => bob.text.includes("HTTP/1.1 403"), "the refusal by role");
    expect(echo.seen.get("putThing")).toBeUndefined();
  });

  it("lets one address take its share of the gate, and serves the others", async () => {
    const { front, url } = await start({
      limits: {
        pace: PATIENT,
        concurrentRequests: 8,
        shares: { ...shares, requests: { ...shares.requests, network: 4 } },
      },
    });
    const held = Array.from({ length: 20 }, () => begin(front.port, { from: "127.0.0.2" }));
    await until(() => count(held, "429") === 16, "the refusals of the address");
    for (const each of held) if (status(each) === "429") expect(each.text).toMatch(/retry-after/i);
    expect((await fetch(`${url}/things`)).status).toBe(200);
    expect((await post(`${url}/things`, '{"name":"x"}', JSON_HEADERS)).status).toBe(200);
    // What it leaves is free again.
    for (const { socket } of held) socket.destroy();
    await until(async () => {
      const again = begin(front.port, { from: "127.0.0.2" });
      again.socket.write(`"name":"${"x".repeat(189)}"}`);
      await until(() => status(again) !== undefined, "an answer");
      return status(again) === "200";
    }, "places that were left");
  });

  it("keeps half of the gate from callers without a name, however many their addresses", async () => {
    const { front, url } = await start({
      limits: {
        pace: PATIENT,
        concurrentRequests: 8,
        shares: { ...shares, requests: { ...shares.requests, network: 2, nobody: 4 } },
      },
    });
    const from = [2, 3, 4, 5, 6, 7].map((last) => `127.0.0.${last}`);
    const held = from.flatMap((address) => [
      begin(front.port, { from: address }),
      begin(front.port, { from: address }),
    ]);
    await until(() => count(held, "429") === 8, "the refusals of strangers");
    const known = { headers: { authorization: "Bearer user-bob" } };
    expect((await fetch(`${url}/things/${newId()}`, known)).status).toBe(200);
  });

  it("lets one caller take its share, whatever addresses it has", async () => {
    const { front, url } = await start({
      limits: {
        pace: PATIENT,
        concurrentRequests: 16,
        shares: { ...shares, requests: { ...shares.requests, caller: 3 } },
      },
    });
    const asAdmin = (last: number) => {
      const caller = raw(
        front.port,
        `PUT /api/things/${newId().slice(0, -1)}1 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer user-admin\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{`,
        `127.0.0.${last}`,
      );
      open.push(caller);
      return caller;
    };
    const held = [2, 3, 4, 5, 6, 7, 8].map(asAdmin);
    await until(() => count(held, "429") === 4, "the refusals of the caller");
    const other = { headers: { authorization: "Bearer user-bob" } };
    expect((await fetch(`${url}/things/${newId()}`, other)).status).toBe(200);
  });

  it("counts the bytes of bodies in hand, of all and of each address", async () => {
    const { front, url } = await start({
      limits: {
        pace: PATIENT,
        bodyBytes: 100_000,
        shares: { ...shares, bodyBytes: { ...shares.bodyBytes, network: 60_000 } },
      },
    });
    const one = begin(front.port, { from: "127.0.0.2", length: 50_000 });
    await until(() => lengthOf(front.server, "bytes_of_request_bodies") === 50_000, "its bytes");
    const more = begin(front.port, { from: "127.0.0.2", length: 50_000 });
    await until(() => status(more) === "429", "the refusal of the address");
    const two = begin(front.port, { from: "127.0.0.3", length: 45_000 });
    await until(() => lengthOf(front.server, "bytes_of_request_bodies") === 95_000, "both");
    const three = begin(front.port, { from: "127.0.0.4", length: 20_000 });
    await until(() => status(three) === "503", "the refusal of all");
    expect(three.text).toMatch(/X-Error-Code: overloaded/);
    expect((await post(`${url}/things`, '{"name":"x"}')).status).toBe(200);
    for (const { socket } of [one, two]) socket.destroy();
    await until(() => lengthOf(front.server, "bytes_of_request_bodies") === 0, "their end");
  });

  it("ends a body that begins too late, or dribbles, with 408 and its connection", async () => {
    const { front, echo } = await start({
      limits: { pace: { firstByteMs: 100, graceMs: 300, bytesPerSecond: 1_000, heldMs: 60_000 } },
    });
    const head =
      "POST /api/things HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9000\r\n\r\n";
    const silent = raw(front.port, head);
    const dribbling = raw(front.port, head);
    const upload = raw(
      front.port,
      "POST /api/upload HTTP/1.1\r\nHost: a\r\nContent-Length: 9000000\r\n\r\n",
    );
    open.push(silent, dribbling, upload);
    const drip = setInterval(() => {
      for (const { socket } of [dribbling, upload]) socket.write("x");
    }, 20);
    try {
      for (const each of [silent, dribbling, upload]) {
        await until(() => each.text.includes("HTTP/1.1 408 Request Timeout"), "the 408");
        expect(each.text).toMatch(/X-Error-Code: body_timeout/);
        await until(() => each.closed, "the end of the connection", 60_000);
      }
    } finally {
      clearInterval(drip);
    }
    expect([...echo.seen.keys()]).toEqual([]);
    expect(await front.leftovers()).toEqual([]);
  });
});

function lengthOf(server: Parameters<typeof Object.keys>[0], queue: string): number | undefined {
  const { queues } = server as { queues: readonly { queue: string; length: number }[] };
  return queues.find((each) => each.queue === queue)?.length;
}
