import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeProtectedHeader } from "jose";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../../../src/base/ids.ts";
import { silentLog } from "../../../../src/base/log.ts";
import {
  loadKeyFolder,
  rotateSigningKey,
  SigningKeyWatch,
} from "../../../../src/tenancy/accounts/signing-keys.ts";
import { type KeyRing, Tokens } from "../../../../src/tenancy/accounts/tokens.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { codeOf } from "../../../support/route-call.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe("signing keys of a running process", () => {
  let clock: ManualClock;
  let folder: string;
  const added: string[] = [];
  const watches: SigningKeyWatch[] = [];

  beforeEach(() => {
    clock = new ManualClock();
    folder = mkdtempSync(join(tmpdir(), "signing-keys-"));
  });

  afterEach(async () => {
    for (const watch of watches.splice(0)) await watch.stop();
    added.length = 0;
    rmSync(folder, { recursive: true, force: true });
  });

  async function startProcess(): Promise<{
    ring: KeyRing;
    tokens: Tokens;
    watch: SigningKeyWatch;
  }> {
    const { ring } = await loadKeyFolder(folder, clock);
    const onAdded = async (kid: string) => {
      added.push(kid);
    };
    const watch = new SigningKeyWatch({ folder, ring, onAdded, log: silentLog });
    await watch.start();
    watches.push(watch);
    return { ring, tokens: new Tokens(ring, clock), watch };
  }

  function sign(tokens: Tokens, lifetime = HOUR): Promise<string> {
    const expiresAt = clock.now() + lifetime;
    return tokens.sign({ kind: "access", subject: newId(), scope: newId(), expiresAt });
  }

  const rotate = (delay = 0) => rotateSigningKey(folder, clock.now() + delay, clock.now());
  const shown = (ring: KeyRing) => ring.publicJwks.map((jwk) => jwk.kid);

  it("rotate: taken up without a restart; old tokens stand, new ones carry the new key", async () => {
    const { ring, tokens, watch } = await startProcess();
    const first = ring.newest.kid;
    const old = await sign(tokens, 12 * HOUR);
    const { kid } = await rotate();
    await watch.refresh();
    expect(added).toEqual([kid]);
    expect(shown(ring)).toEqual([first, kid]);
    expect(decodeProtectedHeader(await sign(tokens)).kid).toBe(kid);
    clock.advance(11 * HOUR);
    expect((await tokens.verify(old, ["access"])).kind).toBe("access");
  });

  it("announce: shown at once, signs when its time has come", async () => {
    const { ring, tokens, watch } = await startProcess();
    const first = ring.newest.kid;
    const { kid } = await rotate(6 * MINUTE);
    await watch.refresh();
    expect(shown(ring)).toEqual([first, kid]);
    expect(decodeProtectedHeader(await sign(tokens)).kid).toBe(first);
    clock.advance(6 * MINUTE);
    expect(decodeProtectedHeader(await sign(tokens)).kid).toBe(kid);
  });

  it("retire: an old key leaves the key set when its last token has run out, its file later", async () => {
    const { ring, watch } = await startProcess();
    const first = ring.newest.kid;
    const second = await rotate();
    await watch.refresh();
    clock.advance(12 * HOUR);
    expect(shown(ring)).toContain(first);
    clock.advance(HOUR);
    expect(shown(ring)).toEqual([second.kid]);
    expect(readdirSync(folder)).toContain("signing-0001.jwk");
    const third = await rotate();
    expect(readdirSync(folder)).not.toContain("signing-0001.jwk");
    await watch.refresh();
    expect(shown(ring)).toEqual([second.kid, third.kid]);
  });

  it("two processes: a token of one is taken by the other, which has not looked yet", async () => {
    const one = await startProcess();
    const two = await startProcess();
    await rotate();
    await one.watch.refresh();
    const token = await sign(one.tokens);
    expect((await two.tokens.verify(token, ["access"])).kind).toBe("access");
  });

  it("unknown keys: looked for once a second, however many come", async () => {
    const { ring } = await startProcess();
    let looks = 0;
    ring.refreshWith(async () => {
      looks += 1;
    });
    await Promise.all(Array.from({ length: 50 }, () => ring.find("unknown")));
    clock.advance(999);
    await ring.find("unknown");
    expect(looks).toBe(1);
    clock.advance(1);
    await ring.find("unknown");
    expect(looks).toBe(2);
  });

  it("damage: a file that is no key changes nothing", async () => {
    const { ring, tokens, watch } = await startProcess();
    const before = shown(ring);
    writeFileSync(join(folder, "signing-0002.jwk"), "not a key");
    await watch.refresh();
    expect(shown(ring)).toEqual(before);
    expect(await codeOf(tokens.verify(await sign(tokens), ["access"]))).toBe("none");
  });

  it("at once: rotations do not overwrite each other, and files stay private", async () => {
    await startProcess();
    const keys = await Promise.all(Array.from({ length: 5 }, () => rotate()));
    expect(new Set(keys.map((key) => key.kid)).size).toBe(5);
    const names = readdirSync(folder).filter((name) => name.startsWith("signing-"));
    expect(names).toHaveLength(6);
    for (const name of names) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  });
});
