import { Lock } from "lucide-preact";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { account } from "../../api/account.ts";
import { call, messageOf } from "../../api/client.ts";
import type { SessionModel } from "./session-model.ts";

/** An administrator sees the words of others only with a reason, which is on record. */
export function ElevationForm({ model }: { model: SessionModel }): VNode {
  const [told, setTold] = useState("");
  const who = account.value;
  if (who?.kind !== "user" || who.role !== "admin") {
    return <p class="state">You may not read this session.</p>;
  }
  const elevate = async (reason: string) => {
    setTold("");
    try {
      await call((api) =>
        api.POST("/admin/content-elevate", { body: { reason, session_id: model.id } }),
      );
      model.reopen();
    } catch (error) {
      setTold(messageOf(error));
    }
  };
  return (
    <form
      class="card stack elevation"
      onSubmit={(event) => {
        event.preventDefault();
        void elevate(String(new FormData(event.currentTarget).get("reason")).trim());
      }}
    >
      <h2 class="row">
        <Lock size={18} aria-hidden="true" /> The words are hidden
      </h2>
      <p class="soft">
        You are not a part of this session. With a reason, which its owner and the audit log keep,
        they are open to you for 30 minutes.
      </p>
      <label class="field">
        <span>Reason, 10 to 500 characters</span>
        <textarea class="input" name="reason" required minLength={10} maxLength={500} />
      </label>
      {told !== "" && (
        <p class="notice" data-tone="danger" role="alert">
          {told}
        </p>
      )}
      <div>
        <button type="submit" class="button primary">
          Show the words
        </button>
      </div>
    </form>
  );
}
