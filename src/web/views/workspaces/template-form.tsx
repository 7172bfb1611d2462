import { ArrowDown, ArrowUp, Plus, Trash2 } from "lucide-preact";
import type { VNode } from "preact";
import { useRef, useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { NoteSection, NoteTemplate } from "../../api/records.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Choice, TextField } from "../../parts/fields.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { useResource } from "../../parts/resource.ts";
import { Awaited } from "../../parts/states.tsx";
import { showToast } from "../../parts/toasts.tsx";
import { type EditedSection, moved, toEdited, toSections } from "./edited-sections.ts";

const MOST_SECTIONS = 12;
const KINDS: readonly { id: NoteSection["kind"]; name: string }[] = [
  { id: "brief", name: "in brief" },
  { id: "detailed", name: "in detail" },
  { id: "action_items", name: "action items" },
  { id: "decisions", name: "decisions" },
  { id: "topics", name: "topics" },
  { id: "open_questions", name: "open questions" },
  { id: "custom", name: "in your own words" },
];

interface FormProps {
  path: { id: string; template: string };
  title: string;
  onChanged: () => void;
  onClose: () => void;
}

/** Changes a template as it stands when the form is opened. */
export function TemplateForm({ path, title, onChanged, onClose }: FormProps): VNode {
  const { state, reload } = useResource(() => readTemplate(path), [path.id, path.template]);
  if (state.kind === "ready") {
    return <Editing {...{ path, onChanged, onClose }} known={state.value} />;
  }
  return (
    <Dialog title={`Change “${title}”`} onClose={onClose}>
      <Awaited of={{ state, reload }} what="the template" lines={4} />
    </Dialog>
  );
}

interface Known {
  readonly template: NoteTemplate;
  readonly tag: string | undefined;
}

async function readTemplate(path: FormProps["path"]): Promise<Known> {
  let tag: string | undefined;
  const template = await call(async (api) => {
    const answer = await api.GET("/workspaces/{id}/note-templates/{template}", {
      params: { path },
    });
    tag = answer.response.headers.get("etag") ?? undefined;
    return answer;
  });
  return { template, tag };
}

function Editing({
  path,
  known: { template, tag },
  onChanged,
  onClose,
}: Omit<FormProps, "title"> & { known: Known }): VNode {
  const [sections, setSections] = useState<readonly EditedSection[]>(() =>
    template.sections.map(toEdited),
  );
  const list = useRef<HTMLOListElement>(null);
  const save = async (fields: FormData) => {
    const params = { path, ...(tag === undefined ? {} : { header: { "If-Match": tag } }) };
    const body = { title: String(fields.get("title")), sections: toSections(sections) };
    await call((api) => api.PUT("/workspaces/{id}/note-templates/{template}", { params, body }));
    onChanged();
    showToast("The template is changed.");
  };
  const put = (at: number, section: EditedSection) =>
    setSections(sections.map((each, n) => (n === at ? section : each)));
  const move = (at: number, by: 1 | -1, pressed: HTMLElement) => {
    setSections(moved(sections, at, by));
    // It loses the focus while it is put elsewhere.
    requestAnimationFrame(() => pressed.focus());
  };
  const remove = (at: number) => {
    setSections(sections.filter((_, n) => n !== at));
    // What had the focus is gone.
    list.current?.closest("form")?.querySelector<HTMLElement>('input[name="title"]')?.focus();
  };
  return (
    <FormDialog
      title={`Change “${template.title}”`}
      submit="Save"
      onSubmit={save}
      onClose={onClose}
    >
      <TextField
        label="Name"
        name="title"
        required
        maxLength={80}
        autocomplete="off"
        defaultValue={template.title}
      />
      <ol ref={list} class="template-sections stack" aria-label="Sections">
        {sections.map((section, at) => (
          <SectionFields
            key={section.key}
            section={section}
            number={at + 1}
            of={sections.length}
            onChange={(changed) => put(at, changed)}
            onMove={(by, pressed) => move(at, by, pressed)}
            onRemove={() => remove(at)}
          />
        ))}
      </ol>
      {sections.length < MOST_SECTIONS && (
        <div>
          <button
            type="button"
            class="button"
            onClick={() => setSections([...sections, toEdited({ title: "", kind: "custom" })])}
          >
            <Plus size={16} aria-hidden="true" /> Add a section
          </button>
        </div>
      )}
    </FormDialog>
  );
}

interface FieldsProps {
  section: EditedSection;
  /** Its place, from 1, of so many. */
  number: number;
  of: number;
  onChange: (section: EditedSection) => void;
  onMove: (by: 1 | -1, pressed: HTMLElement) => void;
  onRemove: () => void;
}

function SectionFields(props: FieldsProps): VNode {
  const { section, number, of, onChange, onMove, onRemove } = props;
  const name = section.title || `section ${number}`;
  return (
    <li>
      <fieldset class="stack">
        <legend class="hidden-text">Section {number}</legend>
        <div class="row template-section">
          <TextField
            label="Heading"
            required
            maxLength={80}
            autocomplete="off"
            value={section.title}
            onInput={({ currentTarget }) => onChange({ ...section, title: currentTarget.value })}
          />
          <Choice
            label="What it has"
            value={section.kind}
            of={KINDS}
            onChoose={(kind) => onChange({ ...section, kind })}
          />
        </div>
        {section.kind === "custom" && (
          <label class="field">
            <span>What to look for: a line or a semicolon between one and the next</span>
            <textarea
              class="input"
              rows={2}
              required
              maxLength={500}
              placeholder="what they need; which problem they have"
              value={section.instruction}
              onInput={({ currentTarget }) =>
                onChange({ ...section, instruction: currentTarget.value })
              }
            />
          </label>
        )}
        <div class="row">
          <button
            type="button"
            class="button quiet icon"
            aria-label={`Move ${name} up`}
            aria-disabled={number === 1}
            onClick={({ currentTarget }) => onMove(-1, currentTarget)}
          >
            <ArrowUp size={16} aria-hidden="true" />
          </button>
          <button
            type="button"
            class="button quiet icon"
            aria-label={`Move ${name} down`}
            aria-disabled={number === of}
            onClick={({ currentTarget }) => onMove(1, currentTarget)}
          >
            <ArrowDown size={16} aria-hidden="true" />
          </button>
          <button
            type="button"
            class="button quiet icon"
            aria-label={`Remove ${name}`}
            aria-disabled={of === 1}
            onClick={() => of > 1 && onRemove()}
          >
            <Trash2 size={16} aria-hidden="true" />
          </button>
        </div>
      </fieldset>
    </li>
  );
}
