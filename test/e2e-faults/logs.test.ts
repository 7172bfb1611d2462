import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { AudioSender } from "../../src/cli/device/audio-sender.ts";
import { call, cut, PairedDevice, persistently } from "../support/paired-device.ts";
import { until } from "../support/until.ts";
import { Viewer } from "../support/viewer.ts";
import { WholeService } from "../support/whole-service.ts";
import { newOwner, type WorkspaceOwner } from "../support/workspace-owner.ts";

const PCM = { encoding: "pcm_s16le", sample_rate: 16_000, channels: 1 } as const;
const NOBODY = "01890000-0000-7000-8000-000000000000";
/** Each of these parts writes to its own file, standard output and standard error alike. */
const PARTS = ["main", "worker"] as const;
type Part = (typeof PARTS)[number];

interface Line {
  level: string;
  time: string;
  msg: string;
  [field: string]: unknown;
}

describe("logs", () => {
  let service: WholeService;
  let owner: WorkspaceOwner;
  let device: PairedDevice;
  /** Length of what was written before this file, in characters. */
  const begin = { main: 0, worker: 0 };

  beforeAll(async () => {
    service = WholeService.shared(inject("installation"));
    owner = await newOwner(service);
    // A part that another file killed may have left half a line.
    for (const part of PARTS) begin[part] = (await contentOf(part)).lastIndexOf("\n") + 1;
    device = await PairedDevice.pair(service, owner);
  });
  afterAll(() => service.healthy());

  const contentOf = (part: Part) =>
    readFile(join(service.folder, "data/logs", `${part}.log`), "utf8");

  /** Every line that a part wrote since this file began, as text. */
  async function written(part: Part): Promise<string[]> {
    return (await contentOf(part)).slice(begin[part]).split("\n").slice(0, -1);
  }

  async function lines(): Promise<Line[]> {
    return (await written("main")).map((line) => JSON.parse(line) as Line);
  }

  async function ticket(): Promise<string> {
    const answer = await call<{ ticket: string }>(service.api, "POST", "/auth/live-ticket", {
      token: device.token,
      body: {},
    });
    return answer.body.ticket;
  }

  /** Follows the session, with a bearer or with a ticket, and is refused in two ways. */
  async function view(): Promise<void> {
    const { live_url } = service.ready;
    const bearer = new Viewer(live_url, { authorization: `Bearer ${device.token}` });
    const ticketed = new Viewer(`${live_url}?ticket=${await ticket()}`);
    for (const viewer of [bearer, ticketed]) {
      await viewer.opened();
      viewer.send({ type: "Subscribe", session_id: device.sessionId });
      await viewer.received("Snapshot");
    }
    bearer.socket.close();
    ticketed.socket.terminate();
    const refused = [
      new Viewer(live_url, { authorization: "Bearer nonsense" }),
      new Viewer(`${live_url}?ticket=nonsense`),
      new Viewer(`${service.ready.base_url.replace("http", "ws")}/api/devices/${NOBODY}/stream`, {
        "x-api-key": device.key,
      }),
    ];
    for (const viewer of refused) await until(() => viewer.refused !== undefined, "a refusal");
  }

  async function stream(): Promise<void> {
    const url = `${service.ready.base_url.replace("http", "ws")}/api/devices/${device.id}/stream`;
    const configuration = { session_id: device.sessionId, ...PCM };
    const { signal } = new AbortController();
    const sender = new AudioSender({ url, key: device.key, configuration, signal, onStored() {} });
    const done = sender.run();
    for (const pcm of cut(1)) sender.push(pcm);
    sender.end();
    await done;
  }

  it("logs: hold JSON and nothing else, whatever connects, breaks and stops", async () => {
    await device.start();
    await view();
    await stream();
    await device.stop(-1);
    await device.completed();
    await service.replaced("nats", service.kill("nats"));
    await service.replaced("postgres", service.kill("postgres"));
    await persistently(service, "GET", "/sessions", { token: device.token });
    for (const part of PARTS) await service.replaced(part, service.signal(part, "SIGTERM"));
    await persistently(service, "GET", "/sessions", { token: device.token });
    await view();
    for (const part of PARTS) {
      const raw = (await written(part)).filter((line) => !isJson(line));
      expect(raw.slice(0, 5), part).toEqual([]);
    }
  });

  it("logs: name levels and say the time as people and tools read it", async () => {
    const levels = ["debug", "info", "warn", "error", "fatal"];
    for (const part of PARTS) {
      for (const text of await written(part)) {
        const { level, time } = JSON.parse(text) as Line;
        expect(levels).toContain(level);
        expect(time).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
      }
    }
  });

  it("logs: a request's line says who, from where, about what and which error; no secret", async () => {
    const me = await call<{ id: string }>(service.api, "GET", "/auth/me", { token: device.token });
    await call(service.api, "GET", `/sessions/${device.sessionId}`, { token: device.token });
    await call(service.api, "GET", `/sessions/${NOBODY}`, { token: device.token });
    await call(service.api, "GET", "/sessions", { token: "nonsense" });
    // The answer does not wait for the line to be written.
    let all: Line[] = [];
    const isTold = async () => {
      all = await lines();
      return all.some(({ route, status }) => route === "listSessions" && status === 401);
    };
    await until(isTold, "the line of the last request");
    const of = (fields: object) =>
      all.filter((line) => Object.entries(fields).every(([name, value]) => line[name] === value));
    const user = { caller: "user", caller_id: me.body.id, address: "127.0.0.1" };
    const about = { session_id: device.sessionId };
    expect(of({ route: "getSession", ...user, ...about, status: 200, level: "info" })).not.toEqual(
      [],
    );
    expect(of({ route: "getSession", ...user, status: 404, code: "not_found" })).toHaveLength(1);
    expect(of({ route: "listSessions", status: 401, code: "invalid_token" })).toHaveLength(1);
    const started = { route: "startDeviceSession", caller: "device", caller_id: device.id };
    expect(of({ ...started, ...about })).toHaveLength(1);
    expect(of({ msg: "viewer connected", ...user })).toHaveLength(4);
    expect(of({ msg: "viewer left", ...user, close_code: 1006 }).length).toBeGreaterThan(0);
    expect(of({ msg: "viewer refused", status: 401, code: "invalid_token" })).toHaveLength(4);
    expect(of({ msg: "device left", caller_id: device.id, ...about })).not.toEqual([]);
    const text = all.map((line) => JSON.stringify(line)).join("\n");
    expect(text).not.toContain(device.token);
    expect(text).not.toContain(device.key);
  });
});

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}
