import { randomBytes } from "node:crypto";
import type { ApiClient } from "./api-client.ts";
import { PCM } from "./paired-device.ts";
import { until } from "./until.ts";

type Headers = Readonly<Record<string, string>>;
type Body = Record<string, unknown>;

const PASSWORD = "correct horse battery staple";
const EVERY_SCOPE = [
  "sessions:read",
  "sessions:write",
  "sessions:share",
  "query",
  "export",
  "webhooks",
  "transcribe",
];

/** Everybody who acts for a tenant. */
export const ACTORS = ["user", "moderator", "guest", "device", "key"] as const;

export type Actor = (typeof ACTORS)[number];

/**
 * One user with a workspace and a real recorded session in it, with a word of
 * its own, found nowhere else, in every text that there is.
 */
export class Tenant {
  readonly #client: ApiClient;
  /** What no other tenant may ever read. */
  readonly secrets: string[] = [];
  readonly ids: Record<string, string> = {};
  readonly callers = {} as Record<Actor, Headers>;
  /** The word in the session's transcript. */
  readonly spokenWord: string;
  /** What the recogniser is to expect. */
  readonly vocabulary: string;

  private constructor(client: ApiClient) {
    this.#client = client;
    this.spokenWord = this.#secret();
    this.vocabulary = this.#secret();
  }

  /** `admin` is who makes the accounts; `speech` are chunks of PCM. */
  static async open(client: ApiClient, admin: Headers, speech: Buffer[]): Promise<Tenant> {
    const tenant = new Tenant(client);
    await tenant.#addPeople(admin);
    await tenant.#addThings();
    await tenant.#record(speech);
    await tenant.#derive();
    return tenant;
  }

  /** The answer to this tenant's user, which is no refusal. */
  async call(method: string, path: string, body?: unknown, headers = this.callers.user) {
    const options = body === undefined ? { headers } : { headers, body };
    const answer = await this.#client.call<Body>(method, path, options);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  }

  #secret(): string {
    const word = `w${[...randomBytes(12)].map((byte) => "bdfgklmnprstvz".charAt(byte % 14)).join("")}`;
    this.secrets.push(word);
    return word;
  }

  async #addPeople(admin: Headers): Promise<void> {
    const user = await this.#addUser(admin, "participant");
    const moderator = await this.#addUser(admin, "moderator");
    this.callers.user = user.headers;
    this.callers.moderator = moderator.headers;
    this.ids.user_id = user.id;
    const { id } = await this.call("POST", "/workspaces", { name: this.#secret() });
    this.ids.workspace_id = String(id);
    await this.call("POST", `/workspaces/${id}/members`, { user_id: moderator.id });
    const { items } = await this.call("GET", "/invitations", undefined, moderator.headers);
    const [invitation] = items as { id: string }[];
    const accept = `/invitations/${invitation?.id}/accept`;
    await this.call("POST", accept, undefined, moderator.headers);
  }

  async #addUser(admin: Headers, role: string): Promise<{ id: string; headers: Headers }> {
    const email = `${this.#secret()}@example.org`;
    const account = { email, password: PASSWORD, name: this.#secret(), role };
    const { id } = await this.call("POST", "/users", account, admin);
    const { token } = await this.call("POST", "/auth/login", { email, password: PASSWORD }, {});
    return { id: String(id), headers: { authorization: `Bearer ${String(token)}` } };
  }

  /** Two of each, so that every list has a next page. */
  async #addThings(): Promise<void> {
    const { workspace_id } = this.ids;
    for (const _each of [1, 2]) {
      const texts = () => ({ name: this.#secret(), description: this.#secret() });
      const workshop = await this.call("POST", "/workshops", { workspace_id, ...texts() });
      this.ids.workshop_id ??= String(workshop.id);
      const characters = `/workshops/${this.ids.workshop_id}/characters`;
      this.ids.character_id = String((await this.call("POST", characters, texts())).id);
      await this.#addWebhook();
      const scopes = { workspace_id, name: this.#secret(), scopes: EVERY_SCOPE };
      const key = await this.call("POST", "/api-keys", scopes);
      this.ids.api_key_id = String(key.id);
      this.callers.key = { "x-api-key": String(key.key) };
      await this.#addDevice();
    }
  }

  async #addWebhook(): Promise<void> {
    const webhooks = `/workspaces/${this.ids.workspace_id}/webhooks`;
    const body = { url: `http://127.0.0.1:9/${this.#secret()}`, description: this.#secret() };
    this.ids.webhook_id = String((await this.call("POST", webhooks, body)).id);
    const delivery = await this.call("POST", `${webhooks}/${this.ids.webhook_id}/test`);
    this.ids.delivery_id = String(delivery.id);
  }

  async #addDevice(): Promise<void> {
    const { workspace_id } = this.ids;
    const texts = { name: this.#secret(), model: this.#secret() };
    const made = await this.call("POST", "/devices", { workspace_id, ...texts });
    this.ids.device_id = String(made.device_id);
    this.callers.device = { "x-api-key": String(made.api_key) };
    const telemetry = { firmware: this.#secret(), note: this.#secret() };
    await this.call("POST", `/devices/${made.device_id}/heartbeat`, telemetry, this.callers.device);
  }

  async #record(speech: Buffer[]): Promise<void> {
    const { device_id, workshop_id } = this.ids;
    const other = { workspace_id: this.ids.workspace_id, title: this.#secret() };
    await this.call("POST", "/sessions", other);
    const { device } = this.callers;
    const begin = { title: this.#secret(), workshop_id, vocabulary: [this.vocabulary] };
    const started = await this.call("POST", `/devices/${device_id}/session/start`, begin, device);
    this.ids.session_id = String(started.session_id);
    for (const [sequence, pcm] of speech.entries()) {
      const headers = { ...device, "content-type": PCM, "x-chunk-sequence": String(sequence) };
      await this.call("POST", `${this.#session}/upload-audio`, pcm, headers);
    }
    await this.call("POST", `/devices/${device_id}/session/stop`, {}, device);
    await until(
      async () => (await this.call("GET", this.#session)).status === "completed",
      "the session to complete",
      180_000,
    );
    const { transcription_job_id } = await this.call("GET", this.#session);
    this.ids.job_id = String(transcription_job_id);
  }

  get #session(): string {
    return `/sessions/${this.ids.session_id}`;
  }

  /** What comes of a recording: corrected words, claims, concerns, a summary, a graph. */
  async #derive(): Promise<void> {
    const { items } = await this.call("GET", `${this.#session}/segments?limit=100`);
    const segments = items as { id: string; text: string }[];
    for (const { text } of segments) if (text.split(" ").length > 3) this.secrets.push(text);
    const [first] = segments;
    if (first === undefined) throw new Error("Nothing was recognised.");
    this.ids.segment_id = first.id;
    this.ids.chunk_sequence = "0";
    const text = `${first.text}. I will write the report about ${this.spokenWord} on Monday.`;
    await this.call("PATCH", `${this.#session}/segments/${first.id}`, { text });
    await this.#invite();
    for (const _each of [1, 2]) {
      const concern = { category: "other", description: this.#secret(), segment_id: first.id };
      const { id } = await this.call("POST", `${this.#session}/concerns`, concern);
      this.ids.concern_id = String(id);
      await this.call("PATCH", `/concerns/${id}`, { resolution: this.#secret() });
    }
    await this.#summarise();
    await this.#findItem();
    await this.#findEntities();
  }

  async #findItem(): Promise<void> {
    await this.#made("action_items");
    const { items } = await this.call("GET", `${this.#session}/summaries`);
    const notes = items as { summary_type: string; items: { id?: string }[] }[];
    const found = notes.find((each) => each.summary_type === "action_items");
    this.ids.item_id = found?.items[0]?.id ?? "";
    if (this.ids.item_id === "") throw new Error("No action item was found.");
  }

  async #invite(): Promise<void> {
    const guest = { session_id: this.ids.session_id, display_name: this.#secret() };
    const { token } = await this.call("POST", "/auth/guest", guest, {});
    this.callers.guest = { authorization: `Bearer ${String(token)}` };
    const claim = { speaker_label: "S1", source: "self_claim" };
    await this.call("POST", `${this.#session}/speaker-claims`, claim, this.callers.guest);
  }

  async #summarise(): Promise<void> {
    this.ids.summarisation_id = await this.#made("detailed");
  }

  /** Asks for a summary, and waits until it is there; the id of its job. */
  async #made(summary_type: string): Promise<string> {
    const { id } = await this.call("POST", `${this.#session}/summaries`, { summary_type });
    await until(
      async () => (await this.call("GET", `/jobs/${id}`)).status === "completed",
      "the summary",
      60_000,
    );
    return String(id);
  }

  async #findEntities(): Promise<void> {
    const path = `/workspaces/${this.ids.workspace_id}/graph`;
    const { entities } = await this.call("GET", path);
    const [first, second] = entities as { id: string }[];
    this.ids.entity_id = first?.id ?? "";
    this.ids.other_entity_id = second?.id ?? this.ids.entity_id;
  }
}
