import { defineConfig } from "vite";

/** Browsers that know `light-dark()`, the popover attribute and `field-sizing` or degrade well. */
const BROWSERS = ["chrome123", "edge123", "firefox125", "safari17.5"];

/**
 * One file for libraries and one for what the screens share, beside a file for each screen: without
 * them each module that two screens import becomes a file, and a first visit asks for ninety.
 */
const GROUPS = [
  { name: "libraries", test: /node_modules(?!.*temporal-polyfill)/ },
  { name: "shared", test: /src\/(?!screens\/|main\.tsx)/, minShareCount: 2 },
];

// Tests that build the page run with NODE_ENV=test, which would take React's slow variant.
if (process.argv.includes("build")) process.env["NODE_ENV"] = "production";

/**
 * The page is served under a policy without inline scripts, inline styles and data: addresses, so
 * every asset is a file of its own with a hash in its name.
 */
export default defineConfig({
  base: "/app/",
  build: {
    target: BROWSERS,
    cssTarget: BROWSERS,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: true,
    // "use client" of libraries says nothing to a page that has no server part.
    rolldownOptions: {
      checks: { moduleLevelDirective: false },
      output: { codeSplitting: { groups: GROUPS } },
    },
  },
  server: {
    port: 5173,
    strictPort: false,
    // `POSTRIDER_URL` is the gateway of a running stack. The cookie of the session belongs to the
    // host, whatever the port, so that a login at the gateway holds here too.
    proxy: Object.fromEntries(
      ["/api", "/app/api", "/media", "/uploads"].map((path) => [
        path,
        { target: process.env["POSTRIDER_URL"] ?? "http://127.0.0.1:3000" },
      ]),
    ),
  },
});
