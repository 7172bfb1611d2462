import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type ApiError,
  ConflictError,
  InvalidRequestError,
  NotFoundError,
  RateLimitError,
  ServiceError,
  Unreachable,
  UploadError,
} from "../../../src/client/errors.ts";
import { VoiceClient } from "../../../src/client/node.ts";
import type { UploadStore } from "../../../src/client/upload.ts";
import { PartSize } from "../../../src/client/upload.ts";
import { refusal, ScriptedService } from "../../support/scripted-service.ts";
import { ScriptedUploads } from "../../support/scripted-uploads.ts";

const QUICK = { attempts: 3, firstMs: 1, longestMs: 2 };
const SIZE = 5 * 1024 * 1024 + 7;

/** A store that a process or a page leaves behind. */
class KeptAddresses implements UploadStore {
  readonly #kept = new Map<string, string>();
  getItem = async (key: string) => this.#kept.get(key) ?? null;
  setItem = (key: string, address: string) => this.#kept.set(key, address);
  removeItem = (key: string) => this.#kept.delete(key);

  get addresses(): string[] {
    return [...this.#kept.values()];
  }
}

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

  it("upload: a file goes in parts, the first a small one, and is waited for until it is stored", async () => {
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
    const failures: unknown[] = [];
    await voice.upload("s1", bytes, { onRetry: (error) => failures.push(error) });
    expect(stored()).toEqual([true]);
    // No other offset was tried than the one that the service has.
    expect(failures).toEqual([expect.any(Unreachable), expect.any(Unreachable)]);
    expect(count("POST")).toBe(1);
  });

  it("upload: an answer that is lost after all bytes came costs nothing", async () => {
    uploads.fault = ({ method }) => (method === "PATCH" ? "lost" : undefined);
    await voice.upload("s1", bytes);
    expect(stored()).toEqual([true]);
  });

  it("upload: when the answer to its creation is lost, no second one is made", async () => {
    uploads.fault = ({ method }, n) => (method === "POST" && n === 1 ? "lost" : undefined);
    await voice.upload("s1", bytes);
    expect(stored()).toEqual([true]);
  });

  /** Sends the file until more than its first part has come. */
  async function begin(store: KeptAddresses, file: Blob): Promise<number> {
    const stop = new AbortController();
    const onProgress = (n: number) => n > 64 * 1024 && stop.abort(new Error("paused"));
    const first = voice.upload("s1", file, { signal: stop.signal, store, onProgress });
    await expect(first).rejects.toThrow("paused");
    return uploads.files.at(-1)?.bytes.length ?? 0;
  }

  it("upload: one that was paused, or whose process ended, goes on by its store, which forgets it then", async () => {
    const store = new KeptAddresses();
    const file = () => new File([bytes], "talk.wav", { lastModified: 7 });
    const before = await begin(store, file());
    expect(before).toBeGreaterThan(64 * 1024);
    expect(store.addresses).toEqual([`${service.url}/api/sessions/s1/uploads/u1`]);
    const sent: number[] = [];
    await voice.upload("s1", file(), { store, onProgress: (n) => sent.push(n) });
    expect(sent[0]).toBe(before);
    expect(stored()).toEqual([true]);
    expect(store.addresses).toEqual([]);
    // Another file, or another session, is another upload.
    await begin(store, file());
    const other = new File([bytes], "talk.wav", { lastModified: 8 });
    await voice.upload("s1", other, { store });
    await voice.upload("s2", file(), { store });
    expect(uploads.files).toHaveLength(4);
    expect(store.addresses).toEqual([`${service.url}/api/sessions/s1/uploads/u2`]);
  });

  it("upload: one that the service has forgotten begins anew; what is in between forgets nothing", async () => {
    const store = new KeptAddresses();
    const file = new File([bytes], "talk.wav", { lastModified: 7 });
    await begin(store, file);
    const answer = service.answer;
    service.answer = () => ({ status: 404, body: refusal("A captive portal.") });
    await expect(voice.upload("s1", file, { store })).rejects.toThrow(NotFoundError);
    expect(store.addresses).toHaveLength(1);
    service.answer = answer;
    uploads.files.length = 0;
    await voice.upload("s1", file, { store });
    expect(stored()).toEqual([true]);
    expect(store.addresses).toEqual([]);
  });

  it("upload: a second page may bring more of it meanwhile, or hold it for a while", async () => {
    uploads.fault = ({ method, headers }, n) => {
      if (method !== "PATCH") return undefined;
      if (n === 3 || n === 4) return "held";
      const file = uploads.files[0];
      // Another page has brought the next bytes.
      const from = Number(headers["upload-offset"]);
      if (n === 2 && file) file.bytes = Buffer.from(bytes.subarray(0, from + 70_000));
      return undefined;
    };
    const retried: unknown[] = [];
    await voice.upload("s1", bytes, { onRetry: (error) => retried.push(error) });
    expect(stored()).toEqual([true]);
    expect(retried.map((error) => (error as ApiError).status)).toEqual([409, 423, 423]);
  });

  it("upload: what is refused as a conflict for good is not tried for ever", async () => {
    const answer = service.answer;
    service.answer = (asked) =>
      asked.method === "PATCH"
        ? { status: 409, headers: { "x-error-code": "conflict" }, body: refusal("It has failed.") }
        : answer(asked);
    const backOff = { ...QUICK, attempts: Number.POSITIVE_INFINITY };
    const store = new KeptAddresses();
    await expect(voice.upload("s1", bytes, { backOff, store })).rejects.toThrow(ConflictError);
    expect(count("PATCH")).toBe(1);
    expect(store.addresses).toEqual([]);
  });

  it("upload: whoever hears of the network ends the wait, and a longer one than asked for is not made", async () => {
    uploads.fault = ({ method }, n) => (method === "PATCH" && n < 3 ? "busy" : undefined);
    const waits: number[] = [];
    const pause = async (ms: number) => void waits.push(ms);
    const slow = { attempts: 3, firstMs: 60_000, longestMs: 60_000 };
    await voice.upload("s1", bytes, { backOff: slow, pause });
    expect(waits).toHaveLength(2);
    expect(stored()).toEqual([true]);
    const later = { status: 429, headers: { "retry-after": "100" }, body: refusal("Later.") };
    service.answer = () => later;
    await expect(voice.upload("s1", bytes, { pause })).rejects.toThrow(RateLimitError);
    expect(waits).toHaveLength(2);
  });

  it("upload: parts are as large as a line carries in two seconds, and small again after a failure", () => {
    const parts = new PartSize();
    expect(parts.next).toBe(64 * 1024);
    for (let n = 0; n < 9; n++) parts.took(1);
    expect(parts.next).toBe(8 * 1024 * 1024);
    parts.took(16_000);
    expect(parts.next).toBe(1024 * 1024);
    parts.took(2_000);
    expect(parts.next).toBe(1024 * 1024);
    parts.failed();
    parts.took(900_000);
    expect(parts.next).toBe(64 * 1024);
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
