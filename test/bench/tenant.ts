import { delay } from "../../src/base/deferred.ts";
import { conversationWav } from "../support/compat-caller.ts";
import { type Answer, call, cut, PairedDevice } from "../support/paired-device.ts";
import type { TestService } from "../support/test-service.ts";
import { newOwner } from "../support/workspace-owner.ts";

/** What the tenants of an installation share, by what somebody does who uses it. */
export const SHARED_THINGS = {
  upload: "a chunk of 2 s is stored",
  words: "a session of 2 s is read to its end",
  file: "a file of 5 s is transcribed by OpenAI's route",
  question: "a question is answered",
  summary: "a summary is written",
  export: "a transcript is exported",
  playback: "the sound of 10 s is downloaded",
  webhook: "a webhook hears that a session stopped",
} as const;
export type SharedThing = keyof typeof SHARED_THINGS;

const UPLOAD_SECONDS = 2;
const FILE_SECONDS = 5;
/** Of the session with words: many of them are read before anything is measured. */
const SOUND_SECONDS = 10;
const READY_MS = 300_000;
const POLL_MS = 200;
/** For the sessions of all workspaces to be read. */
const OPEN_MS = 600_000;

interface Account {
  token: string;
  workspaceId: string;
}

/** One workspace, in which everything of `SHARED_THINGS` can be done. */
export class Tenant {
  readonly #service: TestService;
  readonly #account: Account;
  readonly #key: string;
  /** Of a session that goes on. */
  readonly #recorder: PairedDevice;
  /** Of a session with words, and then of empty ones. */
  readonly #second: PairedDevice;
  readonly #sessionId: string;
  #sequence = 0;

  private constructor(
    service: TestService,
    account: Account,
    key: string,
    recorder: PairedDevice,
    second: PairedDevice,
  ) {
    this.#service = service;
    this.#account = account;
    this.#key = key;
    this.#recorder = recorder;
    this.#second = second;
    this.#sessionId = second.sessionId;
  }

  /** An account with that many workspaces; `hook` hears of the sessions of each. */
  static async openAll(service: TestService, workspaces: number, hook: string): Promise<Tenant[]> {
    const { token, workspaceId: first } = await newOwner(service);
    const tenants: Tenant[] = [];
    for (let n = 0; n < workspaces; n += 1) {
      const made = await send<{ id: string }>(service, "/workspaces", { name: `No ${n}` }, token);
      tenants.push(
        await Tenant.#open(service, { token, workspaceId: n > 0 ? made.id : first }, hook),
      );
    }
    for (const tenant of tenants) await poll(() => tenant.#isRead(), "a session's end", OPEN_MS);
    return tenants;
  }

  static async #open(service: TestService, account: Account, hook: string): Promise<Tenant> {
    const { token, workspaceId } = account;
    const [recorder, second] = [
      await PairedDevice.pair(service, account),
      await PairedDevice.pair(service, account),
    ];
    await recorder.start();
    await second.start();
    const [sound = Buffer.alloc(0)] = cut(SOUND_SECONDS);
    await second.upload(0, sound);
    await second.stop(0);
    const scopes = ["sessions:read", "sessions:write", "transcribe"];
    const wanted = { workspace_id: workspaceId, name: "Program", scopes };
    const { key } = await send<{ key: string }>(service, "/api-keys", wanted, token);
    const subscription = { url: hook, event_types: ["session.stopped"] };
    await send(service, `/workspaces/${workspaceId}/webhooks`, subscription, token);
    return new Tenant(service, account, key, recorder, second);
  }

  /**
   * Does it once; resolves when it is done. Throws when it is refused or fails.
   *
   * @param heard resolves when the webhook was told of that session
   */
  async use(thing: SharedThing, heard: (sessionId: string) => Promise<void>): Promise<void> {
    const session = `/sessions/${this.#sessionId}`;
    const uses: Readonly<Record<SharedThing, () => Promise<unknown>>> = {
      upload: () => this.#upload(),
      words: () => this.#readSession(),
      file: () => this.#file(),
      question: () =>
        this.#send(`${session}/hirag-query`, { query: "Who sells the garden chairs?" }),
      summary: () => this.#summary(session),
      export: () => this.#get(`${session}/transcript?format=md`),
      playback: () => this.#get(`${session}/audio`),
      webhook: async () => heard(await this.#startAndStop()),
    };
    await uses[thing]();
  }

  async #upload(): Promise<void> {
    const sequence = this.#sequence;
    this.#sequence += 1;
    const { sessionId, key } = this.#recorder;
    const headers = { "content-type": "audio/wav", "x-chunk-sequence": String(sequence) };
    const bytes = conversationWav(UPLOAD_SECONDS);
    const path = `/sessions/${sessionId}/upload-audio`;
    expectOk(await call(this.#service.api, "POST", path, { key, bytes, headers }));
  }

  async #readSession(): Promise<void> {
    const sessionId = await this.#second.start();
    const [sound = Buffer.alloc(0)] = cut(UPLOAD_SECONDS);
    await this.#second.upload(0, sound);
    await this.#second.stop(0);
    await poll(() => this.#isRead(sessionId), "a session's words", READY_MS);
  }

  async #file(): Promise<void> {
    const form = new FormData();
    form.set("model", "whisper-1");
    form.set("file", new Blob([new Uint8Array(conversationWav(FILE_SECONDS))]), "meeting.wav");
    const url = `${this.#service.api}/compat/openai/v1/audio/transcriptions`;
    const headers = { authorization: `Bearer ${this.#key}` };
    const answer = await fetch(url, { method: "POST", body: form, headers });
    await answer.text();
    expectOk(answer);
  }

  async #summary(session: string): Promise<void> {
    const wanted = { summary_type: "brief" };
    const { id } = await this.#send<{ id: string }>(`${session}/summaries`, wanted);
    const isDone = async (): Promise<boolean> => {
      const { status } = await this.#get<{ status: string }>(`/jobs/${id}`);
      if (status === "failed") throw new Error("The summary failed.");
      return status === "completed";
    };
    await poll(isDone, "a summary", READY_MS);
  }

  async #startAndStop(): Promise<string> {
    const sessionId = await this.#second.start();
    await this.#second.stop(0);
    return sessionId;
  }

  async #isRead(sessionId = this.#sessionId): Promise<boolean> {
    const { status } = await this.#get<{ status: string }>(`/sessions/${sessionId}`);
    return status === "completed";
  }

  async #get<T>(path: string): Promise<T> {
    const { token } = this.#account;
    return expectOk(await call<T>(this.#service.api, "GET", path, { token })).body;
  }

  #send<T>(path: string, body: object): Promise<T> {
    return send<T>(this.#service, path, body, this.#account.token);
  }
}

/** As programs do: what is measured is not how many questions about it the service answers. */
async function poll(isDone: () => Promise<boolean>, what: string, ms: number): Promise<void> {
  const deadline = performance.now() + ms;
  while (!(await isDone())) {
    if (performance.now() > deadline) throw new Error(`Waited ${ms} ms in vain: ${what}.`);
    await delay(POLL_MS);
  }
}

async function send<T>(
  service: TestService,
  path: string,
  body: object,
  token: string,
): Promise<T> {
  return expectOk((await call<T>(service.api, "POST", path, { token, body })) as Answer<T>).body;
}

function expectOk<A extends { status: number }>(answer: A): A {
  if (answer.status < 300) return answer;
  throw new Error(`The answer is ${answer.status}.`);
}
