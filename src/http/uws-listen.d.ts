import "uWebSockets.js";

declare module "uWebSockets.js" {
  export const LIBUS_LISTEN_EXCLUSIVE_PORT: number;

  /** With "silent", answers have no header that names uWebSockets.js; for the whole process. */
  export function _cfg(option: "silent"): void;

  interface TemplatedApp {
    /** The signature of the native code; the package's own declaration lacks it. */
    listen(
      host: RecognizedString,
      port: number,
      options: number,
      cb: (listenSocket: us_listen_socket | false) => void,
    ): TemplatedApp;
  }
}
