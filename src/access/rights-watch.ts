import type { Clock } from "../base/clock.ts";
import { type AppError, toAppError } from "../base/errors.ts";
import type { Principal } from "./principal.ts";
import type { RevocationEvent, RevocationFeed } from "./revocations.ts";

/** Something that is open for as long as somebody's right to it stands. */
export interface RightHolder {
  readonly principal: Principal;
  /** True of what it shows or is told of that session. */
  follows(sessionId: string): boolean;
  /** When its right, or a part of it, ends by itself as far as is known, Unix milliseconds. */
  readonly rightUntil: number;
  /**
   * Asks the record anew, and ends what has no right any more; false when there was no answer,
   * which takes no right away that has not ended by itself. Never rejects.
   */
  recheck(): Promise<boolean>;
}

/**
 * For `RightHolder.recheck`: asks, and hands a refusal to `end`. A check that could not be made
 * takes away only what ended with time: it is told by false as long as the right still `holds`.
 */
export async function askAgain(
  check: () => Promise<void>,
  holds: () => boolean,
  end: (error: AppError) => void,
): Promise<boolean> {
  try {
    await check();
  } catch (thrown) {
    const error = toAppError(thrown);
    if (error.status >= 500 && holds()) return false;
    end(error);
  }
  return true;
}

interface RightsWatchOptions<H extends RightHolder> {
  holders(): Iterable<H>;
  revocations: Pick<RevocationFeed, "subscribe">;
  clock: Pick<Clock, "now">;
}

/**
 * Has rights checked anew when there is a reason to: something ended that concerns them, their
 * time has come, or the last check had no answer. Nothing is asked of those who just go on.
 */
export class RightsWatch<H extends RightHolder> {
  readonly #options: RightsWatchOptions<H>;
  readonly #checking = new Set<H>();
  /** Something more ended while they were being checked. */
  readonly #again = new Set<H>();
  readonly #unanswered = new Set<H>();
  #news = 0;
  #unsubscribe: (() => void) | undefined;

  constructor(options: RightsWatchOptions<H>) {
    this.#options = options;
  }

  start(): void {
    this.#unsubscribe ??= this.#options.revocations.subscribe((event) => this.#hear(event));
  }

  stop(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
  }

  /** What ended so far. When that changed while somebody was being let in, `check` them again. */
  get news(): number {
    return this.#news;
  }

  #hear(event: RevocationEvent): void {
    this.#news += 1;
    for (const holder of this.#options.holders()) if (concerns(event, holder)) this.check(holder);
  }

  /** To be called every second or so. */
  sweep(): void {
    const now = this.#options.clock.now();
    const unanswered = [...this.#unanswered];
    this.#unanswered.clear();
    for (const holder of unanswered) this.check(holder);
    for (const holder of this.#options.holders()) {
      if (holder.rightUntil <= now && !this.#checking.has(holder)) this.check(holder);
    }
  }

  check(holder: H): void {
    if (this.#checking.has(holder)) this.#again.add(holder);
    else void this.#check(holder);
  }

  async #check(holder: H): Promise<void> {
    this.#checking.add(holder);
    let isAnswered: boolean;
    do {
      this.#again.delete(holder);
      isAnswered = await holder.recheck();
    } while (this.#again.has(holder));
    this.#checking.delete(holder);
    if (!isAnswered) this.#unanswered.add(holder);
  }
}

function concerns(event: RevocationEvent, holder: RightHolder): boolean {
  const { principal } = holder;
  const { id } = principal;
  switch (event.kind) {
    case "unknown":
      return true;
    case "guest":
      return id === event.guestId;
    case "device":
      return id === event.deviceId;
    case "service_key":
      return id === event.keyId;
    case "workspace":
      return "workspaceId" in principal && principal.workspaceId === event.workspaceId;
    case "session":
      return holder.follows(event.sessionId) || isGuestOf(principal, event.sessionId);
    default:
      // A device's key stands as long as its owner does.
      return id === event.userId || ("ownerId" in principal && principal.ownerId === event.userId);
  }
}

function isGuestOf(principal: Principal, sessionId: string): boolean {
  return principal.kind === "guest" && principal.sessionId === sessionId;
}
