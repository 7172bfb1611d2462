import { createHash } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { AppFixture } from "../support/app-fixture.ts";
import { call, PairedDevice, scriptedChunks } from "../support/paired-device.ts";
import { newOwner, type WorkspaceOwner } from "../support/workspace-owner.ts";

const HEADER = 44;
const CHUNK = 2;

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

describe("audio", () => {
  let service: AppFixture;
  let owner: WorkspaceOwner;
  beforeAll(async () => {
    service = await AppFixture.shared({ LATE_DEVICE_SILENCE_MS: "2000" });
    owner = await newOwner(service);
  });

  async function record(missing?: number): Promise<{ device: PairedDevice; chunks: Buffer[] }> {
    const device = await PairedDevice.pair(service, owner);
    await device.start();
    const chunks = scriptedChunks(CHUNK).slice(0, 8);
    for (const [sequence, pcm] of chunks.entries()) {
      if (sequence !== missing) await device.upload(sequence, pcm);
    }
    await device.stop(chunks.length - 1);
    await device.completed();
    return { device, chunks };
  }

  function download(device: PairedDevice, headers: Record<string, string> = {}) {
    const url = `${service.api}/sessions/${device.sessionId}/audio`;
    return fetch(url, { headers: { authorization: `Bearer ${device.token}`, ...headers } });
  }

  async function bytesOf(response: Response): Promise<Buffer> {
    return Buffer.from(await response.arrayBuffer());
  }

  it("audio: the download is what was uploaded, whole and in ranges", async () => {
    const { device, chunks } = await record();
    const response = await download(device);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("audio/wav");
    const file = await bytesOf(response);
    expect(response.headers.get("content-length")).toBe(String(file.length));
    expect(sha256(file.subarray(HEADER))).toBe(sha256(Buffer.concat(chunks)));
    const etag = response.headers.get("etag") ?? "";
    const half = Math.floor(file.length / 2) + 1;
    const first = await download(device, { range: `bytes=0-${half - 1}` });
    const second = await download(device, { range: `bytes=${half}-`, "if-range": etag });
    expect([first.status, second.status]).toEqual([206, 206]);
    expect(second.headers.get("content-range")).toBe(
      `bytes ${half}-${file.length - 1}/${file.length}`,
    );
    const joined = Buffer.concat([await bytesOf(first), await bytesOf(second)]);
    expect(sha256(joined)).toBe(sha256(file));
    const beyond = await download(device, { range: `bytes=${file.length}-` });
    expect([beyond.status, beyond.headers.get("x-error-code")]).toEqual([
      416,
      "range_not_satisfiable",
    ]);
    expect((await download(device, { "if-none-match": etag })).status).toBe(304);
    const complete = await device.get<{ complete: boolean; received_ms: number }>("/completeness");
    expect(complete.body).toMatchObject({ complete: true, missing: [] });
    expect(complete.body.received_ms).toBe(chunks.length * CHUNK * 1_000);
  });

  it("audio: an own session is recorded, stopped and read again, and the repetition cancelled", async () => {
    const device = await PairedDevice.pair(service, owner);
    const { token } = device;
    const send = (path: string, body: object) =>
      call<Record<string, string>>(service.api, "POST", path, { token, body });
    const created = await send("/sessions", { title: "Own", device_id: device.id });
    expect([created.status, created.body.status]).toEqual([201, "recording"]);
    device.sessionId = created.body.id ?? "";
    const chunks = scriptedChunks(CHUNK);
    for (const [sequence, pcm] of chunks.entries()) await device.upload(sequence, pcm);
    const stopped = await send(`/sessions/${device.sessionId}/stop`, {
      last_chunk_sequence: chunks.length - 1,
    });
    expect([stopped.status, stopped.body.status]).toEqual([200, "processing"]);
    await device.completed();
    const said = await device.said();
    expect(said.length).toBeGreaterThan(0);
    const jobId = created.body.transcription_job_id;
    expect((await send(`/jobs/${jobId}/cancel`, {})).status).toBe(409);
    const again = await send(`/sessions/${device.sessionId}/transcriptions`, {});
    expect([again.status, again.body.id]).toEqual([202, jobId]);
    expect((await send(`/sessions/${device.sessionId}/transcriptions`, {})).status).toBe(409);
    const cancelled = await send(`/jobs/${jobId}/cancel`, {});
    expect([cancelled.status, cancelled.body.status]).toEqual([200, "cancelled"]);
    expect(await device.said()).toEqual(said);
    const repeated = await send(`/sessions/${device.sessionId}/transcriptions`, {});
    expect(repeated.status).toBe(202);
    const status = async () =>
      (await call<{ status: string }>(service.api, "GET", `/jobs/${jobId}`, { token })).body.status;
    await expect.poll(status, { timeout: 120_000, interval: 500 }).toBe("completed");
    expect(await device.said()).toEqual(said);
    const jobs = await call<{ items: { id: string }[] }>(
      service.api,
      "GET",
      `/jobs?kind=transcription&session_id=${device.sessionId}`,
      { token },
    );
    expect(jobs.body.items.map(({ id }) => id)).toEqual([jobId]);
  });

  it("audio: a chunk that is missing is silence and told, until it comes", async () => {
    const missing = 3;
    const { device, chunks } = await record(missing);
    const silent = chunks.map((chunk, sequence) =>
      sequence === missing ? Buffer.alloc(chunk.length) : chunk,
    );
    const before = await download(device);
    const etag = before.headers.get("etag") ?? "";
    expect(sha256((await bytesOf(before)).subarray(HEADER))).toBe(sha256(Buffer.concat(silent)));
    const told = await device.get("/completeness");
    expect(told.body).toMatchObject({
      complete: false,
      expected_last_sequence: chunks.length - 1,
      missing: [
        {
          start_ms: missing * CHUNK * 1_000,
          end_ms: (missing + 1) * CHUNK * 1_000,
          reason: "missing",
          chunk_sequences: [missing],
        },
      ],
    });
    await device.upload(missing, chunks[missing] ?? Buffer.alloc(0));
    await expect
      .poll(async () => (await device.get<{ complete: boolean }>("/completeness")).body.complete, {
        timeout: 60_000,
        interval: 500,
      })
      .toBe(true);
    const after = await download(device, { range: "bytes=0-9", "if-range": etag });
    expect(after.status).toBe(200);
    expect(sha256((await bytesOf(after)).subarray(HEADER))).toBe(sha256(Buffer.concat(chunks)));
  });
});
