import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ServerFrame } from "../../src/client/frames.ts";
import { VoiceClient } from "../../src/client/node.ts";
import { C_COMPILER, type CClient, compileClient } from "../support/c-client.ts";
import { FaultProxy } from "../support/fault-proxy.ts";
import { call, conversationPcm, PairedDevice } from "../support/paired-device.ts";
import { until } from "../support/until.ts";
import { WholeService } from "../support/whole-service.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const CONVERSATION = resolve(ROOT, "deploy/demo/conversation.wav");
/** Of the demo conversation: enough to be cut more than once. */
const SPEED = "4";

/** The client as a process; its lines of both outputs. */
class RunningClient {
  readonly process: ChildProcess;
  readonly said: string[] = [];
  readonly told: string[] = [];

  constructor(program: string, args: readonly string[], env: Readonly<Record<string, string>>) {
    this.process = spawn(program, args, {
      env: { PATH: process.env.PATH, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const [output, lines] of [
      ["stdout", this.said],
      ["stderr", this.told],
    ] as const) {
      let rest = "";
      this.process[output]?.setEncoding("utf8").on("data", (text: string) => {
        const parts = (rest + text).split("\n");
        rest = parts.pop() ?? "";
        lines.push(...parts);
      });
    }
  }

  async ended(): Promise<number | null> {
    if (this.process.exitCode === null) await once(this.process, "exit");
    return this.process.exitCode;
  }
}

describe.runIf(C_COMPILER === undefined)("c client", () => {
  it.skip("left out: there is no C compiler here (cc, gcc); install gcc to try it", () => {});
});

describe.runIf(C_COMPILER !== undefined)("c client", () => {
  let service: WholeService;
  let proxy: FaultProxy;
  let url: string;
  let client: CClient;
  const running: RunningClient[] = [];

  beforeAll(async () => {
    client = compileClient();
    service = await WholeService.start();
    proxy = await FaultProxy.start("clients", Number(new URL(service.ready.base_url).port));
    url = `http://127.0.0.1:${proxy.port}`;
  });
  afterAll(async () => {
    for (const { process } of running) process.kill("SIGKILL");
    client?.remove();
    await proxy?.stop();
    await service?.stop();
  });

  function run(args: readonly string[], env: Readonly<Record<string, string>>): RunningClient {
    const started = new RunningClient(client.program, args, { VOICE_URL: url, ...env });
    running.push(started);
    return started;
  }

  it("c client: device and viewer are cut twice each; nothing is lost and nothing comes twice", async () => {
    const device = await PairedDevice.pair(service);
    const { token } = device;
    await call(service.api, "PATCH", `/devices/${device.id}`, { token, body: { may_read: true } });
    const args = ["device", "--device", device.id, "--transcript", "--speed", SPEED, CONVERSATION];
    const sender = run(args, { VOICE_KEY: device.key });
    const sessionOf = () => /^session (\S+)$/.exec(sender.told[0] ?? "")?.[1];
    await until(() => sessionOf() !== undefined, "the session", 60_000);
    device.sessionId = sessionOf() ?? "";
    const finals: string[] = [];
    let breaks = 0;
    const viewing = (async () => {
      const viewer = new VoiceClient({ baseUrl: url, token });
      const onReconnect = () => breaks++;
      const take = (frame: ServerFrame) => {
        if (frame.type === "Results" && frame.is_final) finals.push(frame.segment_id);
        return frame.type === "SessionEnded";
      };
      const options = { cursor: { seq: 0 }, onReconnect };
      for await (const frame of viewer.follow(device.sessionId, options)) if (take(frame)) return;
    })();
    for (const words of [1, 2]) {
      await until(() => finals.length >= words, "words at the viewer", 60_000);
      // A cut alone loses nothing on one machine: what is under way has to be lost before it.
      const lost = await proxy.inflict({ kind: "half-open", ms: 500 }, 30_000);
      expect(lost.bytes).toBeGreaterThan(0);
    }
    expect(await sender.ended(), sender.told.join("\n")).toBe(0);
    await device.completed();
    await viewing;
    expect(breaks).toBeGreaterThan(0);
    expect(sender.told.filter((line) => line.includes("trying again")).length).toBeGreaterThan(0);

    expect(sender.told.at(-1)).toBe(`sent ${conversationPcm().length} bytes, all stored`);
    const audio = await fetch(`${service.api}/sessions/${device.sessionId}/audio`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const stored = Buffer.from(await audio.arrayBuffer()).subarray(44);
    expect(stored.equals(conversationPcm())).toBe(true);

    const segments = (await device.segments()).map(({ id }) => id);
    expect(finals).toHaveLength(new Set(finals).size);
    expect(finals.toSorted()).toEqual(segments.toSorted());
    expect(sender.said.length).toBeGreaterThan(0);
    expect(new Set(sender.said).size).toBe(sender.said.length);
  });

  it("c client: what will not get better ends it with one line and the exit code 1", async () => {
    const device = await PairedDevice.pair(service);
    const wrong = run(["device", "--device", device.id, CONVERSATION], { VOICE_KEY: "vdk_wrong" });
    expect(await wrong.ended()).toBe(1);
    expect(wrong.told.join("\n")).toMatch(/^error: 401: .+$/);
    const absent = run(["device", "--device", device.id, "absent.wav"], { VOICE_KEY: device.key });
    expect(await absent.ended()).toBe(1);
    expect(absent.told.join("\n")).toMatch(/^error: absent\.wav: .+$/);
  });
});
