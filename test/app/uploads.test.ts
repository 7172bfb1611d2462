import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { Upload } from "tus-js-client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AppFixture } from "../support/app-fixture.ts";
import { conversationWav } from "../support/compat-caller.ts";
import { makeWav } from "../support/make-wav.ts";
import { call, PairedDevice } from "../support/paired-device.ts";
import { scriptedPcm } from "../support/spoken-script.ts";
import { until } from "../support/until.ts";
import { newOwner, type WorkspaceOwner } from "../support/workspace-owner.ts";

const TUS = { "Tus-Resumable": "1.0.0" };
const BYTES = { ...TUS, "Content-Type": "application/offset+octet-stream" };

interface SentUpload {
  id: string;
  size: number;
  received: number;
  status: string;
  error_code?: string;
}

describe("uploads", () => {
  let service: AppFixture;
  let owner: WorkspaceOwner;
  let key: string;
  let otherKey: string;
  const wav = conversationWav(20, scriptedPcm());

  beforeAll(async () => {
    service = await AppFixture.start({ MAX_FILE_BYTES: "5000000" });
    owner = await newOwner(service);
    [key, otherKey] = [await newKey(), await newKey()];
  });
  afterAll(() => service?.stop());

  async function newKey(): Promise<string> {
    const scopes = ["sessions:read", "sessions:write"];
    const body = { workspace_id: owner.workspaceId, name: "Program", scopes };
    const made = await call<{ key: string }>(service.api, "POST", "/api-keys", {
      token: owner.token,
      body,
    });
    return made.body.key;
  }

  async function begin(): Promise<string> {
    const made = await call<{ id: string }>(service.api, "POST", "/sessions", { key, body: {} });
    expect(made.status).toBe(201);
    return made.body.id;
  }

  const uploadsOf = (sessionId: string) => `${service.api}/sessions/${sessionId}/uploads`;

  /** As a program without a library sends a whole file. */
  async function send(sessionId: string, body: Uint8Array, headers = {}, query = "") {
    const answer = await fetch(`${uploadsOf(sessionId)}${query}`, {
      method: "POST",
      headers: { "X-API-Key": key, "Content-Type": "audio/wav", ...headers },
      body: new Uint8Array(body),
    });
    const code = answer.headers.get("x-error-code");
    return { status: answer.status, code, body: (await answer.json()) as SentUpload };
  }

  /** Makes an upload by tus; returns its address. */
  async function create(sessionId: string, size: number): Promise<string> {
    const metadata = `filename ${btoa("talk.wav")},filetype ${btoa("audio/wav")}`;
    const answer = await fetch(uploadsOf(sessionId), {
      method: "POST",
      headers: {
        ...{ "X-API-Key": key, ...TUS },
        ...{ "Upload-Length": String(size), "Upload-Metadata": metadata },
      },
    });
    expect(answer.status).toBe(201);
    return new URL(answer.headers.get("location") ?? "", service.ready.base_url).href;
  }

  function bring(address: string, offset: number, bytes: Uint8Array, headers = {}) {
    return fetch(address, {
      method: "PATCH",
      headers: { "X-API-Key": key, ...BYTES, "Upload-Offset": String(offset), ...headers },
      body: new Uint8Array(bytes),
    });
  }

  const head = (address: string, apiKey = key) =>
    fetch(address, { method: "HEAD", headers: { "X-API-Key": apiKey, ...TUS } });
  const offsetOf = async (address: string) =>
    Number((await head(address)).headers.get("upload-offset"));

  async function ended(sessionId: string): Promise<{ status: string; reason?: string }> {
    let session = { status: "" };
    await until(
      async () => {
        const path = `/sessions/${sessionId}`;
        session = (await call<{ status: string }>(service.api, "GET", path, { key })).body;
        return ["completed", "failed"].includes(session.status);
      },
      "the end of the session",
      60_000,
    );
    return session;
  }

  async function wordsOf(sessionId: string): Promise<string> {
    const path = `/sessions/${sessionId}/segments`;
    const { body } = await call<{ items: { text: string }[] }>(service.api, "GET", path, { key });
    return body.items.map(({ text }) => text).join(" ");
  }

  const leftFiles = () => {
    const folder = join(service.folder, "data/blobs/uploads");
    return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) =>
      each.isFile(),
    );
  };

  it("uploads: four calls bring a program from its key to the words of a file", async () => {
    const sessionId = await begin();
    const before = await call(service.api, "GET", `/sessions/${sessionId}`, { key });
    expect(before.body.reading).toEqual({ received_seconds: 0, read_seconds: 0 });
    const sent = await send(sessionId, wav);
    expect(sent).toMatchObject({
      status: 201,
      body: { status: "stored", size: wav.byteLength, received: wav.byteLength },
    });
    const session = await ended(sessionId);
    expect(session.status).toBe("completed");
    expect(session).not.toHaveProperty("reading");
    expect((await wordsOf(sessionId)).length).toBeGreaterThan(20);
    const again = await send(sessionId, wav);
    expect(again).toMatchObject({ status: 200, body: { id: sent.body.id } });
    expect((await send(sessionId, conversationWav(2))).code).toBe("session_ended");
    expect(leftFiles()).toEqual([]);
  });

  it("uploads: a client of tus brings a file that is cut many times, bit by bit the same", async () => {
    const sessionId = await begin();
    let requests = 0;
    let isDone = false;
    const bring = (address: string | undefined) =>
      new Promise<string>((settle, reject) => {
        const upload = new Upload(Buffer.from(wav), {
          endpoint: uploadsOf(sessionId),
          ...(address !== undefined && { uploadUrl: address }),
          headers: { "X-API-Key": key },
          metadata: { filename: "talk.wav", filetype: "audio/wav" },
          chunkSize: 70_000,
          retryDelays: [0, 50, 100],
          onError: reject,
          onSuccess: () => {
            isDone = true;
            settle(upload.url ?? "");
          },
          onChunkComplete() {
            requests += 1;
            // The program is ended after every other piece, and begins again with the address alone.
            if (requests % 2 === 0) void upload.abort().then(() => settle(upload.url ?? ""));
          },
        });
        upload.start();
      });
    let address: string | undefined;
    while (!isDone) address = await bring(address);
    expect(requests).toBeGreaterThan(8);
    expect((await ended(sessionId)).status).toBe("completed");
    const audio = await fetch(`${service.api}/sessions/${sessionId}/audio`, {
      headers: { authorization: `Bearer ${owner.token}` },
    });
    const heard = Buffer.from(await audio.arrayBuffer()).subarray(44);
    expect(digest(heard)).toBe(digest(wav.subarray(44)));
    expect(leftFiles()).toEqual([]);
  });

  it("uploads: what came of a body that breaks off is kept, and nobody else goes on with it", async () => {
    const sessionId = await begin();
    const address = await create(sessionId, wav.byteLength);
    const stop = new AbortController();
    const half = wav.subarray(0, 300_000);
    const body = new ReadableStream({
      async start(controller) {
        controller.enqueue(new Uint8Array(half));
        await new Promise((wake) => setTimeout(wake, 300));
        stop.abort();
      },
    });
    const broken = fetch(address, {
      method: "PATCH",
      headers: { "X-API-Key": key, ...BYTES, "Upload-Offset": "0" },
      body,
      signal: stop.signal,
      duplex: "half",
    } as RequestInit);
    await expect(broken).rejects.toThrow();
    await until(async () => (await offsetOf(address)) === half.byteLength, "the bytes that came");
    expect((await head(address, otherKey)).status).toBe(404);
    expect((await bring(address, 0, half)).status).toBe(409);
    const rest = await bring(address, half.byteLength, wav.subarray(half.byteLength));
    expect([rest.status, rest.headers.get("upload-offset")]).toEqual([204, String(wav.byteLength)]);
    expect((await bring(address, wav.byteLength, half)).status).toBe(413);
    expect((await bring(address, wav.byteLength, new Uint8Array(0))).status).toBe(204);
    expect((await ended(sessionId)).status).toBe("completed");
  });

  it("uploads: one request at a time brings bytes of a file", async () => {
    const sessionId = await begin();
    const address = await create(sessionId, wav.byteLength);
    let go: () => void = () => {};
    const bringSlowly = async (): Promise<number> => {
      const body = new ReadableStream({
        start(controller) {
          controller.enqueue(new Uint8Array(wav.subarray(0, 1_000)));
          go = () => {
            controller.enqueue(new Uint8Array(wav.subarray(1_000)));
            controller.close();
          };
        },
      });
      const { status } = await fetch(address, {
        method: "PATCH",
        headers: { "X-API-Key": key, ...BYTES, "Upload-Offset": "0" },
        body,
        duplex: "half",
      } as RequestInit);
      // Of two that come at the same time it may be the slow one that is refused.
      return status === 423 ? bringSlowly() : status;
    };
    const slow = bringSlowly();
    await until(async () => {
      await new Promise((wake) => setTimeout(wake, 50));
      return (await bring(address, 0, new Uint8Array(0))).status === 423;
    }, "the second one to be refused");
    go();
    expect(await slow).toBe(204);
    expect((await ended(sessionId)).status).toBe("completed");
  });

  it("uploads: bytes that do not agree with their checksum are not kept", async () => {
    const sessionId = await begin();
    const address = await create(sessionId, wav.byteLength);
    const piece = wav.subarray(0, 100_000);
    const of = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("base64");
    const wrong = { "Upload-Checksum": `sha256 ${of(wav)}` };
    expect((await bring(address, 0, piece, wrong)).status).toBe(460);
    expect(await offsetOf(address)).toBe(0);
    expect((await bring(address, 0, piece, { "Upload-Checksum": "crc32 AAAA" })).status).toBe(400);
    const right = { "Upload-Checksum": `sha256 ${of(piece)}` };
    expect((await bring(address, 0, piece, right)).status).toBe(204);
    expect(await offsetOf(address)).toBe(piece.byteLength);
    const gone = await fetch(address, { method: "DELETE", headers: { "X-API-Key": key, ...TUS } });
    expect(gone.status).toBe(204);
    expect((await head(address)).status).toBe(404);
    expect(leftFiles()).toEqual([]);
  });

  it("uploads: what is no sound is refused by its first bytes, or fails with its session", async () => {
    const text = Buffer.from("<!doctype html><html><body>no sound at all</body></html>".repeat(40));
    const refused = await send(await begin(), text);
    expect([refused.status, refused.code]).toEqual([422, "not_audio"]);
    const early = await create(await begin(), text.byteLength);
    expect((await bring(early, 0, text)).status).toBe(422);
    // Its head is that of sound.
    const broken = Buffer.concat([Buffer.from("fLaC"), Buffer.alloc(200_000, 0x5a)]);
    const sessionId = await begin();
    const address = await create(sessionId, broken.byteLength);
    expect((await bring(address, 0, broken)).status).toBe(204);
    expect(await ended(sessionId)).toMatchObject({ status: "failed", reason: "audio_unreadable" });
    const { body } = await call<{ items: SentUpload[] }>(
      service.api,
      "GET",
      `/sessions/${sessionId}/uploads`,
      { key },
    );
    expect(body.items).toMatchObject([{ status: "failed", error_code: "not_audio" }]);
    const inOne = await send(await begin(), broken);
    expect([inOne.status, inOne.code]).toEqual([422, "not_audio"]);
  });

  it("uploads: wrong lengths, versions and sessions are answered each with its status", async () => {
    const sessionId = await begin();
    const make = (headers: Record<string, string>, id = sessionId) =>
      fetch(uploadsOf(id), { method: "POST", headers: { "X-API-Key": key, ...headers } });
    expect((await make({ "Tus-Resumable": "0.2.2", "Upload-Length": "5" })).status).toBe(412);
    expect((await make({ ...TUS })).status).toBe(400);
    expect((await make({ ...TUS, "Upload-Length": "0" })).status).toBe(400);
    expect((await make({ ...TUS, "Upload-Length": "5000001" })).status).toBe(413);
    expect((await make({ ...TUS, "Upload-Length": "5", "Upload-Metadata": "a %%%" })).status).toBe(
      400,
    );
    const unknown = "01900000-0000-7000-8000-000000000000";
    expect((await make({ ...TUS, "Upload-Length": "5" }, unknown)).status).toBe(404);
    expect((await make({})).status).toBe(400);
    const address = await create(sessionId, 1_000);
    const long = await bring(address, 0, new Uint8Array(1_001));
    expect(long.status).toBe(413);
    expect(((await long.json()) as { message: string }).message).toContain("1000 bytes");
    // Nothing of a body that says that it is too long is taken.
    expect(await offsetOf(address)).toBe(0);
    const unsaid = await fetch(address, {
      method: "PATCH",
      headers: { "X-API-Key": key, ...BYTES },
      body: new Uint8Array(1),
    });
    expect(unsaid.status).toBe(400);
    expect(((await unsaid.json()) as { message: string }).message).toContain("`Upload-Offset`");
    const json = { "Content-Type": "application/json" };
    expect((await bring(address, 0, new Uint8Array(10), json)).status).toBe(415);
    const options = await fetch(uploadsOf(sessionId), { method: "OPTIONS" });
    expect(options.headers.get("tus-version")).toBe("1.0.0");
    expect(options.headers.get("tus-max-size")).toBe("5000000");
  });

  it("uploads: several files follow each other, and the last one ends the recording", async () => {
    const sessionId = await begin();
    const first = await send(sessionId, conversationWav(5, scriptedPcm()), {}, "?more=true");
    expect(first.status).toBe(201);
    const path = `/sessions/${sessionId}`;
    expect((await call(service.api, "GET", path, { key })).body.status).toBe("recording");
    expect((await send(sessionId, makeWav({ frames: 16_000 }))).status).toBe(201);
    expect((await ended(sessionId)).status).toBe("completed");
    const { body } = await call<{ chunks: unknown[] }>(service.api, "GET", `${path}/chunks`, {
      key,
    });
    expect(body.chunks).toHaveLength(2);
  });

  it("uploads: a session that is stopped right after a file came has its words", async () => {
    for (let round = 0; round < 5; round += 1) {
      const sessionId = await begin();
      const address = await create(sessionId, wav.byteLength);
      expect((await bring(address, 0, wav)).status).toBe(204);
      const stop = await call(service.api, "POST", `/sessions/${sessionId}/stop`, { key });
      expect(stop.status).toBe(200);
      expect((await ended(sessionId)).status).toBe("completed");
      expect((await wordsOf(sessionId)).length).toBeGreaterThan(20);
    }
  });

  it("uploads: of a session that has ended the last byte is refused", async () => {
    const sessionId = await begin();
    const address = await create(sessionId, wav.byteLength);
    expect((await bring(address, 0, wav.subarray(0, 1_000))).status).toBe(204);
    await call(service.api, "POST", `/sessions/${sessionId}/stop`, { key });
    await ended(sessionId);
    const late = await bring(address, 1_000, wav.subarray(1_000));
    expect([late.status, late.headers.get("x-error-code")]).toEqual([409, "session_ended"]);
  });

  it("uploads: an owner brings files too, members and devices do not, nor into a device's session", async () => {
    const made = await call<{ id: string }>(service.api, "POST", "/sessions", {
      token: owner.token,
      body: { workspace_id: owner.workspaceId },
    });
    const bearer = { authorization: `Bearer ${owner.token}`, "X-API-Key": "" };
    const { "X-API-Key": _, ...token } = bearer;
    const answer = await fetch(uploadsOf(made.body.id), {
      method: "POST",
      headers: { ...token, "Content-Type": "audio/wav" },
      body: new Uint8Array(makeWav({ frames: 16_000 })),
    });
    expect(answer.status).toBe(201);
    const stranger = await newOwner(service);
    const refused = await fetch(uploadsOf(made.body.id), {
      method: "POST",
      headers: { authorization: `Bearer ${stranger.token}`, "Content-Type": "audio/wav" },
      body: new Uint8Array(makeWav({ frames: 16_000 })),
    });
    expect(refused.status).toBe(403);
    const device = await PairedDevice.pair(service, owner);
    const recorded = await device.start();
    expect((await send(recorded, wav)).code).toBe("conflict");
    const asDevice = { "X-API-Key": device.key };
    expect((await send(recorded, wav, asDevice)).status).toBe(401);
  });

  it("uploads: an unfinished file goes with its session", async () => {
    const sessionId = await begin();
    const address = await create(sessionId, wav.byteLength);
    expect((await bring(address, 0, wav.subarray(0, 10_000))).status).toBe(204);
    const deleted = await call(service.api, "DELETE", `/sessions/${sessionId}`, { key });
    expect(deleted.status).toBe(200);
    expect((await head(address)).status).toBe(404);
    await until(() => leftFiles().every(({ parentPath }) => !parentPath.includes(sessionId)), "it");
  });
});

function digest(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
