import type { Delivery, Webhook } from "../../api/records.ts";

export type EventType = Webhook["event_types"][number];

/** What each event says, in the words of whoever chooses it. */
export const EVENTS: Readonly<Record<EventType, string>> = {
  "session.started": "A session begins",
  "session.stopped": "Its recording ends",
  "session.completed": "Its transcript is complete",
  "session.failed": "It could not be finished",
  "session.deleted": "It is deleted",
  "chunk.failed": "A part of the audio could not be read",
  "transcript.segment_revised": "A line is corrected",
  "transcript.replaced": "The transcript is made anew",
  "speaker.claimed": "Somebody claims a voice",
  "summary.completed": "A summary is ready",
  "summary.ready": "All notes are ready",
  "concern.raised": "Somebody raises a concern",
  "redaction.applied": "Words are taken out",
};

export const EVENT_NAMES = Object.keys(EVENTS) as EventType[];

interface Status {
  readonly label: string;
  readonly tone: "good" | "warn" | "danger" | undefined;
  /** What that means, where it needs saying. */
  readonly why?: string;
}

/** Whether messages are sent, and do they arrive. */
export function statusOf(
  webhook: Pick<Webhook, "enabled" | "suspended" | "disabled_reason" | "consecutive_failures">,
): Status {
  const { enabled, suspended, disabled_reason: reason, consecutive_failures: failures } = webhook;
  if (!enabled && reason === "gone") {
    const why = "Its address answered 410 Gone, so it was switched off.";
    return { label: "Switched off", tone: "danger", why };
  }
  if (!enabled && reason === "failing") {
    const why = "Nothing arrived for 5 days, so it was switched off.";
    return { label: "Switched off", tone: "danger", why };
  }
  if (!enabled) return { label: "Off", tone: undefined };
  if (suspended) {
    const why =
      "Whoever named its address has lost the right to, so nothing is sent. Take it over, and what waits is sent.";
    return { label: "Suspended", tone: "danger", why };
  }
  if (failures > 0) {
    const times = failures === 1 ? "The last attempt" : `The last ${failures} attempts`;
    return { label: "Failing", tone: "warn", why: `${times} did not arrive; it is tried again.` };
  }
  return { label: "On", tone: "good" };
}

type DeliveryError = NonNullable<Delivery["attempts"][number]["error"]>;

const ERRORS: Readonly<Record<DeliveryError, string>> = {
  timeout: "no answer within 15 s",
  dns_failed: "the host's name leads nowhere",
  address_refused: "the address is not a public one",
  connection_refused: "nobody listens there",
  connection_failed: "the connection broke",
  tls_failed: "the certificate is not valid",
  redirect: "it leads elsewhere, which is not followed",
  http_error: "the answer was no 2xx",
  gone: "it answered 410 Gone",
  disabled: "the webhook was switched off",
  expired: "its 3 days were over",
  internal: "the service could not send it",
};

/** `204 in 12 ms`, `503: the answer was no 2xx` or `nobody listens there`. */
export function outcomeOf(attempt: Delivery["attempts"][number]): string {
  const { status_code: code, error, duration_ms: ms } = attempt;
  const said = error === undefined ? undefined : ERRORS[error];
  if (said !== undefined) return code === undefined ? said : `${code}: ${said}`;
  const time = ms === undefined ? "" : ` in ${ms} ms`;
  return `${code ?? "arrived"}${time}`;
}

/** Whether a message arrived. */
export function deliveryStatusOf(delivery: Pick<Delivery, "status" | "suspended">): Status {
  if (delivery.status === "succeeded") return { label: "Arrived", tone: "good" };
  if (delivery.status === "failed") return { label: "Failed", tone: "danger" };
  return { label: delivery.suspended ? "Waits" : "Under way", tone: "warn" };
}

/** `Everything`, or what it is told of: the first few, and how many more. */
export function eventsOf(types: Webhook["event_types"], most = 3): string {
  if (types.length === 0) return "everything";
  const shown = types.slice(0, most).join(", ");
  return types.length > most ? `${shown} and ${types.length - most} more` : shown;
}
