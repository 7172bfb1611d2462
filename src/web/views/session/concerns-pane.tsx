import { useComputed } from "@preact/signals";
import { Flag } from "lucide-preact";
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { clockTime } from "../../../wire/clock-time.ts";
import { call, messageOf } from "../../api/client.ts";
import type { Concern } from "../../api/records.ts";
import { Options } from "../../parts/fields.tsx";
import { useResource } from "../../parts/resource.ts";
import { Awaited } from "../../parts/states.tsx";
import { showToast } from "../../parts/toasts.tsx";
import { CONCERN_STATUS, ConcernSettling } from "./concern-settling.tsx";
import type { SessionModel } from "./model/session-model.ts";

const CATEGORIES: readonly { id: Concern["category"]; name: string }[] = [
  { id: "accuracy", name: "Something is wrong in the text" },
  { id: "privacy", name: "This should not be recorded" },
  { id: "safety", name: "Somebody may come to harm" },
  { id: "other", name: "Something else" },
];

function labelOf(category: Concern["category"]): string {
  return CATEGORIES.find(({ id }) => id === category)?.name ?? category;
}

/** What people find wrong with the session, and the form to say so. */
export function ConcernsPane({
  model,
  onJump,
}: {
  model: SessionModel;
  onJump: () => void;
}): VNode {
  const news = model.concernNews.value;
  const { state, reload } = useResource(
    () =>
      call((api) =>
        api.GET("/sessions/{session_id}/concerns", { params: { path: { session_id: model.id } } }),
      ),
    [model],
  );
  useEffect(() => {
    if (news > 0) reload();
  }, [news, reload]);
  return (
    <div class="stack">
      <ConcernForm model={model} onRaised={reload} />
      <Awaited of={{ state, reload }} what="concerns" lines={2} />
      {state.kind === "ready" && state.value.items.length === 0 && (
        <p class="soft small">Nobody has raised one.</p>
      )}
      {state.kind === "ready" && (
        <ul class="moments">
          {state.value.items.map((each) => (
            <li key={each.id} class="concern">
              <div class="row">
                <span class="chip">{labelOf(each.category)}</span>
                <span class="chip" data-tone={each.status === "open" ? "warn" : "good"}>
                  {CONCERN_STATUS[each.status]}
                </span>
                {each.start_ms !== undefined && (
                  <button
                    type="button"
                    class="line-time"
                    onClick={() => {
                      onJump();
                      model.jumpTo(each.start_ms ?? 0);
                    }}
                  >
                    {clockTime(each.start_ms / 1_000)}
                  </button>
                )}
              </div>
              <p>{each.content_visible ? each.description : "Hidden"}</p>
              {each.resolution && <p class="soft small">{each.resolution}</p>}
              {model.mayEdit && <ConcernSettling concern={each} onChanged={reload} />}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

interface FormProps {
  model: SessionModel;
  onRaised: () => void;
}

function ConcernForm({ model, onRaised }: FormProps): VNode {
  const [isBusy, setBusy] = useState(false);
  const moment = useComputed(() => Math.floor(model.player.time.value));
  const submit = async (form: HTMLFormElement) => {
    const fields = new FormData(form);
    const category = CATEGORIES.find(({ id }) => id === fields.get("category"))?.id ?? "other";
    const at = fields.get("moment") === null ? 0 : Math.round(model.player.time.value * 1_000);
    setBusy(true);
    try {
      await call((api) =>
        api.POST("/sessions/{session_id}/concerns", {
          params: { path: { session_id: model.id } },
          body: {
            category,
            description: String(fields.get("description")).trim(),
            ...(at > 0 ? { start_ms: at, end_ms: at + 1_000 } : {}),
          },
        }),
      );
      form.reset();
      showToast("Your concern is raised. The owner of the session and its moderators see it.");
      onRaised();
    } catch (error) {
      showToast(messageOf(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void submit(event.currentTarget);
      }}
    >
      <label class="field">
        <span>What is it about?</span>
        <select class="input" name="category">
          <Options of={CATEGORIES} />
        </select>
      </label>
      <label class="field">
        <span>What is the matter?</span>
        <textarea class="input" name="description" required maxLength={2_000} />
      </label>
      {moment.value > 0 && (
        <label class="check">
          <input type="checkbox" name="moment" defaultChecked /> It is about the moment{" "}
          {clockTime(moment.value)}
        </label>
      )}
      <div>
        <button type="submit" class="button" disabled={isBusy}>
          <Flag size={16} aria-hidden="true" /> Raise a concern
        </button>
      </div>
    </form>
  );
}
