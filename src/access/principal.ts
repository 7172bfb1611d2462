/** Global roles; membership of a workspace or a session decides the rest. */
export type Role = "admin" | "participant" | "moderator" | "guest";

/** The caller, as proven by the token or key of the request. */
export type Principal = UserPrincipal | GuestPrincipal | DevicePrincipal | ServicePrincipal;

export interface UserPrincipal {
  kind: "user";
  id: string;
  role: Exclude<Role, "guest">;
  /** Token id, for logout. */
  tokenId: string;
  /** Unix milliseconds. */
  expiresAt: number;
}

export interface GuestPrincipal {
  kind: "guest";
  id: string;
  role: "guest";
  sessionId: string;
  displayName: string;
  tokenId: string;
  expiresAt: number;
}

export interface DevicePrincipal {
  kind: "device";
  id: string;
  keyId: string;
  workspaceId: string;
  /** The user who paired the device, who owns the sessions that it starts. */
  ownerId: string;
  expiresAt: number;
  /**
   * When the right ended, Unix milliseconds; absent while it stands. Until `expiresAt` the key may
   * still stop the sessions that the device began before, and upload to them.
   */
  endedAt?: number | undefined;
}

/** Scopes of service keys; each applies within the key's one workspace. */
export const SCOPES = [
  "sessions:read",
  "sessions:write",
  /** Who else sees a session: members, visibility, guest access. */
  "sessions:share",
  "query",
  "export",
  "webhooks",
  /** Calls of other services' transcription clients, below /compat; nothing else. */
  "transcribe",
] as const;

export type Scope = (typeof SCOPES)[number];

/** Another service of the operator, or an integration, identified by its API key. */
export interface ServicePrincipal {
  kind: "service";
  /** The key's id. */
  id: string;
  /** Id of the secret that was sent; a key that was just rotated has two secrets. */
  secretId: string;
  workspaceId: string;
  /** The user whose right it is: without it the key is suspended. */
  makerId: string;
  scopes: readonly Scope[];
  /** Unix milliseconds. */
  expiresAt: number;
}

/**
 * The account behind a caller: a device's owner, the maker of a service key, a user; undefined for
 * guests. What all share is shared by accounts, as anybody makes workspaces.
 */
export function accountOf(principal: Principal): string | undefined {
  switch (principal.kind) {
    case "device":
      return principal.ownerId;
    case "service":
      return principal.makerId;
    case "user":
      return principal.id;
    case "guest":
      return undefined;
  }
}
