import type { Reader, RequestMessage } from "../../workers/speech/reader.ts";
import { serveThread } from "../../workers/threads/serve-thread.ts";
import { createSpeechReaders } from "../../workers/threads/speech-readers.ts";

/** The readers that ship, in a thread that dies when a chunk of type "test/crash" comes. */
await serveThread(async (settings) => {
  const readers = await createSpeechReaders(settings);
  return {
    engines: readers.engines,
    close: () => readers.close(),
    open: async (open) => makeFragile(await readers.open(open)),
  };
});

function makeFragile(reader: Reader): Reader {
  return {
    engineMs: 0,
    opened: reader.opened,
    enqueue: (message: RequestMessage) => {
      if (message.$case === "chunk" && message.value.mediaType === "test/crash") process.exit(7);
      reader.enqueue(message);
    },
    onReady: (listener) => reader.onReady?.(listener),
    queuedSamples: () => reader.queuedSamples(),
    step: () => reader.step(),
    close: () => reader.close(),
  };
}
