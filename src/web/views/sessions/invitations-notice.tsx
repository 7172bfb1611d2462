import { Mail } from "lucide-preact";
import type { VNode } from "preact";
import { Link } from "wouter-preact";
import { call } from "../../api/client.ts";
import { useResource } from "../../parts/resource.ts";

/** A line above the list when somebody waits for an answer. */
export function InvitationsNotice(): VNode | null {
  const { state } = useResource(() => call((api) => api.GET("/invitations")), []);
  const count = state.kind === "ready" ? state.value.items.length : 0;
  if (count === 0) return null;
  return (
    <p class="notice invitations-notice">
      <Mail size={18} aria-hidden="true" />
      <span>
        {count === 1 ? "You are invited. " : `You have ${count} invitations. `}
        <Link href="/invitations">See and answer</Link>
      </span>
    </p>
  );
}
