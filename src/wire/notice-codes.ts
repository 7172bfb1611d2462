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

export type WarningCode = (typeof WARNING_CODES)[number];

/** `code` of the frames Error and Warning; a closed list. */
export type NoticeCode = ErrorCode | WarningCode;

export const NOTICE_CODES: readonly NoticeCode[] = [...ERROR_CODES, ...WARNING_CODES];
