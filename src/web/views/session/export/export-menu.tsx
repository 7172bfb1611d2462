import { Copy, Download, Printer } from "lucide-preact";
import type { VNode } from "preact";
import { Link } from "wouter-preact";
import { account } from "../../../api/account.ts";
import { fetchFrom, messageOf } from "../../../api/client.ts";
import { Menu } from "../../../parts/menu.tsx";
import { attempt, showToast } from "../../../parts/toasts.tsx";
import type { SessionModel } from "../model/session-model.ts";
import { fileName } from "./file-name.ts";

const COPIES = [
  { format: "txt", label: "Copy as text" },
  { format: "md", label: "Copy as Markdown" },
] as const;

const FORMATS = [
  { format: "txt", label: "Plain text" },
  { format: "md", label: "Markdown" },
  { format: "srt", label: "Subtitles (SRT)" },
  { format: "vtt", label: "Subtitles (WebVTT)" },
  { format: "json", label: "Data (JSON)" },
  { format: "rttm", label: "Who spoke when (RTTM)" },
] as const;

/** The transcript copied, printed or as a file, and its sound for those who may hear it. */
export function ExportMenu({ model }: { model: SessionModel }): VNode {
  const path = `sessions/${model.id}`;
  const name = fileName(model.session.value?.title ?? "");
  return (
    <Menu
      label="Export"
      button={
        <>
          <Download size={16} aria-hidden="true" /> <span>Export</span>
        </>
      }
    >
      {(close) => (
        <>
          <p class="soft small">Copy or print</p>
          {COPIES.map(({ format, label }) => (
            <button
              key={format}
              type="button"
              class="button quiet"
              onClick={() => {
                close();
                void copy(`${path}/transcript?format=${format}`);
              }}
            >
              <Copy size={16} aria-hidden="true" /> {label}
            </button>
          ))}
          <Link class="button quiet" href={`/sessions/${model.id}/print`}>
            <Printer size={16} aria-hidden="true" /> Print or PDF
          </Link>
          <p class="soft small">As a file</p>
          {FORMATS.map(({ format, label }) => (
            <button
              key={format}
              type="button"
              class="button quiet"
              onClick={() => {
                close();
                void save(`${path}/transcript?format=${format}`, `${name}.${format}`);
              }}
            >
              {label}
            </button>
          ))}
          {account.value?.kind === "user" && model.player.state.value === "ready" && (
            <button
              type="button"
              class="button quiet"
              onClick={() => {
                close();
                void save(`${path}/audio`, `${name}.wav`);
              }}
            >
              Sound (WAV)
            </button>
          )}
        </>
      )}
    </Menu>
  );
}

/** Browsers let a page copy only where its address is secure: HTTPS, or this machine. */
async function copy(path: string): Promise<void> {
  try {
    if (navigator.clipboard === undefined) {
      showToast(
        "This browser copies nothing from an address without HTTPS. Take the file instead.",
      );
      return;
    }
    // The text is fetched inside, as some browsers allow copying only at once after a press.
    const text = fetchFrom(`/${path}`).then((answer) => answer.blob());
    await navigator.clipboard.write([new ClipboardItem({ "text/plain": asPlainText(text) })]);
    showToast("Copied.");
  } catch (error) {
    showToast(messageOf(error));
  }
}

async function asPlainText(text: Promise<Blob>): Promise<Blob> {
  return new Blob([await (await text).text()], { type: "text/plain" });
}

async function save(path: string, name: string): Promise<void> {
  await attempt(async () => {
    const response = await fetchFrom(`/${path}`);
    const url = URL.createObjectURL(await response.blob());
    const link = document.createElement("a");
    link.href = url;
    link.download = name;
    link.click();
    // The browser has begun to read it by then.
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  });
}
