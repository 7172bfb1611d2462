import { join } from "node:path";
import { PROJECT } from "./paths.mjs";

/** How Vite builds the page. Addresses are relative, so that it works below any path prefix. */
const config = {
  root: join(PROJECT, "src/web"),
  base: "./",
  publicDir: false,
  envFile: false,
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2022",
    // From these on browsers know `light-dark()`.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    emptyOutDir: true,
    // Pieces written into others as `data:` would need a weaker content policy.
    assetsInlineLimit: 0,
    // Browsers that know modules know how to preload them.
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
};

// biome-ignore lint/style/noDefaultExport: Vite asks for it
export default config;
