import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Orders } from "../support/client-page.ts";
import { ClientSite, ClientTab } from "../support/client-tab.ts";
import { FaultProxy } from "../support/fault-proxy.ts";
import { PageWalk } from "../support/page-walk.ts";
import { call, conversationPcm, PairedDevice } from "../support/paired-device.ts";
import { until } from "../support/until.ts";
import { WholeService } from "../support/whole-service.ts";

const SPEED = 4;

function wordsOf({ finals }: ClientTab): unknown[][] {
  return finals.map(({ segment_id, transcript }) => [segment_id, transcript]);
}

describe("typescript client in a browser", () => {
  let site: ClientSite;
  let service: WholeService;
  let walk: PageWalk;
  /** One for the device and one for the viewer. */
  const proxies: FaultProxy[] = [];

  beforeAll(async () => {
    site = await ClientSite.start();
    service = await WholeService.start({ ALLOWED_ORIGINS: site.origin() });
    const port = Number(new URL(service.ready.base_url).port);
    for (const name of ["device", "viewer"]) proxies.push(await FaultProxy.start(name, port));
    walk = await PageWalk.start(site.origin());
  });
  afterAll(async () => {
    await walk?.stop();
    for (const proxy of proxies) await proxy.stop();
    await service?.stop();
    await site?.stop();
  });

  async function open(orders: Orders, origin = site.origin()): Promise<ClientTab> {
    return ClientTab.open(await walk.newPerson(), origin, orders);
  }

  /**
   * What goes to and from a tab is lost for a second before its connections are cut: a cut alone
   * loses nothing on one machine.
   */
  async function cut(tab: ClientTab, proxy: FaultProxy | undefined): Promise<void> {
    const lost = () => tab.told("retry").filter(({ reason }) => reason.includes("was lost"));
    const before = lost().length;
    const bite = await proxy?.inflict({ kind: "half-open", ms: 1_000 }, 20_000);
    expect(bite?.bytes).toBeGreaterThan(0);
    await until(() => lost().length > before, "the tab to lose its socket", 10_000);
  }

  it("device and viewer are cut; nothing is lost and nothing comes twice", async () => {
    const device = await PairedDevice.pair(service);
    await call(service.api, "PATCH", `/devices/${device.id}`, {
      token: device.token,
      body: { may_read: true },
    });
    const [base, otherBase] = proxies.map(({ port }) => `http://127.0.0.1:${port}`);
    const sender = await open({
      role: "device",
      base: base ?? "",
      key: device.key,
      deviceId: device.id,
      speed: SPEED,
    });
    await until(() => sender.told("session").length > 0, "the session", 30_000);
    device.sessionId = sender.told("session")[0]?.id ?? "";
    const viewer = await open({
      role: "viewer",
      base: otherBase ?? "",
      token: device.token,
      sessionId: device.sessionId,
    });
    await until(() => viewer.finals.length > 0, "words at the viewer", 60_000);
    await cut(sender, proxies[0]);
    expect(sender.end).toBeUndefined();
    const seenBefore = viewer.finals.length;
    await cut(viewer, proxies[1]);
    await until(() => sender.end !== undefined, "the end of the sound", 120_000);
    await device.completed();
    await until(() => viewer.end !== undefined, "the end of the session", 60_000);

    const pcm = conversationPcm();
    expect([sender.end, viewer.end]).toEqual([`${pcm.length} bytes`, "completed"]);
    const taken = sender.told("retry")[0]?.takenBytes ?? 0;
    expect([taken > 0, taken < pcm.length]).toEqual([true, true]);
    expect(viewer.finals.length).toBeGreaterThan(seenBefore);
    const audio = await fetch(`${service.api}/sessions/${device.sessionId}/audio`, {
      headers: { authorization: `Bearer ${device.token}` },
    });
    expect(
      Buffer.from(await audio.arrayBuffer())
        .subarray(44)
        .equals(pcm),
    ).toBe(true);

    const seqs = viewer.frames.flatMap((frame) => ("at" in frame ? [frame.seq] : []));
    expect(seqs).toEqual(Array.from(seqs, (_, n) => n + 1));
    const stored = (await device.segments()).map(({ id, text }) => [id, text]);
    expect(stored.length).toBeGreaterThan(8);
    expect(wordsOf(viewer)).toEqual(stored);
    // The last words may come after the device's stream has ended.
    expect(sender.finals.length).toBeGreaterThan(0);
    expect(wordsOf(sender)).toEqual(stored.slice(0, sender.finals.length));
    expect(walk.errors).toEqual([]);
  });

  it("a page of an origin that is not allowed gets nowhere, and the log says what to do", async () => {
    const device = await PairedDevice.pair(service);
    const origin = site.origin("localhost");
    const { token } = device;
    const orders = { role: "viewer", base: service.ready.base_url, token } as const;
    const viewer = await open({ ...orders, sessionId: device.id }, origin);
    await until(() => viewer.told("retry").length > 0, "the page to be refused", 30_000);
    expect(viewer.told("retry")[0]?.reason).toMatch(/live-ticket got no answer/);
    const told = (await service.log("main")).filter((line) => Object.values(line).includes(origin));
    expect(told.map(({ msg }) => msg)).toEqual([expect.stringContaining("ALLOWED_ORIGINS")]);
  });
});
