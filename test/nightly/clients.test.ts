import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { C_COMPILER, type CClient, compileClient } from "../support/c-client.ts";
import { FaultProxy } from "../support/fault-proxy.ts";
import { findForeignProgram } from "../support/native-packages.ts";
import { call, conversationPcm, PairedDevice } from "../support/paired-device.ts";
import { until } from "../support/until.ts";
import { WholeService } from "../support/whole-service.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const CONVERSATION = resolve(ROOT, "deploy/demo/conversation.wav");
const FOLDER = resolve(ROOT, "deploy/clients");
let inC: CClient | undefined;
/** How each client is started. */
const CLIENTS = {
  python: () => [findForeignProgram("python3"), "-B", resolve(FOLDER, "python/voice_client.py")],
  typescript: () => [
    process.execPath,
    "--disable-warning=ExperimentalWarning",
    resolve(FOLDER, "typescript/main.ts"),
  ],
  c: () => {
    inC ??= compileClient();
    return [inC.program];
  },
} as const;
type Language = keyof typeof CLIENTS;
/** Those without a viewer are watched by this one. */
const OTHER_VIEWER: Language = "typescript";
const HAS_VIEWER: ReadonlySet<Language> = new Set(["python", "typescript"]);
/** Of the demo conversation: enough to be cut more than once. */
const SPEED = "4";

/** A client as a process; its lines of both outputs. */
class RunningClient {
  readonly process: ChildProcess;
  readonly said: string[] = [];
  readonly told: string[] = [];

  constructor(language: Language, args: readonly string[], env: Readonly<Record<string, string>>) {
    const [program = "", ...script] = CLIENTS[language]();
    this.process = spawn(program, [...script, ...args], {
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

const HERE = (Object.keys(CLIENTS) as Language[]).filter((each) => each !== "c" || C_COMPILER);

afterAll(() => inC?.remove());

describe.runIf(C_COMPILER === undefined)("c client", () => {
  it.skip("left out: there is no C compiler here (cc, gcc); install gcc to try it", () => {});
});

describe.each(HERE)("%s client", (language) => {
  const viewerLanguage = HAS_VIEWER.has(language) ? language : OTHER_VIEWER;
  let service: WholeService;
  let proxy: FaultProxy;
  let url: string;
  const running: RunningClient[] = [];

  beforeAll(async () => {
    service = await WholeService.start();
    proxy = await FaultProxy.start("clients", Number(new URL(service.ready.base_url).port));
    url = `http://127.0.0.1:${proxy.port}`;
  });
  afterAll(async () => {
    for (const { process } of running) process.kill("SIGKILL");
    await proxy?.stop();
    await service?.stop();
  });

  function run(args: readonly string[], env: Readonly<Record<string, string>>): RunningClient {
    const own = args[0] === "view" ? viewerLanguage : language;
    const client = new RunningClient(own, args, { VOICE_URL: url, ...env });
    running.push(client);
    return client;
  }

  it("device and viewer are cut twice each; nothing is lost and nothing comes twice", async () => {
    const device = await PairedDevice.pair(service);
    await call(service.api, "PATCH", `/devices/${device.id}`, {
      token: device.token,
      body: { may_read: true },
    });
    const args = ["device", "--device", device.id, "--transcript", "--speed", SPEED, CONVERSATION];
    const sender = run(args, { VOICE_KEY: device.key });
    const sessionOf = () => /^session (\S+)$/.exec(sender.told[0] ?? "")?.[1];
    await until(() => sessionOf() !== undefined, "the session", 60_000);
    device.sessionId = sessionOf() ?? "";
    const viewer = run(["view", "--session", device.sessionId], { VOICE_TOKEN: device.token });
    for (const words of [1, 2]) {
      await until(() => viewer.said.length >= words, "words at the viewer", 60_000);
      // A cut alone loses nothing on one machine: what is under way has to be lost before it.
      const lost = await proxy.inflict({ kind: "half-open", ms: 500 }, 30_000);
      expect(lost.bytes).toBeGreaterThan(0);
    }
    expect(await sender.ended(), sender.told.join("\n")).toBe(0);
    await device.completed();
    expect(await viewer.ended(), viewer.told.join("\n")).toBe(0);
    expect(viewer.told.filter((line) => line.includes("trying again")).length).toBeGreaterThan(0);
    expect(sender.told.filter((line) => line.includes("trying again")).length).toBeGreaterThan(0);

    expect(sender.told.at(-1)).toBe(`sent ${conversationPcm().length} bytes, all stored`);
    const audio = await fetch(`${service.api}/sessions/${device.sessionId}/audio`, {
      headers: { authorization: `Bearer ${device.token}` },
    });
    const stored = Buffer.from(await audio.arrayBuffer()).subarray(44);
    expect(stored.equals(conversationPcm())).toBe(true);

    const seen = viewer.said.flatMap((line) => /^\d+ (\S+) \S+: /.exec(line)?.[1] ?? []);
    const segments = (await device.segments()).map(({ id }) => id);
    expect(seen).toHaveLength(new Set(seen).size);
    expect(seen.toSorted()).toEqual(segments.toSorted());
    expect(sender.said.length).toBeGreaterThan(0);
    expect(new Set(sender.said).size).toBe(sender.said.length);
  });

  it("what will not get better ends it with one line and the exit code 1", async () => {
    const device = await PairedDevice.pair(service);
    const wrong = run(["device", "--device", device.id, CONVERSATION], { VOICE_KEY: "vdk_wrong" });
    expect(await wrong.ended()).toBe(1);
    expect(wrong.told.join("\n")).toMatch(/^error: 401: .+$/);
    const unknown = run(["view", "--session", crypto.randomUUID()], { VOICE_TOKEN: device.token });
    expect(await unknown.ended()).toBe(1);
    expect(unknown.told.join("\n")).toMatch(/^error: not_found: .+$/);
    const absent = run(["device", "--device", device.id, "absent.wav"], { VOICE_KEY: device.key });
    expect(await absent.ended()).toBe(1);
    expect(absent.told.join("\n")).toMatch(/^error: absent\.wav: .+$/);
    const bare = run(["view", "--session", device.id], {});
    expect(await bare.ended()).toBe(1);
    expect(bare.told).toEqual(["error: the environment has no VOICE_TOKEN"]);
  });
});
