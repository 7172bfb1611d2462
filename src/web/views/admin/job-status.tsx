import type { VNode } from "preact";
import type { TranscriptionJobItem } from "../../api/records.ts";

type Status = TranscriptionJobItem["status"];

export const JOB_STATUSES: readonly Status[] = [
  "queued",
  "running",
  "completed",
  "failed",
  "cancelled",
];

const TONES: Readonly<Record<Status, string>> = {
  queued: "",
  running: "warn",
  completed: "good",
  failed: "danger",
  cancelled: "",
};

/** A job's state in a word, and how far it is while it runs. */
export function JobStatus({ status, progress }: { status: Status; progress: number }): VNode {
  return (
    <>
      <span class="chip" data-tone={TONES[status]}>
        {status}
      </span>
      {status === "running" && (
        <progress aria-label="Progress" max={1} value={Math.min(1, Math.max(0, progress))} />
      )}
    </>
  );
}

/** True for a job whose record may change by itself. */
export function isUnderWay(status: Status): boolean {
  return status === "queued" || status === "running";
}
