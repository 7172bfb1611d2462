import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { DevicePrincipal } from "../../src/access/principal.ts";
import { silentLog } from "../../src/base/log.ts";
import { AudioWatch } from "../../src/conversations/recording/durable-files/audio-watch.ts";
import { intakeOf } from "../../src/roles/features.ts";
import { startFront, type TestFront } from "../support/front.ts";
import { settled, VirtualRuntime } from "../support/late/virtual-runtime.ts";
import { makeWav } from "../support/make-wav.ts";
import { SessionFixture } from "../support/session-fixture.ts";
import { until } from "../support/until.ts";

const wav = makeWav({ frames: 16_000, seed: 3 });

describe("upload-audio over HTTP", () => {
  let fixture: SessionFixture;
  let front: TestFront;
  let device: DevicePrincipal;
  let url: string;

  beforeAll(async () => {
    fixture = await SessionFixture.open();
    const authenticate = async () => device;
    front = await startFront({
      routes: fixture.routes,
      uploadFolder: fixture.blobs.temporaryFolder,
      authenticator: { authenticate, revalidate: async (principal) => principal },
    });
  });
  afterAll(async () => {
    await front.stop();
    await fixture.close();
  });
  beforeEach(async () => {
    ({ device } = await fixture.ownDevice());
    url = `${front.base}/sessions/${await fixture.start(device)}/upload-audio`;
  });

  function form(fields: Record<string, string>, bytes: Uint8Array, type = "audio/wav"): FormData {
    const data = new FormData();
    for (const [name, value] of Object.entries(fields)) data.set(name, value);
    data.set("file", new Blob([new Uint8Array(bytes)], { type }), "chunk-0.wav");
    return data;
  }

  async function post(
    body: FormData | Uint8Array,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; code: string | null; body: Record<string, unknown> }> {
    const init = { method: "POST", headers: { "x-api-key": "key", ...headers } };
    const content = body instanceof FormData ? body : new Blob([new Uint8Array(body)]);
    const response = await fetch(url, { ...init, body: content });
    const answer = (await response.json()) as Record<string, unknown>;
    return { status: response.status, code: response.headers.get("x-error-code"), body: answer };
  }

  it("upload-audio http: while the disk hangs it is 503 with Retry-After, and nothing is received", async () => {
    const runtime = new VirtualRuntime();
    const disk = { probe: () => new Promise<never>(() => {}) };
    const watch = new AudioWatch({ disk, runtime, log: silentLog });
    watch.start();
    await runtime.pass(10_001, settled);
    fixture.checkBacklog = intakeOf(watch, { check: () => {} }).check;
    try {
      const headers = { "x-chunk-sequence": "0", "content-type": "audio/wav" };
      // More than is received in memory.
      const body = new Blob([new Uint8Array(makeWav({ frames: 400_000 }))]);
      const answer = await fetch(url, { method: "POST", headers, body });
      const code = answer.headers.get("x-error-code");
      expect([answer.status, code]).toEqual([503, "unavailable"]);
      expect(answer.headers.get("retry-after")).toBe("10");
      expect(readdirSync(fixture.blobs.temporaryFolder)).toEqual([]);
    } finally {
      fixture.checkBacklog = () => {};
      watch.stop();
    }
  });

  it("upload-audio http: the same audio as a form and as a raw body is one chunk", async () => {
    const first = await post(form({ chunk_sequence: "0" }, wav));
    const again = await post(wav, { "x-chunk-sequence": "0", "content-type": "audio/wav" });
    expect([first.status, again.status]).toEqual([201, 200]);
    expect(again.body).toEqual(first.body);
    await until(
      () => readdirSync(fixture.blobs.temporaryFolder).length === 0,
      "no temporary files",
    );
  });

  it("upload-audio http: raw PCM is taken with its declared format", async () => {
    const type = "audio/pcm;rate=8000;channels=1;encoding=s16le";
    const headers = { "x-chunk-sequence": "0", "content-type": type };
    const answer = await post(new Uint8Array(16_000), headers);
    expect(answer).toMatchObject({ status: 201, body: { duration_seconds: 1 } });
    const [row] = await fixture.sql("select media_type from chunks where id = $1", [
      answer.body.chunk_id,
    ]);
    expect(row?.media_type).toBe(type);
  });

  it("upload-audio http: bad uploads get their code and leave nothing behind", async () => {
    const text = Buffer.from("this is a text file\n");
    const cases: [Promise<{ status: number; code: string | null }>, number, string][] = [
      [post(form({}, wav)), 400, "invalid_body"],
      [post(form({ chunk_sequence: "-1" }, wav)), 400, "invalid_body"],
      [post(wav, { "content-type": "audio/wav" }), 400, "invalid_body"],
      [post(form({ chunk_sequence: "0" }, text)), 422, "not_audio"],
      [post(form({ chunk_sequence: "0" }, new Uint8Array())), 422, "not_audio"],
      [
        post(form({ chunk_sequence: "0" }, Buffer.from("\0\0\0\x20ftypM4A "), "audio/ogg")),
        422,
        "not_audio",
      ],
      [
        post(form({ chunk_sequence: "0" }, Buffer.from("MThd\0\0\0\x06"))),
        415,
        "unsupported_media_type",
      ],
    ];
    for (const [answer, status, code] of cases) {
      expect(await answer).toMatchObject({ status, code });
    }
    await until(
      () => readdirSync(fixture.blobs.temporaryFolder).length === 0,
      "no temporary files",
    );
    const session = url.split("/").at(-2) ?? "";
    expect(() => readdirSync(join(fixture.folder, session))).toThrow("ENOENT");
  });

  it("upload-audio http: parallel uploads of a whole session all arrive", async () => {
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, sequence) =>
        post(
          form({ chunk_sequence: String(sequence) }, makeWav({ frames: 8_000, seed: sequence })),
        ),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    expect(new Set(answers.map(({ body }) => body.chunk_id)).size).toBe(40);
  });

  it("start http: takes no body at all, refuses a mistyped one", async () => {
    const own = await fixture.ownDevice();
    device = own.device;
    const start = `${front.base}/devices/${device.id}/session/start`;
    const headers = { "x-api-key": "key", "content-type": "application/json" };
    const wrong = await fetch(start, { method: "POST", headers, body: '{"title": 5}' });
    expect(wrong.status).toBe(400);
    const bare = await fetch(start, { method: "POST", headers: { "x-api-key": "key" } });
    expect(bare.status).toBe(201);
    const again = await fetch(start, { method: "POST", headers, body: "{}" });
    expect(again.status).toBe(409);
  });
});
