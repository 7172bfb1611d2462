import type { OutsideCommand } from "../../src/session/outside-command.ts";

/** What somebody wanted, and what he was told. */
export interface Wish {
  sessionId: string;
  command: OutsideCommand;
  at: number;
  /** `unknown` until he hears, and for good when he never does. */
  outcome: "done" | "refused" | "unknown";
  doneAt?: number;
  /** Each time that it was asked for, when a host took it in hand, and what was heard when. */
  asked: { at: number; begunAt: number; heardAt: number; code: string | undefined }[];
  reply?: unknown;
  /** Of an edit: where the segment lay. */
  span?: { start: number; end: number };
  text?: string;
}
