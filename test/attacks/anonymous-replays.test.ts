import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { errorCodesOf } from "../../src/rest/openapi.ts";
import { HttpFixture } from "../support/http-fixture.ts";

let http: HttpFixture;

beforeAll(async () => {
  http = await HttpFixture.open();
});

afterAll(() => http.close());

/** Two strangers behind one address who happen to send the same request under the same key. */
async function twice(path: string, body: unknown) {
  const headers = { "idempotency-key": "1" };
  const first = await http.call("POST", path, { body, headers });
  const second = await http.call("POST", path, { body, headers });
  return { first, second };
}

describe("anonymous replays", () => {
  it("gives nobody the guest token of another caller without a name", async () => {
    const { accounts } = http;
    const { id: ownerId } = await accounts.addUser();
    const sessionId = await accounts.addSession(ownerId, await accounts.addWorkspace(ownerId));
    const { first, second } = await twice("/auth/guest", {
      session_id: sessionId,
      display_name: "Eve",
    });
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body.token).not.toBe(first.body.token);
    expect(second.headers.get("idempotency-replayed")).toBeNull();
  });

  it("declares no key where none is heeded", () => {
    const enter = http.accounts.routes.find(({ id }) => id === "enterAsGuest");
    expect(enter && errorCodesOf(enter)).not.toContain("idempotency_mismatch");
  });

  it("gives nobody the pairing secret of another device", async () => {
    const { first, second } = await twice("/devices/pairing-codes", {
      device_serial: `serial-${newId()}`,
    });
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body.pairing_secret).not.toBe(first.body.pairing_secret);
    expect(second.body.device_id).not.toBe(first.body.device_id);
    expect(second.headers.get("idempotency-replayed")).toBeNull();
  });
});
