/** For the terminal, which knows nothing of the service but what crosses the wire. */
export { markUnclear, unclearPlaces } from "../base/unclear-words.ts";
