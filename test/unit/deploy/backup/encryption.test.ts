import { randomBytes } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import {
  DamagedCiphertext,
  type Encryption,
  makeKey,
  openKey,
} from "../../../../deploy/backup/encryption.ts";

const PART = 64 * 1024;
const ENCRYPTED_PART = PART + 17;
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

describe("encryption", () => {
  let encryption: Encryption;
  let file: string;

  beforeAll(async () => {
    ({ encryption, file } = await makeKey(PASSPHRASE, CHEAP));
  });

  const encrypt = (clear: Buffer, name = "a") =>
    whole(encryption.encrypt(name, pieces(clear, 10_000)));
  const open = (encrypted: Buffer, name = "a") =>
    whole(encryption.decrypt(name, pieces(encrypted, 7_777)));

  it.each([0, 1, PART - 1, PART, PART + 1, 2 * PART, 200_000])(
    "%i bytes come back as they were, and do not show",
    async (length) => {
      const clear = randomBytes(length);
      const encrypted = await encrypt(clear);
      expect(encrypted.length).toBe(HEADER + length + 17 * Math.max(1, Math.ceil(length / PART)));
      expect((await open(encrypted)).equals(clear)).toBe(true);
      if (length >= 64) expect(encrypted.includes(clear.subarray(0, 64))).toBe(false);
    },
  );

  it("what was cut off, wherever, does not open", async () => {
    const encrypted = await encrypt(randomBytes(3 * PART));
    const ends = [0, 1, HEADER - 1, HEADER, HEADER + 1, HEADER + ENCRYPTED_PART];
    for (const end of [...ends, HEADER + 2 * ENCRYPTED_PART, encrypted.length - 1]) {
      await expect(open(encrypted.subarray(0, end)), `${end} bytes`).rejects.toThrow(
        DamagedCiphertext,
      );
    }
  });

  it("parts in another order, twice, left out or added do not open", async () => {
    const encrypted = await encrypt(randomBytes(3 * PART));
    const at = (n: number) =>
      encrypted.subarray(HEADER + n * ENCRYPTED_PART).subarray(0, ENCRYPTED_PART);
    const header = encrypted.subarray(0, HEADER);
    const [first, second, third] = [at(0), at(1), at(2)];
    for (const parts of [
      [second, first, third],
      [first, first, second, third],
      [first, third],
      [first, second, third, third],
      [first, second, third, Buffer.from("more")],
    ]) {
      await expect(open(Buffer.concat([header, ...parts]))).rejects.toThrow(DamagedCiphertext);
    }
  });

  it("a changed bit, and content under another name, do not open", async () => {
    const encrypted = await encrypt(Buffer.from("what was said"));
    for (const at of [0, HEADER, encrypted.length - 1]) {
      const changed = Buffer.from(encrypted);
      changed[at] = (changed[at] ?? 0) ^ 1;
      await expect(open(changed), `byte ${at}`).rejects.toThrow(DamagedCiphertext);
    }
    await expect(open(encrypted, "b")).rejects.toThrow(DamagedCiphertext);
    expect((await open(encrypted)).toString()).toBe("what was said");
  });

  it("the passphrase opens the key, and names of content stay", async () => {
    const again = await openKey(PASSPHRASE, file);
    const encrypted = await encrypt(Buffer.from("kept"));
    expect((await whole(again.decrypt("a", pieces(encrypted, 100)))).toString()).toBe("kept");
    expect(again.nameOf("00")).toBe(encryption.nameOf("00"));
    expect(encryption.nameOf("00")).not.toBe(encryption.nameOf("01"));
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
