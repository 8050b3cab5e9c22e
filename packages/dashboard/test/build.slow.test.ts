import { execFileSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";

/** What a browser has to load before the first screen can be used, after compression. */
const MAX_FIRST_SCREEN_BYTES = 180 * 1024;
const POSTS = "src/screens/posts/posts-screen.tsx";
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

/** The chunks with everything that they import before they run. */
function listFiles(manifest: Readonly<Record<string, Chunk>>, names: readonly string[]) {
  const seen = new Set<string>();
  const visit = (name: string): void => {
    if (seen.has(name)) return;
    seen.add(name);
    for (const imported of manifest[name]?.imports ?? []) visit(imported);
  };
  for (const name of names) visit(name);
  return [...seen].map((name) => manifest[name]?.file ?? "");
}

test("the first screen needs at most 180 kB of compressed JavaScript, in a browser with Temporal", () => {
  const manifest = JSON.parse(String(read(".vite/manifest.json"))) as Record<string, Chunk>;
  const first = ["index.html", "src/app.tsx", POSTS];
  const files = listFiles(manifest, first);
  const bytes = files.reduce((sum, file) => sum + gzipSync(read(file)).length, 0);
  expect(bytes).toBeLessThan(MAX_FIRST_SCREEN_BYTES);
  expect(bytes).toBeGreaterThan(50 * 1024);
});

test("the page itself names the scripts and styles of every screen, and the posts need one script more", () => {
  const manifest = JSON.parse(String(read(".vite/manifest.json"))) as Record<string, Chunk>;
  const html = String(read("index.html"));
  const ofAll = listFiles(manifest, ["index.html", "src/app.tsx"]);
  expect(ofAll.filter((file) => !html.includes(`"/app/${file}"`))).toEqual([]);
  expect(manifest["src/app.tsx"]?.css?.filter((file) => !html.includes(file))).toEqual([]);
  const ofPosts = listFiles(manifest, ["index.html", "src/app.tsx", POSTS]);
  expect(ofPosts.length - ofAll.length).toBe(1);
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
