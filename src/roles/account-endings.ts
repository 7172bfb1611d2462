import { erasePerson } from "../features/accounts/users-store.ts";
import { endElevationsOf } from "../features/audit/elevation-store.ts";
import { forgetFailedSignInsOf } from "../features/audit/failed-sign-ins-store.ts";
import { unpairDevicesOf } from "../features/devices/store.ts";
import type { AccountEnding } from "../features/erasure/account-erasure-store.ts";
import { eraseInvitations } from "../features/invitations/store.ts";
import { eraseMarksOf } from "../features/marks/store.ts";
import { leaveSessions } from "../features/sessions/members-store.ts";
import { leaveWorkspaces } from "../features/workspaces/members-store.ts";

/**
 * What happens when an account is erased, in this order: what goes by its address comes before the
 * address. All other rights of a person are derived where they are read, and need nothing here.
 */
export const ACCOUNT_ENDINGS: readonly AccountEnding[] = [
  unpairDevicesOf,
  leaveWorkspaces,
  leaveSessions,
  eraseInvitations,
  eraseMarksOf,
  endElevationsOf,
  forgetFailedSignInsOf,
  erasePerson,
];
