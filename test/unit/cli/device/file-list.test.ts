import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { filesOf } from "../../../../src/cli/device/file-list.ts";

const folder = mkdtempSync(join(tmpdir(), "voice-files-"));
afterEach(() => rmSync(folder, { recursive: true }));

it("files: of a folder those whose names promise sound, of phones and recorders too", () => {
  const sound = ["a.M4A", "b.wav", "c.mp4", "d.aiff", "e.amr", "f.3gp", "g.webm", "h.wma"];
  for (const name of [...sound, ".hidden.wav", "notes.txt", "picture.jpg"]) {
    writeFileSync(join(folder, name), "");
  }
  mkdirSync(join(folder, "inner.wav"));
  writeFileSync(join(folder, "inner.wav", "deep.wav"), "");
  const named = join(folder, "notes.txt");
  expect(filesOf([folder, named])).toEqual([...sound.map((name) => join(folder, name)), named]);
});
