import "uWebSockets.js";

declare module "uWebSockets.js" {
  export const LIBUS_LISTEN_EXCLUSIVE_PORT: number;

  interface TemplatedApp {
    /** As the native code has it; the package's own declaration leaves it out. */
    listen(
      host: RecognizedString,
      port: number,
      options: number,
      cb: (listenSocket: us_listen_socket | false) => void,
    ): TemplatedApp;
  }
}
