import { Mic, MonitorSmartphone } from "lucide-preact";
import type { ComponentChildren, VNode } from "preact";
import { Link } from "wouter-preact";
import { UploadButton } from "../../uploads/upload-button.tsx";

interface FirstStepsProps {
  onFiles: (files: readonly File[]) => void;
  /** Where they go, if there is a choice. */
  children?: ComponentChildren;
}

/** What somebody sees who has no session yet: the ways to the first one. */
export function FirstSteps({ onFiles, children }: FirstStepsProps): VNode {
  return (
    <div class="card first-steps">
      <h2>Your first session</h2>
      <p class="soft">
        Record a conversation with this browser's microphone, upload a recording that you have, or
        pair a device that records.
      </p>
      <div class="row">
        <Link class="button primary" href="/record">
          <Mic size={17} aria-hidden="true" /> Record from this browser
        </Link>
        <UploadButton onFiles={onFiles}>Upload files</UploadButton>
        {children}
        <Link class="button" href="/devices/pair">
          <MonitorSmartphone size={17} aria-hidden="true" /> Pair a device
        </Link>
      </div>
      <p class="soft small">
        Audio and video files may also be dropped anywhere here, or pasted. In a terminal,{" "}
        <code>npx voice upload FILE</code> does the same;{" "}
        <Link href="/terminal">how to log in there</Link>.
      </p>
    </div>
  );
}
