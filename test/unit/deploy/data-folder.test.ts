import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DataFolder } from "../../../deploy/supervisor/data-folder.ts";
import { loadSecrets } from "../../../deploy/supervisor/secrets.ts";

describe("data folder", () => {
  let scratch: string;

  beforeEach(() => {
    scratch = mkdtempSync(join(tmpdir(), "voice-data-"));
  });

  afterEach(() => {
    rmSync(scratch, { recursive: true, force: true });
  });

  it("data folder: is made, marked, and keeps its id", async () => {
    const first = await DataFolder.open(join(scratch, "a/b"));
    first.release();
    const second = await DataFolder.open(join(scratch, "a/b"));
    second.release();
    expect(second.id).toBe(first.id);
  });

  it("data folder: two at once are refused", async () => {
    const first = await DataFolder.open(join(scratch, "data"));
    const another = DataFolder.open(join(scratch, "data"));
    await expect(another).rejects.toThrow(/another supervisor/);
    first.release();
  });

  it("data folder: another link to the same folder is the same folder", async () => {
    const first = await DataFolder.open(join(scratch, "data"));
    const around = DataFolder.open(join(scratch, "x/../data/../data"));
    await expect(around).rejects.toThrow(/another supervisor/);
    first.release();
  });

  it("data folder: a copy leaves its ports to the original; one that was moved keeps them", async () => {
    const first = await DataFolder.open(join(scratch, "data"));
    writeFileSync(first.file("ports.json"), "{}");
    first.release();
    cpSync(join(scratch, "data"), join(scratch, "copy"), { recursive: true });
    for (const [name, keeps] of [
      ["copy", false],
      ["data", true],
    ] as const) {
      const opened = await DataFolder.open(join(scratch, name));
      opened.release();
      expect(existsSync(opened.file("ports.json"))).toBe(keeps);
    }
    renameSync(join(scratch, "data"), join(scratch, "moved"));
    const moved = await DataFolder.open(join(scratch, "moved"));
    moved.release();
    expect(existsSync(moved.file("ports.json"))).toBe(true);
  });

  it("data folder: one that is not ours is left alone", async () => {
    writeFileSync(join(scratch, "thesis.txt"), "years of work");
    await expect(DataFolder.open(scratch)).rejects.toThrow(/not made by this service/);
    expect(existsSync(join(scratch, "thesis.txt"))).toBe(true);
  });

  it("data folder: a file in its place is an error with advice", async () => {
    writeFileSync(join(scratch, "file"), "");
    await expect(DataFolder.open(join(scratch, "file"))).rejects.toThrow(
      expect.objectContaining({ advice: expect.stringContaining("--data") }),
    );
  });

  it("data folder: clear keeps the marker and nothing else", async () => {
    const folder = await DataFolder.open(join(scratch, "data"));
    mkdirSync(folder.file("postgres"));
    writeFileSync(folder.file("secrets.json"), "{}");
    folder.clear();
    expect(existsSync(folder.file("secrets.json"))).toBe(false);
    expect(existsSync(folder.file("postgres"))).toBe(false);
    folder.release();
    const again = await DataFolder.open(join(scratch, "data"));
    again.release();
    expect(again.id).toBe(folder.id);
  });

  it("secrets: are made once and only their owner can read them", () => {
    const file = join(scratch, "secrets.json");
    const first = loadSecrets(file);
    expect(loadSecrets(file)).toEqual(first);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(first.adminPassword).toMatch(/^[a-z2-9]{4}(-[a-z2-9]{4}){3}$/);
    expect(new Set(Object.values(first)).size).toBe(6);
  });

  it("secrets: a damaged file is not overwritten", () => {
    const file = join(scratch, "secrets.json");
    writeFileSync(file, '{"postgresPassw');
    expect(() => loadSecrets(file)).toThrow(/damaged/);
  });
});
