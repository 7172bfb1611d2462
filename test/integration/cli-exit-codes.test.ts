import { spawnSync } from "node:child_process";
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runVoice, VoiceRun } from "../support/voice-run.ts";

const MAIN = join(import.meta.dirname, "../../src/cli/main.ts");

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "voice-cli-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const voice = (...args: string[]) => runVoice(args, { folder });

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const address = server.address();
  await new Promise((done) => server.close(done));
  return typeof address === "object" && address ? address.port : 0;
}

describe("cli: exit codes", () => {
  it.each([
    [["--help"]],
    [["login", "--help"]],
    [["device", "simulate", "--help"]],
    [["tail", "--help"]],
    [["demo", "--help"]],
    [["doctor", "--help"]],
    [["top", "--help"]],
    [["sessions", "--help"]],
    [["ask", "--help"]],
    [["summary", "--help"]],
    [["export", "--help"]],
    [["search", "--help"]],
    [["mcp", "--help"]],
    [["upload", "--help"]],
    [["device", "stream", "--help"]],
    [["admin", "jobs", "--help"]],
    [["completion", "zsh"]],
    [["--version"]],
  ])("%j gives 0", async (args) => {
    const { code, stdout } = await voice(...args);
    expect(code).toBe(0);
    expect(stdout.length).toBeGreaterThan(4);
  });

  it.each([
    [["frobnicate"]],
    [["tail"]],
    [["tail", "x", "--frobnicate"]],
    [["top", "--every", "0"]],
    [["device", "simulate", "a.wav", "--chunk", "0"]],
    [["device", "simulate", "a.wav", "--codec", "mp3"]],
    [["export", "x", "--format", "pdf"]],
    [["summary", "x", "--type", "long"]],
    [["search"]],
    [["completion", "tcsh"]],
    [["completion", "fish"]],
    [["admin", "jobs", "--limit", "x"]],
  ])("%j gives 2 and says why", async (args) => {
    const { code, stderr } = await voice(...args);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error: .+/);
  });

  it("gives the same as a process of its own", async () => {
    for (const [args, code] of [
      [["--version"], 0],
      [["frobnicate"], 2],
      [["login", "--base-url", "ftp://x"], 1],
    ] as const) {
      expect([args, await new VoiceRun(args, { folder }).code]).toEqual([args, code]);
    }
  });

  it.skipIf(!existsSync("/dev/full"))("gives 1 when its output cannot be written", () => {
    const full = openSync("/dev/full", "w");
    const env = { PATH: process.env.PATH, XDG_CONFIG_HOME: folder };
    const flags = ["--disable-warning=ExperimentalWarning", MAIN, "completion", "bash"];
    const { status, stderr } = spawnSync(process.execPath, flags, {
      encoding: "utf8",
      env,
      stdio: ["ignore", full, "pipe"],
    });
    closeSync(full);
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^voice: cannot write .*ENOSPC/)]);
  });

  it("gives 0 when whoever reads its output wants no more", () => {
    const command = `"${process.execPath}" --disable-warning=ExperimentalWarning "${MAIN}" completion zsh | head -1; echo "\${PIPESTATUS[0]}"`;
    const { stdout, stderr } = spawnSync("bash", ["-c", command], { encoding: "utf8" });
    expect([stdout, stderr]).toEqual(["#compdef voice\n0\n", ""]);
  });

  it("gives one clear sentence, and a code that tells why, when it cannot do its work", async () => {
    const address = `http://127.0.0.1:${await closedPort()}`;
    const text = join(folder, "text.wav");
    writeFileSync(text, "no audio");
    const failures = await Promise.all([
      voice("tail", "x", "--base-url", address),
      voice("device", "simulate", text, "--base-url", address),
      voice("doctor", "--base-url", address),
      voice("login", "--base-url", "ftp://x"),
    ]);
    expect(failures.map(({ code }) => code)).toEqual([3, 1, 5, 1]);
    expect(failures.map(({ stderr }) => stderr.trim().split("\n").length)).toEqual([1, 1, 1, 1]);
    const [tail, simulate, doctor] = failures.map(({ stderr }) => stderr);
    expect(tail).toMatch(/not signed in to http:\/\/127.*run `voice login`/);
    expect(simulate).toMatch(/text\.wav cannot be sent: It is not audio\. Files may be WAV/);
    expect(doctor).toMatch(/health failed: GET \/health got no answer: .*ECONNREFUSED/);
  });
});
