import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EXIT } from "../../src/cli/client/exit-codes.ts";
import { until } from "../support/until.ts";
import { runVoice, VoiceRun } from "../support/voice-run.ts";

const PATIENT_MS = 60_000;

let folder = "";
let server: Server;
let sockets: Socket[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "voice-cli-"));
  sockets = [];
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  server.close();
  await once(server, "close");
  rmSync(folder, { recursive: true });
});

/** The address of a server on loopback that counts who connects. */
async function listen(answering: Server): Promise<string> {
  server = answering;
  server.on("connection", (socket: Socket) => sockets.push(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const COMMANDS = [
  ["login", "--email", "a@example.org", "--password", "p"],
  ["top", "--once", "--token", "t"],
  ["tail", "0190c0de-0000-7000-8000-000000000001", "--token", "t"],
  ["audit", "verify", "--token", "t"],
  ["device", "simulate", "deploy/demo/conversation.wav", "--token", "t"],
  ["doctor", "--token", "t"],
];

describe("cli contact: an address where no service is", () => {
  it.each(COMMANDS)(
    "%s %s: one sentence after one try where everybody is hung up on",
    async (...args) => {
      const url = await listen(createServer((socket) => socket.resetAndDestroy()));
      const run = await runVoice([...args, "--base-url", url], { folder });
      expect(run.code).toBe(EXIT.unavailable);
      expect(run.stderr).toMatch(/^voice: .*no answer.*is the service running there\?.*\n$/);
      expect(sockets).toHaveLength(1);
    },
  );

  it.each([
    ["login", "--email", "a@example.org", "--password", "p"],
    ["doctor", "--token", "t"],
  ])("%s: says so, and how long it waited, where nobody answers", async (...args) => {
    const url = await listen(createServer(() => undefined));
    const run = await runVoice([...args, "--base-url", url], { folder });
    expect(run.code).toBe(EXIT.unavailable);
    expect(run.stderr).toMatch(/no answer.* within 2 s.*is the service running there\?.*\n$/);
  });
});

describe("cli top: in a pipe", () => {
  const overview = {
    at: "2026-01-31T09:30:00.000Z",
    workers: [],
    queues: {
      ...{ outbox: { count: 0 }, jobs: [] },
      ...{ chunks_pending: 0, webhook_deliveries_due: 0 },
    },
    sessions: { by_status: {}, live: [] },
  };
  const answering = () =>
    createHttpServer((_request, response) => {
      response.writeHead(200, { "Content-Type": "application/json" });
      response.end(JSON.stringify(overview));
    });

  it("--json: shows it once and ends, as without", async () => {
    const url = await listen(answering());
    const run = new VoiceRun(["top", "--json", "--token", "t", "--base-url", url], { folder });
    const over = await Promise.race([
      run.code,
      until(() => run.lines.length > 1, "a second look", PATIENT_MS).then(() => "goes on"),
    ]);
    run.interrupt();
    expect([over, run.lines.map((line) => JSON.parse(line))]).toEqual([0, [overview]]);
  });

  it("--every: goes on until it is interrupted", async () => {
    const url = await listen(answering());
    const every = ["--json", "--every", "0.2"];
    const run = new VoiceRun(["top", ...every, "--token", "t", "--base-url", url], { folder });
    await until(() => run.lines.length > 2, "the third look", PATIENT_MS);
    run.interrupt();
    expect(await run.code).toBe(130);
    expect(JSON.parse(run.lines[2] ?? "")).toEqual(overview);
  });
});
