import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from "vitest";
import { FaultProxy } from "../support/fault-proxy.ts";
import { adminToken, call } from "../support/paired-device.ts";
import { TerminalRun } from "../support/terminal-run.ts";
import { until } from "../support/until.ts";
import { WholeService } from "../support/whole-service.ts";
import { newOwner, type WorkspaceOwner } from "../support/workspace-owner.ts";

const CONVERSATION = resolve(import.meta.dirname, "../../deploy/demo/conversation.wav");
const WIDE = { columns: 90, rows: 20 };
const SESSION = /^Session ([0-9a-f-]{36}) is recording in workspace "Workshop"\.$/;
const NOTICE = /^.+; (connecting|trying) again in \d\.\d s$/;
const ENGINE = "Read by moonshine-tiny-en.";
// A word the recogniser is not sure of stands in brackets with a question mark.
const UTTERANCE = /^(\d\d:\d\d {2}S\d {2}| {11})[\p{L}\d',.?![\] -]+$/u;

interface Page {
  items: { id: string; status: string; diarisation_model_version?: string }[];
}

describe("terminal: the voice command as a person sees it", () => {
  let service: WholeService;
  let line: FaultProxy;
  let folder: string;
  let owner: WorkspaceOwner;
  const runs: TerminalRun[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "voice-cli-"));
    service = WholeService.shared(inject("installation"));
    owner = await newOwner(service);
    line = await FaultProxy.start("terminal", Number(new URL(service.ready.base_url).port));
  });
  afterEach(async () => {
    line.heal();
    for (const run of runs.splice(0)) await run.stop();
  });
  afterAll(async () => {
    await line?.stop();
    await service.healthy();
    rmSync(folder, { recursive: true, force: true });
  });

  const voice = (...args: string[]): Promise<TerminalRun> => voiceOf(owner, ...args);

  async function voiceOf(
    { email, password }: { email: string; password: string },
    ...args: string[]
  ): Promise<TerminalRun> {
    const env = { VOICE_EMAIL: email, VOICE_PASSWORD: password };
    const address = ["--base-url", `http://127.0.0.1:${line.port}`];
    const run = await TerminalRun.start(folder, [...args, ...address], WIDE, env);
    runs.push(run);
    return run;
  }

  async function sessionOf(run: TerminalRun): Promise<string> {
    await run.shows(SESSION);
    const lines = await run.screen.lines();
    return lines.flatMap((text) => SESSION.exec(text)?.[1] ?? [])[0] ?? "";
  }

  const list = async (path: string, { token } = owner) =>
    (await call<Page>(service.api, "GET", path, { token })).body;
  const idsOf = async (path: string) => (await list(path)).items.map(({ id }) => id);
  const things = async () => [
    ...(await idsOf("/sessions")),
    ...(await idsOf("/devices?status=paired")),
    ...(await idsOf("/workspaces")),
  ];

  it("simulate and tail: notices in rows of their own, and nothing left over after an outage", async () => {
    const simulated = await voice("device", "simulate", CONVERSATION, "--stream", "--speed", "3");
    const sessionId = await sessionOf(simulated);
    const tailed = await voice("tail", sessionId);
    await tailed.shows(UTTERANCE);
    const outage = line.inflict({ kind: "refuse", ms: 60_000 });
    for (const run of [simulated, tailed]) await run.shows(NOTICE);
    // In the midst of it both windows become narrow, and wide again.
    for (const run of [simulated, tailed]) await run.resize(44, 12);
    await tailed.shows(/connecting again in [1-9]/);
    for (const run of [simulated, tailed]) await run.resize(100, 20);
    line.heal();
    await outage;
    const [sent, seen] = await Promise.all([simulated.left(), tailed.left()]);
    expect([sent.code, seen.code]).toEqual([0, 0]);
    const others = sent.lines.filter((text) => !NOTICE.test(text));
    expect(others).toEqual([
      expect.stringMatching(SESSION),
      expect.stringMatching(/^Sent 00:4[23] of audio as a stream\.$/),
      `Follow or read it: voice tail ${sessionId}`,
    ]);
    expect(sent.lines.length).toBeGreaterThan(others.length);
    const odd = seen.lines.filter((text) => !NOTICE.test(text) && !UTTERANCE.test(text));
    expect(odd).toEqual([ENGINE]);
    const starts = seen.lines.flatMap((text) => /^\d\d:\d\d/.exec(text)?.[0] ?? []);
    expect(starts.length).toBeGreaterThan(8);
    expect(new Set(starts).size).toBe(starts.length);
  });

  it("simulate: finds its device again, and leaves a clean screen when it is interrupted", async () => {
    const before = await idsOf("/devices?status=paired");
    const run = await voice("device", "simulate", CONVERSATION);
    const sessionId = await sessionOf(run);
    await run.shows(/^audio {2}█/);
    run.interrupt();
    const { code, lines } = await run.left();
    expect(code).toBe(130);
    expect(lines).toEqual([expect.stringMatching(SESSION)]);
    expect(await idsOf("/devices?status=paired")).toEqual(before);
    const ended = async () =>
      (await list("/sessions")).items.find(({ id }) => id === sessionId)?.status !== "recording";
    await until(ended, "the session to be stopped");
  });

  it("doctor: names each step and its time, and leaves nothing behind", async () => {
    const before = await things();
    // Only administrators are told by what voices were told apart, and by what networks are run.
    const run = await voiceOf(service.ready.admin, "doctor");
    const { code, lines } = await run.left();
    expect(code).toBe(0);
    const steps = lines.flatMap((text) => /^✓ (\w+) /.exec(text)?.[1] ?? []);
    expect(steps).toEqual([
      ...["health", "login", "pairing", "session", "upload", "transcript", "speakers"],
      ...["networks", "cleanup"],
    ]);
    const admin = { ...owner, token: await adminToken(service) };
    const [job] = (await list("/admin/jobs/transcriptions?limit=1", admin)).items;
    expect(job?.diarisation_model_version).toBeTruthy();
    expect(lines.join("")).toContain(`told apart by ${job?.diarisation_model_version} (`);
    expect(lines.join("")).toContain("run with cpu (");
    expect(lines.join("").match(/\((\d+ ms|\d+\.\d s)\)/g)).toHaveLength(steps.length);
    expect(await things()).toEqual(before);
  });

  it("doctor: cleans up when it is interrupted", async () => {
    const before = await things();
    const run = await voice("doctor");
    await run.shows(/^✓ session/);
    run.interrupt();
    const interrupted = await run.left();
    expect(interrupted.code).toBe(130);
    expect(interrupted.lines.some((text) => text.startsWith("✓ cleanup"))).toBe(true);
    expect(await things()).toEqual(before);
  });
});
