import type { VNode } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { call } from "../../../api/client.ts";
import type { Summary } from "../../../api/records.ts";
import { TextField } from "../../../parts/fields.tsx";
import { useResource } from "../../../parts/resource.ts";
import { dayIn, nameIn } from "../model/note-words.ts";
import type { SessionModel } from "../model/session-model.ts";
import type { ItemChange } from "../model/session-notes.ts";

const MOST_TEXT = 200;

interface FormProps {
  model: SessionModel;
  item: Summary["items"][number];
  onClose: () => void;
}

/** Who does an action item, chosen among those who spoke and the session's people or anybody; and by when. */
export function ItemForm({ model, item, onClose }: FormProps): VNode {
  const names = useNames(model);
  const listId = useId();
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => first.current?.focus(), []);
  const owner = nameIn(item.owner ?? "", (label) => model.nameOf(label));
  const { due = "" } = item;
  const day = dayIn(due);
  const save = (fields: FormData) => {
    const text = (name: string) => String(fields.get(name) ?? "").trim();
    const change: ItemChange = {
      ...(text("owner") !== owner && { owner: text("owner") }),
      ...dueChange(text("day"), text("words"), due),
    };
    onClose();
    if (Object.keys(change).length > 0) void model.notes.change(item, change, "Changed.");
  };
  return (
    <form
      class="stack action-item-form"
      onSubmit={(event) => {
        event.preventDefault();
        save(new FormData(event.currentTarget));
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        onClose();
      }}
    >
      <label class="field">
        <span>Who does it</span>
        <input
          ref={first}
          class="input"
          name="owner"
          list={listId}
          maxLength={MOST_TEXT}
          defaultValue={owner}
        />
        <datalist id={listId}>
          {names.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      </label>
      <TextField label="By which day" type="date" name="day" defaultValue={day} />
      <TextField
        label="Or by when, in words"
        name="words"
        maxLength={MOST_TEXT}
        defaultValue={day === "" ? due : ""}
        placeholder="before the next meeting"
      />
      <div class="row">
        <button type="submit" class="button primary">
          Save
        </button>
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </form>
  );
}

/** A day counts more than words; what is as it was is no change. */
function dueChange(day: string, words: string, due: string): ItemChange {
  const wanted = day === "" ? words : day;
  return wanted === due ? {} : { due: wanted };
}

/** Whom one would choose: who speaks, and who is in the session. */
function useNames(model: SessionModel): string[] {
  const { state } = useResource(
    () =>
      call((api) =>
        api.GET("/sessions/{session_id}/members", {
          params: { path: { session_id: model.id }, query: { limit: 100 } },
        }),
      ),
    [model],
  );
  const members = state.kind === "ready" ? state.value.items : [];
  const spoken = model.speakers.value.map((label) => model.nameOf(label));
  const people = members.flatMap(({ name }) => (name ? [name] : []));
  return [...new Set([...spoken, ...people])];
}
