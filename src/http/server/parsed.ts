/**
 * Resolves when all that has come of a connection was parsed. Until a request is answered,
 * uWebSockets.js ends the connection at another one: so none that came in the same packet is served.
 *
 * It is what can be done about headers without a name (`: x`). uWebSockets.js shows no header after
 * one, and looks for none: a Content-Length behind it is not heeded, and the body is read as the next
 * request. Nothing tells such a request from one without a body, as the bytes of its head cannot be
 * had.
 */
export function parsed(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
