import type { SimRecord } from "../support/record/sim-record.ts";
import type { Network } from "./request.ts";
import type { Story } from "./story.ts";
import type { RedactionTwin } from "./taken-out.ts";

/** What those see of the world who take part in it. */
export interface Scene extends Network {
  readonly record: SimRecord;
  readonly story: Story;
  /** Sessions that somebody has deleted. */
  readonly deleted: Set<string>;
  /** And heard that it is done. */
  readonly erased: Set<string>;
  readonly redactions: RedactionTwin;
  isDeleted(sessionId: string): boolean;
  newId(): string;
  /** That this happened once more. */
  count(what: string): void;
  /** What may never happen has happened. */
  fail(sessionId: string, message: string): void;
}
