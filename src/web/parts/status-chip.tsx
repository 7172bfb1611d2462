import type { VNode } from "preact";
import type { Session } from "../api/records.ts";

const SHOWN: Readonly<Record<Session["status"], { label: string; tone: string }>> = {
  recording: { label: "Live", tone: "live" },
  processing: { label: "Being finished", tone: "warn" },
  completed: { label: "Completed", tone: "good" },
  failed: { label: "Failed", tone: "danger" },
  deleted: { label: "Deleted", tone: "danger" },
};

/** A session's state in a word. */
export function StatusChip({ status }: { status: Session["status"] }): VNode {
  const { label, tone } = SHOWN[status];
  return (
    <span class="chip" data-tone={tone}>
      {status === "recording" && <span class="pulse" aria-hidden="true" />}
      {label}
    </span>
  );
}
