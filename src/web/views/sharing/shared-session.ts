import type { Signal } from "@preact/signals";
import type { Session } from "../../api/records.ts";

/** As much of an open session as those who share it need to know. */
export interface SharedSession {
  readonly id: string;
  readonly isOwner: boolean;
  readonly session: Signal<Session | undefined>;
}
