import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HttpFixture } from "../support/http-fixture.ts";

/** The rules of RFC 9110 §13 over a device, which changes by edits and by itself. */
describe("front preconditions", () => {
  let fixture: HttpFixture;
  let bearer: string;
  let path: string;
  let key: string;

  beforeAll(async () => {
    fixture = await HttpFixture.open();
    const { id, email } = await fixture.accounts.addUser();
    bearer = await fixture.signIn(email);
    const workspace_id = await fixture.accounts.addWorkspace(id);
    const made = await fixture.call("POST", "/devices", { bearer, body: { workspace_id } });
    path = `/devices/${made.body.device_id}`;
    key = String(made.body.api_key);
  });

  afterAll(() => fixture.close());

  const tagNow = async () =>
    String((await fixture.call("GET", path, { bearer })).headers.get("etag"));
  const rename = (name: string, match: string) =>
    fixture.call("PATCH", path, { bearer, body: { name }, headers: { "if-match": match } });

  it("edits what is as the caller knows it, and tells the new tag", async () => {
    const before = await tagNow();
    const renamed = await rename("one", before);
    expect(renamed.status).toBe(200);
    expect(renamed.headers.get("etag")).not.toBe(before);
    expect(renamed.headers.get("etag")).toBe(await tagNow());
    const stale = await rename("two", before);
    expect([stale.status, stale.headers.get("x-error-code")]).toEqual([412, "precondition_failed"]);
    expect((await rename("two", "*")).status).toBe(200);
    expect(
      (await fixture.call("DELETE", path, { bearer, headers: { "if-match": before } })).status,
    ).toBe(412);
  });

  it("takes the weak form that a proxy which compresses makes of a tag", async () => {
    const weak = `W/${await tagNow()}`;
    const known = { "if-none-match": `"other", ${weak}` };
    const same = await fixture.raw("GET", path, { bearer, headers: known });
    expect([same.status, same.headers.get("etag")]).toEqual([304, weak]);
    expect((await rename("weak", `"other", ${weak}`)).status).toBe(200);
    expect((await rename("weaker", weak)).status).toBe(412);
  });

  it("lets one of many edits at once through", async () => {
    const tag = await tagNow();
    const names = Array.from({ length: 6 }, (_, n) => `rival ${n}`);
    const statuses = await Promise.all(names.map(async (name) => (await rename(name, tag)).status));
    expect(statuses.toSorted()).toEqual([200, 412, 412, 412, 412, 412]);
  });

  it("does not take a heartbeat for an edit, but for news", async () => {
    const before = await tagNow();
    const known = { "if-none-match": before };
    const same = await fixture.raw("GET", path, { bearer, headers: known });
    expect([same.status, await same.text()]).toEqual([304, ""]);
    expect(same.headers.get("etag")).toBe(before);
    expect(same.headers.get("content-type")).toBeNull();
    await fixture.call("POST", `${path}/heartbeat`, { key, body: { battery_percent: 7 } });
    expect((await fixture.call("GET", path, { bearer, headers: known })).status).toBe(200);
    expect((await rename("after", before)).status).toBe(200);
  });

  it("comes after the body's check, and refuses where nothing has a tag", async () => {
    const headers = { "if-match": '"x"' };
    const bad = await fixture.call("PATCH", path, { bearer, body: { name: 1 }, headers });
    expect(bad.status).toBe(400);
    const { id } = await fixture.accounts.addUser();
    const mine = await fixture.call("GET", "/workspaces", { bearer });
    const [workspace] = mine.body.items as { id: string }[];
    const member = `/workspaces/${workspace?.id}/members/${id}`;
    expect((await fixture.call("DELETE", member, { bearer, headers })).status).toBe(412);
    const any = { "if-match": "*" };
    expect((await fixture.call("DELETE", member, { bearer, headers: any })).status).toBe(404);
  });
});
