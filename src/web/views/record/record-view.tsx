import type { VNode } from "preact";
import { ViewFrame } from "../../parts/view.tsx";
export function View(): VNode {
  return (
    <ViewFrame title="Record">
      <p />
    </ViewFrame>
  );
}
