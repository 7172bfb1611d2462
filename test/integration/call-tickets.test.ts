import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Principal } from "../../src/access/principal.ts";
import { AppError } from "../../src/base/errors.ts";
import { newId } from "../../src/base/ids.ts";
import { createPool, type Pool } from "../../src/postgres/pool.ts";
import { LiveTickets } from "../../src/tenancy/accounts/live-tickets.ts";
import { TicketStore } from "../../src/tenancy/accounts/live-tickets-store.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { createTestDatabase, type TestDatabase } from "../support/postgres.ts";
import { serviceKey } from "../support/service-principal.ts";

const MINUTE = 60_000;
const BAD = { code: "invalid_token" };

describe("tickets for calls", () => {
  const clock = new ManualClock();
  const session = newId();
  const key = serviceKey(newId(), newId(), ["sessions:write"]);
  let database: TestDatabase;
  let pool: Pool;
  let tickets: LiveTickets;
  let isRevoked = false;

  beforeAll(async () => {
    database = await createTestDatabase();
    pool = await createPool(database.serviceUrl, { maximumPoolSize: 2 });
    const authenticator = {
      authenticate: () => Promise.reject(new Error("not asked")),
      async revalidate(principal: Principal) {
        if (isRevoked) throw new AppError("invalid_api_key", "The key was revoked.");
        return principal;
      },
    };
    tickets = new LiveTickets(new TicketStore(pool), authenticator, clock);
  });
  afterAll(async () => {
    await pool.end();
    await database.drop();
  });

  it("tell once who made them, and for which session", async () => {
    const { ticket, expiresAt } = await tickets.issueForCall(key, session);
    expect(expiresAt).toBe(clock.now() + 5 * MINUTE);
    expect(await tickets.redeemForCall(ticket)).toEqual({ principal: key, sessionId: session });
    await expect(tickets.redeemForCall(ticket)).rejects.toMatchObject(BAD);
  });

  it("are good for 5 min", async () => {
    const late = await tickets.issueForCall(key, session);
    const inTime = await tickets.issueForCall(key, session);
    clock.advance(5 * MINUTE - 1);
    await tickets.redeemForCall(inTime.ticket);
    clock.advance(1);
    await expect(tickets.redeemForCall(late.ticket)).rejects.toMatchObject(BAD);
  });

  it("open no socket of a viewer or a device, and theirs no call", async () => {
    const forCall = await tickets.issueForCall(key, session);
    const forSocket = await tickets.issue(key);
    await expect(tickets.redeem(forCall.ticket)).rejects.toMatchObject(BAD);
    await expect(tickets.redeemForCall(forSocket.ticket)).rejects.toMatchObject(BAD);
    // Neither was used up by the wrong door.
    expect(await tickets.redeem(forSocket.ticket)).toEqual(key);
    expect((await tickets.redeemForCall(forCall.ticket)).sessionId).toBe(session);
  });

  it("end with the right of whoever made them", async () => {
    const { ticket } = await tickets.issueForCall(key, session);
    isRevoked = true;
    await expect(tickets.redeemForCall(ticket)).rejects.toMatchObject({ code: "invalid_api_key" });
    isRevoked = false;
    await expect(tickets.redeemForCall(ticket)).rejects.toMatchObject(BAD);
  });

  it("are no guess", async () => {
    for (const text of ["", "x", "A".repeat(43), `${"A".repeat(42)}'`, "A".repeat(10_000)]) {
      await expect(tickets.redeemForCall(text)).rejects.toMatchObject(BAD);
    }
  });
});
