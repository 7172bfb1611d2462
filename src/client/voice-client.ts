import { Access, type Credentials } from "./access.ts";
import { ApiClient, type CallOptions, type Send } from "./api-client.ts";
import { AudioStream, type AudioStreamOptions } from "./audio-stream.ts";
import type { BackOff } from "./back-off.ts";
import { delay } from "./delay.ts";
import { Follower, type FollowOptions } from "./follow.ts";
import type { OpenSocket } from "./frame-socket.ts";
import type { StreamConfiguration } from "./frames.ts";
import type { components, operations } from "./gen/api-schema.ts";
import { FileUpload, type Upload, type UploadOptions } from "./upload.ts";

type Schemas = components["schemas"];
export type Session = Schemas["Session"];
export type SessionDetail = Schemas["SessionDetail"];
export type NewSession = Schemas["CreateSessionRequest"];
export type Completeness = Schemas["Completeness"];
export type Segment = Schemas["SegmentPage"]["items"][number];
export type SessionQuery = NonNullable<operations["listSessions"]["parameters"]["query"]>;
export type Answer = Schemas["Answer"];

export type ClientOptions = Credentials & {
  /** Address of the service, such as `https://voice.example.com`. */
  readonly baseUrl: string;
  /** How often a call is repeated while its failure may pass, and the waits between. */
  readonly backOff?: BackOff | undefined;
};

/** How to open WebSockets here: by headers in Node, by tickets in browsers. */
type SocketMaker = (api: ApiClient, access: Access) => OpenSocket;

export interface WaitOptions extends CallOptions {
  /** Time between two polls, milliseconds. */
  readonly everyMs?: number | undefined;
}

const POLL_MS = 1_000;
const QUESTION_MS = 120_000;

/**
 * A client of the voice session service. Its calls are repeated while a failure may pass, its streams
 * and followers connect again by themselves; what they throw in the end are `VoiceError`s.
 */
export class VoiceClient {
  /** Every operation of the service's OpenAPI document; see `call`. */
  readonly api: ApiClient;
  readonly #access: Access;
  readonly #open: OpenSocket;

  protected constructor(options: ClientOptions, sockets: SocketMaker) {
    this.#access = new Access(options);
    this.api = new ApiClient(apiAddress(options.baseUrl), options.backOff, this.#access);
    this.#open = sockets(this.api, this.#access);
  }

  /** Any operation by its path: `call((api) => api.GET("/sessions/{session_id}/speakers", …))`. */
  call<T>(send: Send<T>, options?: CallOptions): Promise<NonNullable<T>> {
    return this.api.call(send, options);
  }

  /** Begins a session that records. */
  createSession(body: NewSession = {}, options?: CallOptions): Promise<Session> {
    return this.call((api) => api.POST("/sessions", { body }), options);
  }

  getSession(id: string, options?: CallOptions): Promise<SessionDetail> {
    return this.call((api) => api.GET("/sessions/{session_id}", { params: at(id) }), options);
  }

  /** All sessions that a query finds, newest first, page after page. */
  async *listSessions(query: SessionQuery = {}, options?: CallOptions): AsyncGenerator<Session> {
    for (let cursor = query.cursor; ; ) {
      const params = { query: { ...query, ...(cursor !== undefined && { cursor }) } };
      const page = await this.call((api) => api.GET("/sessions", { params }), options);
      yield* page.items;
      if (page.next_cursor === null) return;
      cursor = page.next_cursor;
    }
  }

  /** Ends the recording; what came is still being read. */
  async stopSession(id: string, options?: CallOptions): Promise<void> {
    const params = at(id);
    await this.call((api) => api.POST("/sessions/{session_id}/stop", { params }), options);
  }

  /** Deletes words, sound and all that was made of them, for good; says what went. */
  deleteSession(id: string, options?: CallOptions): Promise<Schemas["DeletionReceipt"]> {
    return this.call((api) => api.DELETE("/sessions/{session_id}", { params: at(id) }), options);
  }

  /** Resolves when the session is read to its end, `completed` or `failed`. */
  async ended(id: string, options: WaitOptions = {}): Promise<SessionDetail> {
    for (;;) {
      const session = await this.getSession(id, options);
      if (session.status !== "recording" && session.status !== "processing") return session;
      await delay(options.everyMs ?? POLL_MS, options.signal);
    }
  }

  /** What was said, in order, page after page; with `words` the time of each word. */
  async *segments(
    id: string,
    { words, ...options }: CallOptions & { readonly words?: boolean } = {},
  ): AsyncGenerator<Segment> {
    for (let cursor: string | undefined; ; ) {
      const query = { ...(words && { words }), ...(cursor !== undefined && { cursor }) };
      const params = { ...at(id), query };
      const page = await this.call(
        (api) => api.GET("/sessions/{session_id}/segments", { params }),
        options,
      );
      yield* page.items;
      if (page.next_cursor === null) return;
      cursor = page.next_cursor;
    }
  }

  /** Which parts of the recording are missing or could not be read, and which are waited for. */
  completeness(id: string, options?: CallOptions): Promise<Completeness> {
    const params = at(id);
    return this.call((api) => api.GET("/sessions/{session_id}/completeness", { params }), options);
  }

  /** Asks about one session; each citation of the answer names the moment it was said. */
  ask(id: string, query: string, options?: CallOptions): Promise<Answer> {
    const order = { params: at(id), body: { query } };
    return this.call((api) => api.POST("/sessions/{session_id}/hirag-query", order), {
      timeoutMs: QUESTION_MS,
      ...options,
    });
  }

  /** Asks about all sessions of a workspace that the caller may read. */
  askWorkspace(id: string, query: string, options?: CallOptions): Promise<Answer> {
    const order = { params: { path: { id } }, body: { query } };
    return this.call((api) => api.POST("/workspaces/{id}/agentic-query", order), {
      timeoutMs: QUESTION_MS,
      ...options,
    });
  }

  /**
   * Brings a whole file to a session, in parts that are gone on with after a break, with a `store`
   * also by another process or a page that was loaded again. In Node `await fs.openAsBlob(path)`
   * opens one of any size.
   */
  upload(
    sessionId: string,
    file: Blob | Uint8Array<ArrayBuffer>,
    options: UploadOptions = {},
  ): Promise<Upload> {
    const blob = file instanceof Blob ? file : new Blob([file]);
    const { backOff } = this.api;
    return new FileUpload(this.api, sessionId, blob, { backOff, ...options }).run();
  }

  /** Streams audio into a session, with a program's key. */
  stream(
    sessionId: string,
    configuration: StreamConfiguration,
    options: AudioStreamOptions = {},
  ): AudioStream {
    const path = `/sessions/${encodeURIComponent(sessionId)}/stream`;
    return new AudioStream({ ...options, configuration, path, open: this.#open });
  }

  /** Streams audio as a device, with the device's key; without `session_id` a session begins. */
  streamAsDevice(
    deviceId: string,
    configuration: StreamConfiguration,
    options: AudioStreamOptions = {},
  ): AudioStream {
    const path = `/devices/${encodeURIComponent(deviceId)}/stream`;
    return new AudioStream({ ...options, configuration, path, open: this.#open });
  }

  /** `for await (const frame of voice.follow(id))`: a session live, each event once; see `Follower`. */
  follow(sessionId: string, options: Omit<FollowOptions, "sessionId"> = {}): Follower {
    return new Follower(this.#open, this.#access, { ...options, sessionId });
  }
}

function at(id: string): { path: { session_id: string } } {
  return { path: { session_id: id } };
}

/** The address of the interface: what was given, with `/api` and without a slash at its end. */
function apiAddress(given: string): string {
  const base = given.replace(/\/+$/, "");
  return base.endsWith("/api") ? base : `${base}/api`;
}
