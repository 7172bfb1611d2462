import { actorOf } from "../access/audit-entry.ts";
import type { Authenticator } from "../access/authenticator.ts";
import type { Principal, ServicePrincipal } from "../access/principal.ts";
import { AppError, errorMessage } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import type { SessionErasure } from "../conversations/erasure/session-erasure.ts";
import type { DeviceSessionStore } from "../conversations/recording/device-sessions-store.ts";
import { assertMayRead, whyUnread } from "../inference/engine-choice.ts";
import type { CommandNotifier } from "../postgres/outbox.ts";
import type { CompatInterface } from "../wire/session-record.ts";
import type { SpeechEngine } from "../wire/speech-engines.ts";
import { wrong } from "./parameters.ts";

/** What a caller wants of a transcription, whichever client it comes with. */
export interface CompatOrder {
  interface: CompatInterface;
  title: string;
  /** BCP 47; the workspace's when undefined. */
  language: string | undefined;
  /** A name of GET /engines; the workspace's when undefined. */
  engine: string | undefined;
  vocabulary: string[];
  /** Each channel of its sound is one speaker, and is read by itself. */
  multichannel?: boolean;
  /** False: the session is deleted at its end. */
  store: boolean;
}

/** A session that a call began. */
export interface CompatSession {
  id: string;
  language: string;
  /** How many channels are read by themselves; 1 where they are mixed. */
  channels: number;
  caller: ServicePrincipal;
  store: boolean;
}

interface CompatSessionsOptions {
  sessions: Pick<DeviceSessionStore, "workspace" | "start" | "stop">;
  engines: () => readonly SpeechEngine[];
  authenticator: Pick<Authenticator, "revalidate">;
  eraser: Pick<SessionErasure, "erase">;
  notifier: CommandNotifier;
  log: Log;
}

/** Returns the calling service key; throws 401 for everyone else. */
export function requireService(principal: Principal | undefined): ServicePrincipal {
  if (principal?.kind === "service") return principal;
  throw new AppError("unauthorized", "Send a service key with the scope transcribe.");
}

/** Begins and ends the sessions of calls with other services' clients. */
export class CompatSessions {
  readonly #options: CompatSessionsOptions;

  constructor(options: CompatSessionsOptions) {
    this.#options = options;
  }

  /**
   * Begins a session of the key's workspace, which its maker owns. Throws `language_unsupported` for
   * one that no engine reads, `unavailable` while there is no engine at all, `forbidden`,
   * `quota_exceeded`, `not_found`.
   *
   * @param heard channels of its sound
   */
  async begin(caller: ServicePrincipal, order: CompatOrder, heard: number): Promise<CompatSession> {
    const { sessions, notifier } = this.#options;
    const language = await this.check(caller, order);
    const id = newId();
    const channels = order.multichannel === true ? heard : 1;
    const { outbox } = await sessions.start({
      ...{ id, jobId: newId(), workspaceId: caller.workspaceId, ownerId: caller.makerId },
      ...{ deviceId: undefined, title: order.title, language, engine: order.engine },
      ...{ vocabulary: order.vocabulary, workshopId: undefined },
      ...(channels > 1 && { speakerChannels: channels }),
      // Programs log and pass on the id that they are answered with: it must be nobody's way in.
      guestAccess: "closed",
      compat: { interface: order.interface, deleteAtEnd: !order.store },
    });
    notifier.notify(outbox);
    return { id, language, channels, caller, store: order.store };
  }

  /** Checks what can be checked before anything is begun. Returns the language of the session. */
  async check(caller: ServicePrincipal, order: CompatOrder): Promise<string> {
    const { sessions } = this.#options;
    const place = await sessions.workspace(caller.workspaceId, caller.makerId);
    if (place === undefined || !place.mayRecord) {
      throw new AppError("forbidden", "The key's workspace takes no recordings any more.");
    }
    const { preferredLanguage, remoteEngines: mayLeave } = place;
    const language = order.language ?? preferredLanguage;
    const engines = this.#options.engines();
    if (engines.length === 0) {
      const message = "No worker that could transcribe is there at the moment. Please try again.";
      throw new AppError("unavailable", message, { retryAfter: 5 });
    }
    const unread = whyUnread(engines, { language, mayLeave });
    if (unread !== undefined) throw wrong("language", unread, "language_unsupported");
    assertMayRead(engines, { asked: order.engine, language, mayLeave });
    return language;
  }

  /** Throws 401 or 403 when the caller's right has ended. */
  async recheck({ caller }: Pick<CompatSession, "caller">): Promise<void> {
    const current = await this.#options.authenticator.revalidate(caller);
    if (current.kind === "service" && current.scopes.includes("transcribe")) return;
    throw new AppError("forbidden", "This key lacks the scope transcribe.");
  }

  /** Ends the recording. `lastSequence` is that of its last chunk, if the caller knows it. */
  async stop({ id }: CompatSession, lastSequence?: number): Promise<void> {
    const { sessions, notifier } = this.#options;
    const { outbox } = await sessions.stop({ deviceId: undefined, sessionId: id, lastSequence });
    notifier.notify(outbox);
  }

  /**
   * Ends whatever is left of a call: the recording, and the session itself unless it is kept. What
   * fails here is made up for by the service's maintenance. Never rejects.
   */
  async leave(session: CompatSession, isStopped: boolean): Promise<void> {
    const { eraser, log } = this.#options;
    const { id, caller, store } = session;
    try {
      if (store && !isStopped) await this.stop(session);
      if (!store) await eraser.erase(id, "session_deleted_by_owner", actorOf(caller));
    } catch (error) {
      const fields = { session_id: id, error: errorMessage(error) };
      log.warn(fields, "a session of a compatible client was not ended yet");
    }
  }
}
