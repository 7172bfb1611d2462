import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AttackedService, type Person } from "../support/attacked-service.ts";
import { type EndedRun, runVoice } from "../support/voice-run.ts";

const CONVERSATION = resolve(import.meta.dirname, "../../deploy/demo/conversation.wav");

describe("cli upload, device stream and devices: against the service", () => {
  let service: AttackedService;
  let folder: string;
  let owner: Person;

  beforeAll(async () => {
    service = await AttackedService.open();
    folder = mkdtempSync(join(tmpdir(), "voice-cli-"));
    owner = await service.addUser();
    await service.addWorkspace(owner.id);
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await service.close();
  });

  function voice(args: string[], input?: Buffer): Promise<EndedRun> {
    const token = owner.headers.authorization?.split(" ")[1] ?? "";
    const url = service.api.replace(/\/api$/, "");
    const options = { folder, ...(input !== undefined && { input }) };
    return runVoice([...args, "--base-url", url, "--token", token], options);
  }

  async function chunksOf(sessionId: unknown): Promise<Record<string, unknown>[]> {
    const answer = await service.done("GET", `/sessions/${sessionId}/chunks`, owner.headers);
    return answer.chunks as Record<string, unknown>[];
  }

  it("uploads a folder once, however often it is asked to, and names what is no sound", async () => {
    const recordings = join(folder, "recordings");
    mkdirSync(recordings);
    cpSync(CONVERSATION, join(recordings, "talk.wav"));
    writeFileSync(join(recordings, "bad.mp3"), "no sound");
    const first = await voice(["upload", recordings, "--json"]);
    expect([first.code, first.json.map(({ state }) => state)]).toEqual([1, ["sent"]]);
    expect(first.stderr).toMatch(/^bad\.mp3: The file is not audio\./m);
    const sessionId = first.json[0]?.session_id;
    const chunks = await chunksOf(sessionId);
    expect(chunks.map(({ duration_seconds }) => duration_seconds)).toEqual([42.531]);
    expect(first.json[0]?.seconds).toBe(42.531);
    const again = await voice(["upload", join(recordings, "talk.wav"), "--json"]);
    expect(again.json).toMatchObject([{ state: "known", session_id: sessionId }]);
    const once = await voice(["upload", join(recordings, "talk.wav"), "--json", "--again"]);
    expect(once.json).toMatchObject([{ state: "sent" }]);
    expect(once.json[0]?.session_id).not.toBe(sessionId);
    await service.done("DELETE", `/sessions/${once.json[0]?.session_id}`, owner.headers);
    const gone = await voice(["upload", join(recordings, "talk.wav"), "--json"]);
    expect([gone.code, gone.stdout]).toEqual([1, ""]);
    expect(gone.stderr).toContain("was deleted since; --again uploads it once more");
  });

  it("streams WAV and raw samples of standard input whole, and raw ones only when told", async () => {
    const wave = readFileSync(CONVERSATION).subarray(0, 200_044);
    const run = await voice(["device", "stream", "-", "--json"], wave);
    const [started, ...rest] = run.json;
    expect(rest.at(-1)).toMatchObject({ event: "stopped", session_id: started?.session_id });
    expect(rest.at(-1)?.seconds).toBeCloseTo(6.25, 1);
    const raw = wave.subarray(44);
    const cut = ["--seconds", "2", "--rate", "16000"];
    const short = await voice(["device", "stream", "-", "--json", ...cut], raw);
    expect(short.json.at(-1)).toMatchObject({ event: "stopped", seconds: 2 });
    const unsaid = await voice(["device", "stream", "-"], raw);
    expect([unsaid.code, unsaid.stdout]).toEqual([1, ""]);
    expect(unsaid.stderr).toContain("for raw 16-bit samples give --rate and --channels");
    const nothing = await voice(["device", "stream", "-"], Buffer.alloc(0));
    expect(nothing.stderr).toBe("voice: no audio came on standard input\n");
  });

  it("says what a microphone needs where no program records it, and begins nothing", async () => {
    const before = (await voice(["sessions", "list", "--json"])).lines.length;
    const token = owner.headers.authorization?.split(" ")[1] ?? "";
    const url = service.api.replace(/\/api$/, "");
    const args = ["device", "stream", "--microphone", "--base-url", url, "--token", token];
    const run = await runVoice(args, { folder, env: { PATH: "/nowhere" } });
    expect([run.code, run.stdout]).toEqual([1, ""]);
    expect(run.stderr).toMatch(/^voice: a microphone needs the program arecord .* sox\b/);
    expect((await voice(["sessions", "list", "--json"])).lines).toHaveLength(before);
    const usages = [
      ["device", "stream"],
      ["device", "stream", "x.wav", "--microphone"],
    ];
    for (const wrong of usages) expect(await (await voice(wrong)).code).toBe(2);
  });

  it("pairs a device by its code, lists it and unpairs it", async () => {
    const device = { device_serial: "X-1", name: "Room", model: "m" };
    const { code } = await service.done("POST", "/devices/pairing-codes", {}, device);
    const paired = await voice(["device", "pair", String(code), "--name", "Big room", "--json"]);
    const id = String(paired.json[0]?.id);
    expect(paired.json).toMatchObject([{ name: "Big room", status: "paired" }]);
    expect((await voice(["device", "list"])).stdout).toMatch(
      new RegExp(`^DEVICE .*NAME\n(.*\n)*${id} +offline .*Big room$`, "m"),
    );
    expect(await (await voice(["device", "pair", "XXXX-XXXX"])).code).not.toBe(0);
    expect(await (await voice(["device", "unpair", id])).code).toBe(1);
    expect(await (await voice(["device", "unpair", id, "--yes"])).code).toBe(0);
    const left = (await voice(["device", "list", "--json"])).json.map((each) => each.id);
    expect(left).not.toContain(id);
  });
});
