/** Global roles; membership of a workspace or a session decides the rest. */
export type Role = "admin" | "participant" | "moderator" | "guest";

/** Who calls, as proven by the token or key of the request. */
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
  /** The user who paired it: owner of the sessions that it starts. */
  ownerId: string;
  expiresAt: number;
}

/** What a service key may be allowed to do, within its one workspace. */
export const SCOPES = ["sessions:read", "sessions:write", "query", "export", "webhooks"] as const;

export type Scope = (typeof SCOPES)[number];

/** Another service of the operator or an integration, by its API key. */
export interface ServicePrincipal {
  kind: "service";
  /** The key's id. */
  id: string;
  /** The secret that was sent; a key that was just rotated has two. */
  secretId: string;
  workspaceId: string;
  scopes: readonly Scope[];
  /** Unix milliseconds. */
  expiresAt: number;
}
