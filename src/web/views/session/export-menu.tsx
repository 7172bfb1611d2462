import { Download } from "lucide-preact";
import type { VNode } from "preact";
import { account } from "../../api/account.ts";
import { API_BASE, exchange, messageOf } from "../../api/client.ts";
import { Menu } from "../../parts/menu.tsx";
import { tell } from "../../parts/toasts.tsx";
import { fileName } from "./file-name.ts";
import type { SessionModel } from "./session-model.ts";

const FORMATS = [
  { format: "txt", label: "Plain text" },
  { format: "md", label: "Markdown" },
  { format: "srt", label: "Subtitles (SRT)" },
  { format: "vtt", label: "Subtitles (WebVTT)" },
  { format: "json", label: "Data (JSON)" },
  { format: "rttm", label: "Who spoke when (RTTM)" },
] as const;

/** The transcript as a file, and its sound for those who may hear it. */
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

async function save(path: string, name: string): Promise<void> {
  try {
    const response = await exchange(new Request(`${API_BASE}/${path}`));
    const url = URL.createObjectURL(await response.blob());
    const link = document.createElement("a");
    link.href = url;
    link.download = name;
    link.click();
    // The browser has begun to read it by then.
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  } catch (error) {
    tell(messageOf(error));
  }
}
