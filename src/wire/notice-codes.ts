import { ERROR_CODES, type ErrorCode } from "../base/errors.ts";

/** Codes of warnings that are not errors. */
const WARNING_CODES = [
  "position_unknown",
  "resumed",
  "device_offline",
  "device_online",
  "renew_key",
  "stop_recording",
] as const;

/** `code` of the frames Error and Warning; a closed list. */
export type NoticeCode = ErrorCode | (typeof WARNING_CODES)[number];

export const NOTICE_CODES: readonly NoticeCode[] = [...ERROR_CODES, ...WARNING_CODES];
