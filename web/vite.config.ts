import { defineConfig } from "vitest/config";

const target = ["chrome123", "firefox128", "safari17.5"];

/**
 * Two builds: the page that `screensearch view` serves, and (`--mode report`) one script and one style sheet
 * that a report takes into its file: a classic script, since a module does not load from disk.
 */
export default defineConfig(({ mode }) => ({
  base: "./",
  publicDir: mode === "report" ? false : "public",
  build:
    mode === "report"
      ? {
          target,
          cssTarget: target,
          outDir: "../src/screensearch/view/static/report",
          emptyOutDir: true,
          modulePreload: false,
          cssCodeSplit: false,
          rolldownOptions: {
            input: "src/main.tsx",
            output: {
              format: "iife" as const,
              entryFileNames: "report.js",
              assetFileNames: "report[extname]",
            },
          },
        }
      : {
          target,
          cssTarget: target,
          outDir: "../src/screensearch/view/static",
          emptyOutDir: true,
          modulePreload: { polyfill: false },
          assetsInlineLimit: 0,
        },
  server: { proxy: { "/api": "http://127.0.0.1:8765", "/runs": "http://127.0.0.1:8765" } },
  // One DOM for all files: they leave nothing behind, and making one takes longer than the tests.
  test: { environment: "happy-dom", include: ["tests/**/*.test.ts?(x)"], isolate: false, fileParallelism: false },
}));
