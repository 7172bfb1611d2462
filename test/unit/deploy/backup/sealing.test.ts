import { randomBytes } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { BrokenSeal, makeKey, openKey, type Sealing } from "../../../../deploy/backup/sealing.ts";

const PART = 64 * 1024;
const SEALED_PART = PART + 17;
const HEADER = 24;
/** What a guess costs is not what this is about. */
const CHEAP = 2 ** 10;
const PASSPHRASE = "correct horse battery staple";

async function* pieces(content: Buffer, length: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < content.length; at += length) yield content.subarray(at, at + length);
}

async function whole(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of content) parts.push(part);
  return Buffer.concat(parts);
}

describe("sealing", () => {
  let sealing: Sealing;
  let file: string;

  beforeAll(async () => {
    ({ sealing, file } = await makeKey(PASSPHRASE, CHEAP));
  });

  const seal = (clear: Buffer, name = "a") => whole(sealing.seal(name, pieces(clear, 10_000)));
  const open = (sealed: Buffer, name = "a") => whole(sealing.unseal(name, pieces(sealed, 7_777)));

  it.each([0, 1, PART - 1, PART, PART + 1, 2 * PART, 200_000])(
    "%i bytes come back as they were, and do not show",
    async (length) => {
      const clear = randomBytes(length);
      const sealed = await seal(clear);
      expect(sealed.length).toBe(HEADER + length + 17 * Math.max(1, Math.ceil(length / PART)));
      expect((await open(sealed)).equals(clear)).toBe(true);
      if (length >= 64) expect(sealed.includes(clear.subarray(0, 64))).toBe(false);
    },
  );

  it("what was cut off, wherever, does not open", async () => {
    const sealed = await seal(randomBytes(3 * PART));
    const ends = [0, 1, HEADER - 1, HEADER, HEADER + 1, HEADER + SEALED_PART];
    for (const end of [...ends, HEADER + 2 * SEALED_PART, sealed.length - 1]) {
      await expect(open(sealed.subarray(0, end)), `${end} bytes`).rejects.toThrow(BrokenSeal);
    }
  });

  it("parts in another order, twice, left out or added do not open", async () => {
    const sealed = await seal(randomBytes(3 * PART));
    const at = (n: number) => sealed.subarray(HEADER + n * SEALED_PART).subarray(0, SEALED_PART);
    const header = sealed.subarray(0, HEADER);
    const [first, second, third] = [at(0), at(1), at(2)];
    for (const parts of [
      [second, first, third],
      [first, first, second, third],
      [first, third],
      [first, second, third, third],
      [first, second, third, Buffer.from("more")],
    ]) {
      await expect(open(Buffer.concat([header, ...parts]))).rejects.toThrow(BrokenSeal);
    }
  });

  it("a changed bit, and content under another name, do not open", async () => {
    const sealed = await seal(Buffer.from("what was said"));
    for (const at of [0, HEADER, sealed.length - 1]) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      await expect(open(changed), `byte ${at}`).rejects.toThrow(BrokenSeal);
    }
    await expect(open(sealed, "b")).rejects.toThrow(BrokenSeal);
    expect((await open(sealed)).toString()).toBe("what was said");
  });

  it("the passphrase opens the key, and names of content stay", async () => {
    const again = await openKey(PASSPHRASE, file);
    const sealed = await seal(Buffer.from("kept"));
    expect((await whole(again.unseal("a", pieces(sealed, 100)))).toString()).toBe("kept");
    expect(again.nameOf("00")).toBe(sealing.nameOf("00"));
    expect(sealing.nameOf("00")).not.toBe(sealing.nameOf("01"));
  });

  it("another passphrase is told, and so is a damaged key", async () => {
    await expect(openKey(`${PASSPHRASE}.`, file)).rejects.toThrow(/does not open these backups/);
    await expect(openKey(PASSPHRASE, file.slice(0, -20))).rejects.toThrow(/is damaged/);
    const greedy = JSON.stringify({ ...JSON.parse(file), N: 2 ** 30 });
    await expect(openKey(PASSPHRASE, greedy)).rejects.toThrow(/is damaged/);
  });

  it("a short passphrase is refused", async () => {
    await expect(makeKey("tooshort")).rejects.toThrow(/guessed too easily/);
  });
});
