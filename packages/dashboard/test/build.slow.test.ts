import { execFileSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";

/** What a browser has to load before the first screen can be used, after compression. */
const MAX_FIRST_SCREEN_BYTES = 180_000;
/** Each costs a round trip, and counts towards the gateway's limit of the visitor's address. */
const MAX_FIRST_SCREEN_FILES = 25;
const ROOT = resolve(import.meta.dirname, "..");

interface Chunk {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
}

const folder = mkdtempSync(join(tmpdir(), "postrider-page-"));
afterAll(() => rmSync(folder, { recursive: true }));
beforeAll(() => {
  const vite = join(ROOT, "node_modules/vite/bin/vite.js");
  const args = [vite, "build", "--outDir", folder, "--emptyOutDir", "--logLevel", "warn"];
  execFileSync(process.execPath, args, { cwd: ROOT });
});

const read = (file: string) => readFileSync(join(folder, file));

/** The chunks of the first screen with everything that they import before they run. */
function listFirstChunks(): readonly Chunk[] {
  const manifest = JSON.parse(String(read(".vite/manifest.json"))) as Record<string, Chunk>;
  const seen = new Set<string>();
  const visit = (name: string): void => {
    if (seen.has(name)) return;
    seen.add(name);
    for (const imported of manifest[name]?.imports ?? []) visit(imported);
  };
  for (const name of ["index.html", "src/app.tsx", "src/screens/posts/posts-screen.tsx"])
    visit(name);
  return [...seen].flatMap((name) => manifest[name] ?? []);
}

test("the first screen needs at most 180 kB of compressed JavaScript, in a browser with Temporal", () => {
  const bytes = listFirstChunks().reduce((sum, { file }) => sum + gzipSync(read(file)).length, 0);
  expect(bytes).toBeLessThan(MAX_FIRST_SCREEN_BYTES);
  expect(bytes).toBeGreaterThan(50 * 1024);
});

test("the page itself names the scripts and styles that every screen needs", () => {
  const manifest = JSON.parse(String(read(".vite/manifest.json"))) as Record<string, Chunk>;
  const html = String(read("index.html"));
  const { file, imports = [], css = [] } = manifest["src/app.tsx"] ?? { file: "" };
  const files = [file, ...imports.map((name) => manifest[name]?.file ?? ""), ...css];
  expect(files.filter((each) => !html.includes(`"/app/${each}"`))).toEqual([]);
  expect(files.length).toBeGreaterThan(2);
});

test("a first visit asks for at most 25 scripts and style sheets", () => {
  const files = new Set(listFirstChunks().flatMap(({ file, css = [] }) => [file, ...css]));
  expect(files.size).toBeLessThanOrEqual(MAX_FIRST_SCREEN_FILES);
});

test("nothing of the page breaks its policy: no inline script or style, no data address, no other origin", () => {
  const html = String(read("index.html"));
  const scripts = [...html.matchAll(/<script\b[^>]*>/g)].map(([tag]) => tag);
  expect(scripts.length).toBeGreaterThan(0);
  for (const tag of scripts) expect(tag).toMatch(/ src="\/app\//);
  expect(html).not.toMatch(/<style|style="|\son\w+="|https?:\/\//);
  for (const file of globSync("**/*.css", { cwd: folder }))
    expect(String(read(file))).not.toMatch(/url\(|@import|data:/);
});

test("every file but the page and what it needs before the first paint has a hash in its name", () => {
  const files = globSync("**/*.{js,css}", { cwd: folder });
  const named = files.filter((file) => !/^assets\/.+-[\w-]{8}\.\w+$/.test(file));
  expect(named).toEqual(["before-paint.js"]);
});

test("no style names any element beside another: each new row would style its whole list again", () => {
  for (const file of globSync("**/*.css", { cwd: folder }))
    expect(String(read(file))).not.toMatch(/[+~]\s*(?:\*|:)/);
});
