import type { ComponentChildren, VNode } from "preact";

type Fact = readonly [label: string, value: ComponentChildren];

/** What there is to know of one thing; facts without a value are left out. */
export function Facts({ facts }: { facts: readonly Fact[] }): VNode {
  const shown = facts.filter(([, value]) => value !== undefined && value !== "");
  return (
    <dl class="admin-facts">
      {shown.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
