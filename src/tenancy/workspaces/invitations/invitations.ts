import { type Static, Type } from "@sinclair/typebox";
import { type AuditEntry, actorOf } from "../../../access/audit-entry.ts";
import { type ElevationInForce, elevationDetail } from "../../../access/elevation.ts";
import type { Principal } from "../../../access/principal.ts";
import { randomText, secretHash } from "../../../access/secrets.ts";
import type { Clock } from "../../../base/clock.ts";
import { AppError } from "../../../base/errors.ts";
import { isId, newId } from "../../../base/ids.ts";
import type { AttemptPolicy, AttemptStore } from "../../accounts/attempts-store.ts";
import { comparableAddress, newAddressSchema } from "../../accounts/mail-addresses.ts";
import type { Mailing } from "../../accounts/mailing.ts";
import { letter, quoted } from "./letter.ts";
import type { InvitationLetterStore } from "./letters-store.ts";
import type { InvitationScope, InvitationStore, InvitedRole, Invitee } from "./store.ts";

const DAY = 24 * 3_600_000;
/** How long an invitation can be accepted, milliseconds. */
const LIFETIME = 14 * DAY;
/** 43 base-62 characters are 256 bits. */
const SECRET_LENGTH = 43;
/** Allows one inviter thirty invitations, then one a minute. */
const INVITATIONS: AttemptPolicy = { burst: 30, interval: 60_000 };
/** Allows three letters to one address, whoever invites, then one in six hours. */
const LETTERS: AttemptPolicy = { burst: 3, interval: DAY / 4 };

/** Whom a request names: a user, or an address of mail. */
export const inviteeSchema = {
  user_id: Type.Optional(Type.String()),
  email: Type.Optional(newAddressSchema),
};

/** The answer to an invitation, the same whoever is invited. */
export const invitedSchema = Type.Object(
  {
    status: Type.Literal("invited"),
    is_mailed: Type.Boolean({
      description:
        "Whether letters go out from this installation; else whoever invites tells the person",
    }),
    link: Type.String({
      description: "Where the invited person answers, once signed in",
      examples: ["https://voice.example.org/#/invitations"],
    }),
  },
  { $id: "Invited" },
);

/** Throws 400 unless a request names exactly one user or address. */
export function inviteeOf(body: { user_id?: string; email?: string }): Invitee {
  const { user_id: userId, email } = body;
  if ((userId === undefined) === (email === undefined)) {
    throw new AppError("invalid_body", "Give either `user_id` or `email`.");
  }
  if (email !== undefined) return { address: comparableAddress(email) };
  if (userId !== undefined && isId(userId)) return { userId };
  throw new AppError("invalid_body", "`user_id` must be an id, as `GET /auth/me` shows one's own.");
}

interface InvitationOptions {
  store: InvitationStore;
  letters: InvitationLetterStore;
  attempts: AttemptStore;
  mailing: Mailing;
  /** Where clients reach this service, without a slash at the end. */
  publicUrl(): string;
  /** Whether opening an invitation makes an account. */
  signsUp: boolean;
  clock: Clock;
}

interface InvitationRequest {
  by: Principal;
  /** Under which an administrator invites. */
  elevation?: ElevationInForce | undefined;
  place: InvitationScope;
  role: InvitedRole;
  to: Invitee;
}

/** Invites people to workspaces and sessions, without telling who has an account. */
export class Invitations {
  readonly #options: InvitationOptions;

  constructor(options: InvitationOptions) {
    this.#options = options;
  }

  /**
   * Resolves when the invitation stands; the letter goes out afterwards. Until then nothing is
   * looked up about the invited person, so neither answer nor time depend on them. Rejects with
   * `rate_limited`.
   */
  async invite(request: InvitationRequest): Promise<Static<typeof invitedSchema>> {
    const { store, attempts, mailing, clock } = this.#options;
    const { by, elevation, place, role, to } = request;
    const inviterId = inviterOf(by);
    const wait = await attempts.take(`invite-by\u0000${inviterId}`, INVITATIONS);
    if (wait !== undefined) {
      throw new AppError("rate_limited", `Too many invitations. Please wait ${wait} s.`, {
        retryAfter: wait,
      });
    }
    const id = newId();
    const secret = "address" in to ? randomText(SECRET_LENGTH) : undefined;
    await store.put(
      {
        ...{ id, place, role, to, inviterId },
        keyId: by.kind === "service" ? by.id : undefined,
        elevationId: elevation?.id,
        expiresAt: clock.now() + LIFETIME,
        openingHash: secret === undefined ? undefined : secretHash(secret),
      },
      entryOf(request, id),
    );
    mailing.background.start("Sending an invitation", () =>
      this.#write(inviterId, request, secret),
    );
    return { status: "invited", is_mailed: mailing.goesOut, link: this.#page };
  }

  get #page(): string {
    return `${this.#options.publicUrl()}/#/invitations`;
  }

  async #write(
    inviterId: string,
    { place, to }: InvitationRequest,
    secret: string | undefined,
  ): Promise<void> {
    const { letters, attempts, mailing, publicUrl, signsUp } = this.#options;
    if (mailing.mail === undefined) return;
    const address = "address" in to ? to.address : await letters.addressOf(to.userId);
    if (address === undefined) return;
    // Without a letter too the invitation stands: nobody is told that others write to this address.
    const wait = await attempts.take(`invitation-to\u0000${comparableAddress(address)}`, LETTERS);
    if (wait !== undefined) return;
    const { name, email, workspaceName } = await letters.sender(inviterId, place.workspaceId);
    const who = name === "" ? email : `${quoted(name)} (${email})`;
    const what =
      place.sessionId === undefined
        ? `to the workspace “${quoted(workspaceName)}”`
        : "to a recorded conversation";
    const link =
      secret === undefined
        ? this.#page
        : `${this.#page}?token=${secret}&email=${encodeURIComponent(address)}`;
    const guestLink =
      place.sessionId !== undefined && (await letters.takesGuests(place.sessionId))
        ? `${publicUrl()}/#/join/${place.sessionId}`
        : undefined;
    const paragraphs = [
      `${who} invites you ${what}.`,
      signsUp
        ? "To accept or decline within 14 days, open this. If you have no account for this address yet, it makes one:"
        : "To accept or decline within 14 days, open this. It needs an account for this address; who has none asks an administrator of the service, who makes it:",
      link,
      ...(guestLink === undefined
        ? []
        : ["To read along as a guest, without an account:", guestLink]),
      "If you do not know who this is, you need not do anything.",
    ];
    await mailing.mail.send(letter(address, "You are invited", paragraphs, [link, guestLink]));
  }
}

/** The user whose right it is. */
function inviterOf(by: Principal): string {
  if (by.kind === "user") return by.id;
  if (by.kind === "service" && by.makerId !== undefined) return by.makerId;
  throw new AppError("forbidden", "Only users and their service keys invite people.");
}

function entryOf({ by, elevation, place, role }: InvitationRequest, id: string): AuditEntry {
  const kind =
    place.sessionId === undefined ? "workspace_member_invited" : "session_member_invited";
  const detail = { role, ...elevationDetail(elevation) };
  return { kind, actor: actorOf(by), ...place, subjectId: id, detail };
}
