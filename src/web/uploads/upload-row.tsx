import { FileAudio, Pause, Play, RotateCw, X } from "lucide-preact";
import type { VNode } from "preact";
import { Link } from "wouter-preact";
import { leftOf } from "../parts/times.ts";
import { sizeText } from "./file-facts.ts";
import { UploadButton } from "./upload-button.tsx";
import { percentOf, type ShownUpload } from "./upload-state.ts";
import { withUploader } from "./uploads.ts";

/** One file: how far it is, and what can be done about it. */
export function UploadRow({ upload }: { upload: ShownUpload }): VNode {
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
export function wordsOf({ phase }: ShownUpload): string {
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
      return "Uploaded; its words are in the session";
  }
}

function Actions({ upload: { id, name, phase } }: { upload: ShownUpload }): VNode {
  const { kind } = phase;
  const isGoing = kind === "queued" || kind === "sending" || kind === "waiting";
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
      {isGoing && (
        <Action
          label={`Pause the upload of ${name}`}
          Icon={Pause}
          onClick={() => void withUploader((uploader) => uploader.pause(id))}
        />
      )}
      {kind === "paused" && (
        <Action
          label={`Go on with the upload of ${name}`}
          Icon={Play}
          onClick={() => void withUploader((uploader) => uploader.resume(id))}
        />
      )}
      {kind === "failed" && phase.mayRetry && (
        <Action
          label={`Try ${name} again`}
          Icon={RotateCw}
          onClick={() => void withUploader((uploader) => uploader.resume(id))}
        />
      )}
      {isEnded ? (
        <Action
          label={`Take ${name} off this list`}
          Icon={X}
          onClick={() => void withUploader((uploader) => uploader.dismiss(id))}
        />
      ) : (
        <Action
          label={`Cancel the upload of ${name}`}
          Icon={X}
          onClick={() => void withUploader((uploader) => uploader.cancel(id))}
        />
      )}
    </>
  );
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
