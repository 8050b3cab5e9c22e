import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import { buildDashboard } from "./build-dashboard.ts";

/** Writes the number of its runs into the page, or fails if a source says so. */
const VITE = `
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
appendFileSync("runs", "+");
if (readFileSync("src/main.ts", "utf8") === "broken") throw new Error("main.ts is broken");
const folder = process.argv[process.argv.indexOf("--outDir") + 1];
mkdirSync(folder + "/assets", { recursive: true });
writeFileSync(folder + "/assets/main.js", readFileSync("src/main.ts"));
writeFileSync(folder + "/index.html", readFileSync("runs"));
`;

let root: string;
let folder: string;

const write = (path: string, text: string) => writeFileSync(join(folder, path), text);
const built = (path: string) => readFileSync(join(folder, "dist", path));

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "postrider-page-"));
  folder = join(root, "packages/dashboard");
  for (const path of ["src", "node_modules/vite/bin"])
    mkdirSync(join(folder, path), { recursive: true });
  write("node_modules/vite/package.json", '{"type":"module"}');
  write("node_modules/vite/bin/vite.js", VITE);
  write("src/main.ts", "one");
  writeFileSync(join(root, "pnpm-lock.yaml"), "lock");
});

afterEach(() => rmSync(root, { recursive: true }));

test("the dashboard is built with compressed copies of its files", async () => {
  await buildDashboard(root);
  expect(built("assets/main.js").toString()).toBe("one");
  expect(brotliDecompressSync(built("assets/main.js.br")).toString()).toBe("one");
  expect(gunzipSync(built("index.html.gz")).toString()).toBe("+");
  expect(readdirSync(folder).filter((name) => name.startsWith("dist"))).toEqual(["dist"]);
});

test("stacks that start at the same moment each find a whole build of the dashboard", async () => {
  for (const text of ["one", "two", "three"]) {
    write("src/main.ts", text);
    await Promise.all(Array.from({ length: 6 }, () => buildDashboard(root)));
    expect(built("assets/main.js").toString()).toBe(text);
    expect(readdirSync(folder).filter((name) => name.startsWith("dist"))).toEqual(["dist"]);
  }
});

test("the dashboard is built again only if the content of a source or of the lockfile has changed", async () => {
  await buildDashboard(root);
  utimesSync(join(folder, "src/main.ts"), new Date(), new Date());
  write("src/main.test.ts", "a test");
  await buildDashboard(root);
  expect(built("index.html").toString()).toBe("+");
  write("src/main.ts", "two");
  await buildDashboard(root);
  expect([built("index.html").toString(), built("assets/main.js").toString()]).toEqual([
    "++",
    "two",
  ]);
  writeFileSync(join(root, "pnpm-lock.yaml"), "other");
  await buildDashboard(root);
  expect(built("index.html").toString()).toBe("+++");
});

test("the dashboard of an image, which has neither sources nor Vite, is never built", async () => {
  rmSync(folder, { recursive: true });
  mkdirSync(join(folder, "dist"), { recursive: true });
  write("dist/.built", "finished\n");
  await buildDashboard(root);
  expect(readdirSync(join(folder, "dist"))).toEqual([".built"]);
});

test("a build that fails leaves the earlier one", async () => {
  await buildDashboard(root);
  write("src/main.ts", "broken");
  await expect(buildDashboard(root)).rejects.toThrow("main.ts is broken");
  expect(built("assets/main.js").toString()).toBe("one");
  write("src/main.ts", "three");
  await buildDashboard(root);
  expect(built("assets/main.js").toString()).toBe("three");
  expect(existsSync(join(folder, "dist/.built"))).toBe(true);
});
