import type { VNode } from "preact";
import { UploadRow, wordsOf } from "./upload-row.tsx";
import { type ShownUpload, uploads } from "./upload-state.ts";
import "./uploads.css";

/** The files that are being sent, or were; nothing where there are none. */
export function UploadList(): VNode | null {
  const shown = uploads.value;
  return (
    <>
      {shown.length > 0 && (
        <section class="uploads" aria-labelledby="uploads">
          <h2 id="uploads">Uploads</h2>
          <ul class="upload-list">
            {shown.map((each) => (
              <UploadRow key={each.id} upload={each} />
            ))}
          </ul>
        </section>
      )}
      <div class="hidden-text" role="status">
        {shown.map((each) => (
          <p key={each.id}>{noticeOf(each)}</p>
        ))}
      </div>
    </>
  );
}

/** For screen readers, which are told of what changes and not of every percent. */
function noticeOf(upload: ShownUpload): string {
  const { name, phase } = upload;
  return `${name}: ${phase.kind === "sending" ? "Being sent" : wordsOf(upload)}`;
}
