import type { LucideIcon } from "lucide-preact";
import { List, Mic, MonitorSmartphone, ShieldUser } from "lucide-preact";
import type { VNode } from "preact";

/** What a view is given: the named parts of its path, decoded. */
export type Params = Readonly<Record<string, string | undefined>>;

export interface Route {
  /** Behind the `#` of the address, in wouter's form: `/sessions/:id`. */
  readonly path: string;
  /** Loaded when somebody goes there. */
  readonly load: () => Promise<{ View: (props: { params: Params }) => VNode | null }>;
  /** A place in the bar at the top. */
  readonly bar?: {
    readonly label: string;
    readonly Icon: LucideIcon;
    /** Where it leads; the path itself by default, which then has no parts. */
    readonly href?: string;
  };
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
    // Before the session's own, whose last part may be anything.
    path: "/sessions/:id/graph",
    load: () => import("./views/graph/session-graph-view.tsx"),
  },
  {
    path: "/sessions/:id/print",
    load: () => import("./views/session/export/print-view.tsx"),
    roles: EVERYBODY,
  },
  {
    path: "/sessions/:id/:at?",
    load: () => import("./views/session/session-view.tsx"),
    roles: EVERYBODY,
  },
  { path: "/search/:filters?", load: () => import("./views/search/search-view.tsx") },
  {
    path: "/record",
    load: () => import("./views/record/record-view.tsx"),
    bar: { label: "Record", Icon: Mic },
  },
  {
    path: "/devices/:deed?/:code?",
    load: () => import("./views/devices/devices-view.tsx"),
    bar: { label: "Devices", Icon: MonitorSmartphone, href: "/devices" },
  },
  { path: "/invitations", load: () => import("./views/invitations/invitations-view.tsx") },
  { path: "/voice", load: () => import("./views/voice/voice-view.tsx") },
  { path: "/workshops", load: () => import("./views/workshops/workshops-view.tsx") },
  { path: "/workshops/:id", load: () => import("./views/workshops/workshop-view.tsx") },
  { path: "/keys", load: () => import("./views/keys/keys-view.tsx") },
  { path: "/webhooks/:workspace?", load: () => import("./views/webhooks/webhooks-view.tsx") },
  { path: "/webhooks/:workspace/:id", load: () => import("./views/webhooks/webhook-view.tsx") },
  { path: "/join/:code", load: () => import("./views/join/join-view.tsx"), roles: EVERYBODY },
  { path: "/workspaces", load: () => import("./views/workspaces/workspaces-view.tsx") },
  { path: "/workspaces/:id", load: () => import("./views/workspaces/workspace-view.tsx") },
  {
    path: "/workspaces/:id/graph",
    load: () => import("./views/graph/workspace-graph-view.tsx"),
  },
  {
    path: "/admin/:tab?/:kind?/:id?",
    load: () => import("./views/admin/admin-view.tsx"),
    bar: { label: "Admin", Icon: ShieldUser, href: "/admin" },
    roles: ["admin"],
  },
  { path: "/terminal", load: () => import("./views/terminal/terminal-view.tsx") },
];
