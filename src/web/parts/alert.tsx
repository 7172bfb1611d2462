import type { VNode } from "preact";

interface AlertProps {
  text: string;
  isSmall?: boolean;
}

/** What went wrong, read aloud as it comes; nothing while there is nothing. */
export function Alert({ text, isSmall = false }: AlertProps): VNode | null {
  if (text === "") return null;
  return (
    <p class={isSmall ? "small notice" : "notice"} data-tone="danger" role="alert">
      {text}
    </p>
  );
}
