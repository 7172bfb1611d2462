import { Lock } from "lucide-preact";
import type { VNode } from "preact";
import { account } from "../../api/account.ts";
import { ElevationForm } from "../../parts/elevation-form.tsx";
import type { SessionModel } from "./model/session-model.ts";

/** In the place of words that an administrator sees only with a reason, which is on record. */
export function HiddenWords({ model }: { model: SessionModel }): VNode {
  const who = account.value;
  if (who?.kind !== "user" || who.role !== "admin") {
    return <p class="state">You may not read this session.</p>;
  }
  return (
    <section class="card stack elevation" aria-labelledby="hidden-words">
      <h2 class="row" id="hidden-words">
        <Lock size={18} aria-hidden="true" /> The words are hidden
      </h2>
      <p class="soft">
        You are not a part of this session. With a reason, which stands in the audit log with every
        read, they are open to you for a while.
      </p>
      <ElevationForm place={{ session_id: model.id }} onOpen={() => model.reopen()} />
    </section>
  );
}
