import { afterEach, describe, expect, it } from "vitest";
import { DEFAULT_HTTP_LIMITS } from "../../src/http/server/http-limits.ts";
import { defineRoute } from "../../src/rest/route.ts";
import { echoRoutes } from "../support/echo-routes.ts";
import { raw, start, stopAfterEach } from "../support/front-calls.ts";
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

/** An upload of a device that begins and does not go on. */
function begin(port: number, device: string, from = "127.0.0.1"): Caller {
  const head = `POST /api/locked-upload HTTP/1.1\r\nHost: a\r\nX-API-Key: device-${device}\r\nContent-Length: 500000\r\n\r\nx`;
  const caller = raw(port, head, from);
  open.push(caller);
  return caller;
}

async function upload(url: string, device: string): Promise<number> {
  const response = await fetch(`${url}/locked-upload`, {
    method: "POST",
    body: "sound",
    headers: { "x-api-key": `device-${device}` },
  });
  await response.arrayBuffer();
  return response.status;
}

const status = ({ text }: Caller) => /^HTTP\/1\.1 (\d+)/.exec(text)?.[1];
const refused = (callers: readonly Caller[]) =>
  callers.filter((caller) => status(caller) === "429").length;

describe("upload places", () => {
  it("lets one device hold its share, and takes the chunks of the others", async () => {
    const { front, url } = await start({
      limits: {
        pace: PATIENT,
        concurrentUploads: 8,
        shares: { ...shares, uploads: { ...shares.uploads, caller: 3 } },
      },
    });
    const held = Array.from({ length: 12 }, () => begin(front.port, "greedy"));
    await until(() => refused(held) === 9, "the refusals of the device");
    expect(await upload(url, "greedy")).toBe(429);
    expect(await upload(url, "modest")).toBe(200);
    for (const { socket } of held) socket.destroy();
    await until(async () => (await upload(url, "greedy")) === 200, "places that were left");
  });

  it("lets the devices of one workspace hold their share together", async () => {
    const { front } = await start({
      limits: {
        pace: PATIENT,
        concurrentUploads: 8,
        // The devices of this front are all of one workspace.
        shares: { ...shares, uploads: { ...shares.uploads, workspace: 5 } },
      },
    });
    const held = Array.from({ length: 8 }, (_, index) => begin(front.port, `d${index}`));
    await until(() => refused(held) === 3, "the refusals of the workspace");
  });

  it("lets the devices of one account hold their share together, from however many workspaces", async () => {
    const { front, url } = await start({
      limits: {
        pace: PATIENT,
        concurrentUploads: 60,
        shares: { ...shares, uploads: { ...shares.uploads, workspace: 2, account: 5 } },
      },
    });
    const held = Array.from({ length: 50 }, (_, at) => begin(front.port, `d${at}-of-w${at}`));
    await until(() => refused(held) === 45, "the refusals of the account");
    const other = await fetch(`${url}/upload`, { method: "POST", body: "sound" });
    expect(other.status).toBe(200);
  });

  it("lets the devices behind one address hold their share together", async () => {
    const { front, url } = await start({
      limits: {
        pace: PATIENT,
        concurrentUploads: 8,
        shares: { ...shares, uploads: { ...shares.uploads, network: 4 } },
      },
    });
    const held = Array.from({ length: 8 }, (_, index) =>
      begin(front.port, `d${index}`, "127.0.0.9"),
    );
    await until(() => refused(held) === 4, "the refusals of the address");
    expect(await upload(url, "elsewhere")).toBe(200);
  });
});

/** A front with a body that no socket takes at once. */
async function startDownloads(limits: Parameters<typeof start>[0] & object) {
  const piece = Buffer.alloc(1024 * 1024);
  const sound = defineRoute({
    method: "get",
    path: "/sound",
    id: "sound",
    tag: "Session",
    summary: "Sound",
    auth: ["bearer"],
    responses: { 200: { description: "Bytes", mediaTypes: ["audio/wav"] } },
    handle: async () => ({
      status: 200,
      headers: { "content-type": "audio/wav" },
      stream: {
        length: 32 * piece.length,
        async *open() {
          for (let at = 0; at < 32; at += 1) yield piece;
        },
      },
    }),
  });
  return start({ routes: [...echoRoutes().routes, sound], ...limits });
}

/** A download whose caller reads nothing. */
function stall(port: number, user: string): Caller {
  const caller = raw(
    port,
    `GET /api/sound HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer user-${user}\r\n\r\n`,
  );
  open.push(caller);
  return caller;
}

describe("download places", () => {
  it("lets one caller hold its share, and serves the others", async () => {
    const { front, url } = await startDownloads({
      limits: {
        concurrentDownloads: 4,
        downloadStallMs: 60_000,
        shares: { ...shares, downloads: { ...shares.downloads, caller: 2 } },
      },
    });
    const held = Array.from({ length: 6 }, () => stall(front.port, "greedy"));
    await until(() => held.every((caller) => status(caller) !== undefined), "all answers");
    for (const { socket } of held) socket.pause();
    expect(refused(held)).toBe(4);
    const other = await fetch(`${url}/sound`, { headers: { authorization: "Bearer user-modest" } });
    expect(other.status).toBe(200);
    expect((await other.arrayBuffer()).byteLength).toBe(32 * 1024 * 1024);
  });

  it("ends a download that is read too slowly, though it never stands still", async () => {
    const { front } = await startDownloads({
      limits: { downloadStallMs: 400, pace: { ...pace, bytesPerSecond: 100_000_000 } },
    });
    const slow = stall(front.port, "slow");
    slow.socket.pause();
    // A sip now and then keeps the connection from standing still.
    const sips = setInterval(() => slow.socket.read(20_000), 50);
    try {
      await until(() => slow.closed || slow.socket.destroyed, "the end of the connection", 60_000);
    } finally {
      clearInterval(sips);
    }
    expect(slow.socket.bytesRead).toBeLessThan(32 * 1024 * 1024);
  });
});
