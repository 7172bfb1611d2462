import {
  _cfg,
  App,
  LIBUS_LISTEN_EXCLUSIVE_PORT,
  type TemplatedApp,
  type us_listen_socket,
  us_listen_socket_close,
  us_socket_local_port,
} from "uWebSockets.js";
import { mkdir, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Authenticator } from "../access/authenticator.ts";
import { errorMessage } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { QueueFigures, QueueOwner } from "../base/queue-metrics.ts";
import { type Runtime, systemRuntime } from "../base/runtime.ts";
import type { SessionStreams } from "../conversations/recording/session-streams.ts";
import type { DeviceStreams } from "../conversations/recording/streams.ts";
import type { Route } from "../rest/route.ts";
import { Origins } from "./server/caller.ts";
import { HttpFront } from "./server/http.ts";
import type { HttpLimits } from "./server/http-limits.ts";
import type { IdempotencyOptions } from "./server/idempotency.ts";
import { type RateLimitSettings, RateLimits } from "./server/limits.ts";
import type { FrontObserver } from "./server/observer.ts";
import { removeFile } from "./server/upload-body.ts";
import type { Channel, ChannelContext } from "./sockets/channel.ts";
import { LiveChannel, type LiveOptions } from "./sockets/live-channel.ts";
import { deviceDoor, StreamChannel, sessionDoor } from "./sockets/stream-channel.ts";
import { UpgradeCork } from "./sockets/upgrade.ts";

export interface FrontOptions {
  routes: readonly Route[];
  authenticator: Authenticator;
  live: LiveOptions;
  /** Sockets of other services' protocols. */
  channels?: readonly ((context: ChannelContext) => Channel)[];
  /** Take streams of audio; absent where nobody may stream. */
  streams?: { devices: DeviceStreams; sessions: SessionStreams };
  limits: HttpLimits;
  rates: RateLimitSettings;
  idempotency: IdempotencyOptions;
  /** Other origins from which browsers may call. */
  allowedOrigins: readonly string[];
  /** Folder for unfinished uploads; leftovers are removed at start. */
  uploadFolder: string;
  trustProxy: number;
  observer?: FrontObserver;
  host: string;
  /** The port to listen on; 0 picks a free one. */
  port: number;
  log: Log;
  runtime?: Runtime;
}

// Answers do not tell what they are made with.
_cfg("silent");

/** Age from which a temporary upload counts as abandoned, milliseconds. */
const LEFTOVER_MS = 60 * 60 * 1000;

/** The HTTP and WebSocket server: `start`, then `drain`, then `stop`. */
export class FrontServer implements QueueOwner {
  readonly #options: FrontOptions;
  readonly #http: HttpFront;
  readonly #live: LiveChannel;
  /** Of devices, and of service keys. */
  readonly #streams: readonly StreamChannel[];
  /** Those, and of other protocols. */
  readonly #channels: readonly Pick<Channel, "queues" | "mount" | "start" | "drain" | "stop">[];
  readonly #cork = new UpgradeCork();
  #app: TemplatedApp | undefined;
  #listening: us_listen_socket | undefined;

  /** Throws when two routes collide. Schemas are compiled when they are first asked about. */
  constructor(options: FrontOptions) {
    this.#options = options;
    const runtime = options.runtime ?? systemRuntime;
    const shared = {
      authenticator: options.authenticator,
      rates: new RateLimits(options.rates, runtime),
      origins: new Origins(options.allowedOrigins, options.log),
      cork: this.#cork,
      trustProxy: options.trustProxy,
      observer: options.observer,
      log: options.log,
    };
    this.#http = new HttpFront({
      ...shared,
      routes: options.routes,
      limits: options.limits,
      idempotency: options.idempotency,
      uploadFolder: options.uploadFolder,
    });
    const { streams, channels = [] } = options;
    const common = { ...shared, ...options.live, runtime };
    this.#live = new LiveChannel(common);
    const { feeds, replays } = this.#live.readers;
    const forDevices = { ...common, feeds, replays };
    const doors = streams && [deviceDoor(streams.devices), sessionDoor(streams.sessions)];
    this.#streams = (doors ?? []).map((door) => new StreamChannel({ ...forDevices, door }));
    const others = channels.map((create) => create(common));
    this.#channels = [this.#live, ...this.#streams, ...others];
  }

  get queues(): readonly QueueFigures[] {
    return [this.#http, ...this.#channels].flatMap(({ queues }) => queues);
  }

  /** Number of open live sockets. */
  get sockets(): number {
    return this.#live.sockets;
  }

  /** Number of open streams of audio. */
  get streams(): number {
    return this.#streams.reduce((sum, { sockets }) => sum + sockets, 0);
  }

  /** Listens; throws when the port is taken. */
  async start(): Promise<{ port: number }> {
    await this.#prepareFolder();
    await this.#startCork();
    const app = App();
    for (const each of this.#channels) each.mount(app);
    this.#http.mount(app);
    this.#listening = await this.#listen(app);
    this.#app = app;
    for (const each of this.#channels) each.start();
    return { port: us_socket_local_port(this.#listening) };
  }

  /**
   * Closes the sockets of viewers and devices so that they reconnect to another process, spread
   * over `spreadMs`, during which requests are still served. Then accepts no new connections and
   * waits for running requests.
   */
  async drain(spreadMs = 0): Promise<void> {
    this.#http.leave();
    await Promise.all(this.#channels.map((each) => each.drain(spreadMs)));
    if (this.#listening !== undefined) us_listen_socket_close(this.#listening);
    this.#listening = undefined;
    await this.#http.drain();
  }

  /** Ends all connections that are still open. */
  async stop(): Promise<void> {
    if (this.#listening !== undefined) us_listen_socket_close(this.#listening);
    this.#listening = undefined;
    for (const each of this.#channels) each.stop();
    this.#app?.close();
    this.#app = undefined;
    this.#cork.stop();
  }

  /**
   * Without the cork sockets open too, but uWebSockets.js then writes a line to standard error for
   * each.
   */
  async #startCork(): Promise<void> {
    try {
      await this.#cork.start();
    } catch (error) {
      this.#options.log.warn({ error: errorMessage(error) }, "upgrades are not corked");
    }
  }

  #listen(app: TemplatedApp): Promise<us_listen_socket> {
    const { host, port } = this.#options;
    return new Promise((resolve, reject) => {
      app.listen(host, port, LIBUS_LISTEN_EXCLUSIVE_PORT, (socket) => {
        if (socket) resolve(socket);
        else
          reject(new Error(`Cannot listen on ${host}:${port}: the port is taken or not allowed.`));
      });
    });
  }

  async #prepareFolder(): Promise<void> {
    const { uploadFolder } = this.#options;
    await mkdir(uploadFolder, { recursive: true, mode: 0o700 });
    for (const name of await readdir(uploadFolder)) {
      if (name.endsWith(".upload")) await removeIfOld(join(uploadFolder, name));
    }
  }
}

/** A younger file may be an upload that another process is receiving. */
async function removeIfOld(path: string): Promise<void> {
  const file = await stat(path).catch(() => undefined);
  if (file !== undefined && Date.now() - file.mtimeMs > LEFTOVER_MS) await removeFile(path);
}
