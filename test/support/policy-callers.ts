/** Everybody who may call, by the tie to the one session and the one workspace of the matrix. */
export const CALLERS = [
  "anonymous",
  "disabled user",
  "admin",
  "admin elevated",
  "admin elevated for the session",
  "admin elevated for the workspace",
  "admin native",
  "owner",
  "participant",
  "shared with",
  "member",
  "workspace owner",
  "moderator",
  "moderator elsewhere",
  "stranger",
  "invited to the session",
  "invited to the workspace",
  "guest",
  "guest by code",
  "guest elsewhere",
  "guest removed",
  "device",
  "device other",
  "device key expired",
  "device key revoked",
  "device of leaver",
  "key sessions:read",
  "key sessions:write",
  "key sessions:share",
  "key query",
  "key export",
  "key webhooks",
  "key transcribe",
  "key of all scopes",
  "key elsewhere",
  "key expired",
  "key revoked",
  "key suspended",
] as const;

export type Caller = (typeof CALLERS)[number];

/** What proves them; whose right has ended has nothing that proves anything. */
export type Proof = "nothing" | "user" | "guest" | "device" | "key";

const ENDED: ReadonlySet<Caller> = new Set<Caller>([
  "anonymous",
  "disabled user",
  "guest removed",
  "device key expired",
  "device key revoked",
  "key expired",
  "key revoked",
]);

export function proofOf(caller: Caller): Proof {
  if (ENDED.has(caller)) return "nothing";
  if (caller.startsWith("guest")) return "guest";
  if (caller.startsWith("device")) return "device";
  return caller.startsWith("key") ? "key" : "user";
}

/** Administrators with an elevation of all sessions, of the session, of the workspace. */
export const ELEVATED = [
  "admin elevated",
  "admin elevated for the session",
  "admin elevated for the workspace",
] as const satisfies Caller[];

export const ADMINS = ["admin", ...ELEVATED, "admin native"] as const satisfies Caller[];

/** Who has a relation to the session of their own, administrators among them. */
const NATIVE = ["owner", "participant", "shared with", "admin native"] as const satisfies Caller[];

/** Who reads a session's words as a user. */
export const READERS = [...NATIVE, "moderator", ...ELEVATED] as const satisfies Caller[];

/** Who sees that a session is there. */
export const VIEWERS = [...READERS, "admin"] as const satisfies Caller[];

/** Who may say that a voice is theirs. */
export const SPEAKERS = [
  ...NATIVE,
  "moderator",
  "guest",
  "guest by code",
] as const satisfies Caller[];

/** The session's owner, moderators of its workspace, administrators. */
export const STEWARDS = ["owner", "moderator", ...ADMINS] as const satisfies Caller[];

/** Members of the workspace; its administrators are everybody's. */
export const MEMBERS = [
  "owner",
  "member",
  "workspace owner",
  "moderator",
] as const satisfies Caller[];

export const WORKSPACE_OWNERS = ["workspace owner", ...ADMINS] as const satisfies Caller[];

export const USERS = CALLERS.filter((caller) => proofOf(caller) === "user");

export const GUESTS = CALLERS.filter((caller) => proofOf(caller) === "guest");

export const DEVICES = CALLERS.filter((caller) => proofOf(caller) === "device");

export const KEYS = CALLERS.filter((caller) => proofOf(caller) === "key");
