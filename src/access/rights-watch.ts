import type { Clock } from "../base/clock.ts";
import { type AppError, toAppError } from "../base/errors.ts";
import type { Principal } from "./principal.ts";
import type { RevocationEvent, RevocationFeed } from "./revocations.ts";

/** Something that stays open only while its principal has a right to it. */
export interface RightHolder {
  readonly principal: Principal;
  /** True when it shows anything of that session. */
  follows(sessionId: string): boolean;
  /** When its right, or a part of it, expires as far as is known, Unix milliseconds. */
  readonly rightUntil: number;
  /**
   * Checks the right again, and ends what it no longer covers. False when the check could not be
   * made: then only expired rights end. Never rejects.
   */
  recheck(): Promise<boolean>;
}

/**
 * Implements `RightHolder.recheck`: runs `check` and passes a refusal to `end`. When the check
 * could not be made, returns false as long as the right still `holds`.
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
 * Checks rights again when there is a reason: an event concerns them, they expired, or the last
 * check could not be made. Without a reason nothing is checked.
 */
export class RightsWatch<H extends RightHolder> {
  readonly #options: RightsWatchOptions<H>;
  readonly #checking = new Set<H>();
  /** Holders that another event concerned while they were being checked. */
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

  /**
   * Number of events so far. When it changed while a holder was being admitted, call `check` for
   * it.
   */
  get news(): number {
    return this.#news;
  }

  #hear(event: RevocationEvent): void {
    this.#news += 1;
    for (const holder of this.#options.holders()) if (concerns(event, holder)) this.check(holder);
  }

  /** Must be called about once a second. */
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

/** Whether an event may have ended a right of the holder. */
export function concerns(
  event: RevocationEvent,
  holder: Pick<RightHolder, "principal" | "follows">,
): boolean {
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
      // A device has the rights of its owner, and a service key those of its maker.
      return (
        id === event.userId ||
        ("ownerId" in principal && principal.ownerId === event.userId) ||
        ("makerId" in principal && principal.makerId === event.userId)
      );
  }
}

function isGuestOf(principal: Principal, sessionId: string): boolean {
  return principal.kind === "guest" && principal.sessionId === sessionId;
}
