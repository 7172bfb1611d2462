import type { VNode } from "preact";
import { clockTime } from "../../../../wire/clock-time.ts";
import type { NoteSection, Summary, SummaryPage } from "../../../api/records.ts";
import { dueWords, kindOf, nameIn } from "../model/note-words.ts";

/** What the words below them say at length. */
const LEFT_OUT: ReadonlySet<NoteSection["kind"]> = new Set<NoteSection["kind"]>([
  "topics",
  "detailed",
]);

interface PrintedProps {
  notes: Pick<SummaryPage, "items" | "template">;
  nameOf: (label: string) => string;
}

/** The notes above the printed words; nothing where there are none. */
export function PrintedNotes({ notes, nameOf }: PrintedProps): VNode | null {
  const parts = notes.template.sections.flatMap((section) => {
    const { kind, title } = section;
    const made = notes.items.find(({ summary_type: type }) => type === kindOf(section));
    const items = (made?.items ?? []).filter((item) => kind !== "custom" || item.section === title);
    return items.length === 0 || LEFT_OUT.has(kind) ? [] : [{ kind, title, items }];
  });
  if (parts.length === 0) return null;
  return (
    <section class="printed-notes">
      {parts.map(({ kind, title, items }) => (
        <div key={title}>
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
