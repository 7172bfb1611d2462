import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { AppFixture } from "./app-fixture.ts";
import { type Answer, adminToken, call, PCM, scriptedChunks } from "./paired-device.ts";

export const PASSWORD = "a long enough one";
const CHUNK_SECONDS = 2;
/** The first turns of three voices. */
const CHUNKS = 11;

export interface Person {
  id: string;
  email: string;
  token: string;
}

export interface Device {
  id: string;
  key: string;
  secret: string;
}

export interface Recording {
  sessionId: string;
  jobId: string;
}

interface Options {
  token?: string | undefined;
  key?: string | undefined;
  body?: unknown;
  bytes?: Uint8Array;
  headers?: Record<string, string>;
}

/** What a member of a body must be; the answer says whether a value is. */
export type Kind = (value: unknown) => boolean;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

export const text: Kind = (value) => typeof value === "string";
export const number: Kind = (value) => typeof value === "number" && Number.isFinite(value);
export const flag: Kind = (value) => typeof value === "boolean";
export const list: Kind = (value) => Array.isArray(value);
export const int32: Kind = (value) =>
  Number.isInteger(value) && (value as number) === ((value as number) | 0);
export const uuid: Kind = (value) => text(value) && UUID.test(value as string);
export const time: Kind = (value) => text(value) && TIME.test(value as string);

/** The members that must be there and may be there are right, none is null, and there is no other. */
export function expectMembers(
  body: unknown,
  required: Readonly<Record<string, Kind>>,
  optional: Readonly<Record<string, Kind>> = {},
): void {
  const members = body as Record<string, unknown>;
  const kinds = { ...required, ...optional };
  const wrong = Object.entries(members).filter(([name, value]) => kinds[name]?.(value) !== true);
  const missing = Object.keys(required).filter((name) => !(name in members));
  expect({ wrong: Object.fromEntries(wrong), missing }).toEqual({ wrong: {}, missing: [] });
}

/** The error body of the interface, with this status, and this code when one is given. */
export function expectProblem(answer: Answer<unknown>, status: number, code?: string): void {
  const given = answer.headers.get("x-error-code");
  expect([answer.status, given]).toEqual([status, code ?? given]);
  expect(given).toMatch(/^[a-z_]+$/);
  expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
  expectMembers(answer.body, { success: (value) => value === false, message: text });
  expect((answer.body as { message: string }).message).toMatch(/\S.{8,}/);
}

/** Waits without flooding the service with questions. */
export async function eventually(
  holds: () => Promise<boolean>,
  what: string,
  ms = 60_000,
): Promise<void> {
  const deadline = performance.now() + ms;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`Waited ${ms} ms in vain: ${what}.`);
    await new Promise((wake) => setTimeout(wake, 100));
  }
}

/**
 * One running service with a person of every kind: the owner of a workspace and of a device in
 * it, a member and a moderator of that workspace, a stranger, and an administrator who has no
 * tie to any of it.
 */
export class ConformanceFixture {
  readonly service: AppFixture;
  admin: Person = nobody();
  owner: Person = nobody();
  member: Person = nobody();
  moderator: Person = nobody();
  stranger: Person = nobody();
  workspaceId = "";
  device: Device = { id: "", key: "", secret: "" };
  /** What `record` made last. */
  sessionId = "";
  jobId = "";

  readonly #isShared: boolean;

  private constructor(service: AppFixture, isShared: boolean) {
    this.service = service;
    this.#isShared = isShared;
  }

  /** Without `env` at the service that the files of this process share. */
  static async open(env?: Readonly<Record<string, string>>): Promise<ConformanceFixture> {
    const isShared = env === undefined;
    const service = await (isShared ? AppFixture.shared() : AppFixture.start(env));
    const fixture = new ConformanceFixture(service, isShared);
    try {
      await fixture.#people();
      fixture.device = await fixture.pair();
    } catch (error) {
      await fixture.close();
      throw error;
    }
    return fixture;
  }

  async close(): Promise<void> {
    if (!this.#isShared) await this.service.stop();
  }

  send<T = Record<string, unknown>>(
    method: string,
    path: string,
    { token, key, ...options }: Options = {},
  ): Promise<Answer<T>> {
    const who = {
      ...(token === undefined ? {} : { token }),
      ...(key === undefined ? {} : { key }),
    };
    return call<T>(this.service.api, method, path, { ...options, ...who });
  }

  /** The body of an answer that has to have this status. */
  async done<T = Record<string, unknown>>(
    method: string,
    path: string,
    options: Options = {},
    status = 200,
  ): Promise<T> {
    const answer = await this.send<T>(method, path, options);
    expect([answer.status, answer.status === status ? "" : answer.body]).toEqual([status, ""]);
    return answer.body;
  }

  async #people(): Promise<void> {
    const { email } = this.service.ready.admin;
    const token = await adminToken(this.service);
    const { id } = await this.done<{ id: string }>("GET", "/auth/me", { token });
    this.admin = { id, email, token };
    // Whatever is allowed to this one is so here alone.
    this.admin = await this.person("admin");
    this.owner = await this.person("participant");
    this.member = await this.person("participant");
    this.moderator = await this.person("moderator");
    this.stranger = await this.person("participant");
    const made = await this.done<{ id: string }>(
      "POST",
      "/workspaces",
      { token: this.owner.token, body: { name: "Conformance" } },
      201,
    );
    this.workspaceId = made.id;
    await this.join(this.member);
    await this.join(this.moderator);
  }

  /** A user who has just signed in. */
  async person(role: string): Promise<Person> {
    const email = `${role}-${randomUUID()}@example.org`;
    const { token } = this.admin;
    const body = { email, password: PASSWORD, role, name: role };
    const { id } = await this.done<{ id: string }>("POST", "/users", { token, body }, 201);
    const login = await this.done<{ token: string }>("POST", "/auth/login", {
      body: { email, password: PASSWORD },
    });
    return { id, email, token: login.token };
  }

  /** By the owner, into the workspace. */
  join(person: Person): Promise<void> {
    return this.admit(`/workspaces/${this.workspaceId}`, person);
  }

  /** By the owner, who invites, and the person, who accepts. */
  async admit(place: string, { id, token }: Person, role: object = {}): Promise<void> {
    const options = { token: this.owner.token, body: { user_id: id, ...role } };
    const invited = await this.done("POST", `${place}/members`, options, 202);
    const link = expect.stringMatching(/^http.*\/#\/invitations$/);
    expect(invited).toEqual({ status: "invited", is_mailed: false, link });
    const { items } = await this.done<{ items: { id: string }[] }>("GET", "/invitations", {
      token,
    });
    await this.done("POST", `/invitations/${items[0]?.id}/accept`, { token });
  }

  async guest(sessionId = this.sessionId): Promise<Person> {
    const body = { session_id: sessionId, display_name: "Gus" };
    const entered = await this.done<{ token: string; guest: { id: string } }>(
      "POST",
      "/auth/guest",
      { body },
      201,
    );
    return { id: entered.guest.id, email: "", token: entered.token };
  }

  /** A device that shows a code and waits. */
  async publish(): Promise<Record<string, string>> {
    const body = { device_serial: randomUUID() };
    return this.done<Record<string, string>>("POST", "/devices/pairing-codes", { body }, 201);
  }

  /** A device of the owner's, in the workspace. */
  async pair(): Promise<Device> {
    const shown = await this.publish();
    const body = { code: shown.code, workspace_id: this.workspaceId };
    await this.done("POST", "/devices/pair", { token: this.owner.token, body });
    const secret = shown.pairing_secret ?? "";
    const claimed = await this.done<{ api_key: string }>("POST", "/devices/pair/claim-auth", {
      token: secret,
    });
    return { id: shown.device_id ?? "", key: claimed.api_key, secret };
  }

  /** A session that the device records from now on. */
  async start(device = this.device): Promise<string> {
    const path = `/devices/${device.id}/session/start`;
    const started = await this.done<{ session_id: string }>("POST", path, { key: device.key }, 201);
    return started.session_id;
  }

  upload(sessionId: string, sequence: number, bytes: Uint8Array, key = this.device.key) {
    return this.send("POST", `/sessions/${sessionId}/upload-audio`, {
      key,
      bytes,
      headers: { "content-type": PCM, "x-chunk-sequence": String(sequence) },
    });
  }

  async stop(device = this.device): Promise<void> {
    await this.done("POST", `/devices/${device.id}/session/stop`, { key: device.key });
  }

  /** The first turns of the shipped conversation, recorded and recognised. */
  async record(count = CHUNKS): Promise<Recording> {
    const sessionId = await this.start();
    for (const [sequence, pcm] of scriptedChunks(CHUNK_SECONDS).slice(0, count).entries()) {
      expect((await this.upload(sessionId, sequence, pcm)).status).toBe(201);
    }
    await this.stop();
    const path = `/sessions/${sessionId}`;
    const { token } = this.owner;
    let record: Record<string, string> = {};
    await eventually(
      async () => {
        record = await this.done<Record<string, string>>("GET", path, { token });
        return record.status === "completed";
      },
      "the session to complete",
      180_000,
    );
    this.sessionId = sessionId;
    this.jobId = record.transcription_job_id ?? "";
    return { sessionId, jobId: this.jobId };
  }

  /** The summary of a session, made. */
  async summary(sessionId = this.sessionId): Promise<string> {
    const { token } = this.owner;
    const body = { summary_type: "brief" };
    const path = `/sessions/${sessionId}/summaries`;
    const { id } = await this.done<{ id: string }>("POST", path, { token, body }, 202);
    await this.jobDone(`/jobs/${id}`, token);
    return id;
  }

  async jobDone(path: string, token = this.admin.token): Promise<void> {
    const status = async () => (await this.done<{ status: string }>("GET", path, { token })).status;
    await eventually(async () => (await status()) === "completed", `${path} to complete`, 120_000);
  }
}

function nobody(): Person {
  return { id: "", email: "", token: "" };
}
