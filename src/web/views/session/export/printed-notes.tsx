import type { VNode } from "preact";
import { clockTime } from "../../../../wire/clock-time.ts";
import type { Summary } from "../../../api/records.ts";
import { dueWords, nameIn } from "../model/note-words.ts";

/** Those that are printed, in this order. */
const PRINTED: readonly (readonly [kind: Summary["summary_type"], title: string])[] = [
  ["brief", "In brief"],
  ["action_items", "Action items"],
  ["decisions", "Decisions"],
  ["open_questions", "Open questions"],
];

interface PrintedProps {
  notes: readonly Summary[];
  nameOf: (label: string) => string;
}

/** The notes above the printed words; nothing where there are none. */
export function PrintedNotes({ notes, nameOf }: PrintedProps): VNode | null {
  const parts = PRINTED.flatMap(([kind, title]) => {
    const { items = [] } = notes.find(({ summary_type: type }) => type === kind) ?? {};
    return items.length === 0 ? [] : [{ kind, title, items }];
  });
  if (parts.length === 0) return null;
  return (
    <section class="printed-notes">
      {parts.map(({ kind, title, items }) => (
        <div key={kind}>
          <h2>{title}</h2>
          <ul>
            {items.map((item) => (
              <li key={`${item.start_ms} ${item.text}`}>
                {kind === "action_items" && (item.done === true ? "☑ " : "☐ ")}
                {item.text} {whoAndWhen(item, nameOf)}
                <span class="soft small">{clockTime(item.start_ms / 1_000)}</span>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </section>
  );
}

function whoAndWhen(
  { owner = "", due = "", done = false }: Summary["items"][number],
  nameOf: (label: string) => string,
): string {
  const parts = [nameIn(owner, nameOf), dueWords(due, done).text];
  const said = parts.filter((part) => part !== "").join(", ");
  return said === "" ? "" : `(${said}) `;
}
