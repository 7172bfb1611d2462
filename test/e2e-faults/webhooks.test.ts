import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { call, cut, PairedDevice } from "../support/paired-device.ts";
import { until } from "../support/until.ts";
import { verify, WebhookReceiver } from "../support/webhook-receiver.ts";
import { WholeService } from "../support/whole-service.ts";
import { newOwner, type WorkspaceOwner } from "../support/workspace-owner.ts";

interface Hook {
  id: string;
  secret: string;
}

describe("webhooks", () => {
  let service: WholeService;
  let owner: WorkspaceOwner;
  let device: PairedDevice;
  let receiver: WebhookReceiver;
  let hooks: string;
  beforeAll(async () => {
    receiver = await WebhookReceiver.open();
    service = WholeService.shared(inject("installation"));
    owner = await newOwner(service);
    device = await PairedDevice.pair(service, owner);
    hooks = `/workspaces/${owner.workspaceId}/webhooks`;
  });
  afterAll(async () => {
    await service.healthy();
    await receiver?.close();
  });

  const send = <T = Record<string, unknown>>(method: string, path: string, body?: unknown) =>
    call<T>(service.api, method, path, {
      token: device.token,
      ...(body === undefined ? {} : { body }),
    });

  it("webhooks: a whole session is told, signed, in order of ids, without a word of it", async () => {
    const made = await send<Hook>("POST", hooks, { url: receiver.url, description: "Test" });
    expect(made.status).toBe(201);
    const { id, secret } = made.body;
    expect((await send("POST", `${hooks}/${id}/test`)).status).toBe(201);
    await receiver.got(1);

    const sessionId = await device.start();
    const chunks = cut(2).slice(0, 8);
    for (const [sequence, pcm] of chunks.entries()) await device.upload(sequence, pcm);
    await device.stop(chunks.length - 1);
    await device.completed();
    const claim = { speaker_label: "S1", source: "self_claim" };
    expect((await send("POST", `/sessions/${sessionId}/speaker-claims`, claim)).status).toBe(200);
    const words = (await device.segments()).map(({ text }) => text);
    expect((await send("DELETE", `/sessions/${sessionId}`)).status).toBe(200);
    await receiver.got(6);
    expect(receiver.types()).toEqual([
      "webhook.test",
      "session.started",
      "session.stopped",
      "session.completed",
      "speaker.claimed",
      "session.deleted",
    ]);
    const ids = receiver.received.map(({ headers }) => String(headers["webhook-id"]));
    expect([...ids].sort()).toEqual(ids);
    for (const each of receiver.received) {
      verify(each, secret);
      for (const text of words) expect(each.body).not.toContain(text);
    }
    for (const { message } of receiver.received.slice(1)) {
      expect(message.data.session_id).toBe(sessionId);
    }

    const log = await send<{ items: { id: string; status: string }[] }>(
      "GET",
      `${hooks}/${id}/deliveries`,
    );
    expect(log.body.items.map((each) => each.id)).toEqual([...ids].reverse());
  });

  it("webhooks: what could not be delivered arrives after kill -9, under its id", async () => {
    const [hook] = (await send<{ items: Hook[] }>("GET", hooks)).body.items;
    const before = receiver.received.length;
    receiver.reply = () => ({ status: 503 });
    const { body: delivery } = await send<{ id: string }>("POST", `${hooks}/${hook?.id}/test`);
    await receiver.got(before + 1);
    await service.replaced("main", service.kill("main"));
    receiver.reply = () => ({ status: 204 });
    await receiver.got(before + 2, 120_000);
    expect(receiver.received.at(-1)?.headers["webhook-id"]).toBe(delivery.id);
    const path = `${hooks}/${hook?.id}/deliveries?status=succeeded&limit=1`;
    await until(async () => {
      const { body } = await send<{ items: { id: string }[] }>("GET", path);
      return body.items[0]?.id === delivery.id;
    }, "the log to say so");
    expect((await send("DELETE", `${hooks}/${hook?.id}`)).status).toBe(200);
    expect((await send("GET", `${hooks}/${hook?.id}`)).status).toBe(404);
  });
});
