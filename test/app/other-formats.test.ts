import { mkdirSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import OpenAI, { toFile } from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wavFileHeader } from "../../src/base/audio/wav.ts";
import { aiffOf } from "../support/aiff.ts";
import { AppFixture } from "../support/app-fixture.ts";
import { CompatCaller } from "../support/compat-caller.ts";
import { adminToken, call, PairedDevice } from "../support/paired-device.ts";
import { soundBytes } from "../support/sound-files.ts";
import { scriptedPcm } from "../support/spoken-script.ts";
import { runVoice } from "../support/voice-run.ts";

const SECONDS = 12;
const SPOKEN = /^hello everyone today .* any big problems\.? that is very/i;

function wavOf(pcm: Buffer, channels: number): Buffer {
  const frames = pcm.length / (2 * channels);
  return Buffer.concat([wavFileHeader({ sampleRate: 16_000, channels, frames }), pcm]);
}

/** Each sample on the left, and upside down on the right. */
function interleavedWithOpposite(mono: Buffer): Buffer {
  const stereo = Buffer.alloc(2 * mono.length);
  for (let at = 0; at < mono.length; at += 2) {
    const sample = mono.readInt16LE(at);
    stereo.writeInt16LE(sample, 2 * at);
    stereo.writeInt16LE(Math.min(32_767, -sample), 2 * at + 2);
  }
  return stereo;
}

/** What is said to the first 64 bytes of a body that does not end, though nothing follows. */
function answerToHead(
  url: string,
  headers: Record<string, string>,
  first: string,
): Promise<[status: number | undefined, message: string]> {
  return new Promise((settle, fail) => {
    const asked = request(url, { method: "POST", headers }, async (response) => {
      const body = (await json(response)) as { message?: string; err_msg?: string };
      settle([response.statusCode, body.message ?? body.err_msg ?? ""]);
      asked.destroy();
    });
    asked.on("error", fail);
    asked.write(first.padEnd(64));
  });
}

/** AIFF keeps every sample, so that the scripted reader knows its words. */
describe("files of formats that we do not read ourselves", () => {
  const file = aiffOf(scriptedPcm().subarray(0, SECONDS * 32_000));
  let service: AppFixture;
  beforeAll(async () => {
    service = await AppFixture.start({ FFMPEG: "bundled" });
  });
  afterAll(() => service?.stop());

  async function words(sessionId: string, token: string): Promise<string> {
    const { body } = await call<{ items: { text: string }[] }>(
      service.api,
      "GET",
      `/sessions/${sessionId}/segments?limit=100`,
      { token },
    );
    return body.items.map(({ text }) => text).join(" ");
  }

  it("other formats: a device's chunk is read, and the same again is the same chunk", async () => {
    const device = await PairedDevice.pair(service);
    await device.start();
    const upload = () =>
      call(service.api, "POST", `/sessions/${device.sessionId}/upload-audio`, {
        key: device.key,
        bytes: file,
        headers: { "content-type": "audio/aiff", "x-chunk-sequence": "0" },
      });
    const [first, again] = [await upload(), await upload()];
    expect([first.status, again.status]).toEqual([201, 200]);
    expect(first.body).toMatchObject({ duration_seconds: SECONDS });
    expect(again.body.chunk_id).toBe(first.body.chunk_id);
    await device.stop(0);
    await device.completed();
    expect(await words(device.sessionId, device.token)).toMatch(SPOKEN);
    const sound = await fetch(`${service.api}/sessions/${device.sessionId}/audio`, {
      headers: { authorization: `Bearer ${device.token}` },
    });
    const heard = Buffer.from(await sound.arrayBuffer()).subarray(44);
    expect(heard.equals(scriptedPcm().subarray(0, SECONDS * 32_000))).toBe(true);
  });

  it("other formats: two recordings in one file, one with a side upside down, are heard whole", async () => {
    const device = await PairedDevice.pair(service);
    await device.start();
    const pcm = scriptedPcm().subarray(0, SECONDS * 32_000);
    const half = pcm.length / 2;
    const bytes = Buffer.concat([
      wavOf(interleavedWithOpposite(pcm.subarray(0, half)), 2),
      wavOf(pcm.subarray(half), 1),
    ]);
    const stored = await call(service.api, "POST", `/sessions/${device.sessionId}/upload-audio`, {
      key: device.key,
      bytes,
      headers: { "content-type": "audio/wav", "x-chunk-sequence": "0" },
    });
    expect(stored.body).toMatchObject({ success: true, duration_seconds: SECONDS });
    await device.stop(0);
    await device.completed();
    expect(await words(device.sessionId, device.token)).toMatch(SPOKEN);
  });

  it("other formats: what is no sound is refused by its first bytes, before the rest is sent", async () => {
    const device = await PairedDevice.pair(service);
    await device.start();
    const url = `${service.api}/sessions/${device.sessionId}/upload-audio`;
    const own = { "x-api-key": device.key, "x-chunk-sequence": "0" };
    const answer = (type: string, first: string) =>
      answerToHead(url, { ...own, "content-type": type }, first);
    const pdf = await answer("application/octet-stream", "%PDF-1.7\n");
    expect(pdf).toEqual([422, expect.stringMatching(/is a PDF document, not audio\. Send WAV/)]);
    const form =
      '--b\r\nContent-Disposition: form-data; name="file"; filename="a.html"\r\n\r\n<!doctype html>';
    const page = await answer("multipart/form-data; boundary=b", form.padEnd(400));
    expect(page).toEqual([422, expect.stringMatching(/is an HTML page/)]);
    const song = await answer("audio/midi", "MThd");
    expect(song).toEqual([415, expect.stringMatching(/^MIDI is not supported\./)]);
  });

  it("other formats: so it is where Deepgram's clients send, but for raw audio", async () => {
    const caller = await CompatCaller.open(service);
    const authorization = `Token ${await caller.key("transcribe")}`;
    const listen = `${service.api}/compat/deepgram/v1/listen`;
    const headers = { authorization, "content-type": "audio/wav" };
    const pdf = await answerToHead(listen, headers, "%PDF-1.7\n");
    expect(pdf).toEqual([400, expect.stringMatching(/is a PDF document, not audio\. Send WAV/)]);
    const json = { ...headers, "content-type": "application/json" };
    const address = await answerToHead(listen, json, '{"url":"https://example.org/talk.wav"}');
    expect(address).toEqual([400, expect.stringMatching(/^Nothing is fetched from other/)]);
    const raw = await fetch(`${listen}?encoding=linear16&sample_rate=16000`, {
      method: "POST",
      headers,
      body: Buffer.concat([Buffer.from("%PDF-1.7\n".padEnd(64)), Buffer.alloc(32_000)]),
    });
    expect(raw.status).toBe(200);
  });

  it("other formats: programs with OpenAI's client send them, and a phone's memo is sound", async () => {
    const caller = await CompatCaller.open(service);
    const apiKey = await caller.key("transcribe");
    const client = new OpenAI({
      apiKey,
      baseURL: `${service.api}/compat/openai/v1`,
      maxRetries: 0,
    });
    const send = async (bytes: Buffer, name: string) =>
      client.audio.transcriptions.create({ file: await toFile(bytes, name), model: "whisper-1" });
    expect((await send(file, "talk.aiff")).text).toMatch(SPOKEN);
    // Its sound is none of the script.
    expect((await send(soundBytes("mono.m4a"), "memo.m4a")).text).toBeTypeOf("string");
    const text = send(Buffer.from("a text, called a memo".repeat(100)), "memo.m4a");
    await expect(text).rejects.toMatchObject({ status: 400 });
  });

  it("other formats: the command sends them as they are", async () => {
    const folder = join(service.folder, "cli");
    mkdirSync(folder);
    const path = join(folder, "talk.aiff");
    writeFileSync(path, file);
    const token = await adminToken(service);
    const connection = ["--base-url", service.ready.base_url, "--token", token];
    const run = await runVoice(["upload", path, "--json", ...connection], { folder });
    expect([run.code, run.stderr]).toEqual([0, expect.any(String)]);
    const sessionId = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(run.stdout)?.[0] ?? "";
    await expect.poll(() => words(sessionId, token), { timeout: 30_000 }).toMatch(SPOKEN);
  });
});
