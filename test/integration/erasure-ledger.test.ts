import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AppError } from "../../src/base/errors.ts";
import { newId } from "../../src/base/ids.ts";
import { systemRuntime } from "../../src/base/runtime.ts";
import type { ErasureLedger } from "../../src/conversations/erasure/ledger/erasure-ledger.ts";
import type { LedgerFolder } from "../../src/conversations/erasure/ledger/ledger-folder.ts";
import { ErasureLedgerStore } from "../../src/conversations/erasure/ledger/ledger-store.ts";
import { RepeatedErasure } from "../../src/conversations/erasure/repeated-erasure.ts";
import { RepeatedRedaction } from "../../src/conversations/erasure/repeated-redaction.ts";
import { forgetVoicesAgain } from "../../src/conversations/voices/forgotten-voices-store.ts";
import { loadKeyFolder } from "../../src/tenancy/accounts/signing-keys.ts";
import { AppFixture } from "../support/app-fixture.ts";
import { makeWav } from "../support/make-wav.ts";
import { PrivacyFixture, type Recorded } from "../support/privacy-fixture.ts";
import { makeScratchFolder } from "../support/scratch-folder.ts";

describe("ledger of erasures", () => {
  let privacy: PrivacyFixture;
  beforeEach(async () => {
    privacy = await PrivacyFixture.open();
  });
  afterEach(() => privacy.close());

  const remove = ({ owner, sessionId }: Recorded) =>
    privacy.body("deleteSession", { principal: owner, params: { session_id: sessionId } });
  const files = () => readdirSync(privacy.ledgerFolder.path).sort();
  const pathOf = (name = "") => join(privacy.ledgerFolder.path, name);
  const textOf = (name: string) => readFileSync(pathOf(name), "utf8");

  /** What a start does before anybody is served. */
  async function start(ledger: ErasureLedger = privacy.newLedger()): Promise<ErasureLedger> {
    const { fixture, sessions, accounts } = privacy;
    const { pool, blobs: audio, context } = fixture;
    const records = new ErasureLedgerStore(pool);
    const forgetVoices = () => forgetVoicesAgain(pool);
    const parts = { ledger, records, sessions, accounts, audio, forgetVoices, log: context.log };
    await new RepeatedErasure({ ...parts, runtime: systemRuntime }).complete();
    return ledger;
  }

  /** The database as it was before any erasure; the ledger stays. */
  async function restore({ sessionId, owner }: Recorded): Promise<void> {
    for (const table of ["erasures", "erasure_ledger_files", "deletion_receipts"]) {
      await privacy.asOwner(`delete from ${table}`);
    }
    await privacy.fixture.sql("update sessions set status = 'completed' where id = $1", [
      sessionId,
    ]);
    await privacy.fixture.sql("update segments set text = 'pineapple' where session_id = $1", [
      sessionId,
    ]);
    await privacy.fixture.sql(
      "update users set erased_at = null, disabled_at = null, name = 'Secret Ann' where id = $1",
      [owner.id],
    );
  }

  /** Longer ago than any network file system takes to show a new file. */
  async function later(): Promise<void> {
    await privacy.fixture.sql("update erasure_ledger_files set at = at - interval '1 hour'");
  }

  async function put(folder: LedgerFolder, ids: readonly string[], number = 1): Promise<string> {
    const at = Date.now();
    const chain = newId();
    const entries = ids.map((id) => ({ id, kind: "session_deleted_by_owner", at }) as const);
    await folder.write({ chain, number, since: at, at, after: [], entries });
    return `${chain}-${String(number).padStart(6, "0")}.json`;
  }

  const statusOf = async (sessionId: string) =>
    (await privacy.fixture.sql("select status from sessions where id = $1", [sessionId]))[0]
      ?.status;
  const wordsOf = async (sessionId: string) =>
    privacy.fixture.sql("select text from segments where session_id = $1", [sessionId]);

  it("a restored database: what was deleted since is deleted again, words, sound and person", async () => {
    const [recorded, kept] = [await privacy.record(), await privacy.record()];
    await privacy.body("eraseAccount", { principal: recorded.owner });
    const written = files();
    expect(written.map(textOf).join()).toContain(recorded.owner.id);
    await restore(recorded);
    const sound = join(privacy.fixture.folder, recorded.sessionId);
    mkdirSync(sound);
    writeFileSync(join(sound, "a".repeat(64)), "sound");
    await start();
    expect(await statusOf(recorded.sessionId)).toBe("deleted");
    for (const { text } of await wordsOf(recorded.sessionId)) expect(text).not.toBe("pineapple");
    expect(existsSync(sound)).toBe(false);
    const [user] = await privacy.fixture.sql("select name, erased_at from users where id = $1", [
      recorded.owner.id,
    ]);
    expect(user).toMatchObject({ name: "Deleted account", erased_at: expect.any(Date) });
    const audit = await privacy.fixture.sql(
      "select kind from audit_log where session_id = $1 and kind like '%redacted' and actor_kind = 'system'",
      [recorded.sessionId],
    );
    // The sessions first, each for its own reason.
    expect(audit).toEqual([{ kind: "account_erasure_session_redacted" }]);
    expect(await statusOf(kept.sessionId)).not.toBe("deleted");
    // What came from the ledger is not written to it again.
    await privacy.ledger.recordPending();
    expect(files()).toEqual(written);
  });

  it("a restored database: the service has erased before it answers", async () => {
    const recorded = await privacy.record();
    const keys = makeScratchFolder("keys");
    const { ledgerKey } = await loadKeyFolder(keys);
    await put(privacy.folderOfLedger(ledgerKey), [recorded.sessionId]);
    const service = await AppFixture.start({
      DATABASE_URL: privacy.fixture.serviceUrl,
      VOICE_BLOB_DIR: privacy.fixture.folder,
      VOICE_KEY_DIR: keys,
      // Without maintenance.
      ROLES: "front",
    });
    expect(await statusOf(recorded.sessionId)).toBe("deleted");
    await service.stop();
  });

  it("a restored database: redactions are made again before the service answers", async () => {
    const { sessionId, owner } = await privacy.record();
    const keys = makeScratchFolder("keys");
    const { ledgerKey } = await loadKeyFolder(keys);
    const at = Date.now();
    const redaction = { sessionId, from: 0, to: 4_000, label: "", byUserId: owner.id };
    const entries = [{ id: newId(), kind: "span_redacted", at, redaction } as const];
    const file = { chain: newId(), number: 1, since: at, at, after: [], entries };
    await privacy.folderOfLedger(ledgerKey).write(file);
    const service = await AppFixture.start({
      DATABASE_URL: privacy.fixture.serviceUrl,
      VOICE_BLOB_DIR: privacy.fixture.folder,
      VOICE_KEY_DIR: keys,
    });
    const words = (await wordsOf(sessionId)).map(({ text }) => text);
    await service.stop();
    expect(words.sort()).toEqual(["[redacted-span]", "is pineapple"]);
  });

  it("redactions: come into the ledger, are asked for again once, and a refused one holds up nobody", async () => {
    const recorded = await privacy.record();
    const { story, sessionId, owner } = recorded;
    const span = { redactionId: newId(), from: 0, to: 4_000, segmentIds: [], byUserId: owner.id };
    await story.tell([{ type: "SpanRedacted", ...span, label: "S1" }]);
    await privacy.ledger.recordPending();
    expect(files()).toHaveLength(1);
    const asked: [string, unknown, string][] = [];
    let outcome: () => Promise<unknown> = async () => undefined;
    const records = new ErasureLedgerStore(privacy.fixture.pool);
    const { log } = privacy.fixture.context;
    const actors = {
      ask: (...given: [string, unknown, string]) => {
        asked.push(given);
        return outcome();
      },
    };
    const again = () => new RepeatedRedaction({ records, actors, runtime: systemRuntime, log });
    await again().complete();
    expect(asked).toEqual([]);
    await restore(recorded);
    await privacy.asOwner("delete from events where type = 'SpanRedacted'");
    await start();
    outcome = () => Promise.reject(new AppError("not_found", "There is no such speaker."));
    const refused = again();
    await refused.complete();
    expect(refused.failing).toBe(1);
    outcome = () => story.tell([{ type: "SpanRedacted", ...span, label: "S1" }]);
    await again().complete();
    const { redactionId, from, to } = span;
    const command = { type: "Redact", redactionId, from, to, label: "S1", byUserId: owner.id };
    const expected = [sessionId, command, redactionId];
    expect(asked).toEqual([expected, expected]);
  });

  it("keys and sign-ins that ended since a backup do not come back with it", async () => {
    const { owner, device } = await privacy.record();
    const { fixture } = privacy;
    const [login, key, oldSecret, secret, kept] = [newId(), newId(), newId(), newId(), newId()];
    for (const id of [login, kept]) {
      await fixture.sql(
        "insert into logins (id, user_id, expires_at) values ($1, $2, now() + interval '30 days')",
        [id, owner.id],
      );
    }
    await fixture.sql(
      `insert into service_keys (id, workspace_id, name, scopes)
       select $1, workspace_id, 'a program', '{query}' from devices where id = $2`,
      [key, device.id],
    );
    for (const id of [oldSecret, secret]) {
      await fixture.sql(
        `insert into service_key_secrets (id, key_id, secret_hash, prefix, created_at, expires_at)
         values ($1::uuid, $2, decode(md5($1::text), 'hex'), 'v', now(), now() + interval '90 days')`,
        [id, key],
      );
    }
    await fixture.sql(
      `insert into device_keys (id, device_id, key_hash, expires_at)
       values ($1::uuid, $2, decode(md5($1::text), 'hex'), now() + interval '90 days')`,
      [newId(), device.id],
    );
    const ends = [
      "update logins set revoked_at = now() where id = $1",
      "update service_keys set revoked_at = now() where id = $1",
      "update service_key_secrets set expires_at = now() + interval '1 day' where id = $1",
    ];
    for (const [n, id] of [login, key, oldSecret].entries()) await fixture.sql(ends[n] ?? "", [id]);
    // Replaced, with a day's grace, and then revoked all the same: the earlier end counts.
    const ofDevice =
      "update device_keys set expires_at = now() + interval '1 day' where device_id = $1";
    await fixture.sql(ofDevice, [device.id]);
    await privacy.ledger.recordPending();
    await fixture.sql("update device_keys set revoked_at = now() where device_id = $1", [
      device.id,
    ]);
    await privacy.ledger.recordPending();
    expect(files()).toHaveLength(2);
    const records = new ErasureLedgerStore(fixture.pool);
    // Nothing was restored yet.
    expect(await records.endRightsAgain()).toBe(0);

    for (const table of ["erasures", "erasure_ledger_files"]) {
      await privacy.asOwner(`delete from ${table}`);
    }
    const restored = "revoked_at = null, expires_at = now() + interval '90 days'";
    await fixture.sql(`update logins set ${restored}`);
    await fixture.sql(`update device_keys set ${restored}`);
    await fixture.sql("update service_keys set revoked_at = null");
    await fixture.sql("update service_key_secrets set expires_at = now() + interval '90 days'");
    await start();

    const standing = async (table: string, end: string) => {
      const rows = await fixture.sql(
        `select id from ${table} where ${end} is null or ${end} > now() + interval '2 days'`,
      );
      return rows.map(({ id }) => id);
    };
    expect(await standing("logins", "expires_at")).toEqual([kept]);
    expect(await standing("device_keys", "expires_at")).toEqual([]);
    expect(await standing("service_keys", "revoked_at")).toEqual([]);
    expect(await standing("service_key_secrets", "expires_at")).toEqual([secret]);
    const [key1] = await fixture.sql("select expires_at <= now() as ended from device_keys");
    expect(key1).toEqual({ ended: true });
    expect(await records.endRightsAgain()).toBe(0);
  });

  it("voices that were forgotten or replaced since a backup do not come back with it", async () => {
    const { owner, sessionId } = await privacy.record();
    const { fixture } = privacy;
    const [kept, replaced, forgotten, left] = [newId(), newId(), newId(), newId()];
    const place = async () => {
      const workspace = newId();
      await fixture.sql("insert into workspaces (id, name, created_by) values ($1, 'W', $2)", [
        ...[workspace, owner.id],
      ]);
      await fixture.sql(
        "insert into workspace_members (workspace_id, user_id, role) values ($1, $2, 'member')",
        [workspace, owner.id],
      );
      return workspace;
    };
    const remember = (workspace: string, id: string) =>
      fixture.sql(
        `insert into remembered_voices (workspace_id, user_id, id, session_id, label, method, sealed, speech_ms)
         values ($1, $2, $3, $4, 'S1', 'm', 'print', 12000)`,
        [workspace, owner.id, id, sessionId],
      );
    const prints = async () => {
      const rows = await fixture.sql("select id from remembered_voices");
      return rows.map(({ id }) => id).sort();
    };
    const [one, two, three] = [await place(), await place(), await place()];
    await remember(one, replaced);
    await remember(two, forgotten);
    await remember(three, left);
    const all = [[one, replaced] as const, [two, forgotten] as const, [three, left] as const];
    await fixture.sql("delete from remembered_voices where id = $1", [replaced]);
    await remember(one, kept);
    await fixture.sql("delete from remembered_voices where id = $1", [forgotten]);
    // Whatever ends a voice: here it goes with the membership.
    await fixture.sql("delete from workspace_members where workspace_id = $1", [three]);
    await privacy.ledger.recordPending();
    const written = files().map(textOf).join();
    for (const id of [replaced, forgotten, left]) expect(written).toContain(id);
    expect(written).not.toContain(kept);

    await fixture.sql("delete from remembered_voices where id = $1", [kept]);
    for (const table of ["erasures", "erasure_ledger_files"]) {
      await privacy.asOwner(`delete from ${table}`);
    }
    await fixture.sql(
      "insert into workspace_members (workspace_id, user_id, role) values ($1, $2, 'member')",
      [three, owner.id],
    );
    for (const [workspace, id] of all) await remember(workspace, id);
    await start();
    expect(await prints(), "before anybody is served").toEqual([]);
    await remember(one, kept);
    await start();
    expect(await prints(), "the one that was never forgotten").toEqual([kept]);
  });

  it("a right that ends sooner while a file with its later end is written comes into another file", async () => {
    const id = newId();
    await privacy.fixture.sql(
      "insert into erasures (subject_id, kind, at) values ($1, 'device_key_ended', now())",
      [id],
    );
    const records = new ErasureLedgerStore(privacy.fixture.pool);
    const now = Date.now();
    const entries = [{ id, kind: "device_key_ended", at: now + 86_400_000 } as const];
    await records.merge({ chain: newId(), number: 1, since: now, at: now, after: [], entries });
    expect(await records.isPending(id)).toBe(true);
    await privacy.ledger.recordPending();
    expect(await records.isPending(id)).toBe(false);
  });

  it("a database older than the session: its sound goes at once, that of others stays", async () => {
    const [erased, unknown] = [newId(), newId()];
    for (const id of [erased, unknown]) {
      mkdirSync(join(privacy.fixture.folder, id));
      writeFileSync(join(privacy.fixture.folder, id, "b".repeat(64)), "sound");
    }
    await put(privacy.ledgerFolder, [erased]);
    await start();
    const left = readdirSync(privacy.fixture.folder);
    expect(left).toContain(unknown);
    expect(left).not.toContain(erased);
  });

  it("two ledgers are merged by copying their files together", async () => {
    const [one, other] = [await privacy.record(), await privacy.record()];
    await remove(one);
    const aside = makeScratchFolder("ledger");
    cpSync(privacy.ledgerFolder.path, aside, { recursive: true });
    rmSync(privacy.ledgerFolder.path, { recursive: true });
    await privacy.ledgerFolder.start();
    await restore(one);
    await put(privacy.ledgerFolder, [other.sessionId]);
    cpSync(aside, privacy.ledgerFolder.path, { recursive: true });
    const { faults } = await start();
    expect(faults).toEqual([]);
    expect(await statusOf(one.sessionId)).toBe("deleted");
    expect(await statusOf(other.sessionId)).toBe("deleted");
  });

  it("an old folder put back whole: what the ledger names that is brought along goes again, with its sound", async () => {
    const [before, since] = [await privacy.record(), await privacy.record()];
    await remove(before);
    const { folder } = privacy.fixture;
    const backup = makeScratchFolder("backup");
    cpSync(folder, backup, { recursive: true });
    const sound = join(folder, since.sessionId);
    expect(existsSync(sound)).toBe(true);
    await remove(since);
    expect(existsSync(sound)).toBe(false);
    // The database, the sound and the ledger are as old as the backup.
    const aside = makeScratchFolder("ledger");
    cpSync(privacy.ledgerFolder.path, aside, { recursive: true });
    rmSync(privacy.ledgerFolder.path, { recursive: true });
    cpSync(backup, folder, { recursive: true });
    await restore(since);
    expect(existsSync(sound)).toBe(true);
    expect(files()).toHaveLength(1);
    cpSync(aside, privacy.ledgerFolder.path, { recursive: true });
    const { faults } = await start();
    expect(faults).toEqual([]);
    expect(await statusOf(since.sessionId)).toBe("deleted");
    expect(existsSync(sound)).toBe(false);
    expect(await statusOf(before.sessionId)).toBe("deleted");
  });

  it("files of another installation, forged ones and scraps are refused, and told", async () => {
    const [foreign, forged, moved, real] = [
      await privacy.record(),
      await privacy.record(),
      await privacy.record(),
      await privacy.record(),
    ];
    await put(privacy.folderOfLedger(new Uint8Array(32).fill(1)), [foreign.sessionId]);
    const changed = await put(privacy.ledgerFolder, [newId()]);
    writeFileSync(
      pathOf(changed),
      textOf(changed).replace(/"id":"[^"]+"/, `"id":"${forged.sessionId}"`),
    );
    const named = await put(privacy.ledgerFolder, [moved.sessionId]);
    writeFileSync(pathOf(`${newId()}-000001.json`), textOf(named));
    rmSync(pathOf(named));
    writeFileSync(pathOf(`${newId()}-000001.json`), "{");
    await put(privacy.ledgerFolder, [real.sessionId]);
    const { faults } = await start();
    const told = faults.join(" ");
    expect(told).toContain("1 file of the ledger");
    expect(told).toContain("signed with other keys");
    expect(told).toMatch(/2 files of the ledger .*: not as it was written/);
    expect(told).toContain("cut off");
    for (const { sessionId } of [foreign, forged, moved]) {
      expect(await statusOf(sessionId)).not.toBe("deleted");
    }
    expect(await statusOf(real.sessionId)).toBe("deleted");
  });

  it("lost files are told with their span: in the middle, at the end, and all", async () => {
    const begin = new Date();
    for (let n = 0; n < 4; n += 1) await remove(await privacy.record());
    const [first = "", second = "", third = "", last = ""] = files();
    const timeOf = (name: string) => JSON.parse(textOf(name).split("\n")[0] ?? "").at as string;
    const [from, to] = [timeOf(first), timeOf(third)];
    // A process that starts names the last file of each chain.
    const ledger = privacy.newLedger();
    const recorded = await privacy.record();
    await privacy.fixture.sql(
      "insert into erasures (subject_id, kind) values ($1, 'session_deleted_by_owner')",
      [newId()],
    );
    await ledger.recordPending();
    await restore(recorded);
    for (const name of [second, third]) rmSync(pathOf(name));
    const [middle = ""] = (await start()).faults;
    expect(middle).toContain(`2 files written between ${from} and ${to}`);

    await restore(recorded);
    rmSync(pathOf(last));
    const [end = ""] = (await start()).faults;
    expect(end).toContain(`3 files written between ${from}`);

    // The database still knows what they held, and writes it again.
    const count = async () =>
      (await privacy.fixture.sql("select count(*)::int as n from erasures"))[0]?.n;
    const before = await count();
    for (const name of files()) rmSync(pathOf(name));
    await later();
    const again = await start();
    expect(again.faults.join()).toContain("lacks");
    while ((await again.recordPending()).more);
    await restore(recorded);
    await start();
    expect(await count()).toBe(before);
    expect(Date.parse(from)).toBeGreaterThanOrEqual(begin.getTime());
  });

  it("a lost file that is put back is merged, and nothing is missing any more", async () => {
    const recorded = await privacy.record();
    await remove(recorded);
    await remove(await privacy.record());
    const [first = ""] = files();
    const text = textOf(first);
    rmSync(pathOf(first));
    await restore(recorded);
    expect((await start()).faults).toHaveLength(1);
    expect(await statusOf(recorded.sessionId)).toBe("completed");
    writeFileSync(pathOf(first), text);
    expect((await start()).faults).toEqual([]);
    expect(await statusOf(recorded.sessionId)).toBe("deleted");
  });

  it("a crash between commit and ledger: the erasure is not complete before the file is durable", async () => {
    const recorded = await privacy.record();
    rmSync(privacy.ledgerFolder.path, { recursive: true });
    expect(await remove(recorded)).toMatchObject({ audio_erased: false });
    expect(existsSync(join(privacy.fixture.folder, recorded.sessionId))).toBe(false);
    await privacy.ledgerFolder.start();
    expect(files()).toEqual([]);
    // Another process takes it up.
    expect(await privacy.newLedger().recordPending()).toEqual({ done: 1, more: false });
    expect(await privacy.sessions.finish()).toEqual({ done: 1, more: false });
    expect(files()).toHaveLength(1);
    expect(textOf(files()[0] ?? "")).toContain(recorded.sessionId);
    expect(await remove({ ...recorded, owner: await privacy.fixture.user("admin") })).toMatchObject(
      {
        audio_erased: true,
      },
    );
  });

  it("a crash between the file and the note of it: nothing is lost or missing", async () => {
    const recorded = await privacy.record();
    await remove(recorded);
    await privacy.asOwner("delete from erasure_ledger_files");
    await privacy.asOwner("update erasures set chain = null, number = null");
    expect((await start()).faults).toEqual([]);
    await privacy.newLedger().recordPending();
    expect(files()).toHaveLength(1);
  });

  it("several at once share files, and each is durable when it is answered", async () => {
    const all = [];
    for (let n = 0; n < 6; n += 1) all.push(await privacy.record());
    const receipts = await Promise.all(all.map(remove));
    for (const receipt of receipts) expect(receipt).toMatchObject({ audio_erased: true });
    const written = files().map(textOf).join();
    for (const { sessionId } of all) expect(written).toContain(sessionId);
    expect(files().length).toBeLessThanOrEqual(all.length);
  });

  it("the only administrator stays until there is another one", async () => {
    const recorded = await privacy.record();
    const { fixture } = privacy;
    await fixture.sql("update users set role = 'admin' where id = $1", [recorded.owner.id]);
    await fixture.user("admin");
    await privacy.body("eraseAccount", { principal: recorded.owner });
    await restore(recorded);
    await fixture.sql("update users set role = 'participant'");
    await fixture.sql("update users set role = 'admin' where id = $1", [recorded.owner.id]);
    const erasedAt = async () =>
      (await fixture.sql("select erased_at from users where id = $1", [recorded.owner.id]))[0]
        ?.erased_at;
    await start();
    expect(await erasedAt()).toBeNull();
    await fixture.user("admin");
    await start();
    expect(await erasedAt()).not.toBeNull();
  });

  it("what is restored and is being recorded again is refused to its device", async () => {
    const recorded = await privacy.record();
    await remove(recorded);
    await restore(recorded);
    await start();
    const wav = makeWav({ frames: 1_600, seed: 77 });
    await expect(
      privacy.fixture.upload(recorded.device, recorded.sessionId, 9, wav),
    ).rejects.toMatchObject({ code: expect.stringMatching(/not_found|session_deleted/) });
  });
});
