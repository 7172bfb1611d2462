import { FileAudio, Pause, Play, RotateCw, X } from "lucide-preact";
import type { VNode } from "preact";
import { Link } from "wouter-preact";
import { leftOf } from "../parts/times.ts";
import { sizeText } from "./file-facts.ts";
import { UploadButton } from "./upload-button.tsx";
import { percentOf, type ShownUpload, type UploadPhase, uploads } from "./upload-state.ts";
import { withUploader } from "./uploads.ts";
import "./uploads.css";

/** One file: how far it is, and what can be done about it. */
function UploadRow({ upload }: { upload: ShownUpload }): VNode {
  const { name, size, sent, sessionId, phase } = upload;
  const percent = percentOf(sent, size);
  const isBar = phase.kind !== "failed" && phase.kind !== "done";
  return (
    <li class="upload-row">
      <FileAudio size={18} aria-hidden="true" class="soft" />
      <div class="upload-text">
        <span class="upload-name">
          {phase.kind === "done" && sessionId !== undefined ? (
            <Link href={`/sessions/${sessionId}`}>{name}</Link>
          ) : (
            name
          )}
        </span>
        {isBar && (
          <progress class="bar" aria-label={`Upload of ${name}`} max={100} value={percent} />
        )}
        <span class="upload-facts" data-tone={phase.kind === "failed" ? "danger" : undefined}>
          <span>{sizeText(size)}</span>
          {isBar && <span>{percent} %</span>}
          <span>{wordsOf(upload)}</span>
        </span>
      </div>
      <div class="upload-actions">
        <Actions upload={upload} />
      </div>
    </li>
  );
}

/** How an upload does, in words that change with its phase. */
function wordsOf({ phase }: ShownUpload): string {
  switch (phase.kind) {
    case "queued":
      return "In line";
    case "sending":
      return phase.leftMs === undefined ? "Being sent" : leftOf(phase.leftMs);
    case "paused":
      return "Paused";
    case "waiting":
      return phase.away === "network"
        ? "Waiting for the network; it goes on by itself"
        : "The service is busy; it goes on by itself";
    case "missing":
      return "Choose the file again to go on";
    case "failed":
      return phase.why;
    case "done":
      return "Uploaded; its words follow in the session";
  }
}

function Actions({ upload: { id, name, phase } }: { upload: ShownUpload }): VNode {
  const { kind } = phase;
  const main = mainAction(phase);
  const isEnded = kind === "failed" || kind === "done";
  return (
    <>
      {kind === "missing" && (
        <UploadButton
          isOne
          label={`Choose the file again: ${name}`}
          onFiles={([file]) =>
            void withUploader((uploader) => file && uploader.giveAgain(id, file))
          }
        >
          Choose the file
        </UploadButton>
      )}
      {/* One button, so that who pressed it by keyboard is still on it when it does the opposite. */}
      {main && (
        <Action
          label={main.label(name)}
          Icon={main.Icon}
          onClick={() => void withUploader((uploader) => uploader[main.deed](id))}
        />
      )}
      <Action
        label={isEnded ? `Take ${name} off this list` : `Cancel the upload of ${name}`}
        Icon={X}
        onClick={() => {
          // The button goes with its row.
          document.querySelector<HTMLElement>("main h1")?.focus();
          void withUploader((uploader) => uploader[isEnded ? "dismiss" : "cancel"](id));
        }}
      />
    </>
  );
}

interface MainAction {
  readonly label: (name: string) => string;
  readonly Icon: typeof Pause;
  readonly deed: "pause" | "resume";
}

function mainAction(phase: UploadPhase): MainAction | undefined {
  switch (phase.kind) {
    case "queued":
    case "sending":
    case "waiting":
      return { label: (name) => `Pause the upload of ${name}`, Icon: Pause, deed: "pause" };
    case "paused":
      return { label: (name) => `Go on with the upload of ${name}`, Icon: Play, deed: "resume" };
    case "failed":
      if (!phase.mayRetry) return undefined;
      return { label: (name) => `Try ${name} again`, Icon: RotateCw, deed: "resume" };
    default:
      return undefined;
  }
}

interface ActionProps {
  label: string;
  Icon: typeof Pause;
  onClick: () => void;
}

function Action({ label, Icon, onClick }: ActionProps): VNode {
  return (
    <button
      type="button"
      class="button quiet icon"
      aria-label={label}
      title={label}
      onClick={onClick}
    >
      <Icon size={17} aria-hidden="true" />
    </button>
  );
}

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
