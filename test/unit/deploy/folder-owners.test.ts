import {
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { giveFolder } from "../../../deploy/supervisor/folder-owners.ts";

const USER = { uid: 60_578, gid: 60_578 };
const STRANGER = 60_700;

describe.runIf(process.getuid?.() === 0)("folders that root hands over", () => {
  let scratch: string;
  let audio: string;

  beforeEach(() => {
    scratch = mkdtempSync(join(tmpdir(), "voice-owners-"));
    audio = join(scratch, "audio");
  });
  afterEach(() => rmSync(scratch, { recursive: true, force: true }));

  it("are made for their user alone", () => {
    giveFolder(audio, USER);
    const { uid, gid, mode } = statSync(audio);
    expect({ uid, gid, mode: mode & 0o777 }).toEqual({ ...USER, mode: 0o700 });
  });

  it("go with what root owns in them, without what a link in them leads to", () => {
    const outside = join(scratch, "outside");
    mkdirSync(join(audio, "session"), { recursive: true });
    mkdirSync(outside);
    writeFileSync(join(outside, "file"), "");
    writeFileSync(join(audio, "session/file"), "");
    writeFileSync(join(audio, "session/of-a-stranger"), "");
    chownSync(join(audio, "session/of-a-stranger"), STRANGER, STRANGER);
    symlinkSync(outside, join(audio, "session/link"));
    giveFolder(audio, USER);
    const ownerOf = (name: string) => lstatSync(join(scratch, name)).uid;
    expect(["audio", "audio/session", "audio/session/file"].map(ownerOf)).toEqual([
      60_578, 60_578, 60_578,
    ]);
    expect(ownerOf("audio/session/of-a-stranger")).toBe(STRANGER);
    expect(["outside", "outside/file"].map(ownerOf)).toEqual([0, 0]);
  });

  it("may be elsewhere by a link of root's, as on a larger disk", () => {
    mkdirSync(join(scratch, "disk"));
    symlinkSync(join(scratch, "disk"), audio);
    giveFolder(audio, USER);
    expect(statSync(join(scratch, "disk")).uid).toBe(USER.uid);
  });

  it("are not those that a stranger's link leads to, nor those of somebody else", () => {
    mkdirSync(join(scratch, "system"));
    const hands = join(scratch, "hands");
    mkdirSync(hands);
    symlinkSync(join(scratch, "system"), join(hands, "audio"));
    chownSync(hands, STRANGER, STRANGER);
    expect(() => giveFolder(join(hands, "audio"), USER)).toThrow(/in the hands of user 60700/);
    expect(statSync(join(scratch, "system")).uid).toBe(0);
    mkdirSync(audio);
    chownSync(audio, STRANGER, STRANGER);
    const refused = () => giveFolder(audio, USER);
    expect(refused).toThrow(/belongs to user 60700/);
    // What other machines share is not to be taken away from them.
    expect(refused).toThrow(
      expect.objectContaining({ advice: expect.stringMatching(/^if other/) }),
    );
  });
});
