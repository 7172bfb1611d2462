import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { ApiClient, type CallOptions as ClientOptions } from "./api-client.ts";
import { scriptedPcm } from "./spoken-script.ts";
import type { TestService } from "./test-service.ts";
import { until } from "./until.ts";

const CONVERSATION = resolve(import.meta.dirname, "../../deploy/demo/conversation.wav");
export const PCM = "audio/pcm;rate=16000;channels=1;encoding=s16le";
const BYTES_PER_SECOND = 32_000;

/** The shipped conversation as 16 kHz mono PCM16. */
export function conversationPcm(): Buffer {
  return readFileSync(join(CONVERSATION)).subarray(44);
}

export interface Answer<T = Record<string, unknown>> {
  status: number;
  body: T;
  headers: Headers;
}

interface CallOptions {
  token?: string;
  key?: string;
  body?: unknown;
  bytes?: Uint8Array;
  headers?: Record<string, string>;
}

const clients = new Map<string, Promise<ApiClient>>();

/** One client per service: each answer is held against the service's own OpenAPI document. */
function clientOf(api: string): Promise<ApiClient> {
  const known = clients.get(api);
  if (known !== undefined) return known;
  const client = ApiClient.connect(api);
  clients.set(api, client);
  client.catch(() => clients.delete(api));
  return client;
}

/** One HTTP call; a connection that fails rejects, and so does an answer off the document. */
export async function call<T = Record<string, unknown>>(
  api: string,
  method: string,
  path: string,
  { token, key, body, bytes, headers = {} }: CallOptions = {},
): Promise<Answer<T>> {
  const client = await clientOf(api);
  const options: ClientOptions = { headers };
  if (token !== undefined) options.bearer = token;
  if (key !== undefined) options.apiKey = key;
  const payload = bytes ?? body;
  if (payload !== undefined) options.body = payload;
  return client.call<T>(method, path, options);
}

/** The service is away: no connection, or one that broke. */
function isOutage(error: unknown): boolean {
  return error instanceof TypeError || /document at .*: 5|terminated/.test(String(error));
}

/** The same, tried again while the service is away, as a device does. */
export async function persistently<T = Record<string, unknown>>(
  service: TestService,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<Answer<T>> {
  let answer: Answer<T> | undefined;
  await until(
    async () => {
      try {
        answer = await call<T>(service.api, method, path, options);
      } catch (error) {
        if (!isOutage(error)) throw error;
        return false;
      }
      return answer.status < 500 && answer.status !== 429;
    },
    `${method} ${path}`,
    90_000,
  );
  if (answer === undefined) throw new Error("unreachable");
  return answer;
}

export async function adminToken(service: TestService): Promise<string> {
  const { email, password } = service.ready.admin;
  const { body } = await persistently<{ token: string }>(service, "POST", "/auth/login", {
    body: { email, password },
  });
  return body.token;
}

export interface Segment {
  id: string;
  start_ms: number;
  end_ms: number;
  speaker_label: string;
  text: string;
}

export interface Chunk {
  chunk_id: string;
  chunk_sequence: number;
  transcription_status: string;
  transcription_text: string;
}

async function firstWorkspace(service: TestService, token: string) {
  const path = "/workspaces";
  const options = { token };
  const { body } = await persistently<{ items: { id: string }[] }>(service, "GET", path, options);
  return { token, workspaceId: body.items[0]?.id };
}

/** A device that paired itself, and the session it records. */
export class PairedDevice {
  readonly service: TestService;
  readonly id: string;
  readonly key: string;
  readonly token: string;
  sessionId = "";

  private constructor(service: TestService, token: string, id: string, key: string) {
    this.service = service;
    this.token = token;
    this.id = id;
    this.key = key;
  }

  /**
   * Of the administrator, or of the person whose token it is, in their first workspace; or of a
   * workspace's owner, in that one.
   */
  static async pair(
    service: TestService,
    owner?: string | { token: string; workspaceId: string },
  ): Promise<PairedDevice> {
    const { token, workspaceId } =
      typeof owner === "object"
        ? owner
        : await firstWorkspace(service, owner ?? (await adminToken(service)));
    const { body: code } = await persistently<Record<string, string>>(
      service,
      "POST",
      "/devices/pairing-codes",
      { body: { device_serial: randomUUID() } },
    );
    await persistently(service, "POST", "/devices/pair", {
      token,
      body: { code: code.code, workspace_id: workspaceId },
    });
    const { body: claimed } = await persistently<Record<string, string>>(
      service,
      "POST",
      "/devices/pair/claim-auth",
      { token: code.pairing_secret ?? "" },
    );
    return new PairedDevice(service, token, code.device_id ?? "", claimed.api_key ?? "");
  }

  async start(): Promise<string> {
    const { body } = await persistently<{ session_id: string }>(
      this.service,
      "POST",
      `/devices/${this.id}/session/start`,
      { key: this.key, body: { title: "Test" } },
    );
    this.sessionId = body.session_id;
    return this.sessionId;
  }

  /** Sends one chunk of PCM, again and again until it is answered. */
  upload(sequence: number, pcm: Uint8Array): Promise<Answer> {
    return persistently(this.service, "POST", `/sessions/${this.sessionId}/upload-audio`, {
      key: this.key,
      bytes: pcm,
      headers: { "content-type": PCM, "x-chunk-sequence": String(sequence) },
    });
  }

  async stop(lastSequence: number): Promise<void> {
    await persistently(this.service, "POST", `/devices/${this.id}/session/stop`, {
      key: this.key,
      body: { last_chunk_sequence: lastSequence },
    });
  }

  async completed(): Promise<void> {
    await until(
      async () => {
        const { body } = await this.get<{ status: string }>("");
        return body.status === "completed";
      },
      "the session to complete",
      180_000,
    );
  }

  get<T = Record<string, unknown>>(path: string): Promise<Answer<T>> {
    const { service, token, sessionId } = this;
    return persistently<T>(service, "GET", `/sessions/${sessionId}${path}`, { token });
  }

  async segments(): Promise<Segment[]> {
    const { body } = await this.get<{ items: Segment[] }>("/segments?limit=100");
    return body.items;
  }

  async chunks(): Promise<Chunk[]> {
    const { body } = await this.get<{ chunks: Chunk[] }>("/chunks");
    return body.chunks;
  }

  /** Speaker and words of each segment: what must be equal between two readings. */
  async said(): Promise<string[]> {
    return (await this.segments()).map(({ speaker_label, text }) => `${speaker_label}: ${text}`);
  }
}

/** The conversation in chunks of `seconds`. */
export function cut(seconds: number, pcm = conversationPcm()): Buffer[] {
  const size = seconds * BYTES_PER_SECOND;
  const count = Math.ceil(pcm.length / size);
  return Array.from({ length: count }, (_, n) => pcm.subarray(n * size, (n + 1) * size));
}

/** The scripted conversation, which services in the test's process know, in chunks of `seconds`. */
export function scriptedChunks(seconds: number): Buffer[] {
  return cut(seconds, scriptedPcm());
}
