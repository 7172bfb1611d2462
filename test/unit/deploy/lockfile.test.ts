import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { lockfileFaults, settingsFaults } from "../../../deploy/testing/lockfile.mjs";

const read = (name: string) =>
  readFileSync(new URL(`../../../${name}`, import.meta.url)).toString();
const integrity = `sha512-${"A".repeat(86)}==`;

describe("lockfile", () => {
  it("tells the digest of every package, of other systems too, and no place to fetch it from", () => {
    const lock = JSON.parse(read("package-lock.json"));
    expect(Object.keys(lock.packages).length).toBeGreaterThan(500);
    expect(lockfileFaults(lock)).toEqual([]);
    expect(settingsFaults(read(".npmrc"))).toEqual([]);
  });

  it.each([
    [{}, "a has no SHA-512 in `integrity`"],
    [{ integrity: "sha1-AAAA" }, "a has no SHA-512 in `integrity`"],
    [{ integrity, resolved: "git+ssh://x.example/a" }, "a comes from git+ssh://x.example/a"],
    [{ integrity, link: true }, "a is a folder"],
  ])("refuses %j", (entry, fault) => {
    const packages = { "": {}, "node_modules/b/node_modules/a": entry };
    expect(lockfileFaults({ packages })).toEqual([fault]);
  });

  it("takes what comes within another package", () => {
    const packages = { "": {}, "node_modules/a": { inBundle: true } };
    expect(lockfileFaults({ packages })).toEqual([]);
  });

  it("refuses settings that send npm elsewhere or let it trust others", () => {
    const text =
      "save-exact=true\nregistry=https://x.example/\n@a:registry = y\nstrict-ssl=false\n";
    expect(settingsFaults(text)).toEqual([
      ".npmrc sets registry",
      ".npmrc sets @a:registry",
      ".npmrc sets strict-ssl",
    ]);
  });
});
