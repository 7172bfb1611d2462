import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { UserSession } from "../../../../src/cli/client/user-session.ts";
import { uploadFile } from "../../../../src/cli/device/upload-file.ts";
import { UploadLedger } from "../../../../src/cli/device/upload-ledger.ts";
import { ApiClient } from "../../../../src/client/api-client.ts";
import { InvalidRequestError } from "../../../../src/client/errors.ts";
import { refusal, ScriptedService } from "../../../support/scripted-service.ts";
import { ScriptedUploads } from "../../../support/scripted-uploads.ts";

const QUICK = { attempts: 3, firstMs: 1, longestMs: 2 };
const BYTES = Buffer.alloc(900_000, "sound");

describe("files of voice upload", () => {
  let service: ScriptedService;
  let uploads: ScriptedUploads;
  let folder: string;
  let parts: Parameters<typeof uploadFile>[0];
  /** Seconds of sound in each session. */
  let sound: number[];
  let deleted: string[];

  beforeEach(async () => {
    service = await ScriptedService.start();
    uploads = new ScriptedUploads(service);
    const others = service.answer;
    [sound, deleted] = [[], []];
    service.answer = (asked) => {
      const [, id = ""] = /^\/api\/sessions\/s(\d+)/.exec(asked.path) ?? [];
      if (asked.method === "POST" && asked.path === "/api/sessions") {
        return { status: 201, body: { id: `s${sound.push(0)}` } };
      }
      if (asked.path.includes("/chunks")) {
        const chunks = [{ duration_seconds: sound[Number(id) - 1] }];
        return { status: 200, body: { chunks, next_cursor: null } };
      }
      if (asked.method !== "DELETE") return others(asked);
      deleted.push(`s${id}`);
      return { status: 200, body: {} };
    };
    folder = mkdtempSync(join(tmpdir(), "voice-upload-"));
    writeFileSync(join(folder, "talk.wav"), BYTES);
    const api = new ApiClient(`${service.url}/api`, QUICK);
    const user = new UserSession(api, { email: "", token: "t" }, () => undefined);
    const owner = { base_url: api.baseUrl, user_id: "u", workspace_id: "w" };
    parts = { user, owner, ledger: new UploadLedger({ XDG_CONFIG_HOME: folder }) };
  });
  afterEach(async () => {
    rmSync(folder, { recursive: true });
    await service.stop();
  });

  const kept = () => {
    const entries = join(folder, "voice/uploads");
    return readdirSync(entries).map((name) =>
      JSON.parse(readFileSync(join(entries, name), "utf8")),
    );
  };
  const upload = (signal = new AbortController().signal, onProgress?: (stored: number) => void) =>
    uploadFile(parts, join(folder, "talk.wav"), { signal, ...(onProgress && { onProgress }) });

  /** As with a Ctrl-C, when more than the first piece has come. */
  async function interrupted(): Promise<number> {
    const stop = new AbortController();
    const onProgress = (stored: number) => stored > 64 * 1024 && stop.abort(new Error("Ctrl-C"));
    await expect(upload(stop.signal, onProgress)).rejects.toThrow("Ctrl-C");
    return uploads.files.at(-1)?.bytes.length ?? 0;
  }

  it("upload: one that was interrupted is gone on with, and then known", async () => {
    const before = await interrupted();
    const address = `${service.url}/api/sessions/s1/uploads/u1`;
    expect(kept()).toEqual([{ session_id: "s1", address, done: false }]);
    const stored: number[] = [];
    sound[0] = 42.5;
    const resumed = await upload(undefined, (n) => stored.push(n));
    expect(resumed).toEqual({ sessionId: "s1", seconds: 42.5, state: "resumed" });
    expect(stored[0]).toBe(before);
    expect(uploads.files.map(({ bytes }) => bytes.equals(BYTES))).toEqual([true]);
    expect(kept()).toEqual([{ session_id: "s1", done: true }]);
    const sent = service.asked.length;
    expect(await upload()).toMatchObject({ sessionId: "s1", state: "known" });
    expect(service.asked).toHaveLength(sent + 1);
  });

  it("upload: where the session takes no more, it counts when its sound is there, else another begins", async () => {
    const isOver = (method: string) => method === "HEAD" || method === "POST";
    const answer = service.answer;
    const ended = { status: 409, headers: { "x-error-code": "session_ended" } };
    await interrupted();
    service.answer = (asked) =>
      isOver(asked.method) && asked.path.includes("/s1/")
        ? { ...ended, body: refusal("It has ended.") }
        : answer(asked);
    expect(await upload()).toMatchObject({ sessionId: "s2", state: "sent" });
    expect(deleted).toEqual(["s1"]);
    rmSync(join(folder, "voice"), { recursive: true });
    service.answer = answer;
    await interrupted();
    sound[2] = 42.5;
    service.answer = (asked) =>
      isOver(asked.method) ? { ...ended, body: refusal("It has ended.") } : answer(asked);
    expect(await upload()).toMatchObject({ sessionId: "s3", seconds: 42.5, state: "resumed" });
    expect(deleted).toEqual(["s1"]);
  });

  it("upload: what is no sound leaves neither a session nor an entry, wherever that is found out", async () => {
    uploads.state = () => ({ status: "failed", error_code: "not_audio", error: "It is a text." });
    await expect(upload()).rejects.toMatchObject({ code: "not_audio", message: "It is a text." });
    const answer = service.answer;
    service.answer = (asked) =>
      asked.method === "PATCH" ? { status: 415, body: refusal("It is a text.") } : answer(asked);
    await expect(upload()).rejects.toThrow(InvalidRequestError);
    expect(deleted).toEqual(["s1", "s2"]);
    expect(kept()).toEqual([]);
  });
});
