import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  adminToken,
  call,
  conversationPcm,
  PairedDevice,
  type Segment,
} from "../support/paired-device.ts";
import { until } from "../support/until.ts";
import { WholeService } from "../support/whole-service.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
const LONGEST_MS = 20 * 60_000;
/** Of PCM at 16 kHz. */
const BYTES_PER_SECOND = 32_000;

interface Summary {
  name: string;
  rows: number;
  files: number;
  bytes: number;
  lacking: unknown[] | number;
  written_bytes: number;
}

/** What a session is to a person. */
interface Heard {
  said: string[];
  audio: string;
}

/** Of the shipped conversation, in seconds. */
function soundOf(from: number, to: number): Buffer {
  return conversationPcm().subarray(from * BYTES_PER_SECOND, to * BYTES_PER_SECOND);
}

function digest(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function filesIn(folder: string): { name: string; content: Buffer }[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map(({ parentPath, name }) => ({ name, content: readFileSync(join(parentPath, name)) }));
}

/** What it printed; throws when it failed. */
async function voice(args: string[]): Promise<string> {
  const run = promisify(execFile);
  const entry = join(PROJECT, "deploy/bin/voice.mjs");
  const env = { ...process.env, VOICE_NO_ENV_FILE: "1" };
  const { stdout } = await run(process.execPath, [entry, "admin", ...args], {
    ...{ cwd: PROJECT, env, timeout: LONGEST_MS },
  });
  return stdout;
}

describe("the drill of backups", () => {
  let scratch: string;
  let live: WholeService;
  let second: WholeService | undefined;
  let token: string;
  const spent: string[] = [];

  beforeAll(async () => {
    scratch = mkdtempSync(join(tmpdir(), "voice-drill-"));
    chmodSync(scratch, 0o711);
    live = await WholeService.start();
    token = await adminToken(live);
  });

  afterAll(async () => {
    console.info(`the drill: ${spent.join(", ")}`);
    await second?.stop();
    await live?.stop();
    rmSync(scratch, { recursive: true, force: true });
  });

  const folder = (name: string) => join(scratch, name);
  const data = () => join(live.folder, "data");

  async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
    const begun = performance.now();
    const result = await work();
    spent.push(`${what} ${((performance.now() - begun) / 1000).toFixed(1)} s`);
    return result;
  }

  async function record(from: number, to: number): Promise<PairedDevice> {
    const device = await PairedDevice.pair(live, token);
    await device.start();
    await device.upload(0, soundOf(from, to));
    await device.stop(0);
    await device.completed();
    return device;
  }

  async function backUp(to: string, ...more: string[]): Promise<Summary> {
    const args = ["backup", folder(to), "--data", data(), "--json", ...more];
    return JSON.parse(await voice(args)) as Summary;
  }

  /** Of the live service, or of the one that was restored. */
  async function heard(service: WholeService, sessionId: string, as: string): Promise<Heard> {
    const path = `/sessions/${sessionId}`;
    const { body } = await call<{ items: Segment[] }>(service.api, "GET", `${path}/segments`, {
      token: as,
    });
    const answer = await fetch(`${service.api}${path}/audio`, {
      headers: { authorization: `Bearer ${as}` },
    });
    expect(answer.status).toBe(200);
    const sound = Buffer.from(await answer.arrayBuffer());
    return {
      said: body.items.map(({ speaker_label, text }) => `${speaker_label}: ${text}`),
      audio: digest(sound),
    };
  }

  it(
    "backups of a running service are worth what they cost: a second one copies what is new, and a restore of one has words, sound and people, and nothing that was erased since",
    async () => {
      const kept = await record(0, 20);
      const erased = await record(20, 30);
      const first = await timed("first backup", () => backUp("plain"));
      expect(first).toMatchObject({ files: 2, lacking: [], bytes: 30 * BYTES_PER_SECOND });
      expect(first.written_bytes).toBeGreaterThan(first.bytes);

      const again = await timed("second backup", () => backUp("plain"));
      expect(again).toMatchObject({ files: 2, bytes: first.bytes });
      expect(again.written_bytes).toBeLessThan(first.written_bytes / 5);

      const later = await record(30, 40);
      const third = await timed("third backup, with a session more", () => backUp("plain"));
      const growth = 10 * BYTES_PER_SECOND;
      expect(third).toMatchObject({ files: 3, bytes: first.bytes + growth });
      expect(third.written_bytes).toBeGreaterThan(growth);
      expect(third.written_bytes).toBeLessThan(growth + first.written_bytes / 5);

      writeFileSync(folder("key"), "a passphrase of the drill\n", { mode: 0o600 });
      const key = ["--key-file", folder("key")];
      const sealed = await timed("encrypted backup", () => backUp("sealed", ...key));
      expect(sealed).toMatchObject({ files: 3, bytes: third.bytes });
      await timed("verification", () => voice(["backup", "verify", folder("sealed"), ...key]));
      for (const { name, content } of filesIn(folder("sealed"))) {
        expect(content.includes(kept.sessionId), name).toBe(false);
      }

      const gone = await call(live.api, "DELETE", `/sessions/${erased.sessionId}`, { token });
      expect(gone.body).toMatchObject({ audio_erased: true });
      const whole = await heard(live, kept.sessionId, token);
      expect(whole.said.join(" ")).toMatch(/launch.*team/);
      const ledgerFiles = () => readdirSync(join(data(), "blobs/erasures")).length;
      const noted = ledgerFiles();
      const span = { start_ms: 0, end_ms: 5_000 };
      const path = `/sessions/${kept.sessionId}/redactions`;
      const cut = await call(live.api, "POST", path, { token, body: span });
      expect(cut.status).toBeLessThan(300);
      await until(() => ledgerFiles() > noted, "the redaction in the ledger", 60_000);
      await until(
        async () => (await heard(live, kept.sessionId, token)).audio !== whole.audio,
        "the sound to be silent",
        60_000,
      );
      const before = await Promise.all(
        [kept, later].map(({ sessionId }) => heard(live, sessionId, token)),
      );
      expect(before[0]?.said.join(" ")).toMatch(/March/);
      expect(before[0]?.said.join(" ")).not.toMatch(/launch/);

      second = await timed("restore and start", () =>
        WholeService.start({}, async (target) => {
          const ledger = join(data(), "blobs/erasures");
          const args = ["restore", folder("sealed"), ...key, "--data", target];
          await timed("restore", () => voice([...args, "--ledger", ledger]));
          // It is there until the start, which erases it again.
          expect(readdirSync(join(target, "blobs"))).toContain(erased.sessionId);
        }),
      );
      // The live one's password: an account of the record.
      const { email, password } = live.ready.admin;
      const login = await call<{ token: string }>(second.api, "POST", "/auth/login", {
        body: { email, password },
      });
      expect(login.status).toBe(200);
      const as = login.body.token;
      // The hosts make the redaction again, sound after words.
      const restored = second;
      const silenced = async () => (await heard(restored, kept.sessionId, as)).audio;
      await until(async () => (await silenced()) === before[0]?.audio, "silence again", 120_000);
      for (const [n, { sessionId }] of [kept, later].entries()) {
        expect(await heard(second, sessionId, as)).toEqual(before[n]);
      }
      const { body } = await call(second.api, "GET", `/sessions/${erased.sessionId}`, {
        token: as,
      });
      expect(body.status).toBe("deleted");
      expect(readdirSync(join(second.folder, "data/blobs"))).not.toContain(erased.sessionId);
      const verdict = await call(second.api, "POST", "/admin/audio/verify", {
        token: as,
        body: {},
      });
      expect(verdict.body).toMatchObject({ chunks: 2, damaged: [] });
      const audit = await call(second.api, "GET", "/admin/audit/verify", { token: as });
      expect(audit.body).toMatchObject({ valid: true });

      // The restored one goes on as the same installation, also with its backups.
      const onwards = ["--data", join(second.folder, "data"), "--keep", "1", "--json"];
      const next = JSON.parse(await voice(["backup", folder("plain"), ...onwards])) as Summary;
      expect(next).toMatchObject({ files: 2, bytes: 30 * BYTES_PER_SECOND });
      const left = await voice(["backup", "list", folder("plain")]);
      expect(left.trim().split("\n")).toHaveLength(1);
      const digests = filesIn(folder("plain")).map(({ content }) => digest(content));
      expect(digests).not.toContain(digest(soundOf(20, 30)));
      expect(digests).not.toContain(digest(soundOf(0, 20)));
      expect(digests).toContain(digest(soundOf(30, 40)));
    },
    LONGEST_MS,
  );
});
