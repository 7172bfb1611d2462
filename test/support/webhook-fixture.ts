import type { UserPrincipal } from "../../src/access/principal.ts";
import { silentLog } from "../../src/base/log.ts";
import { Ceilings } from "../../src/postgres/ceilings.ts";
import type { Route } from "../../src/rest/route.ts";
import { ElevationStore } from "../../src/tenancy/audit/elevation-store.ts";
import { AddressGuard } from "../../src/tenancy/webhooks/address-guard.ts";
import { createWebhooks } from "../../src/tenancy/webhooks/feature.ts";
import { DeliveryQueueStore } from "../../src/tenancy/webhooks/queue-store.ts";
import { WebhookSecrets } from "../../src/tenancy/webhooks/secrets.ts";
import { WebhookSender, type WebhookSenderOptions } from "../../src/tenancy/webhooks/sender.ts";
import { ManualClock, runtimeBy } from "./manual-clock.ts";
import { type Call, callRoute, jsonBody } from "./route-call.ts";
import { SessionFixture } from "./session-fixture.ts";
import { SessionStory } from "./session-story.ts";

export interface Delivery {
  id: string;
  event_type: string;
  status: string;
  attempt_count: number;
  attempts: { at: string; status_code?: number; error?: string }[];
  next_attempt_at?: string;
}

/** Webhooks over a real database, with senders on a clock that the test moves. */
export class WebhookFixture {
  readonly fixture: SessionFixture;
  readonly clock = new ManualClock(Date.now());
  readonly queue: DeliveryQueueStore;
  readonly secrets = new WebhookSecrets(new Uint8Array(32).fill(3));
  readonly guard = new AddressGuard({ allowPrivate: true });
  readonly routes: readonly Route[];
  #senders: WebhookSender[] = [];

  private constructor(fixture: SessionFixture) {
    this.fixture = fixture;
    this.queue = new DeliveryQueueStore(fixture.pool);
    const { clock, guard: endpoints, secrets } = this;
    const { context, workspaces } = fixture;
    const elevations = new ElevationStore(fixture.pool);
    const parts = { workspaces, elevations, endpoints, secrets };
    const ceilings = new Ceilings({ webhooks_per_workspace: 20 });
    this.routes = createWebhooks({ ...context, clock, ceilings }, parts).routes;
  }

  static async open(): Promise<WebhookFixture> {
    return new WebhookFixture(await SessionFixture.open());
  }

  async close(): Promise<void> {
    await this.stopSenders();
    await this.fixture.close();
  }

  sender(parts: Partial<WebhookSenderOptions> = {}): WebhookSender {
    const { queue, secrets, guard, clock } = this;
    const sender = new WebhookSender({
      queue,
      secrets,
      guard,
      runtime: runtimeBy(clock),
      log: silentLog,
      parallel: 8,
      every: 10,
      timeout: 5_000,
      lease: 60_000,
      grace: 100,
      ...parts,
    });
    this.#senders.push(sender);
    sender.runner.start();
    return sender;
  }

  async stopSenders(): Promise<void> {
    await Promise.all(this.#senders.map(({ runner }) => runner.stop()));
    this.#senders = [];
  }

  /** A session in a workspace of its own, told by its journal. */
  async session(): Promise<{ owner: UserPrincipal; workspaceId: string; story: SessionStory }> {
    const { device, owner } = await this.fixture.ownDevice();
    const sessionId = await this.fixture.start(device, { title: "T" });
    const story = await SessionStory.open(this.fixture, sessionId);
    return { owner, workspaceId: device.workspaceId, story };
  }

  async call(id: string, call: Call): Promise<Record<string, unknown>> {
    return jsonBody(await callRoute(this.routes, id, call));
  }

  async add(
    owner: UserPrincipal,
    workspaceId: string,
    body: { url: string; event_types?: string[]; enabled?: boolean },
  ): Promise<{ id: string; secret: string }> {
    const made = await this.call("createWebhook", {
      principal: owner,
      params: { id: workspaceId },
      body,
    });
    return { id: String(made.id), secret: String(made.secret) };
  }

  async log(owner: UserPrincipal, workspaceId: string, webhookId: string): Promise<Delivery[]> {
    const page = await this.call("listWebhookDeliveries", {
      principal: owner,
      params: { id: workspaceId, webhook_id: webhookId },
    });
    return page.items as Delivery[];
  }

  async webhook(owner: UserPrincipal, workspaceId: string, webhookId: string) {
    const params = { id: workspaceId, webhook_id: webhookId };
    return this.call("getWebhook", { principal: owner, params });
  }
}
