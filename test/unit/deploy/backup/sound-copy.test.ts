import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { UNENCRYPTED } from "../../../../deploy/backup/encryption.ts";
import type { NamedSound } from "../../../../deploy/backup/named-sound.ts";
import { ObjectFolder } from "../../../../deploy/backup/objects.ts";
import { copyLogs, NO_LOGS, RecordMovedOn } from "../../../../deploy/backup/open-logs.ts";
import { SoundCopier } from "../../../../deploy/backup/sound-copy.ts";
import { linesOf, readStream } from "../../../../deploy/backup/streams.ts";

const SESSION = "0190a000-0000-7000-8000-000000000002";

const digest = (text: string) => createHash("sha256").update(text).digest("hex");

/** A file as the record names it, sent as `sent` and holding `held`. */
function named(sent: string, held = sent, isDamaged = false): NamedSound {
  const bytes = Buffer.byteLength(held);
  return { session: SESSION, name: digest(sent), digests: [digest(held)], isDamaged, bytes };
}

describe("copying sound", () => {
  let scratch: string;
  let audio: string;
  let objects: ObjectFolder;

  beforeEach(async () => {
    scratch = mkdtempSync(join(tmpdir(), "voice-sound-"));
    audio = join(scratch, "blobs");
    mkdirSync(join(audio, SESSION), { recursive: true });
    objects = new ObjectFolder(join(scratch, "objects"), UNENCRYPTED);
    await objects.prepare();
  });

  afterEach(() => rmSync(scratch, { recursive: true, force: true }));

  function store({ name }: NamedSound, content: string): void {
    writeFileSync(join(audio, SESSION, name), content);
  }

  /** @param now what the record names by the time that a file cannot be had */
  async function copy(
    files: readonly NamedSound[],
    now: readonly NamedSound[] = files,
    logs = NO_LOGS,
  ) {
    const list = join(scratch, "named");
    const lines = files.map(({ session, name, digests, isDamaged, bytes }) =>
      [session, name, digests?.join() ?? "", isDamaged ? "t" : "f", bytes].join("\t"),
    );
    writeFileSync(list, lines.map((line) => `${line}\n`).join(""));
    const { list: stored, ...facts } = await new SoundCopier({
      ...{ named: list, logs, folder: audio, objects },
      signal: new AbortController().signal,
      lookUp: async ({ name }) => now.find((each) => each.name === name),
      note: () => {},
    }).run();
    const rows: string[] = [];
    for await (const line of linesOf(readStream(objects, stored))) rows.push(line);
    return { ...facts, rows };
  }

  it("all that is named, in order, and what is there already not again", async () => {
    const files = ["a", "b", "c", "d", "e"].map((text) => named(text));
    for (const [n, file] of files.entries()) store(file, "abcde".charAt(n));
    const { rows, files: count, bytes, lacking } = await copy(files);
    expect(rows).toEqual(files.map(({ name }) => `${SESSION} ${name} ${name} 1`));
    expect({ count, bytes, lacking }).toEqual({ count: 5, bytes: 5, lacking: [] });
    const written = objects.written.objects;
    rmSync(audio, { recursive: true });
    expect((await copy(files)).rows).toEqual(rows);
    expect(objects.written.objects).toBe(written);
  });

  it("a file that was silenced has what it holds now, and one of which nothing is known what it has", async () => {
    const silenced = named("said", "____");
    const unknown = { ...named("old"), digests: undefined };
    store(silenced, "____");
    store(unknown, "older");
    const { rows } = await copy([silenced, unknown]);
    expect(rows).toEqual([
      `${SESSION} ${silenced.name} ${digest("____")} 4`,
      `${SESSION} ${unknown.name} ${digest("older")} 5`,
    ]);
  });

  it("a file that went with its session is no fault, any other that is gone is one", async () => {
    const [erased, lost, here] = [named("erased"), named("lost"), named("here")];
    store(here, "here");
    const { rows, lacking, erased: count } = await copy([erased, lost, here], [lost, here]);
    expect(rows).toHaveLength(1);
    expect(count).toBe(1);
    const lack = { session: SESSION, name: lost.name, why: "gone", isKnown: false };
    expect(lacking).toEqual([lack]);
  });

  it("changed bytes are a fault, and one that the service has noted is known", async () => {
    const [changed, noted] = [named("sound"), named("other", "other", true)];
    store(changed, "Sound");
    const { lacking } = await copy([changed, noted]);
    expect(lacking).toMatchObject([
      { name: changed.name, why: "changed", isKnown: false },
      { name: noted.name, why: "gone", isKnown: true },
    ]);
  });

  it("what was silenced after the snapshot asks for another snapshot", async () => {
    const file = named("said");
    store(file, "____");
    await expect(copy([file], [named("said", "____")])).rejects.toThrow(RecordMovedOn);
  });

  it("a file that is gone while the disk of the backup takes its time is no error of the process", async () => {
    const slow = {
      ...UNENCRYPTED,
      async *encrypt(_name: string, content: AsyncIterable<Uint8Array>) {
        await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
        yield* content;
      },
    };
    const beside = new ObjectFolder(join(scratch, "objects"), slow);
    await expect(beside.putFile(join(audio, "gone"))).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("a folder that is not there is told, and not as files that are gone", async () => {
    rmSync(audio, { recursive: true });
    await expect(copy([named("sound")])).rejects.toThrow(/audio folder .* is not there/);
  });

  it("logs of streams come first, as they are at the snapshot; when one has gone it is taken anew", async () => {
    const file = named("a");
    store(file, "a");
    const logs = ["x.log", "y.log"].map((name) => ({ session: SESSION, name }));
    for (const { name } of logs) writeFileSync(join(audio, SESSION, name), name);
    const { signal } = new AbortController();
    const copied = await copyLogs(logs, { folder: audio, objects, signal });
    const { rows, files, bytes } = await copy([file], [file], copied);
    expect(rows).toEqual([
      ...logs.map(({ name }) => `${SESSION} ${name} ${digest(name)} 5`),
      `${SESSION} ${file.name} ${file.name} 1`,
    ]);
    expect({ files, bytes }).toEqual({ files: 3, bytes: 11 });
    const gone = [...logs, { session: SESSION, name: "z.log" }];
    const late = copyLogs(gone, { folder: audio, objects, signal });
    await expect(late).rejects.toBeInstanceOf(RecordMovedOn);
    const away = copyLogs(logs, { folder: join(scratch, "none"), objects, signal });
    await expect(away).rejects.toThrow("is not there");
  });
});
