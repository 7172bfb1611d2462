import { hash, verify } from "@node-rs/argon2";
import { Type } from "@sinclair/typebox";
import { actorOf } from "../../access/audit-entry.ts";
import type { UserPrincipal } from "../../access/principal.ts";
import type { RevocationFeed } from "../../access/revocations.ts";
import { randomText } from "../../access/secrets.ts";
import { createDeferred, type Deferred } from "../../base/deferred.ts";
import { AppError } from "../../base/errors.ts";
import { FairQueue } from "../../base/fair-queue.ts";
import type { QueueFigures, QueueOwner } from "../../base/queue-metrics.ts";
import { requireUser } from "../../rest/callers.ts";
import {
  acknowledge,
  acknowledged,
  defineRoute,
  HUMAN_ROLES,
  type Route,
} from "../../rest/route.ts";
import type { AttemptPolicy, AttemptStore } from "./attempts-store.ts";
import { checkPassword, PASSWORD_MAX_BYTES, PASSWORD_MIN_LENGTH } from "./password-rule.ts";
import type { PasswordStore } from "./passwords-store.ts";

const CHANGED = "The password is changed. Other logins have ended.";

/** argon2id, as OWASP ASVS 5.0 appendix C approves: 46 MiB, one pass, one lane; about 30 ms. */
const COST = { memoryCost: 47_104, timeCost: 1, parallelism: 1 };
const CURRENT_FORM = "$argon2id$v=19$m=47104,t=1,p=1$";

interface PasswordHasherOptions {
  /** How many hashes run at once; each takes 46 MiB and a core. */
  concurrency?: number;
  /** How many may wait; more are refused with `overloaded`. */
  queue?: number;
  /** How many of one asker may wait. */
  share?: number;
}

/** Who waits for a hash. */
interface Asker {
  /** What waiting is shared by: a network, or an account that is signed in. */
  from: string;
  /** True when this asker is known to the account: the turns of those alternate with strangers'. */
  known: boolean;
}

/** For hashes that nobody asked for from outside, such as those of the set-up. */
const OURSELVES: Asker = { from: "", known: true };

/** A hash that waits for its turn. */
type Turn = Deferred<void>;

/**
 * Hashes and checks passwords, a bounded number at once. Those who wait have their turns by where
 * they come from, so that whoever sends many delays nobody else.
 */
export class PasswordHasher implements QueueOwner {
  readonly #concurrency: number;
  readonly #known: FairQueue<Turn>;
  readonly #strangers: FairQueue<Turn>;
  /** Whose turn it is when both wait. */
  #strangersNext = false;
  #running = 0;
  #decoy: Promise<string> | undefined;

  constructor({ concurrency = 2, queue = 200, share = 16 }: PasswordHasherOptions = {}) {
    this.#concurrency = concurrency;
    this.#known = new FairQueue({ capacity: queue, share });
    this.#strangers = new FairQueue({ capacity: queue, share });
  }

  get queues(): readonly QueueFigures[] {
    return [this.#known, this.#strangers].map(({ size, capacity, refused }) => {
      return { queue: "passwords", length: size, limit: capacity, refused };
    });
  }

  hash(password: string, asker = OURSELVES): Promise<string> {
    return this.#slot(asker, () => hash(password, COST));
  }

  /**
   * True when `password` belongs to `hashed`. Without a hash (no such account,
   * or one without a password) and for a password that is too long for any the
   * same work is done and the answer is false.
   */
  async verify(hashed: string | undefined, password: string, asker = OURSELVES): Promise<boolean> {
    const decoy = await this.#getDecoy();
    const possible = Buffer.byteLength(password) <= PASSWORD_MAX_BYTES ? password : "";
    const right = await this.#slot(asker, () => verify(hashed ?? decoy, possible));
    return hashed !== undefined && possible === password && right;
  }

  /** True when a hash was made with other costs than today's. */
  isOutdated(hashed: string): boolean {
    return !hashed.startsWith(CURRENT_FORM);
  }

  #getDecoy(): Promise<string> {
    this.#decoy ??= hash(randomText(32), COST);
    return this.#decoy;
  }

  async #slot<T>(asker: Asker, work: () => Promise<T>): Promise<T> {
    // A hash that ends hands its slot over, so the count stays.
    if (this.#running >= this.#concurrency) await this.#wait(asker);
    else this.#running += 1;
    try {
      return await work();
    } finally {
      const next = this.#next();
      if (next === undefined) this.#running -= 1;
      else next.resolve();
    }
  }

  #wait({ from, known }: Asker): Promise<void> {
    const turn = createDeferred<void>();
    const refused = (known ? this.#known : this.#strangers).offer(from, turn);
    const message = "Too many people are signing in. Please try again.";
    refused?.reject(new AppError("overloaded", message, { retryAfter: 2 }));
    return turn.promise;
  }

  #next(): Turn | undefined {
    this.#strangersNext = !this.#strangersNext;
    return this.#strangersNext
      ? (this.#strangers.take() ?? this.#known.take())
      : (this.#known.take() ?? this.#strangers.take());
  }
}

/** Somebody who is signed in already. */
export function signedIn({ id }: { id: string }): Asker {
  return { from: id, known: true };
}

/** Allows the holder of a token five guesses, then one a minute. */
export const PASSWORD_GUESSES: AttemptPolicy = { burst: 5, interval: 60_000 };

/** The key of the budget from which a signed-in user's guesses at the own password are taken. */
export function passwordBudget(userId: string): string {
  return `password\u0000${userId}`;
}

interface PasswordChangeOptions {
  store: PasswordStore;
  attempts: AttemptStore;
  passwords: Pick<PasswordHasher, "hash" | "verify">;
  revocations: Pick<RevocationFeed, "publish">;
}

/** Lets users change their own password. */
export class PasswordChanges {
  readonly #options: PasswordChangeOptions;

  constructor(options: PasswordChangeOptions) {
    this.#options = options;
  }

  /**
   * Rejects with `invalid_body` for a password that `checkPassword` refuses, `invalid_credentials`
   * when `current` is wrong, `conflict` when the account has no password, `rate_limited` after too
   * many guesses.
   */
  async change(caller: UserPrincipal, current: string, fresh: string): Promise<void> {
    const { attempts, store, passwords, revocations } = this.#options;
    const account = await store.account(caller.id);
    if (account === undefined) throw new AppError("invalid_token", "The account is gone.");
    await checkPassword(fresh, account.email);
    const budget = passwordBudget(caller.id);
    const wait = await attempts.take(budget, PASSWORD_GUESSES);
    if (wait !== undefined) {
      throw new AppError("rate_limited", `Too many attempts. Please wait ${wait} s.`, {
        retryAfter: wait,
      });
    }
    const { passwordHash: before } = account;
    if (before === undefined) {
      throw new AppError("conflict", "This account has no password; it signs in another way.");
    }
    if (!(await passwords.verify(before, current, signedIn(caller)))) throw wrongPassword();
    const after = await passwords.hash(fresh, signedIn(caller));
    const change = { userId: caller.id, before, after, keptLoginId: caller.tokenId };
    const entry = {
      kind: "password_changed",
      actor: actorOf(caller),
      subjectId: caller.id,
    } as const;
    if (!(await store.change(change, entry))) throw wrongPassword();
    await attempts.restore(budget);
    revocations.publish({ kind: "user", userId: caller.id });
  }
}

function wrongPassword(): AppError {
  return new AppError("invalid_credentials", "The current password is not right.");
}

interface PasswordOptions {
  passwordChanges: Pick<PasswordChanges, "change">;
}

/** POST /auth/password. */
export function passwordRoutes({ passwordChanges }: PasswordOptions): Route[] {
  const change = defineRoute({
    method: "post",
    path: "/auth/password",
    id: "changePassword",
    tag: "Auth",
    summary: "Change one's own password",
    description:
      "Every other login of the account ends, with its open sockets. This one goes on until its access token expires: no refresh token outlives the change. A wrong current password is 401 with the code invalid_credentials.",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    body: {
      kind: "json",
      schema: Type.Object({
        current_password: Type.String({ minLength: 1, maxLength: PASSWORD_MAX_BYTES }),
        new_password: Type.String({
          description: "The password from now on; common ones are refused",
          minLength: PASSWORD_MIN_LENGTH,
          maxLength: PASSWORD_MAX_BYTES,
        }),
      }),
    },
    responses: { 200: acknowledged(CHANGED) },
    errors: ["invalid_credentials", "conflict"],
    async handle({ principal, body }) {
      const { current_password: current, new_password: fresh } = body;
      await passwordChanges.change(requireUser(principal), current, fresh);
      return acknowledge(CHANGED);
    },
  });
  return [change];
}
