import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AttackedService } from "../support/attacked-service.ts";

type Headers = Readonly<Record<string, string>>;

/** A browser that is a guest of a session, as far as cookies go. */
interface Browser {
  guestId: string;
  token: Headers;
  cookie: string;
  setCookie: string;
}

describe("a guest's browser that loads the page again", () => {
  let service: AttackedService;
  let owner: { id: string; headers: Headers };
  let workspaceId: string;

  beforeAll(async () => {
    service = await AttackedService.open();
    owner = await service.addUser();
    workspaceId = await service.addWorkspace(owner.id);
  });
  afterAll(() => service?.close());

  async function begin(): Promise<string> {
    const body = { workspace_id: workspaceId, title: "T" };
    return String((await service.done("POST", "/sessions", owner.headers, body)).id);
  }

  async function enter(sessionId: string, more: object = { refresh_cookie: true }) {
    const response = await fetch(`${service.api}/auth/guest`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ session_id: sessionId, display_name: "Gus", ...more }),
    });
    expect(response.status).toBe(201);
    const body = (await response.json()) as { token: string; guest: { id: string } };
    return { body, setCookie: response.headers.get("set-cookie") ?? "" };
  }

  async function join(sessionId: string): Promise<Browser> {
    const { body, setCookie } = await enter(sessionId);
    const token = { authorization: `Bearer ${body.token}` };
    const cookie = setCookie.split(";")[0] ?? "";
    return { guestId: body.guest.id, token, cookie, setCookie };
  }

  const comeBack = (sessionId: string, headers: Headers) =>
    service.call("GET", `/auth/guest?session_id=${sessionId}`, headers);

  async function expectEnded(sessionId: string, { cookie }: Browser): Promise<void> {
    const { status, code } = await comeBack(sessionId, { cookie });
    expect([status, code]).toEqual([401, "unauthorized"]);
  }

  const reads = async (sessionId: string, headers: Headers) =>
    (await service.call("GET", `/sessions/${sessionId}`, headers)).status;

  it("is the same guest, with a token that opens the session, and only if it asked for a cookie", async () => {
    const sessionId = await begin();
    const browser = await join(sessionId);
    expect(browser.setCookie).toMatch(/; Max-Age=4\d{4}; HttpOnly; SameSite=Strict$/);
    const { status, body } = await comeBack(sessionId, { cookie: `a=b; ${browser.cookie}` });
    expect(status).toBe(200);
    expect(body).toMatchObject({ guest: { id: browser.guestId, display_name: "Gus" } });
    expect(body.session_id).toBe(sessionId);
    expect(await reads(sessionId, { authorization: `Bearer ${body.token}` })).toBe(200);
    expect((await enter(sessionId, {})).setCookie).toBe("");
    const guests = await service.sql("select from guests where session_id = $1", [sessionId]);
    expect(guests).toHaveLength(2);
  });

  it("is nobody with a secret of another session, a made-up one, or none", async () => {
    const [sessionId, other] = [await begin(), await begin()];
    const { cookie } = await join(sessionId);
    const secret = cookie.split("=")[1] ?? "";
    const names = [`voice-guest-${other}=${secret}`, `voice-guest-${other}=x`, cookie];
    for (const given of names) expect((await comeBack(other, { cookie: given })).status).toBe(401);
    expect((await comeBack(other, {})).status).toBe(401);
    expect((await comeBack("none", { cookie })).status).toBe(401);
    expect((await comeBack(sessionId, { cookie, purpose: "prefetch" })).status).toBe(401);
    const kept = await service.sql<{ text: string }>("select guests::text as text from guests");
    expect(kept.map(({ text }) => text).join()).not.toContain(secret);
  });

  it("is nobody once the guest has left or was taken out", async () => {
    const sessionId = await begin();
    const [leaving, removed] = [await join(sessionId), await join(sessionId)];
    const left = await fetch(`${service.api}/auth/logout`, {
      method: "POST",
      headers: { ...leaving.token, cookie: leaving.cookie },
    });
    expect(left.headers.get("set-cookie")).toMatch(/^voice-guest-[-0-9a-f]{36}=; Max-Age=0;/);
    await expectEnded(sessionId, leaving);
    const path = `/sessions/${sessionId}/members/${removed.guestId}`;
    await service.done("DELETE", path, owner.headers);
    await expectEnded(sessionId, removed);
  });

  it("is nobody once the session takes no guests, the access is over, or the session is gone", async () => {
    const [closing, ending, going] = [await begin(), await begin(), await begin()];
    const browsers = await Promise.all([closing, ending, going].map(join));
    const [first, second, third] = browsers as [Browser, Browser, Browser];
    await service.done("PATCH", `/sessions/${closing}`, owner.headers, { guest_access: "closed" });
    await expectEnded(closing, first);
    await service.sql("update guests set expires_at = now() where id = $1", [second.guestId]);
    await expectEnded(ending, second);
    await service.done("DELETE", `/sessions/${going}`, owner.headers);
    await expectEnded(going, third);
  });
});
