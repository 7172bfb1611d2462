import { serveThread } from "./serve-thread.ts";
import { createSpeechReaders } from "./speech-readers.ts";

await serveThread(createSpeechReaders);
