import type { WorkspaceMember } from "../../api/records.ts";

/** Somebody of a workspace; lists know them by `id`. */
export type Member = WorkspaceMember & { readonly id: string };
