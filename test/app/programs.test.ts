import { credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type CreateSessionRequest,
  type IngestAudioResponse,
  type Session,
  SessionServiceClient,
} from "../../src/wire/gen/voice/v1/sessions.ts";
import { AppFixture } from "../support/app-fixture.ts";
import { call } from "../support/paired-device.ts";
import { scriptedPcm } from "../support/spoken-script.ts";
import { until } from "../support/until.ts";
import { Viewer } from "../support/viewer.ts";
import { newOwner } from "../support/workspace-owner.ts";

const NOTHING: CreateSessionRequest = { title: "", vocabulary: [], metadata: {}, tags: [] };

/** A company's server that has a service key and nothing else. */
describe("programs over gRPC", () => {
  let service: AppFixture;
  let client: SessionServiceClient;
  let key: string;
  let reader: string;

  beforeAll(async () => {
    service = await AppFixture.shared();
    const owner = await newOwner(service);
    const issue = async (...scopes: string[]) => {
      const body = { workspace_id: owner.workspaceId, name: "Program", scopes };
      const made = await call<{ key: string }>(service.api, "POST", "/api-keys", {
        token: owner.token,
        body,
      });
      return made.body.key;
    };
    key = await issue("sessions:read", "sessions:write");
    reader = await issue("sessions:read");
    const address = service.ready.grpc_sessions?.replace(/^.*\/\//, "") ?? "";
    client = new SessionServiceClient(address, credentials.createInsecure());
  });
  afterAll(async () => {
    client?.close();
  });

  type Answer<T> = (error: ServiceError | null, answer: T) => void;

  function ask<T>(call: (metadata: Metadata, answer: Answer<T>) => void, as = key): Promise<T> {
    const metadata = new Metadata();
    metadata.set("x-api-key", as);
    return new Promise((resolve, reject) => {
      call(metadata, (error, answer) => (error === null ? resolve(answer) : reject(error)));
    });
  }

  const create = (request: Partial<CreateSessionRequest>, as = key) =>
    ask<Session>(
      (metadata, answer) => void client.createSession({ ...NOTHING, ...request }, metadata, answer),
      as,
    );
  const get = (sessionId: string) =>
    ask<Session>((metadata, answer) => void client.getSession({ sessionId }, metadata, answer));
  const codeOf = (work: Promise<unknown>) =>
    work.then(
      () => "none",
      (error: ServiceError) => String(error.metadata?.get("x-error-code")[0]),
    );

  async function found(filter: object, pageSize = 0): Promise<string[]> {
    const ids: string[] = [];
    let pageToken = "";
    do {
      const request = { pageSize, pageToken, tags: [], metadata: {}, ...filter };
      const page = await ask<{ sessions: Session[]; nextPageToken: string }>(
        (metadata, answer) => void client.listSessions(request, metadata, answer),
      );
      ids.push(...page.sessions.map(({ id }) => id));
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    return ids;
  }

  function stream(sessionId: string, pcm: Buffer): Promise<number> {
    const metadata = new Metadata();
    metadata.set("x-api-key", key);
    const ingest = client.ingestAudio(metadata);
    let stored = 0;
    const settings = { encoding: "pcm_s16le", sampleRate: 16_000, channels: 1, framing: "packet" };
    const configure = { sessionId, ...settings, oldestOffsetBytes: 0 };
    ingest.write({ message: { $case: "configure", value: configure as never } });
    return new Promise((resolve, reject) => {
      ingest.on("error", reject);
      ingest.on("end", () => resolve(stored));
      ingest.on("data", ({ message }: IngestAudioResponse) => {
        if (message?.$case === "ack") stored = Number(message.value.audioOffsetBytes);
        if (message?.$case !== "begin") return;
        for (let at = 0; at < pcm.byteLength; at += 200_000) {
          const value = pcm.subarray(at, at + 200_000);
          ingest.write({ message: { $case: "audio", value } });
        }
        ingest.end();
      });
    });
  }

  it("programs: begin a session, stream into it, end it, find it again, and delete it", async () => {
    const custom = { externalId: "call-1", metadata: { customer: "acme" }, tags: ["phone", "x"] };
    const begun = await create({ title: "Call", language: "en", ...custom });
    expect(begun).toMatchObject({ title: "Call", status: "recording", ...custom });
    const pcm = scriptedPcm().subarray(0, 640_000);
    expect(await stream(begun.id, pcm)).toBe(pcm.byteLength);
    const stop = () =>
      ask<Session>(
        (metadata, answer) => void client.stopSession({ sessionId: begun.id }, metadata, answer),
      );
    expect((await stop()).status).toMatch(/processing|completed/);
    await until(async () => (await get(begun.id)).status === "completed", "the end", 60_000);
    expect((await stop()).status).toBe("completed");
    const other = await create({ tags: ["phone"] });
    expect(await found({ externalId: "call-1" })).toEqual([begun.id]);
    expect(await found({ tags: ["phone"] }, 1)).toEqual([other.id, begun.id]);
    expect(await found({ tags: ["phone", "x"] })).toEqual([begun.id]);
    expect(await found({ metadata: { customer: "acme" } })).toEqual([begun.id]);
    expect(await found({ status: "recording", tags: ["phone"] })).toEqual([other.id]);
    expect(await codeOf(create({ externalId: "call-1" }))).toBe("external_id_taken");
    const receipt = await ask<{ receiptId: string }>(
      (metadata, answer) => void client.deleteSession({ sessionId: begun.id }, metadata, answer),
    );
    expect(receipt.receiptId).not.toBe("");
    expect(await codeOf(get(begun.id))).toBe("not_found");
    expect((await create({ externalId: "call-1" })).externalId).toBe("call-1");
  });

  it("programs: what is wrong is refused, each with its code", async () => {
    expect(await codeOf(create({}, reader))).toBe("forbidden");
    expect(await codeOf(create({ title: "t".repeat(201) }))).toBe("invalid_body");
    expect(await codeOf(create({ language: "not a language" }))).toBe("invalid_body");
    expect(await codeOf(create({ visibility: "everybody" }))).toBe("invalid_body");
    expect(await codeOf(create({ tags: [""] }))).toBe("invalid_body");
    expect(await codeOf(create({ language: "xx" }))).toBe("language_unsupported");
    expect(await codeOf(found({}, 101))).toBe("invalid_parameter");
    expect(await codeOf(found({ status: "over" }))).toBe("invalid_parameter");
    expect(await codeOf(found({ pageToken: "made up" }))).toBe("invalid_parameter");
    const odd = "a\u0000b";
    const wanted = [
      { tags: [odd] },
      { externalId: odd },
      { language: odd },
      { metadata: { a: odd } },
    ];
    for (const each of wanted) expect(await codeOf(found(each))).toBe("invalid_body");
  });
});

describe("programs over a WebSocket", () => {
  let service: AppFixture;
  let key: string;
  let writer: string;
  let sessionId: string;

  beforeAll(async () => {
    service = await AppFixture.shared();
    const owner = await newOwner(service);
    const issue = async (...scopes: string[]) => {
      const body = { workspace_id: owner.workspaceId, name: "Program", scopes };
      const made = await call<{ key: string }>(service.api, "POST", "/api-keys", {
        token: owner.token,
        body,
      });
      return made.body.key;
    };
    [key, writer] = [await issue("sessions:read", "sessions:write"), await issue("sessions:write")];
    const made = await call<{ id: string }>(service.api, "POST", "/sessions", { key, body: {} });
    sessionId = made.body.id;
  });

  const CONFIGURE = { type: "Configure", encoding: "pcm_s16le", sample_rate: 16_000, channels: 1 };

  function connect(id = sessionId, as = key): Viewer {
    const url = `${service.api.replace("http", "ws")}/sessions/${id}/stream`;
    return new Viewer(url, { "x-api-key": as });
  }

  it("programs: stream into their session, are cut off, go on to the byte, and read along", async () => {
    const pcm = scriptedPcm().subarray(0, 640_000);
    const first = await connect().opened();
    first.send(CONFIGURE);
    await first.received("Begin");
    for (let at = 0; at < 320_000; at += 64_000) first.socket.send(pcm.subarray(at, at + 64_000));
    await until(
      () => first.frames.some((frame) => Number(frame.audio_offset_bytes ?? 0) >= 64_000),
      "an acknowledgement",
    );
    first.socket.terminate();
    const second = await connect().opened();
    const resume = { type: "Resume", session_id: sessionId, audio_offset_bytes: 0 };
    second.send({ ...resume, transcript: true, from_seq: 0 });
    const offset = Number((await second.received("Begin")).audio_offset_bytes);
    expect(offset).toBeGreaterThanOrEqual(64_000);
    for (let at = offset; at < pcm.byteLength; at += 64_000) {
      second.socket.send(pcm.subarray(at, at + 64_000));
    }
    second.send({ type: "CloseStream" });
    await until(() => second.socket.readyState === 3, "the close", 30_000);
    const stop = await call(service.api, "POST", `/sessions/${sessionId}/stop`, { key });
    expect(stop.status).toBe(200);
    const path = `/sessions/${sessionId}`;
    const isOver = async () =>
      (await call(service.api, "GET", path, { key })).body.status === "completed";
    await until(isOver, "the end", 60_000);
    const { body } = await call<{ items: { end_ms: number }[] }>(
      service.api,
      "GET",
      `${path}/segments`,
      { key },
    );
    expect(body.items.length).toBeGreaterThan(1);
    const late = connect();
    await late.opened();
    late.send(CONFIGURE);
    expect((await late.received("Error")).code).toBe("session_ended");
  });

  it("programs: a repeated begin is answered with the session as it is now, and is kept no longer than it", async () => {
    const headers = { "idempotency-key": "call-7" };
    const body = { title: "Call", external_id: "call-7" };
    const begin = () => call(service.api, "POST", "/sessions", { key, body, headers });
    const first = await begin();
    expect(first.status).toBe(201);
    const path = `/sessions/${first.body.id}`;
    await call(service.api, "PATCH", path, { key, body: { title: "Call about the invoice" } });
    const again = await begin();
    expect([again.status, again.headers.get("idempotency-replayed")]).toEqual([201, "true"]);
    expect(again.body).toEqual({ ...first.body, title: "Call about the invoice" });
    expect((await call(service.api, "DELETE", path, { key })).status).toBe(200);
    const anew = await begin();
    expect([anew.status, anew.headers.get("idempotency-replayed")]).toEqual([201, null]);
    expect(anew.body.id).not.toBe(first.body.id);
  });

  it("programs: of another workspace, without the scope, or with another session's name are refused", async () => {
    const made = await call<{ id: string }>(service.api, "POST", "/sessions", { key, body: {} });
    const other = await connect(made.body.id).opened();
    other.send({ ...CONFIGURE, session_id: sessionId });
    expect((await other.received("Error")).code).toBe("bad_request");
    const named = await connect(made.body.id).opened();
    named.send({ ...CONFIGURE, language: "en" });
    expect((await named.received("Error")).code).toBe("bad_request");
    const unread = await connect(made.body.id, writer).opened();
    unread.send({ ...CONFIGURE, transcript: true });
    await unread.received("Begin");
    expect((await unread.received("Error")).code).toBe("forbidden");
    unread.socket.terminate();
    const stranger = await newOwner(service);
    const body = { workspace_id: stranger.workspaceId, name: "P", scopes: ["sessions:write"] };
    const foreign = await call<{ key: string }>(service.api, "POST", "/api-keys", {
      token: stranger.token,
      body,
    });
    const statusOf = (as: string) =>
      new Promise((settle) => {
        const { socket } = connect(made.body.id, as);
        socket.on("unexpected-response", (_request, response) => settle(response.statusCode));
        socket.on("error", () => {});
        socket.on("open", () => settle("open"));
      });
    expect(await statusOf(foreign.body.key)).toBe(404);
    expect(await statusOf("vk_svc_none")).toBe(401);
  });
});
