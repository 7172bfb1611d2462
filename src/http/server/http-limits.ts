export interface HttpLimits {
  jsonBytes: number;
  uploadBytes: number;
  jsonTimeoutMs: number;
  uploadTimeoutMs: number;
  handlerTimeoutMs: number;
  /** Requests served at the same time; more are refused with `overloaded`. */
  concurrentRequests: number;
  /** Uploads received at the same time; more are refused with `overloaded`. */
  concurrentUploads: number;
  /** Bodies streamed to callers at the same time. */
  concurrentDownloads: number;
  /**
   * A caller that reads nothing of a streamed body for this long loses its connection,
   * milliseconds.
   */
  downloadStallMs: number;
}

export const DEFAULT_HTTP_LIMITS: HttpLimits = {
  jsonBytes: 1024 * 1024,
  uploadBytes: 64 * 1024 * 1024,
  jsonTimeoutMs: 30_000,
  uploadTimeoutMs: 900_000,
  handlerTimeoutMs: 30_000,
  concurrentRequests: 4_096,
  concurrentUploads: 512,
  concurrentDownloads: 256,
  downloadStallMs: 20_000,
};
