import type { ComponentChildren, VNode } from "preact";
import "./record-row.css";

interface RecordRowProps {
  icon: ComponentChildren;
  title: ComponentChildren;
  /** Short texts below the title; what is empty is left out. */
  facts: readonly ComponentChildren[];
  chips?: ComponentChildren;
  /** Buttons, at the end. */
  actions?: ComponentChildren;
  children?: ComponentChildren;
}

/** One thing of a list, with what there is to know of it and to do with it. */
export function RecordRow(props: RecordRowProps): VNode {
  const { icon, title, facts, chips, actions, children } = props;
  const shown = facts.filter((fact) => fact !== undefined && fact !== null && fact !== "");
  return (
    <li class="record-row">
      <span class="record-icon">{icon}</span>
      <div class="record-text">
        <div class="row">
          <span class="record-title">{title}</span>
          {chips}
        </div>
        <ul class="record-facts">
          {shown.map((fact, n) => (
            <li key={n}>{fact}</li>
          ))}
        </ul>
        {children}
      </div>
      {actions && <div class="row record-actions">{actions}</div>}
    </li>
  );
}

/** The list around rows. */
export function RecordList({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <ul class="record-list" aria-label={label}>
      {children}
    </ul>
  );
}
