import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync, brotliCompressSync, gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { createTestServer, type Peers } from "./fixture.ts";

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; media-src 'self' blob:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
const SCRIPT = "/app/assets/app-1a2b3c4d.js";
const TEXT = "export const answer = 42;";

const folder = mkdtempSync(join(tmpdir(), "postrider-dashboard-"));
let app: Awaited<ReturnType<typeof createTestServer>>;

function build(title: string): void {
  mkdirSync(join(folder, "assets"), { recursive: true });
  mkdirSync(join(folder, ".vite"), { recursive: true });
  const script = join(folder, "assets/app-1a2b3c4d.js");
  writeFileSync(script, TEXT);
  writeFileSync(`${script}.br`, brotliCompressSync(TEXT));
  writeFileSync(`${script}.gz`, gzipSync(TEXT));
  writeFileSync(join(folder, "icon.svg"), "<svg/>");
  writeFileSync(join(folder, ".built"), "hash");
  writeFileSync(join(folder, ".vite/manifest.json"), "{}");
  writeFileSync(join(folder, "index.html"), `<!doctype html><title>${title}</title>`);
}

async function open(peers: Peers = { dashboardFolder: folder }) {
  app = await createTestServer(peers);
}

beforeEach(() => build("Postrider"));
afterEach(() => app.close());
afterAll(() => rmSync(folder, { recursive: true }));

test.each(["/app", "/app/", "/app/login", "/app/posts/01936a5e/edit?tab=x", "/app/index.html"])(
  "%s is the page, with a policy that allows nothing of other origins, and is asked for again each time",
  async (url) => {
    await open();
    const { statusCode, headers, body } = await app.inject({ url });
    expect([statusCode, body]).toEqual([200, "<!doctype html><title>Postrider</title>"]);
    expect(headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": POLICY,
      "cross-origin-opener-policy": "same-origin",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      "cache-control": "no-cache",
    });
    expect(headers["set-cookie"]).toBeUndefined();
    const again = await app.inject({ url, headers: { "if-none-match": String(headers["etag"]) } });
    expect([again.statusCode, again.body]).toEqual([304, ""]);
  },
);

test("the policy adds the origins of the object store where uploads go there", async () => {
  const store = "https://s3.example.com";
  await open({ dashboardFolder: folder, dashboardUploadOrigins: [store] });
  const { headers } = await app.inject({ url: "/app" });
  const policy = POLICY.replace("img-src 'self'", `img-src 'self' ${store}`);
  expect(headers["content-security-policy"]).toBe(
    policy.replace("connect-src 'self'", `connect-src 'self' ${store}`),
  );
});

test.each([
  ["br, gzip", "br", brotliDecompressSync],
  ["gzip, deflate", "gzip", gunzipSync],
  ["br;q=0, gzip;q=0.5", "gzip", gunzipSync],
  ["identity", undefined, (bytes: Buffer) => bytes],
  [undefined, undefined, (bytes: Buffer) => bytes],
])(
  "a file with a hash in its name is sent as it was built for `Accept-Encoding: %s`, and kept for a year",
  async (accept, encoding, read) => {
    await open();
    const headers = accept === undefined ? {} : { "accept-encoding": accept };
    const answer = await app.inject({ url: SCRIPT, headers });
    expect(answer.headers).toMatchObject({
      "content-type": "text/javascript; charset=utf-8",
      "cache-control": "public, max-age=31536000, immutable",
      vary: "Accept-Encoding",
    });
    expect(answer.headers["content-encoding"]).toBe(encoding);
    expect(read(answer.rawPayload).toString()).toBe(TEXT);
  },
);

test("a file without a hash in its name is asked for again each time", async () => {
  await open();
  const { headers } = await app.inject({ url: "/app/icon.svg" });
  expect(headers).toMatchObject({ "content-type": "image/svg+xml", "cache-control": "no-cache" });
  const head = await app.inject({ method: "HEAD", url: "/app/icon.svg" });
  expect([head.statusCode, head.body, head.headers["content-length"]]).toEqual([200, "", "6"]);
});

test.each([
  "/app/assets/app-5e6f7a8b.js",
  "/app/.built",
  "/app/.vite/manifest.json",
  "/app/assets/app-1a2b3c4d.js.br",
  "/app/../package.json",
  "/app/..%2f..%2fpackage.json",
  "/app/%2e%2e/%2e%2e/package.json",
  "/app/assets/%00.js",
])("%s is not found", async (url) => {
  await open();
  const answer = await app.inject({ url });
  expect([answer.statusCode, answer.headers["content-type"]]).toEqual([
    404,
    "application/json; charset=utf-8",
  ]);
});

test("a new build replaces the page without a restart", async () => {
  await open();
  expect((await app.inject({ url: "/app" })).body).toContain("Postrider");
  build("Newer");
  expect((await app.inject({ url: "/app" })).body).toContain("Newer");
});

test("a dashboard that is not built is answered with a page that says so, until it is built", async () => {
  rmSync(join(folder, "index.html"));
  await open();
  const missing = await app.inject({ url: "/app/login" });
  expect([missing.statusCode, missing.body]).toEqual([404, expect.stringContaining("not built")]);
  expect(missing.headers["content-security-policy"]).toBe(POLICY);
  build("Built");
  expect((await app.inject({ url: "/app/login" })).statusCode).toBe(200);
});

test("with `DASHBOARD=off` neither the page, nor its interface, nor its sessions exist", async () => {
  await open({ dashboardFolder: undefined });
  const cookie = `postrider=pr_session_${"0".repeat(49)}`;
  for (const url of [
    "/app",
    "/app/login",
    SCRIPT,
    "/app/api/session",
    "/app/api/events",
    "/app/api/x",
  ]) {
    const { statusCode, headers } = await app.inject({ url, headers: { cookie } });
    expect([statusCode, headers["content-type"]]).toEqual([404, "application/json; charset=utf-8"]);
  }
});
