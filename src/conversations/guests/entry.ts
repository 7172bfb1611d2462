import { type Static, Type } from "@sinclair/typebox";
import type { Authenticator } from "../../access/authenticator.ts";
import type { ElevationInForce } from "../../access/elevation.ts";
import type { UserPrincipal } from "../../access/principal.ts";
import { randomText, secretHash } from "../../access/secrets.ts";
import { type Clock, toTimestamp } from "../../base/clock.ts";
import { AppError, isAppError } from "../../base/errors.ts";
import { Gcra, type RateLimit } from "../../base/gcra.ts";
import { isId, newId } from "../../base/ids.ts";
import type { CommandNotifier } from "../../postgres/outbox.ts";
import { refusePrefetch } from "../../rest/prefetch.ts";
import { defineRoute, type Request, type Route } from "../../rest/route.ts";
import { areCookiesSecure, guestCookie } from "../../rest/sign-in-cookies.ts";
import type { GuestStatus } from "../../tenancy/accounts/guest-records.ts";
import type { Tokens } from "../../tenancy/accounts/tokens.ts";
import type { ElevationStore } from "../../tenancy/audit/elevation-store.ts";
import { nameSchema } from "../../wire/names.ts";
import { networkOf } from "../../wire/network.ts";
import type { FeatureContext } from "../context.ts";
import { requireSession, type SessionAccess } from "../sessions/access.ts";
import { isGuestCode } from "./codes.ts";
import { guestCodeRoutes } from "./codes-routes.ts";
import { GuestCodeStore } from "./codes-store.ts";
import type { Door, GuestStore } from "./store.ts";

const GUEST_LIFETIME = 12 * 3_600_000;
/** Characters of base 62: 256 bits. */
const RETURN_SECRET_LENGTH = 43;

/** Entries into one session, from everywhere and from one network of addresses. */
const ENTRIES: Readonly<Record<"session" | "address", RateLimit>> = {
  session: { perMinute: 120, burst: 120 },
  address: { perMinute: 30, burst: 30 },
};

interface GuestEntryOptions {
  guests: GuestStore;
  directory: SessionAccess;
  elevations: Pick<ElevationStore, "inForce">;
  tokens: Pick<Tokens, "sign">;
  notifier: CommandNotifier;
  clock: Clock;
  /** Most guests in a session at once. */
  guestsPerSession: number;
  /** Multiplies the limits of entries into a session. */
  rateFactor: number;
}

interface Visit {
  /** A session's id or a guest code. */
  door: string;
  displayName: string;
  /** The caller's address; entries are counted per session and network of the address. */
  address: string;
  /** Whose token came along, if any. */
  account?: UserPrincipal | undefined;
  /** The guest gets a secret by which they come back. */
  comesBack?: boolean | undefined;
}

/** A guest who is in, with their access token. */
interface Entered {
  token: string;
  guest: GuestStatus;
}

/** Lets people without an account into one session. */
export class GuestEntry {
  readonly #options: GuestEntryOptions;
  readonly #ofSession: Gcra;
  readonly #ofAddress: Gcra;

  constructor(options: GuestEntryOptions) {
    this.#options = options;
    const { clock, rateFactor } = options;
    this.#ofSession = new Gcra(times(ENTRIES.session, rateFactor), clock);
    this.#ofAddress = new Gcra(times(ENTRIES.address, rateFactor), clock);
  }

  /**
   * Admits a guest. The audit entry is durable before the token is there.
   *
   * Throws `not_found` for all that opens nothing: an unknown id or code, a code that expired, was
   * used up or taken back, and the id of a session that takes codes only. Throws
   * `elevation_required` for an administrator without native access or an elevation in force,
   * `guest_access_closed`, `quota_exceeded` when the session is full, and `rate_limited`.
   */
  async enter(visit: Visit): Promise<Entered & { secret?: string }> {
    const { guests, notifier, clock, guestsPerSession } = this.#options;
    const door = await this.#find(visit.door);
    const { sessionId, codeId } = door;
    if (door.access === "closed") throw closed();
    const elevation = await this.#elevationOf(visit.account, sessionId);
    this.#pace(sessionId, visit.address);
    const now = clock.now();
    // Tokens carry whole seconds, so the stored time is rounded down likewise.
    const expiresAt =
      Math.floor(Math.min(now + GUEST_LIFETIME, elevation?.expiresAt ?? Infinity) / 1000) * 1000;
    const guest = { guestId: newId(now), sessionId, displayName: visit.displayName, expiresAt };
    const secret = visit.comesBack ? randomText(RETURN_SECRET_LENGTH) : undefined;
    const returnHash = secret === undefined ? undefined : secretHash(secret);
    const admission = await guests.admit(
      { ...guest, codeId, accountId: visit.account?.id, elevation, returnHash },
      guestsPerSession,
    );
    if (admission.kind === "unknown") throw noDoor();
    if (admission.kind === "closed") throw closed();
    if (admission.kind === "unelevated") throw elevationOver();
    if (admission.kind === "full") throw full(guestsPerSession);
    notifier.notify(admission.outbox);
    return { token: await this.#sign(guest), guest, ...(secret !== undefined && { secret }) };
  }

  /**
   * The same guest once more, by the secret that they were given when they entered. Undefined when
   * they have left or were taken out, their access has ended, or the secret is not one of the session.
   */
  async comeBack(sessionId: string, secret: string): Promise<Entered | undefined> {
    const guest = await this.#options.guests.returning(sessionId, secretHash(secret));
    return guest && { token: await this.#sign(guest), guest };
  }

  #sign({ guestId, sessionId, expiresAt }: GuestStatus): Promise<string> {
    const { tokens } = this.#options;
    return tokens.sign({ kind: "guest", subject: guestId, scope: sessionId, expiresAt });
  }

  async #find(given: string): Promise<Door> {
    const { guests } = this.#options;
    let door: Door | undefined;
    if (isId(given)) door = await guests.doorOfSession(given);
    else if (isGuestCode(given)) door = await guests.doorOfCode(secretHash(given));
    if (door === undefined) throw noDoor();
    return door;
  }

  /**
   * The elevation under which the account may read the session as a guest; undefined when it needs
   * none. Only the role admin does: what an administrator reads has a reason on record, also as a
   * guest, and ends with it.
   */
  async #elevationOf(
    account: UserPrincipal | undefined,
    sessionId: string,
  ): Promise<ElevationInForce | undefined> {
    if (account?.role !== "admin") return undefined;
    const { directory, elevations } = this.#options;
    const { facts } = await requireSession(directory, account, sessionId, "session.content");
    if (facts.relation !== "none") return undefined;
    const place = { sessionId, workspaceId: facts.workspaceId };
    const elevation = await elevations.inForce(account.id, place);
    if (elevation === undefined) throw elevationOver();
    return elevation;
  }

  #pace(sessionId: string, address: string): void {
    const ofAddress = this.#ofAddress.take(`${sessionId} ${networkOf(address).network}`);
    const verdict = ofAddress.allowed ? this.#ofSession.take(sessionId) : ofAddress;
    if (verdict.allowed) return;
    const { retryAfterSeconds: retryAfter } = verdict;
    throw new AppError(
      "rate_limited",
      `Too many guests are coming into this session. Please try again in ${retryAfter} s.`,
      { retryAfter },
    );
  }
}

function times({ perMinute, burst }: RateLimit, factor: number): RateLimit {
  return { perMinute: perMinute * factor, burst: burst * factor };
}

/** Says nothing of what was given: it may have been a code with a slip in it. */
function noDoor(): AppError {
  return new AppError(
    "not_found",
    "This lets nobody in: the session's id or guest code is unknown or no longer valid, or the session takes guest codes only. Ask whoever invited you for a new one.",
  );
}

function closed(): AppError {
  return new AppError("guest_access_closed", "This session takes no guests.");
}

function elevationOver(): AppError {
  return new AppError(
    "elevation_required",
    "The content elevation has ended. Ask for another one with a reason at POST /api/admin/content-elevate.",
  );
}

function full(most: number): AppError {
  return new AppError(
    "quota_exceeded",
    `There are ${most} guests in this session already, and it takes no more at once. Try again when some have left.`,
  );
}

interface GuestRouteOptions {
  guestEntry: Pick<GuestEntry, "enter" | "comeBack">;
  authenticator: Pick<Authenticator, "authenticate">;
  clock: Clock;
  /** The service's own address. */
  publicUrl: () => string;
}

const NO_STORE = { "cache-control": "no-store" };

const enteredSchema = Type.Object(
  {
    token: Type.String({
      description:
        "Access token of the guest, sent as `Authorization: Bearer …`; good until guest access ends, at most 12 h",
    }),
    expires_at: Type.String({ examples: ["2026-01-31T21:30:00.000Z"] }),
    guest: Type.Object(
      { id: Type.String(), display_name: Type.String() },
      { description: "Who the token stands for" },
    ),
    session_id: Type.String(),
  },
  { $id: "EnteredGuest" },
);

function presentEntered({ token, guest }: Entered): Static<typeof enteredSchema> {
  return {
    token,
    expires_at: toTimestamp(guest.expiresAt),
    guest: { id: guest.guestId, display_name: guest.displayName },
    session_id: guest.sessionId,
  };
}

/** POST and GET /auth/guest. */
function guestRoutes(options: GuestRouteOptions): Route[] {
  return [enterAsGuest(options), returnAsGuest(options)];
}

function enterAsGuest({ guestEntry, authenticator, clock, publicUrl }: GuestRouteOptions): Route {
  return defineRoute({
    method: "post",
    path: "/auth/guest",
    id: "enterAsGuest",
    tag: "Auth",
    summary: "Join one session as a guest",
    description:
      "Whoever was given the session's id or a guest code is invited, as far as its `guest_access` goes: `open` takes both, `invitation` guest codes only, `closed` nobody. The token opens that session only, until the guest's access ends, at most 12 h. The session's owner sees every guest (`GuestJoined`, `GET /sessions/{session_id}/members`) and can take them out. While the session is `open` whoever knows its id may come in again, also somebody who was taken out of it or whose account was disabled: nobody asks who they are. `invitation` and `closed` keep them out. No credential is asked for. A user's access token that is sent all the same is noted in the audit entry; an administrator's needs native access to the session or an elevation in force, and the guest's access ends with that elevation, also when it is ended before its time. A page of this origin asks with `refresh_cookie` for a cookie by which GET /auth/guest makes it the same guest again.",
    auth: [],
    body: {
      kind: "json",
      schema: Type.Object({
        session_id: Type.String({
          maxLength: 64,
          description: "The session's id, or a guest code",
        }),
        display_name: nameSchema({ minLength: 1, maxLength: 100 }),
        refresh_cookie: Type.Optional(
          Type.Boolean({
            description:
              "For pages: sets a cookie, HttpOnly and for this session alone, by which they come back as the same guest",
          }),
        ),
      }),
    },
    responses: { 201: { description: "The guest and its token", schema: enteredSchema } },
    errors: ["elevation_required", "guest_access_closed", "quota_exceeded", "not_found"],
    async handle({ body, headers, address }) {
      const account = await accountOf(authenticator, headers);
      const { secret, ...entered } = await guestEntry.enter({
        door: body.session_id,
        displayName: body.display_name,
        address,
        account,
        comesBack: body.refresh_cookie,
      });
      const answer = { status: 201, body: presentEntered(entered) };
      if (secret === undefined) return answer;
      const { sessionId, expiresAt } = entered.guest;
      const isSecure = areCookiesSecure(publicUrl());
      const cookie = guestCookie(sessionId).set(secret, expiresAt - clock.now(), isSecure);
      return { ...answer, headers: { ...NO_STORE, "set-cookie": cookie } };
    },
  });
}

function returnAsGuest({ guestEntry, publicUrl }: GuestRouteOptions): Route {
  return defineRoute({
    method: "get",
    path: "/auth/guest",
    id: "returnAsGuest",
    tag: "Auth",
    summary: "The same guest once more, by a page's cookie",
    description:
      "For a page that was loaded again: the cookie that POST /auth/guest set with `refresh_cookie` makes it the guest that it was, with what they claimed, until their access ends. It ends as well when they sign out or are taken out, and with guest access and session.",
    auth: ["guest_cookie"],
    query: Type.Object({ session_id: Type.String({ description: "The session that it joined" }) }),
    responses: { 200: { description: "The guest and a fresh token", schema: enteredSchema } },
    async handle({ query, headers }) {
      refusePrefetch(headers);
      const isSecure = areCookiesSecure(publicUrl());
      const { session_id: sessionId } = query;
      const secret = isId(sessionId) ? guestCookie(sessionId).in(headers, isSecure) : undefined;
      const entered =
        secret === undefined ? undefined : await guestEntry.comeBack(sessionId, secret);
      if (entered === undefined) {
        throw new AppError("unauthorized", "This browser is no guest of the session any more.");
      }
      return {
        status: 200,
        headers: { ...NO_STORE, vary: "Cookie" },
        body: presentEntered(entered),
      };
    },
  });
}

/** The user whose access token came along; undefined without one, and when it is not valid. */
async function accountOf(
  authenticator: GuestRouteOptions["authenticator"],
  headers: Request["headers"],
): Promise<UserPrincipal | undefined> {
  try {
    const principal = await authenticator.authenticate(headers, ["bearer"]);
    return principal.kind === "user" ? principal : undefined;
  } catch (error) {
    if (isAppError(error) && error.status === 401) return undefined;
    throw error;
  }
}

interface CreateGuestOptions extends Omit<GuestEntryOptions, "notifier" | "clock"> {
  authenticator: Parameters<typeof guestRoutes>[0]["authenticator"];
  /** Where clients reach this service. */
  publicUrl: () => string;
}

/** People without an account, in one session each, and the codes that let them in. */
export function createGuests(
  { pool, clock, notifier, revocations, cursorKey }: FeatureContext,
  { authenticator, publicUrl, ...options }: CreateGuestOptions,
) {
  const { directory } = options;
  const guestEntry = new GuestEntry({ ...options, notifier, clock });
  const codes = new GuestCodeStore(pool);
  return {
    guestEntry,
    routes: [
      ...guestRoutes({ guestEntry, authenticator, clock, publicUrl }),
      ...guestCodeRoutes({ directory, codes, revocations, clock, cursorKey }),
    ],
  };
}
