import { describe, expect, it } from "vitest";
import { AppError } from "../../../src/base/errors.ts";
import {
  type Damage,
  DamagedAudio,
} from "../../../src/conversations/recording/integrity/file-damage.ts";
import { mayBeTheAudio } from "../../../src/recognition/poison-detector.ts";
import { readStoredSound } from "../../../src/recognition/stored-sound.ts";

const SOUND = { sessionId: "s", sha256: "a", digests: undefined, part: undefined };
const noted: string[] = [];

function errno(code: string): Error {
  return Object.assign(new Error(`${code}: something, open '/secret/path'`), { code });
}

/** A source whose tries end with these errors one after the other, and then with bytes. */
function readAfter(errors: readonly Error[]) {
  let tries = 0;
  const source = {
    async bytes(): Promise<Buffer> {
      const error = errors[tries];
      tries += 1;
      if (error !== undefined) throw error;
      return Buffer.from("sound");
    },
    async noteDamage(_id: string, _sha256: string, { kind }: Damage): Promise<void> {
      noted.push(kind);
    },
  };
  const runtime = { delay: async () => {} };
  return readStoredSound({ source, runtime, isWanted: () => true }, SOUND);
}

const always = (error: Error): Error[] => Array.from({ length: 20 }, () => error);

describe("stored sound", () => {
  it.each(["EIO", "EACCES", "EISDIR"])(
    "is damaged when its file keeps failing with %s",
    async (code) => {
      noted.length = 0;
      const read = await readAfter(always(errno(code)));
      expect(noted).toEqual(["unreadable"]);
      expect(read).toEqual({ damaged: expect.stringContaining(code) });
      expect(JSON.stringify(read)).not.toContain("secret");
    },
  );

  it("is damaged when its file is gone", async () => {
    const gone = new AppError("not_found", "Gone.");
    expect(await readAfter(always(gone))).toEqual({ damaged: expect.stringContaining("gone") });
  });

  it("is damaged when it goes on holding other bytes, and noted once", async () => {
    noted.length = 0;
    const damage = { kind: "changed", message: "Other bytes." } as const;
    expect(await readAfter(always(new DamagedAudio(damage)))).toEqual({ damaged: "Other bytes." });
    expect(noted).toEqual(["changed"]);
    noted.length = 0;
    expect(await readAfter([new DamagedAudio(damage)])).toEqual({ data: Buffer.from("sound") });
    expect(noted).toEqual([]);
  });

  it("is read when its file is there at the second try", async () => {
    expect(await readAfter([errno("EIO")])).toEqual({ data: Buffer.from("sound") });
  });

  it.each(["EMFILE", "ENFILE", "ENOMEM", "EAGAIN", "ETIMEDOUT", "ENOTCONN"])(
    "is not damaged by a want of the host: %s",
    async (code) => {
      const error = await readAfter(always(errno(code))).then(
        (read) => expect.fail(`told as ${JSON.stringify(read)}`),
        (reason: unknown) => reason,
      );
      expect(error).toBeInstanceOf(AppError);
      expect(error).toMatchObject({ code: "unavailable", cause: { code } });
      expect(mayBeTheAudio(error as AppError)).toBe(false);
    },
  );
});
