import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AppFixture } from "../support/app-fixture.ts";
import { S3Server } from "../support/audio-store/s3-server.ts";
import { ACCESS_KEY, SECRET_KEY } from "../support/audio-store/s3-signature.ts";
import { adminToken, call, PairedDevice, scriptedChunks } from "../support/paired-device.ts";
import { until } from "../support/until.ts";
import { runVoice } from "../support/voice-run.ts";

const HEADER = 44;
/** Bytes of 5 s at 16 kHz. */
const CHUNK = 160_000;
const SAVED = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] as const;

describe("audio in a bucket", () => {
  const server = new S3Server();
  const before = SAVED.map((name) => process.env[name]);
  /** Where audio was kept before, of which nothing was moved yet. */
  const former = mkdtempSync(join(tmpdir(), "former-audio-"));
  let service: AppFixture;

  beforeAll(async () => {
    await server.start();
    // As the SDK's own chain finds them.
    process.env.AWS_ACCESS_KEY_ID = ACCESS_KEY;
    process.env.AWS_SECRET_ACCESS_KEY = SECRET_KEY;
    service = await AppFixture.start({
      AUDIO_STORE: `s3://${server.bucket}/voice`,
      AUDIO_S3_ENDPOINT: server.endpoint,
      AUDIO_S3_PATH_STYLE: "1",
      AUDIO_S3_ENCRYPTION: "AES256",
      AUDIO_MOVE_FROM: former,
    });
  });
  afterAll(async () => {
    for (const [n, name] of SAVED.entries()) {
      const value = before[n];
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    await service?.stop();
    await server.stop();
    rmSync(former, { recursive: true, force: true });
  });

  /** As if a release without a bucket had kept the audio of a session in the folder. */
  function backToFolder(session: string): void {
    mkdirSync(join(former, session), { recursive: true });
    for (const key of keysOf(session)) {
      const object = server.objects.get(key);
      const name = key.split("/").at(-1) ?? "";
      writeFileSync(join(former, session, name), object?.data ?? "");
      server.objects.delete(key);
    }
  }

  const keysOf = (session: string) =>
    [...server.objects.keys()].filter((key) => key.startsWith(`voice/${session}/`));

  async function record(): Promise<{ device: PairedDevice; chunks: Buffer[] }> {
    const device = await PairedDevice.pair(service);
    await device.start();
    const chunks = scriptedChunks(5).slice(0, 4);
    for (const [sequence, pcm] of chunks.entries()) await device.upload(sequence, pcm);
    await device.stop(chunks.length - 1);
    await device.completed();
    return { device, chunks };
  }

  async function play(device: PairedDevice, range: string): Promise<Buffer> {
    const url = `${service.api}/sessions/${device.sessionId}/audio`;
    const headers = { authorization: `Bearer ${device.token}`, range };
    const response = await fetch(url, { headers });
    expect(response.status).toBe(206);
    return Buffer.from(await response.arrayBuffer());
  }

  it("is stored, read, played, silenced, compared and deleted there, and nowhere else", async () => {
    const { device, chunks } = await record();
    const names = chunks.map((pcm) => createHash("sha256").update(pcm).digest("hex"));
    expect(keysOf(device.sessionId).sort()).toEqual(
      names.map((name) => `voice/${device.sessionId}/${name}`).sort(),
    );
    for (const { encryption } of server.objects.values()) expect(encryption).toBe("AES256");
    expect(existsSync(join(service.folder, "data/blobs", device.sessionId))).toBe(false);
    expect((await device.said()).join(" ")).toContain("launch of the new system");

    const whole = Buffer.concat(chunks);
    const from = HEADER + CHUNK - 1_000;
    const part = await play(device, `bytes=${from}-${from + 1_999}`);
    expect(part.equals(whole.subarray(CHUNK - 1_000, CHUNK + 1_000))).toBe(true);

    const { token } = device;
    const session = `/sessions/${device.sessionId}`;
    const body = { start_ms: 0, end_ms: 1_000 };
    const redacted = await call(service.api, "POST", `${session}/redactions`, { token, body });
    expect(redacted.status).toBe(201);
    const first = `voice/${device.sessionId}/${names[0]}`;
    await until(
      () =>
        server.objects
          .get(first)
          ?.data.subarray(0, 32_000)
          .every((each) => each === 0) === true,
      "the stored audio to be silent",
    );
    const after = await play(device, `bytes=${HEADER}-${HEADER + 39_999}`);
    expect(after.subarray(0, 32_000).every((each) => each === 0)).toBe(true);
    const stored = server.objects.get(first)?.data ?? Buffer.alloc(0);
    expect(after.equals(stored.subarray(0, 40_000))).toBe(true);
    const end = HEADER + whole.length;
    const unchanged = await play(device, `bytes=${end - 40_000}-${end - 1}`);
    expect(unchanged.equals(whole.subarray(-40_000))).toBe(true);

    const admin = await adminToken(service);
    const verify = () =>
      call<{ chunks: number; damaged: { kind: string }[] }>(
        ...([service.api, "POST", "/admin/audio/verify"] as const),
        { token: admin, body: { session_id: device.sessionId } },
      );
    expect((await verify()).body).toMatchObject({ chunks: 4, damaged: [] });
    const last = `voice/${device.sessionId}/${names[3]}`;
    const lost = server.objects.get(last);
    server.objects.delete(last);
    expect((await verify()).body).toMatchObject({ damaged: [{ kind: "gone" }] });
    if (lost !== undefined) server.objects.set(last, lost);
    expect((await verify()).body).toMatchObject({ damaged: [] });

    const deleted = await call(service.api, "DELETE", session, { token });
    expect(deleted.body).toMatchObject({ audio_erased: true });
    expect(keysOf(device.sessionId)).toEqual([]);
    const ledger = [...server.objects].filter(([key]) => key.startsWith("voice/erasures/"));
    expect(ledger.map(([, { data }]) => data.toString()).join()).toContain(device.sessionId);
  });

  it("while the bucket is away uploads are asked to come again, nothing is lost, and it heals", async () => {
    const device = await PairedDevice.pair(service);
    await device.start();
    const chunks = scriptedChunks(5).slice(0, 3);
    await device.upload(0, chunks[0] ?? Buffer.alloc(0));
    server.mood = "away";
    const url = `${service.api}/sessions/${device.sessionId}/upload-audio`;
    const headers = {
      "x-api-key": device.key,
      "content-type": "audio/pcm;rate=16000;channels=1;encoding=s16le",
      "x-chunk-sequence": "1",
    };
    const refused = await fetch(url, { method: "POST", headers, body: chunks[1] ?? null });
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    await refused.arrayBuffer();
    server.mood = "well";
    await device.upload(1, chunks[1] ?? Buffer.alloc(0));
    await device.upload(2, chunks[2] ?? Buffer.alloc(0));
    await device.stop(2);
    await device.completed();
    const { body } = await device.get<{ complete: boolean }>("/completeness");
    expect(body.complete).toBe(true);
  });

  it("is moved from the folder by the command while devices send and people listen", async () => {
    const [kept, gone, redacted] = [await record(), await record(), await record()];
    for (const { device } of [kept, gone, redacted]) backToFolder(device.sessionId);
    const whole = Buffer.concat(kept.chunks);
    const range = `bytes=${HEADER}-${HEADER + 39_999}`;
    // It is in the folder yet.
    expect((await play(kept.device, range)).equals(whole.subarray(0, 40_000))).toBe(true);
    const env = { VOICE_TOKEN: await adminToken(service) };
    const move = (...flags: string[]) => {
      const args = ["admin", "audio", "move", "--base-url", service.ready.base_url, ...flags];
      return runVoice(args, { env, folder: service.folder });
    };
    const counted = await move("--dry-run");
    expect(counted).toMatchObject({ code: 0 });
    expect(counted.lines.join("")).toMatch(/To move from .+ to s3:\/\/audio\/voice: \d+ files/);
    const { token } = gone.device;
    const [moved] = await Promise.all([
      move(),
      call(service.api, "DELETE", `/sessions/${gone.device.sessionId}`, { token }),
      call(service.api, "POST", `/sessions/${redacted.device.sessionId}/redactions`, {
        ...{ token, body: { start_ms: 0, end_ms: 1_000 } },
      }),
      record(),
    ]);
    expect(moved).toMatchObject({ code: 0 });
    expect(moved.lines.join("")).toContain("Moved from");
    expect((await move()).lines.join("")).toContain("take AUDIO_MOVE_FROM out of the settings");
    expect(keysOf(kept.device.sessionId)).toHaveLength(kept.chunks.length);
    expect((await play(kept.device, range)).equals(whole.subarray(0, 40_000))).toBe(true);
    expect(keysOf(gone.device.sessionId)).toEqual([]);
    for (const { device } of [kept, gone, redacted]) {
      expect(existsSync(join(former, device.sessionId))).toBe(false);
    }
    const name = createHash("sha256")
      .update(redacted.chunks[0] ?? "")
      .digest("hex");
    const isSilent = () =>
      server.objects
        .get(`voice/${redacted.device.sessionId}/${name}`)
        ?.data.subarray(0, 32_000)
        .every((each) => each === 0) === true;
    await until(isSilent, "the redacted audio to be silent in the bucket");
  });
});
