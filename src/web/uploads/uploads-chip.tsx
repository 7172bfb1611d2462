import { Upload } from "lucide-preact";
import type { VNode } from "preact";
import { Link } from "wouter-preact";
import { account } from "../api/account.ts";
import { isUnfinished, percentOf, uploads } from "./upload-state.ts";

/** In the bar at the top while files are sent, whatever view is open; leads to them. */
export function UploadsChip(): VNode | null {
  const going = uploads.value.filter(isUnfinished);
  if (going.length === 0 || account.value?.kind !== "user") return null;
  const sum = (of: "sent" | "size") => going.reduce((all, each) => all + each[of], 0);
  const percent = percentOf(sum("sent"), sum("size"));
  const files = going.length === 1 ? "1 file" : `${going.length} files`;
  const needsHelp = going.some(({ phase }) => ["missing", "waiting"].includes(phase.kind));
  return (
    <Link
      class="chip"
      data-tone={needsHelp ? "warn" : undefined}
      href="/"
      aria-label={`Uploading ${files}, ${percent} % sent`}
    >
      <Upload size={13} aria-hidden="true" /> {percent} %
    </Link>
  );
}
