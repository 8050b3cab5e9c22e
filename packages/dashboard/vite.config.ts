import { defineConfig, type Plugin } from "vite";

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
 * The page names what every screen needs, so that the browser asks for it while the first script,
 * which decides whether `Temporal` has to be loaded before, is still on its way.
 */
const preloadApp: Plugin = {
  name: "preload-app",
  transformIndexHtml: {
    order: "post",
    handler: (html, { bundle = {} }) => {
      const chunks = Object.values(bundle).filter((file) => file.type === "chunk");
      const app = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith("/src/app.tsx"));
      const needed = chunks.filter(
        ({ fileName }) => fileName === app?.fileName || app?.imports.includes(fileName),
      );
      const styles = needed.flatMap(({ viteMetadata }) => [...(viteMetadata?.importedCss ?? [])]);
      return [...needed.map(({ fileName }) => fileName), ...styles]
        .filter((file) => !html.includes(file))
        .map((file) => {
          const rel = file.endsWith(".css") ? "stylesheet" : "modulepreload";
          const attrs = { rel, crossorigin: "", href: `/app/${file}` };
          return { tag: "link", attrs, injectTo: "head" };
        });
    },
  },
};

/**
 * The page is served under a policy without inline scripts, inline styles and data: addresses, so
 * every asset is a file of its own with a hash in its name.
 */
export default defineConfig({
  base: "/app/",
  plugins: [preloadApp],
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
