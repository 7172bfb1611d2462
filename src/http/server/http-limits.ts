import { type BodyPace, DEFAULT_BODY_PACE } from "./body-clock.ts";

/** Whose share of something a request counts for. */
export type Holder =
  /** An IPv4 address, or the /64 of an IPv6 address. */
  | "network"
  /** The /48 of an IPv6 address. */
  | "site"
  /** A user, a guest, a device or a service key. */
  | "caller"
  /** The workspace of a device or a service key. */
  | "workspace"
  /** A user, with their devices and service keys in all workspaces: anybody makes workspaces. */
  | "account"
  /** All callers without a name together. */
  | "nobody";

/** How much one holder of each kind may have at once. */
type Shares = Readonly<Record<Holder, number>>;

export interface HttpLimits {
  jsonBytes: number;
  uploadBytes: number;
  /** Longest time for a JSON body of a known caller, milliseconds. */
  jsonTimeoutMs: number;
  /** Longest time for a JSON body of a caller without a name, milliseconds. */
  anonymousTimeoutMs: number;
  uploadTimeoutMs: number;
  /** How fast every body must come. */
  pace: BodyPace;
  handlerTimeoutMs: number;
  /** Requests served at the same time; more are refused with `overloaded`. */
  concurrentRequests: number;
  /** Uploads received at the same time; more are refused with `overloaded`. */
  concurrentUploads: number;
  /** Bodies streamed to callers at the same time. */
  concurrentDownloads: number;
  /** Bytes of request bodies in memory at the same time; more are refused with `overloaded`. */
  bodyBytes: number;
  /** Of all these, what one holder may have; beyond it is `rate_limited`. */
  shares: Readonly<Record<"requests" | "uploads" | "downloads" | "bodyBytes", Shares>>;
  /**
   * A caller that reads nothing of a streamed body for this long loses its connection,
   * milliseconds.
   */
  downloadStallMs: number;
}

const MEBIBYTE = 1024 * 1024;

/**
 * The shares leave room for an office of fifty people, or of fifty devices, behind one address, and
 * let no address, device or workspace have more than half of anything.
 */
export const DEFAULT_HTTP_LIMITS: HttpLimits = {
  jsonBytes: MEBIBYTE,
  uploadBytes: 64 * MEBIBYTE,
  jsonTimeoutMs: 900_000,
  anonymousTimeoutMs: 30_000,
  uploadTimeoutMs: 900_000,
  pace: DEFAULT_BODY_PACE,
  handlerTimeoutMs: 30_000,
  concurrentRequests: 4_096,
  concurrentUploads: 512,
  concurrentDownloads: 256,
  bodyBytes: 256 * MEBIBYTE,
  shares: {
    requests: {
      ...{ network: 512, site: 2_048, caller: 256 },
      ...{ workspace: 1_024, account: 1_024, nobody: 2_048 },
    },
    uploads: { network: 192, site: 256, caller: 48, workspace: 160, account: 160, nobody: 128 },
    downloads: { network: 96, site: 128, caller: 16, workspace: 96, account: 96, nobody: 64 },
    bodyBytes: {
      network: 64 * MEBIBYTE,
      site: 128 * MEBIBYTE,
      caller: 32 * MEBIBYTE,
      workspace: 64 * MEBIBYTE,
      account: 64 * MEBIBYTE,
      nobody: 64 * MEBIBYTE,
    },
  },
  downloadStallMs: 20_000,
};

/** The same limits with nobody's share smaller than the whole. */
export function withoutShares(limits: HttpLimits): HttpLimits {
  const all = Number.POSITIVE_INFINITY;
  const whole = {
    ...{ network: all, site: all, caller: all },
    ...{ workspace: all, account: all, nobody: all },
  };
  const shares = { requests: whole, uploads: whole, downloads: whole, bodyBytes: whole };
  return { ...limits, shares };
}
