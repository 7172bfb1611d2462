import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AppFixture } from "../support/app-fixture.ts";
import { conversationWav } from "../support/compat-caller.ts";
import { FaultProxy } from "../support/fault-proxy.ts";
import { call } from "../support/paired-device.ts";
import { builtPackages, fileWith, PythonPackage } from "../support/python-package.ts";
import { makeScratchFolder } from "../support/scratch-folder.ts";
import { scriptedPcm } from "../support/spoken-script.ts";
import { until } from "../support/until.ts";
import { WebhookReceiver } from "../support/webhook-receiver.ts";
import { newOwner, type WorkspaceOwner } from "../support/workspace-owner.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
const SUPPORT = resolve(import.meta.dirname, "../support");
const NEEDED = ["ws", "openapi-fetch", "openapi-typescript-helpers"];
const README_MS = 120_000;
const pcm = scriptedPcm().subarray(0, 40 * 32_000);

/** What a program told with one line. */
interface Told {
  readonly what: "file" | "session" | "stored" | "stream" | "end";
  readonly [member: string]: unknown;
}

/** The Nodes of this machine: the project's own, and that of the machine where it is another. */
const NODES = ["node", process.execPath].flatMap((program) => {
  const { stdout } = spawnSync(program, ["--version"], { encoding: "utf8", env: ownPath() });
  const [, major = ""] = /^v(\d+)\./.exec(stdout ?? "") ?? [];
  return Number(major) >= 20 ? [{ program, major }] : [];
});
const nodes = [...new Map(NODES.map((node) => [node.major, node])).values()];

/** Without the folder of the project's own Node, which scripts find first. */
function ownPath(): { PATH: string } {
  const folders = (process.env.PATH ?? "").split(":");
  return { PATH: folders.filter((each) => !each.includes("node_modules")).join(":") };
}

function succeed(program: string, args: readonly string[], cwd: string): string {
  const made = spawnSync(program, args, { cwd, encoding: "utf8" });
  if (made.status !== 0)
    throw new Error(`${program} ${args.join(" ")}: ${made.stderr}${made.stdout}`);
  return made.stdout;
}

/** The package and what it needs, all from files: nothing is asked of a registry. */
function installFromFiles(folder: string): void {
  const out = builtPackages("typescript", join(folder, "packages"));
  const packs = NEEDED.map((name) => {
    const args = ["pack", "--silent", "--pack-destination", folder];
    return succeed("npm", args, join(PROJECT, "node_modules", name)).trim();
  });
  const manifest = readFileSync(join(PROJECT, "package.json"), "utf8");
  const { version } = JSON.parse(manifest) as { version: string };
  const own = join(out, `voice-session-client-${version}.tgz`);
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
  const files = [own, ...packs.map((name) => join(folder, name))];
  succeed("npm", ["install", "--offline", "--no-audit", "--no-fund", ...files], folder);
}

describe("client packages from their files", () => {
  let service: AppFixture;
  let owner: WorkspaceOwner;
  let proxy: FaultProxy;
  let folder: string;
  let env: Record<string, string>;
  beforeAll(async () => {
    folder = makeScratchFolder("client-packages");
    service = await AppFixture.start({ WEBHOOK_ALLOW_PRIVATE: "1" });
    owner = await newOwner(service);
    proxy = await FaultProxy.start("client", Number(new URL(service.ready.base_url).port));
    const scopes = ["sessions:read", "sessions:write", "query"];
    const key = await made<{ key: string }>("/api-keys", {
      ...{ workspace_id: owner.workspaceId, name: "Program", scopes },
    });
    env = {
      ...ownPath(),
      BASE: `http://127.0.0.1:${proxy.port}`,
      KEY: key.key,
      WAV: fileWith(folder, conversationWav(20, scriptedPcm()), "talk.wav"),
      PCM: fileWith(folder, pcm, "talk.pcm"),
      HOOK: fileWith(folder, Buffer.from(JSON.stringify(await hookMessage())), "hook.json"),
    };
  });
  afterAll(async () => {
    await proxy?.stop();
    await service?.stop();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });

  async function made<T>(path: string, body: object): Promise<T> {
    return (await call<T>(service.api, "POST", path, { token: owner.token, body })).body;
  }

  /** A message as the service sends it. */
  async function hookMessage(): Promise<object> {
    const receiver = await WebhookReceiver.open();
    try {
      const path = `/workspaces/${owner.workspaceId}/webhooks`;
      const body = { url: receiver.url, event_types: ["session.started"], tags: ["hook"] };
      const { secret } = await made<{ secret: string }>(path, body);
      await made("/sessions", { workspace_id: owner.workspaceId, tags: ["hook"] });
      await receiver.got(1, 30_000);
      const [received] = receiver.received;
      return { body: received?.body, headers: received?.headers, secret };
    } finally {
      await receiver.close();
    }
  }

  /** Runs a program of the stranger's, cuts its line three times while it streams, and judges it. */
  async function strangersHour(program: string, args: readonly string[], cwd: string) {
    const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    const told: Told[] = [];
    let failed = "";
    let rest = "";
    child.stdout.setEncoding("utf8").on("data", (said: string) => {
      const lines = (rest + said).split("\n");
      rest = lines.pop() ?? "";
      told.push(...lines.map((line) => JSON.parse(line) as Told));
    });
    child.stderr.setEncoding("utf8").on("data", (said: string) => {
      failed += said;
    });
    const ended = once(child, "close");
    const of = (what: Told["what"]) => told.filter((each) => each.what === what);
    const stored = () => Number(of("stored").at(-1)?.bytes ?? 0);
    for (let cuts = 0; cuts < 3; cuts++) {
      const before = stored();
      const isOn = () => stored() > before || child.exitCode !== null;
      await until(isOn, `the stream after ${cuts} cuts: ${failed}`, 120_000);
      expect(child.exitCode, failed).toBeNull();
      const { bytes } = await proxy.inflict({ kind: "half-open", ms: 100 }, 20_000);
      expect(bytes).toBeGreaterThan(0);
    }
    expect(await ended, failed).toEqual([0, null]);
    expect(of("file")).toEqual([
      { what: "file", status: "completed", complete: true, citations: expect.any(Number) },
    ]);
    expect(of("file")[0]?.citations).toBeGreaterThan(0);
    const [stream] = of("stream");
    expect(stream).toMatchObject({ bytes: pcm.length });
    expect(stream?.reconnects).toBeGreaterThanOrEqual(3);
    const seqs = stream?.seqs as number[];
    expect(seqs.length).toBeGreaterThan(5);
    expect(seqs).toEqual(seqs.map((_, at) => at + 1));
    const answer = await fetch(`${service.api}/sessions/${of("session")[0]?.id}/audio`, {
      headers: { authorization: `Bearer ${owner.token}` },
    });
    const sound = Buffer.from(await answer.arrayBuffer()).subarray(44);
    expect(sound.equals(pcm)).toBe(true);
    expect(of("end")).toEqual([
      { what: "end", hook: "session.started", refused: true, missing: "not_found" },
    ]);
  }

  /** The programs of a package's README, one after the other as they stand there. */
  function readmeProgram(name: string, language: string, before: string): string {
    const readme = readFileSync(join(PROJECT, "deploy/clients", name, "README.md"), "utf8");
    const blocks = readme.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, "gs"));
    const programs = [...blocks].map(([, program = ""]) => program);
    expect(programs.length).toBeGreaterThan(2);
    const address = service.ready.base_url;
    return [before, ...programs].join("\n").replace("https://voice.example.com", address);
  }

  /** Runs a README's program beside the file that it speaks of; returns what it printed. */
  async function runReadme(program: string, args: readonly string[], cwd: string): Promise<string> {
    copyFileSync(env.WAV ?? "", join(cwd, "standup.m4a"));
    const child = spawn(program, args, {
      ...{ cwd, timeout: README_MS, stdio: ["ignore", "pipe", "pipe"] },
      env: { ...env, VOICE_KEY: env.KEY },
    });
    const outputs = Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
    const [said, failed, ended] = await outputs;
    expect(ended, failed).toEqual([0, null]);
    return said;
  }

  describe("typescript", () => {
    let place: string;
    beforeAll(() => {
      place = join(folder, "typescript");
      mkdirSync(place);
      installFromFiles(place);
      for (const name of ["stranger.mjs", "stranger-consumer.ts"]) {
        copyFileSync(join(SUPPORT, name), join(place, name));
      }
    });

    it.each(nodes)("client packages: a stranger's hour on Node $major", async ({ program }) => {
      await strangersHour(program, ["stranger.mjs"], place);
    });

    it("client packages: what the README says can be pasted", async () => {
      const before = [
        'import { createReadStream } from "node:fs";',
        "const microphone = createReadStream(process.env.PCM);",
        "const [save, cursor] = [() => undefined, undefined];",
      ].join("\n");
      writeFileSync(join(place, "readme.mjs"), readmeProgram("typescript", "js", before));
      const [{ program } = { program: "node" }] = nodes;
      expect(await runReadme(program, ["readme.mjs"], place)).toMatch(/^S1: hello/m);
    });

    it.each([
      ["Node", ["--types", "node", "--typeRoots", join(PROJECT, "node_modules/@types")]],
      [
        "browsers",
        ["--types", "", "--lib", "es2023,dom,dom.iterable", "--customConditions", "browser"],
      ],
    ])("client packages: the types hold for a program of %s", (_where, flags) => {
      const compiler = join(PROJECT, "node_modules/typescript-7/bin/tsc");
      const usual = ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext"];
      const args = [compiler, ...usual, "--pretty", "false", ...flags, "stranger-consumer.ts"];
      expect(succeed(process.execPath, args, place)).toBe("");
    });

    it("client packages: a bundler takes what is for browsers", async () => {
      const entry = join(place, "page.js");
      writeFileSync(entry, 'export { VoiceClient } from "voice-session-client";\n');
      const bundled = await build({
        ...{ root: place, configFile: false, envDir: false, publicDir: false, logLevel: "warn" },
        build: { write: false, minify: false, lib: { entry, formats: ["es"], fileName: "page" } },
      });
      const [first] = Array.isArray(bundled) ? bundled : [];
      const code = first?.output[0].code ?? "";
      expect(code).toContain("/auth/live-ticket");
      expect(code).not.toMatch(/sec-websocket|node:/i);
    });
  });

  describe("python", () => {
    const installed = PythonPackage.install(process.env.VOICE_CLIENT_PYTHON);
    afterAll(() => {
      if (typeof installed !== "string") installed.remove();
    });

    it.runIf(typeof installed === "string").skip(`left out: ${String(installed)}`, () => {});

    it.skipIf(typeof installed === "string")(
      "client packages: what the README of Python says can be pasted",
      async () => {
        const { folder: place } = installed as PythonPackage;
        const before = [
          "from voice_session_client import Cursor",
          "def save(seq, at): pass",
          "import os",
          "microphone = iter(lambda file=open(os.environ['PCM'], 'rb'): file.read(16_000), b'')",
          "cursor = None",
        ].join("\n");
        writeFileSync(join(place, "readme.py"), readmeProgram("python", "python", before));
        const python = join(place, "bin/python");
        expect(await runReadme(python, ["-B", "readme.py"], place)).toMatch(/^S1: hello/m);
      },
    );

    it.skipIf(typeof installed === "string").each(["sync", "async"])(
      "client packages: a stranger's hour in Python, %s",
      async (kind) => {
        const { folder: place } = installed as PythonPackage;
        copyFileSync(join(SUPPORT, "stranger.py"), join(place, "stranger.py"));
        await strangersHour(join(place, "bin/python"), ["-B", "stranger.py", kind], place);
      },
    );
  });
});
