import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { DatabasePool } from "slonik";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { claimKeys, type HeldKeys, noteSigningKey } from "../../src/postgres/installation-keys.ts";
import { createPool } from "../../src/postgres/pool.ts";
import {
  fingerprintOf,
  loadKeyFolder,
  rotateSigningKey,
} from "../../src/tenancy/accounts/signing-keys.ts";
import { createTestDatabase, type TestDatabase } from "../support/postgres.ts";
import { makeScratchFolder } from "../support/scratch-folder.ts";

const NOW = Date.UTC(2026, 10, 22);
const MINUTE = 60_000;

describe("keys: one set for all machines of a database", () => {
  let database: TestDatabase;
  let pool: DatabasePool;
  let scratch: string;

  beforeEach(async () => {
    database = await createTestDatabase();
    pool = await createPool(database.serviceUrl, { maximumPoolSize: 4 });
    scratch = makeScratchFolder("keys");
  });

  afterEach(async () => {
    await pool.end();
    await database.drop();
    rmSync(scratch, { recursive: true, force: true });
  });

  const folder = (name: string) => join(scratch, name);

  async function held(name: string): Promise<HeldKeys> {
    const { ring, pepper, cursorKey } = await loadKeyFolder(folder(name));
    return {
      signing: ring.keys,
      pairingFingerprint: fingerprintOf(pepper),
      cursorFingerprint: fingerprintOf(cursorKey),
      folder: folder(name),
    };
  }

  const claim = async (name: string, now = NOW) => claimKeys(pool, await held(name), now);
  const copy = (from: string, to: string) => {
    rmSync(folder(to), { recursive: true, force: true });
    cpSync(folder(from), folder(to), { recursive: true });
  };

  it("are the first one's, and again those for everybody who has them", async () => {
    await Promise.all([claim("one"), claim("one"), claim("one")]);
    copy("one", "other");
    await claim("other");
  });

  it("of another installation are refused with the command that brings the right ones", async () => {
    await claim("one");
    await expect(claim("other")).rejects.toThrow("keys of another installation");
    const command = `rm -r ${folder("other")} && cp -rp ${folder("one")} ${folder("other")}`;
    await expect(claim("other")).rejects.toThrow(command);
    // As told.
    copy("one", "other");
    await claim("other");
  });

  it("with the same secrets and other signing keys are those of another installation", async () => {
    await claim("one");
    mkdirSync(folder("other"));
    for (const name of ["pairing.secret", "cursor.secret"]) {
      cpSync(join(folder("one"), name), join(folder("other"), name));
    }
    await expect(claim("other")).rejects.toThrow("keys of another installation");
  });

  it("of two machines that start at once: one is refused", async () => {
    const outcomes = await Promise.allSettled([claim("one"), claim("other")]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  });

  it("rotated in a shared folder: those that run and those that start later agree", async () => {
    await claim("shared");
    const { kid, signsFrom } = await rotateSigningKey(folder("shared"), NOW + 6 * MINUTE, NOW);
    await noteSigningKey(pool, { kid, signsFrom });
    await claim("shared", NOW + MINUTE);
    await claim("shared", NOW + 10 * MINUTE);
    // Long after, the first one's file is gone.
    await rotateSigningKey(folder("shared"), NOW + 20 * 60 * MINUTE, NOW + 20 * 60 * MINUTE);
    await claim("shared", NOW + 21 * 60 * MINUTE);
  });

  it("rotated on one machine: the other starts until the new one signs, then says what it lacks", async () => {
    await claim("one");
    copy("one", "other");
    const { kid } = await rotateSigningKey(folder("one"), NOW + 6 * MINUTE, NOW);
    await claim("one");
    await claim("other", NOW + MINUTE);
    await expect(claim("other", NOW + 7 * MINUTE)).rejects.toThrow(`lacks signing key ${kid}`);
    copy("one", "other");
    await claim("other", NOW + 7 * MINUTE);
  });

  it("that came as a setting: the refusal says so", async () => {
    await claimKeys(pool, { ...(await held("one")), folder: undefined }, NOW);
    await expect(claim("other")).rejects.toThrow(/Give this machine the VOICE_KEYS of/);
  });
});
