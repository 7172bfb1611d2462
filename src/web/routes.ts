import type { LucideIcon } from "lucide-preact";
import { List, Mic, MonitorSmartphone } from "lucide-preact";
import type { VNode } from "preact";

/** What a view is given: the named parts of its path, decoded. */
export type Params = Readonly<Record<string, string | undefined>>;

export interface Route {
  /** Behind the `#` of the address, in wouter's form: `/sessions/:id`. */
  readonly path: string;
  /** Loaded when somebody goes there. */
  readonly load: () => Promise<{ View: (props: { params: Params }) => VNode | null }>;
  /** A place in the bar at the top. */
  readonly bar?: { readonly label: string; readonly Icon: LucideIcon };
  /** Who sees it; without it every signed-in user. */
  readonly roles?: readonly ("admin" | "moderator" | "participant" | "guest")[];
}

const EVERYBODY = ["admin", "moderator", "participant", "guest"] as const;

/** All views; a new one is a folder of `views/` and a line here. */
export const ROUTES: readonly Route[] = [
  {
    path: "/",
    load: () => import("./views/sessions/sessions-view.tsx"),
    bar: { label: "Sessions", Icon: List },
  },
  {
    path: "/sessions/:id/:at?",
    load: () => import("./views/session/session-view.tsx"),
    roles: EVERYBODY,
  },
  { path: "/search/:words?", load: () => import("./views/search/search-view.tsx") },
  {
    path: "/record",
    load: () => import("./views/record/record-view.tsx"),
    bar: { label: "Record", Icon: Mic },
  },
  {
    path: "/devices",
    load: () => import("./views/devices/devices-view.tsx"),
    bar: { label: "Devices", Icon: MonitorSmartphone },
  },
  { path: "/devices/:deed/:code?", load: () => import("./views/devices/devices-view.tsx") },
  { path: "/invitations", load: () => import("./views/invitations/invitations-view.tsx") },
  { path: "/workshops", load: () => import("./views/workshops/workshops-view.tsx") },
  { path: "/workshops/:id", load: () => import("./views/workshops/workshop-view.tsx") },
  { path: "/keys", load: () => import("./views/keys/keys-view.tsx") },
  { path: "/webhooks/:workspace?", load: () => import("./views/webhooks/webhooks-view.tsx") },
  { path: "/webhooks/:workspace/:id", load: () => import("./views/webhooks/webhook-view.tsx") },
  { path: "/terminal", load: () => import("./views/terminal/terminal-view.tsx") },
];
