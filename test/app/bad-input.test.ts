import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { AppFixture } from "../support/app-fixture.ts";
import { call, PairedDevice, PCM } from "../support/paired-device.ts";
import { scriptedPcm } from "../support/spoken-script.ts";
import { until } from "../support/until.ts";

interface Failure {
  success: boolean;
  message: string;
}

describe("bad input", () => {
  let service: AppFixture;
  let device: PairedDevice;
  beforeAll(async () => {
    service = await AppFixture.start();
    device = await PairedDevice.pair(service);
    await device.start();
  });
  afterAll(() => service?.stop());

  function expectProblem(
    answer: { status: number; body: Failure; headers: Headers },
    status: number,
    code: string,
  ): void {
    expect({ status: answer.status, code: answer.headers.get("x-error-code") }).toEqual({
      status,
      code,
    });
    expect(Object.keys(answer.body).sort()).toEqual(["message", "success"]);
    expect(answer.body.success).toBe(false);
    expect(answer.body.message).toMatch(/^[A-Za-z0-9`"].{8,}[.!?]$/s);
    expect(answer.headers.get("x-request-id")).toBeTruthy();
  }

  const upload = (bytes: Uint8Array, headers: Record<string, string>, key = device.key) =>
    call<Failure>(service.api, "POST", `/sessions/${device.sessionId}/upload-audio`, {
      key,
      bytes,
      headers,
    });

  const wav = { "content-type": "audio/wav", "x-chunk-sequence": "0" };

  it("bad input: bodies that are not JSON, lack members or have wrong types", async () => {
    const raw = (bytes: string, type = "application/json") =>
      call<Failure>(service.api, "POST", "/auth/login", {
        bytes: Buffer.from(bytes),
        headers: { "content-type": type },
      });
    expectProblem(await raw("{nope"), 400, "invalid_json");
    expectProblem(await raw("{}"), 400, "invalid_body");
    expectProblem(await raw('{"email": 3, "password": "x"}'), 400, "invalid_body");
    expectProblem(await raw("email=x", "text/plain"), 415, "unsupported_media_type");
  });

  it("bad input: unknown ids and unknown paths are 404", async () => {
    const { token } = device;
    for (const id of [newId(), "nonsense", "..%2f..%2fetc"]) {
      const answer = await call<Failure>(service.api, "GET", `/sessions/${id}`, { token });
      expectProblem(answer, 404, "not_found");
    }
    const nowhere = await fetch(`${service.api}/nowhere`).then(async (response) => ({
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as Failure,
    }));
    expectProblem(nowhere, 404, "not_found");
  });

  it("bad input: what is no audio is refused with a sentence", async () => {
    expectProblem(await upload(Buffer.from("hello, I am a text\n"), wav), 422, "not_audio");
    expectProblem(await upload(Buffer.alloc(0), wav), 422, "not_audio");
    const flac = Buffer.concat([Buffer.from("fLaC"), Buffer.alloc(100)]);
    expectProblem(await upload(flac, { ...wav, "content-type": "audio/flac" }), 422, "not_audio");
    const m4a = Buffer.concat([Buffer.from("\0\0\0\x20ftypM4A "), Buffer.alloc(100)]);
    expectProblem(await upload(m4a, { ...wav, "content-type": "audio/mp4" }), 422, "not_audio");
    const midi = Buffer.concat([Buffer.from("MThd"), Buffer.alloc(100)]);
    expectProblem(await upload(midi, wav), 415, "unsupported_media_type");
    const pcm = { "content-type": PCM, "x-chunk-sequence": "first" };
    expectProblem(await upload(Buffer.alloc(320), pcm), 400, "invalid_body");
  });

  it("bad input: a WAV whose header lies about its length gives what is there", async () => {
    const body = scriptedPcm().subarray(0, 64_000);
    const header = Buffer.alloc(44);
    header.write("RIFF", 0);
    header.writeUInt32LE(0xffffffff, 4);
    header.write("WAVEfmt ", 8);
    header.writeUInt32LE(16, 16);
    header.writeUInt16LE(1, 20);
    header.writeUInt16LE(1, 22);
    header.writeUInt32LE(16_000, 24);
    header.writeUInt32LE(32_000, 28);
    header.writeUInt16LE(2, 32);
    header.writeUInt16LE(16, 34);
    header.write("data", 36);
    header.writeUInt32LE(0x7fffffff, 40);
    const answer = await upload(Buffer.concat([header, body]), wav);
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ duration_seconds: 2 });
  });

  it("bad input: sequences that leap far ahead are refused before they become gaps", async () => {
    const pcm = { "content-type": PCM, "x-chunk-sequence": "900000" };
    expectProblem(await upload(Buffer.alloc(3_200), pcm), 400, "invalid_body");
    const path = `/devices/${device.id}/session/stop`;
    const stop = await call<Failure>(service.api, "POST", path, {
      key: device.key,
      body: { last_chunk_sequence: 900_000 },
    });
    expectProblem(stop, 409, "conflict");
    expect((await device.get("")).body).toMatchObject({ status: "recording" });
  });

  it("bad input: wrong credentials, each at the door it does not fit", async () => {
    const chunk = Buffer.alloc(3_200);
    const pcm = { "content-type": PCM, "x-chunk-sequence": "1" };
    expectProblem(await upload(chunk, pcm, "vk_dev_nonsense"), 401, "invalid_api_key");
    const other = await PairedDevice.pair(service);
    expectProblem(await upload(chunk, pcm, other.key), 403, "forbidden");
    const path = `/sessions/${device.sessionId}/upload-audio`;
    const byUser = await call<Failure>(service.api, "POST", path, {
      token: device.token,
      bytes: chunk,
      headers: pcm,
    });
    expect(byUser.status).toBe(401);
    const byKey = await call<Failure>(service.api, "GET", "/users", { key: device.key });
    expect(byKey.status).toBe(401);
    const forged = await call<Failure>(service.api, "GET", "/users", { token: `${device.token}x` });
    expectProblem(forged, 401, "invalid_token");
  });

  it("bad input: 200 MB are refused without being read", async () => {
    const answer = await refusedUpload(200 * 1024 * 1024);
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toContain('"success":false');
  });

  it("bad input: a body cut off half-way leaves nothing behind", async () => {
    const { port, hostname } = new URL(service.ready.base_url);
    const socket = connect(Number(port), hostname);
    socket.on("error", () => {});
    socket.write(
      `POST /api/sessions/${device.sessionId}/upload-audio HTTP/1.1\r\nHost: x\r\nX-API-Key: ${device.key}\r\n` +
        `Content-Type: ${PCM}\r\nX-Chunk-Sequence: 7\r\nContent-Length: 64000\r\n\r\n`,
    );
    await new Promise<void>((resolve) => socket.write(Buffer.alloc(20_000), () => resolve()));
    socket.destroy();
    await until(async () => (await call(service.api, "GET", "/health")).status === 200, "health");
    const sequences = (await device.chunks()).map((chunk) => chunk.chunk_sequence);
    expect(sequences).not.toContain(7);
  });

  it("bad input: the log stays calm", async () => {
    const lines = await service.log("main");
    expect(lines.filter((line) => ["error", "fatal"].includes(line.level))).toEqual([]);
  });

  function refusedUpload(length: number): Promise<string> {
    const { port, hostname } = new URL(service.ready.base_url);
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname);
      let text = "";
      socket.on("data", (data) => {
        text += data.toString();
        if (text.includes("}")) {
          socket.destroy();
          resolve(text);
        }
      });
      socket.on("error", reject);
      socket.on("close", () => resolve(text));
      socket.write(
        `POST /api/sessions/${device.sessionId}/upload-audio HTTP/1.1\r\nHost: x\r\nX-API-Key: ${device.key}\r\n` +
          `Content-Type: ${PCM}\r\nX-Chunk-Sequence: 8\r\nContent-Length: ${length}\r\n\r\n`,
      );
      socket.write(Buffer.alloc(65_536));
    });
  }
});
