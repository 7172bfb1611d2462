import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LogFile } from "../../../deploy/supervisor/log-file.ts";

describe("log file", () => {
  let scratch: string;

  beforeEach(() => {
    scratch = mkdtempSync(join(tmpdir(), "voice-log-"));
  });

  afterEach(() => {
    rmSync(scratch, { recursive: true, force: true });
  });

  it("log: lines come whole, wherever the pieces are cut", () => {
    const lines: string[] = [];
    const log = new LogFile(join(scratch, "main.log"), (line) => lines.push(line));
    for (const piece of ["on", "e\ntw", "o\n\nthree"]) log.write(piece);
    expect(lines).toEqual(["one", "two"]);
    log.write("\n");
    expect(lines).toEqual(["one", "two", "three"]);
    expect(log.recent(2)).toEqual(["two", "three"]);
    log.close();
    expect(readFileSync(log.path, "utf8")).toBe("one\ntwo\n\nthree\n");
  });

  it("log: its size is bounded and three old ones are kept", () => {
    const log = new LogFile(join(scratch, "main.log"), () => undefined);
    const block = `${"x".repeat(1023)}\n`.repeat(1024);
    for (let megabyte = 0; megabyte < 60; megabyte += 1) log.write(block);
    log.close();
    expect(statSync(log.path).size).toBeLessThan(12 * 1024 * 1024);
    expect(existsSync(`${log.path}.3`)).toBe(true);
    expect(existsSync(`${log.path}.4`)).toBe(false);
  });
});
