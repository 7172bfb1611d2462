import { afterEach, describe, expect, it } from "vitest";
import { HttpFixture } from "../support/http-fixture.ts";

/** Nobody gets anything back within a test. */
const slowly = (burst: number) => ({ perMinute: 0.001, burst });

describe("a host that makes itself many guests", () => {
  let fixture: HttpFixture;

  afterEach(() => fixture.close());

  async function openSession(): Promise<{ sessionId: string; owner: string }> {
    const { id, email } = await fixture.accounts.addUser();
    const workspaceId = await fixture.accounts.addWorkspace(id);
    const sessionId = await fixture.accounts.addSession(id, workspaceId);
    return { sessionId, owner: await fixture.signIn(email) };
  }

  async function enter(sessionId: string): Promise<string> {
    const body = { session_id: sessionId, display_name: "Gus" };
    const { status, body: answer } = await fixture.call("POST", "/auth/guest", { body });
    expect(status).toBe(201);
    return String(answer.token);
  }

  it("has with all of them the budget of two callers, in whatever session they are", async () => {
    fixture = await HttpFixture.open({ read: slowly(10) });
    const sessions = [await openSession(), await openSession(), await openSession()];
    const statuses: number[] = [];
    for (const { sessionId } of sessions) {
      for (const bearer of [await enter(sessionId), await enter(sessionId)]) {
        for (let asked = 0; asked < 10; asked += 1) {
          statuses.push((await fixture.call("GET", `/sessions/${sessionId}`, { bearer })).status);
        }
      }
    }
    expect(statuses.filter((status) => status === 200)).toHaveLength(20);
    expect(statuses.filter((status) => status === 429)).toHaveLength(40);
    // Whoever has an account there is not held up by them.
    const [session] = sessions;
    const own = await fixture.call("GET", `/sessions/${session?.sessionId}`, {
      bearer: session?.owner ?? "",
    });
    expect(own.status).toBe(200);
  });

  it("takes nothing of the budget for signing in by entering, and enters no further than its own", async () => {
    fixture = await HttpFixture.open({ guest_entry: slowly(5), auth: slowly(1) });
    const { sessionId } = await openSession();
    for (let entered = 0; entered < 5; entered += 1) await enter(sessionId);
    const body = { session_id: sessionId, display_name: "Gus" };
    const refused = await fixture.call("POST", "/auth/guest", { body });
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, expect.any(String)]);
    const login = { email: "nobody@example.org", password: "wrong" };
    expect((await fixture.call("POST", "/auth/login", { body: login })).status).toBe(401);
  });
});
