import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  ConflictError,
  InvalidRequestError,
  ServiceError,
  UploadError,
} from "../../../src/client/errors.ts";
import { VoiceClient } from "../../../src/client/node.ts";
import { refusal, ScriptedService } from "../../support/scripted-service.ts";
import { ScriptedUploads } from "../../support/scripted-uploads.ts";

const QUICK = { attempts: 3, firstMs: 1, longestMs: 2 };
const SIZE = 5 * 1024 * 1024 + 7;

describe("uploads", () => {
  let service: ScriptedService;
  let uploads: ScriptedUploads;
  let voice: VoiceClient;
  const bytes = new Uint8Array(SIZE).map((_, at) => (at * 7) ^ (at >> 8));
  beforeEach(async () => {
    service = await ScriptedService.start();
    uploads = new ScriptedUploads(service);
    voice = new VoiceClient({ baseUrl: service.url, apiKey: "vsk_1", backOff: QUICK });
  });
  afterEach(() => service.stop());

  const count = (method: string) => service.asked.filter((each) => each.method === method).length;
  const stored = () => uploads.files.map((file) => file.bytes.equals(bytes));

  it("upload: a file goes in pieces, the first a small one, and is waited for until it is stored", async () => {
    const states = ["received", "storing", "stored"];
    uploads.state = () => ({ status: states.shift() ?? "" });
    const progress: number[] = [];
    const file = new File([bytes], "Gespräch.m4a", { type: "audio/mp4" });
    const upload = await voice.upload("s1", file, {
      onProgress: (n) => progress.push(n),
      more: true,
    });
    expect(upload.status).toBe("stored");
    expect(states).toEqual([]);
    expect(stored()).toEqual([true]);
    const [first = 0] = progress.filter((each) => each > 0);
    expect(first).toBe(64 * 1024);
    expect(progress.at(-1)).toBe(SIZE);
    const [name, type] = (uploads.files[0]?.metadata ?? "")
      .split(",")
      .map((pair) => pair.split(" "));
    expect(Buffer.from(name?.[1] ?? "", "base64").toString()).toBe("Gespräch.m4a");
    expect(Buffer.from(type?.[1] ?? "", "base64").toString()).toBe("audio/mp4");
    expect(uploads.files[0]?.more).toBe(true);
    expect(service.asked.every(({ headers }) => headers["x-api-key"] === "vsk_1")).toBe(true);
  });

  it("upload: a body that breaks off is gone on with behind what has come", async () => {
    const isCut = (n: number) => n === 2 || n === 3;
    uploads.fault = ({ method }, n) => (method === "PATCH" && isCut(n) ? "half" : undefined);
    await voice.upload("s1", bytes);
    expect(stored()).toEqual([true]);
    expect(count("PATCH")).toBe(4);
    expect(count("POST")).toBe(1);
  });

  it("upload: an answer that is lost after all bytes came costs nothing", async () => {
    uploads.fault = ({ method }) => (method === "PATCH" ? "lost" : undefined);
    await voice.upload("s1", bytes);
    expect(stored()).toEqual([true]);
  });

  it("upload: when the answer to its creation is lost, no second one is made", async () => {
    uploads.fault = ({ method }, n) => (method === "POST" && n === 1 ? "lost" : undefined);
    const addresses: string[] = [];
    await voice.upload("s1", bytes, { onAddress: (address) => addresses.push(address) });
    expect(stored()).toEqual([true]);
    expect(addresses).toEqual([`${service.url}/api/sessions/s1/uploads/u1`]);
  });

  it("upload: another process goes on with its address", async () => {
    const stop = new AbortController();
    let address = "";
    const first = voice.upload("s1", bytes, {
      signal: stop.signal,
      onAddress: (given) => {
        address = given;
      },
      onProgress: (n) => n > 64 * 1024 && stop.abort(new Error("ended")),
    });
    await expect(first).rejects.toThrow("ended");
    const before = uploads.files[0]?.bytes.length ?? 0;
    expect(before).toBeGreaterThan(64 * 1024);
    const sent: number[] = [];
    await voice.upload("s1", bytes, { address, onProgress: (n) => sent.push(n) });
    expect(sent[0]).toBe(before);
    expect(stored()).toEqual([true]);
  });

  it("upload: it gives up after failures in a row that brought nothing, not after many that did", async () => {
    uploads.fault = ({ method }) => (method === "PATCH" ? "busy" : undefined);
    await expect(voice.upload("s1", bytes)).rejects.toThrow(ServiceError);
    expect(count("PATCH")).toBe(QUICK.attempts);
    uploads.fault = ({ method }, n) => (method === "PATCH" && n < 12 ? "half" : undefined);
    await voice.upload("s1", bytes.slice(0, 3 * 64 * 1024));
    expect(uploads.files[1]?.bytes.length).toBe(3 * 64 * 1024);
  });

  it("upload: what is no sound is told with the service's code", async () => {
    uploads.state = () => ({ status: "failed", error_code: "not_audio", error: "It is a text." });
    const error = await voice.upload("s1", bytes).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UploadError);
    expect(error).toMatchObject({ code: "not_audio", message: "It is a text." });
    service.answer = () => ({ status: 409, body: refusal("A device records it.") });
    const before = service.asked.length;
    await expect(voice.upload("s1", bytes)).rejects.toThrow(ConflictError);
    expect(service.asked).toHaveLength(before + 1);
    service.answer = () => ({ status: 415, body: refusal("No audio.") });
    await expect(voice.upload("s1", bytes)).rejects.toThrow(InvalidRequestError);
  });
});
