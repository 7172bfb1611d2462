import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { GuestEntry } from "../../src/conversations/guests/entry.ts";
import { SessionStore } from "../../src/conversations/sessions/store.ts";
import type { OutboxRow } from "../../src/postgres/outbox.ts";
import { ElevationStore } from "../../src/tenancy/audit/elevation-store.ts";
import { AccountFixture } from "../support/account-fixture.ts";
import { codeOf } from "../support/route-call.ts";

const MINUTE = 60_000;

describe("guests who enter", () => {
  let fixture: AccountFixture;
  let entry: GuestEntry;
  let told: OutboxRow[];

  beforeAll(async () => {
    fixture = await AccountFixture.open();
  });
  afterAll(() => fixture?.close());

  async function addSession(): Promise<string> {
    told = [];
    const { guests, clock, pool } = fixture;
    entry = new GuestEntry({
      guests,
      clock,
      directory: new SessionStore(pool),
      elevations: new ElevationStore(pool),
      tokens: { sign: async () => "token" },
      notifier: { notify: (rows) => void told.push(...rows) },
      guestsPerSession: 1_000,
      rateFactor: 1,
    });
    const { id } = await fixture.addUser();
    return fixture.addSession(id, await fixture.addWorkspace(id));
  }

  const enter = (door: string, address: string) =>
    entry.enter({ door, address, displayName: "Gus" });

  /** How many of so many come in one after the other, until one is refused. */
  async function countEntries(door: string, addressOf: (n: number) => string): Promise<number> {
    for (let n = 0; n < 1_000; n += 1) {
      const code = await codeOf(enter(door, addressOf(n)));
      if (code === "none") continue;
      expect(code).toBe("rate_limited");
      return n;
    }
    return 1_000;
  }

  it("guests: one address enters a session 30 times, and again as time goes on", async () => {
    const [sessionId, other] = [await addSession(), await addSession()];
    expect(await countEntries(sessionId, () => "one")).toBe(30);
    expect(await codeOf(enter(sessionId, "two"))).toBe("none");
    expect(await codeOf(enter(other, "one"))).toBe("none");
    fixture.clock.advance(MINUTE / 30);
    expect(await countEntries(sessionId, () => "one")).toBe(1);
  });

  it("guests: all addresses of an IPv6 /64 enter as one", async () => {
    const sessionId = await addSession();
    const own = (n: number) => `2001:db8:0:1::${n.toString(16)}`;
    expect(await countEntries(sessionId, own)).toBe(30);
    expect(await codeOf(enter(sessionId, "2001:db8:0:2::1"))).toBe("none");
  });

  it("guests: a session is entered 120 times, from wherever", async () => {
    const sessionId = await addSession();
    expect(await countEntries(sessionId, String)).toBe(120);
    fixture.clock.advance(MINUTE);
    expect(await countEntries(sessionId, (n) => `again ${n}`)).toBe(120);
  });

  it("guests: the session is told of each who came in, by id alone", async () => {
    const sessionId = await addSession();
    const { guest } = await enter(sessionId, "one");
    expect(told.map(({ sessionId: id, command }) => ({ id, command }))).toEqual([
      { id: sessionId, command: { type: "GuestStored", guestId: guest.guestId } },
    ]);
    expect(await codeOf(enter(newId(), "one"))).toBe("not_found");
    expect(told).toHaveLength(1);
  });
});
