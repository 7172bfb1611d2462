import { beforeEach, describe, expect, it } from "vitest";
import { isAppError } from "../../../../src/base/errors.ts";
import type { AttemptPolicy } from "../../../../src/tenancy/accounts/attempts-store.ts";
import { MagicLinks } from "../../../../src/tenancy/accounts/magic-links.ts";
import type { MagicLinkStore } from "../../../../src/tenancy/accounts/magic-links-store.ts";
import type { Account, UserRecord } from "../../../../src/tenancy/accounts/users-store.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

const MINUTE = 60_000;
const BOB = { id: "b", email: "bob@example.org", disabled: false } as unknown as Account &
  UserRecord;

describe("sign-in links while others ask for them", () => {
  let clock: ManualClock;
  let letters: number;
  let links: MagicLinks;
  let unused: number;

  beforeEach(() => {
    clock = new ManualClock();
    letters = 0;
    unused = 0;
    const paid = new Map<string, number>();
    links = new MagicLinks({
      store: {
        put: async () => {
          unused += 1;
        },
        take: async () => {
          const found = unused > 0 ? BOB : undefined;
          unused = 0;
          return found;
        },
      } as unknown as MagicLinkStore,
      accounts: { findByEmail: async () => BOB },
      attempts: {
        async take(key: string, { burst, interval }: AttemptPolicy) {
          const at = Math.max(paid.get(key) ?? 0, clock.now());
          if (at > clock.now() + (burst - 1) * interval) return 1;
          paid.set(key, at + interval);
          return undefined;
        },
        async restore(key) {
          paid.delete(key);
        },
      },
      failures: { recordFailedSignIn: async () => {} },
      signIn: { enter: async (account) => ({ token: "t", refreshToken: undefined, account }) },
      mail: {
        send: async () => {
          letters += 1;
        },
      },
      background: { start: (_name, work) => void work() },
      signInUrl: (token) => `https://voice.example/#token=${token}`,
      clock,
    });
  });

  async function ask(address: string): Promise<string> {
    try {
      await links.request(BOB.email, address);
      await new Promise(setImmediate);
      return "on its way";
    } catch (error) {
      if (isAppError(error)) return error.code;
      throw error;
    }
  }

  it("a stranger uses up his own budget, and nobody else's", async () => {
    for (let n = 0; n < 5; n += 1) expect(await ask("192.0.2.1")).toBe("on its way");
    expect(await ask("192.0.2.1")).toBe("rate_limited");
    expect(await ask("198.51.100.7")).toBe("on its way");
  });

  it("strangers of many places fill no mailbox, and one letter there always works", async () => {
    for (let minute = 0; minute < 60; minute += 1) {
      const before = letters;
      for (let n = 0; n < 10; n += 1) await ask(`192.0.${minute}.${n}`);
      if (minute >= 5 && minute % 5 === 0) expect(letters).toBe(before + 1);
      clock.advance(MINUTE);
    }
    expect(letters).toBeLessThan(5 + 12 + 1);
  });

  it("who signs in by a letter gets the next one at once", async () => {
    for (let n = 0; n < 10; n += 1) await ask(`192.0.${n}.1`);
    expect(letters).toBe(5);
    await links.redeem("x".repeat(43), "198.51.100.7");
    expect(await ask("198.51.100.7")).toBe("on its way");
    expect(letters).toBe(6);
  });
});
