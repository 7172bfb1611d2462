import { CalendarClock, Pencil, UserRound } from "lucide-preact";
import type { VNode } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Summary } from "../../../api/records.ts";
import { dueWords, nameIn } from "../model/note-words.ts";
import type { SessionModel } from "../model/session-model.ts";
import { ItemForm } from "./item-form.tsx";
import { MomentLink } from "./note-sentences.tsx";

interface ItemsProps {
  model: SessionModel;
  items: readonly Summary["items"][number][];
  onJump: () => void;
}

/** What somebody said that they will do: ticked when it is done, with who does it and by when. */
export function ActionItems({ model, items, onJump }: ItemsProps): VNode {
  return (
    <ul class="note-list">
      {items.map((item) => (
        <Item key={item.id ?? item.text} model={model} item={item} onJump={onJump} />
      ))}
    </ul>
  );
}

interface ItemProps {
  model: SessionModel;
  item: Summary["items"][number];
  onJump: () => void;
}

function Item({ model, item, onJump }: ItemProps): VNode {
  const [isOpen, setOpen] = useState(false);
  const pencil = useRef<HTMLButtonElement>(null);
  const { id, text, owner = "", due = "", done = false } = item;
  const mayChange = model.mayEdit && id !== undefined;
  const when = dueWords(due, done);
  const close = () => {
    setOpen(false);
    // Only once the form is gone from the page.
    setTimeout(() => pencil.current?.focus());
  };
  return (
    <li class="action-item" data-done={done}>
      {mayChange ? (
        <input
          type="checkbox"
          aria-label={`Done: ${text}`}
          checked={done}
          onChange={({ currentTarget: { checked } }) => {
            const said = checked ? "Ticked as done." : "Not done any more.";
            void model.notes.change(item, { done: checked }, said);
          }}
        />
      ) : (
        <span class="chip" data-tone={done ? "good" : undefined}>
          {done ? "Done" : "Open"}
        </span>
      )}
      <div class="action-item-text">
        <MomentLink model={model} item={item} onJump={onJump} />
        <span class="row">
          {owner !== "" && (
            <span class="chip">
              <UserRound size={13} role="img" aria-label="Who does it" />
              {nameIn(owner, (label) => model.nameOf(label))}
            </span>
          )}
          {due !== "" && (
            <span class="chip" data-tone={when.isLate ? "danger" : undefined}>
              <CalendarClock size={13} role="img" aria-label={when.isLate ? "Overdue" : "Due"} />
              {when.text}
            </span>
          )}
          {mayChange && !isOpen && (
            <button
              ref={pencil}
              type="button"
              class="button quiet small"
              aria-label={`Change who does it and by when: ${text}`}
              onClick={() => setOpen(true)}
            >
              <Pencil size={13} aria-hidden="true" />
              {owner === "" && due === "" ? "Owner and date" : "Change"}
            </button>
          )}
        </span>
        {isOpen && <ItemForm model={model} item={item} onClose={close} />}
      </div>
    </li>
  );
}
