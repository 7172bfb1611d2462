import type { Principal, ServicePrincipal } from "../../access/principal.ts";
import { AppError } from "../../base/errors.ts";
import { recheckSession, requireSession } from "../sessions/access.ts";
import type { SessionStore } from "../sessions/store.ts";
import type { AudioStreamEvents } from "./stream.ts";
import type { AudioStreams } from "./stream-routes.ts";
import type { OpenedDeviceStream, StreamOrder, StreamPort } from "./streams.ts";

interface SessionStreamsOptions {
  directory: SessionStore;
  streams: Pick<AudioStreams, "open">;
}

/** Streams of service keys, each into a session of the key's workspace that records. */
export class SessionStreams {
  readonly #options: SessionStreamsOptions;

  constructor(options: SessionStreamsOptions) {
    this.#options = options;
  }

  /** Throws 404 for a session that is not the key's workspace's, 403 without `sessions:write`. */
  async admit(caller: Principal, sessionId: string): Promise<ServicePrincipal> {
    const { directory } = this.#options;
    const grant = await requireSession(directory, caller, sessionId, "session.upload");
    if (grant.principal.kind === "service") return grant.principal;
    throw new AppError("forbidden", "This is for service keys.");
  }

  /** The streams of one key into one session. */
  port(key: ServicePrincipal, sessionId: string): StreamPort {
    const { directory } = this.#options;
    return {
      open: (_caller, order, events) => this.#open(key, sessionId, order, events),
      // Nothing is begun here.
      discard: async () => {},
      mayRead: () =>
        recheckSession(directory, key, sessionId, "session.content").then(
          () => true,
          () => false,
        ),
      heartbeats: { hear: async () => [], seen: () => {} },
    };
  }

  async #open(
    key: ServicePrincipal,
    sessionId: string,
    order: StreamOrder,
    events: AudioStreamEvents,
  ): Promise<OpenedDeviceStream> {
    const { directory, streams } = this.#options;
    if (order.sessionId !== undefined && order.sessionId !== sessionId) {
      throw new AppError("bad_request", "The address names another session.");
    }
    const { title, language, engine, vocabulary } = order;
    if ([title, language, engine, vocabulary].some((each) => each !== undefined)) {
      const message = "Title, language, engine and vocabulary are said when the session is made.";
      throw new AppError("bad_request", message);
    }
    await requireSession(directory, key, sessionId, "session.upload");
    const { settings, oldest = 0 } = order;
    const opened = await streams.open({ sessionId, settings, oldest, events });
    return { ...opened, begun: false };
  }
}
