import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { credentials } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { SessionServiceClient } from "../../src/wire/gen/voice/v1/sessions.ts";
import { AudioIngest } from "../support/audio-ingest.ts";
import { callUnary } from "../support/grpc-fixture.ts";
import { call, conversationPcm, cut, PairedDevice } from "../support/paired-device.ts";
import { TranscriptWatch } from "../support/transcript-watch.ts";
import { until } from "../support/until.ts";
import { WholeService } from "../support/whole-service.ts";
import { newOwner, type WorkspaceOwner } from "../support/workspace-owner.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
const PATIENT_MS = 240_000;

/** The client of proto/README.md, word by word. */
function sample(): string {
  const readme = readFileSync(resolve(PROJECT, "proto/README.md"), "utf8");
  const section = readme.split("## For other services\n")[1]?.split("\n## ")[0];
  const code = section?.match(/```js\n([\s\S]*?)```/)?.[1];
  if (code === undefined) throw new Error("proto/README.md has no sample.");
  return code;
}

class SampleRun {
  output = "";
  readonly child: ChildProcess;

  constructor(args: readonly string[]) {
    const node = ["--input-type=module", "-", ...args];
    this.child = spawn(process.execPath, node, { cwd: PROJECT, stdio: "pipe" });
    const take = (chunk: Buffer) => {
      this.output += chunk.toString();
    };
    this.child.stdout?.on("data", take);
    this.child.stderr?.on("data", take);
    this.child.stdin?.end(sample());
  }

  /** Segments that it printed. */
  get lines(): string[] {
    return this.output.split("\n").filter((line) => /^(S\d+|UU) {2}/.test(line));
  }
}

describe("gRPC for other services", () => {
  let service: WholeService;
  let owner: WorkspaceOwner;
  let device: PairedDevice;
  let key: string;
  let run: SampleRun | undefined;
  const clients: SessionServiceClient[] = [];

  beforeAll(async () => {
    service = WholeService.shared(inject("installation"));
    owner = await newOwner(service);
    device = await PairedDevice.pair(service, owner);
    await device.start();
    const { workspace_id } = (await device.get<{ workspace_id: string }>("")).body;
    const scopes = ["sessions:read", "sessions:write", "query"];
    const { status, body } = await call<{ key: string }>(service.api, "POST", "/api-keys", {
      token: device.token,
      body: { workspace_id, name: "e2e", scopes },
    });
    expect(status).toBe(201);
    key = body.key;
  });
  afterAll(async () => {
    run?.child.kill();
    for (const client of clients) client.close();
    await service.healthy();
  });

  function connect(): SessionServiceClient {
    const address = service.ready.grpc_sessions;
    const client = new SessionServiceClient(address, credentials.createInsecure(), {
      "grpc.use_local_subchannel_pool": 1,
    });
    clients.push(client);
    return client;
  }

  it("the client of the README sees a conversation, over kill -9, and asks about it", async () => {
    run = new SampleRun([service.ready.grpc_sessions, key, device.sessionId]);
    const { child } = run;
    const chunks = cut(4);
    for (const [sequence, pcm] of chunks.entries()) {
      if (sequence === 5) {
        const heard = () => (run?.lines.length ?? 0) > 0;
        await until(heard, "the first words", PATIENT_MS);
        await service.replaced("main", service.kill("main"));
      }
      await device.upload(sequence, pcm);
    }
    await device.stop(chunks.length - 1);
    await device.completed();
    if (child.exitCode === null) await once(child, "exit");
    const segments = await device.segments();
    const said = segments.map(({ text }) => text).sort();
    expect(run.lines.map((line) => line.replace(/^\S+ {2}/, "")).sort()).toEqual(said);
    expect(run.output).toMatch(/said at 00:\d\d.*final report/);
  });

  it("the record, its segments and its events agree with REST", async () => {
    const client = connect();
    const { sessionId } = device;
    const session = await callUnary(client, client.getSession, { sessionId }, key);
    expect(session).toMatchObject({ id: sessionId, status: "completed" });
    const request = { sessionId, pageSize: 500, pageToken: "", words: true };
    const { segments } = await callUnary(client, client.listSegments, request, key);
    const shown = await device.segments();
    expect(segments.map(({ id, text }) => ({ id, text }))).toEqual(
      shown.map(({ id, text }) => ({ id, text })),
    );
    const watch = new TranscriptWatch(client, key, { sessionId, fromSeq: 0, durableOnly: true });
    await watch.until(() => watch.kinds.includes("sessionStatus"), "the events");
    await watch.until(
      () =>
        watch.events.some(
          ({ event: e }) => e?.$case === "sessionStatus" && e.value.status === "completed",
        ),
      "the last event",
    );
    expect(watch.seqs).toEqual(watch.seqs.map((_, index) => index + 1));
    watch.cancel();
  });

  it("audio of another service is recognised while it streams", async () => {
    await device.start();
    const { sessionId } = device;
    const client = connect();
    const watch = new TranscriptWatch(client, key, { sessionId });
    const ingest = new AudioIngest(client, key).configure(sessionId);
    expect(await ingest.begun()).toBe(0);
    const audio = conversationPcm();
    for (let at = 0; at < audio.byteLength; at += 32_000) {
      ingest.audio(audio.subarray(at, at + 32_000));
    }
    await watch.until(() => watch.kinds.includes("finalSegment"), "the first final");
    await ingest.finish();
    expect(ingest.acks.at(-1)).toBe(audio.byteLength);
    const stop = { token: device.token, body: {} };
    const stopped = await call(service.api, "POST", `/sessions/${sessionId}/stop`, stop);
    expect(stopped.status).toBe(200);
    await device.completed();
    const words = (await device.segments()).map(({ text }) => text).join(" ");
    expect(words).toMatch(/the final report/);
    watch.cancel();
  });
});
