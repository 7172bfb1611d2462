import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { AttackedService, type Person } from "../../support/attacked-service.ts";
import { until } from "../../support/until.ts";
import { WebhookReceiver } from "../../support/webhook-receiver.ts";

describe("a webhook whose maker has left", () => {
  let service: AttackedService;
  let receiver: WebhookReceiver;
  let admin: Person;
  let founder: Person;
  let leaver: Person;
  let workspaceId: string;

  beforeAll(async () => {
    service = await AttackedService.open({ WEBHOOK_ALLOW_PRIVATE: "1" });
    receiver = await WebhookReceiver.open();
    admin = await service.addUser("admin");
  });
  afterAll(async () => {
    await service?.close();
    await receiver?.close();
  });

  beforeEach(async () => {
    founder = await service.addUser();
    leaver = await service.addUser();
    workspaceId = await service.addWorkspace(founder.id);
    await service.join(workspaceId, leaver.id, "owner");
  });

  const hooks = () => `/workspaces/${workspaceId}/webhooks`;

  /** Returns the path of the webhook. */
  async function hookOf(headers: Person["headers"], at = "/leaver"): Promise<string> {
    const body = { url: receiver.url + at, event_types: ["session.started"] };
    const made = await service.done("POST", hooks(), headers, body);
    return `${hooks()}/${made.id}`;
  }

  /** Something happens of which webhooks are told. */
  const happen = () =>
    service.done("POST", "/sessions", founder.headers, { workspace_id: workspaceId });

  const sent = (at: string) => receiver.received.filter(({ path }) => path === `/hook${at}`).length;

  /** What is sent to the second webhook, made later by who stays, passed the first one. */
  async function passed(): Promise<void> {
    const at = `/${crypto.randomUUID()}`;
    await hookOf(founder.headers, at);
    await happen();
    await until(() => sent(at) === 1, "the message of who stays");
  }

  const member = () => `/workspaces/${workspaceId}/members/${leaver.id}`;
  const ends: Record<string, () => Promise<unknown>> = {
    disabled: () => service.done("POST", `/users/${leaver.id}/disable`, admin.headers),
    "removed from the workspace": () => service.done("DELETE", member(), founder.headers),
    "made a member": () => service.done("PATCH", member(), founder.headers, { role: "member" }),
  };

  it.each(Object.keys(ends))("%s: nothing is sent, and the log says why", async (end) => {
    const at = `/${crypto.randomUUID()}`;
    const hook = await hookOf(leaver.headers, at);
    await happen();
    await until(() => sent(at) === 1, "the first message");
    await ends[end]?.();
    await happen();
    await passed();
    expect(sent(at)).toBe(1);
    const shown = await service.done("GET", hook, founder.headers);
    expect(shown).toMatchObject({ enabled: true, suspended: true, created_by: leaver.id });
    const { items } = await service.done(
      "GET",
      `${hook}/deliveries?status=pending`,
      founder.headers,
    );
    expect(items).toMatchObject([{ suspended: true }, { suspended: true }]);
    const tested = await service.call("POST", `${hook}/test`, founder.headers);
    expect([tested.status, tested.code]).toEqual([409, "conflict"]);
  });

  it("adopted by an owner: what waited is sent", async () => {
    const at = `/${crypto.randomUUID()}`;
    const hook = await hookOf(leaver.headers, at);
    await ends["removed from the workspace"]?.();
    await happen();
    await passed();
    expect(sent(at)).toBe(0);
    const admins = await service.call("POST", `${hook}/adopt`, admin.headers);
    expect(admins.code).toBe("elevation_required");
    expect((await service.call("POST", `${hook}/adopt`, leaver.headers)).status).toBe(403);
    const adopted = await service.done("POST", `${hook}/adopt`, founder.headers);
    expect(adopted).toMatchObject({ suspended: false, created_by: founder.id });
    await until(() => sent(at) === 2, "what waited");
  });

  it("of a key of theirs: suspended with the key", async () => {
    const body = { workspace_id: workspaceId, name: "Hooks", scopes: ["webhooks"] };
    const made = await service.done("POST", "/api-keys", leaver.headers, body);
    const hook = await hookOf({ "x-api-key": String(made.key) });
    const isSuspended = async () =>
      (await service.done("GET", hook, founder.headers)).suspended === true;
    expect(await isSuspended()).toBe(false);
    await ends["made a member"]?.();
    expect(await isSuspended()).toBe(true);
    await service.done("POST", `/api-keys/${made.id}/adopt`, founder.headers);
    expect(await isSuspended()).toBe(false);
    await service.done("DELETE", `/api-keys/${made.id}`, founder.headers);
    expect(await isSuspended()).toBe(true);
  });

  it("who leads another's webhook elsewhere is its maker", async () => {
    const hook = await hookOf(founder.headers);
    await service.done("PATCH", hook, leaver.headers, { url: `${receiver.url}/mine` });
    await ends["removed from the workspace"]?.();
    expect(await service.done("GET", hook, founder.headers)).toMatchObject({ suspended: true });
    const edit = { description: "Archive" };
    await service.done("PATCH", hook, founder.headers, edit);
    expect(await service.done("GET", hook, founder.headers)).toMatchObject({ suspended: true });
    await service.done("PATCH", hook, founder.headers, { url: `${receiver.url}/ours` });
    expect(await service.done("GET", hook, founder.headers)).toMatchObject({ suspended: false });
  });
});
