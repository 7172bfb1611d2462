import { Ellipsis, type LucideIcon } from "lucide-preact";
import type { VNode } from "preact";
import { Menu } from "./menu.tsx";

interface Choice<T extends string> {
  readonly what: T;
  readonly label: string;
  readonly Icon: LucideIcon;
  /** False where it may not be done, or there is nothing to do; shown by default. */
  readonly isShown?: boolean;
}

interface ActionMenuProps<T extends string> {
  label: string;
  class?: string;
  choices: readonly Choice<T>[];
  onChoose: (what: T) => void;
}

/** Behind three dots, what may be done with one thing. */
export function ActionMenu<T extends string>(props: ActionMenuProps<T>): VNode {
  const { label, class: look = "button quiet icon", choices, onChoose } = props;
  const shown = choices.filter(({ isShown = true }) => isShown);
  return (
    <Menu label={label} class={look} button={<Ellipsis size={18} aria-hidden="true" />}>
      {(close) =>
        shown.map(({ what, label: name, Icon }) => (
          <button
            key={what}
            type="button"
            class="button quiet"
            onClick={() => {
              close();
              onChoose(what);
            }}
          >
            <Icon size={16} aria-hidden="true" /> {name}
          </button>
        ))
      }
    </Menu>
  );
}
