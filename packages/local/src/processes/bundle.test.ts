import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { bundle } from "./bundle.ts";

const folder = mkdtempSync(join(tmpdir(), "postrider-bundle-"));

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, lines: readonly string[]): void {
  mkdirSync(join(folder, "src"), { recursive: true });
  writeFileSync(join(folder, "src", name), lines.join("\n"));
}

function run(script: string): string {
  return execFileSync(process.execPath, [script], { encoding: "utf8" });
}

test("a bundle reads the files beside its modules, and its stack traces name the source files", async () => {
  writeFileSync(join(mkdirs("data"), "greeting.txt"), "hello");
  write("main.ts", [
    'import { greet } from "./greet.ts";',
    "type Stack = string | undefined;",
    "const stack: Stack = greet().stack;",
    "console.log(stack);",
  ]);
  write("greet.ts", [
    'import { readFileSync } from "node:fs";',
    "interface Unused { readonly name: string }",
    'const text: string = readFileSync(new URL("../data/greeting.txt", import.meta.url), "utf8");',
    "export function greet(): Error { return new Error(text); }",
  ]);

  const output = run(await bundle(folder));

  expect(output).toMatch(/^Error: hello\n/);
  expect(output).toContain(join(folder, "src/greet.ts:4"));
});

test("a bundle is made again only when one of its modules has changed", async () => {
  write("main.ts", ['import { word } from "./word.ts";', "console.log(word);"]);
  write("word.ts", ['export const word = "first";']);
  const first = await bundle(folder);
  const { ino } = statSync(first);
  expect(statSync(await bundle(folder)).ino).toBe(ino);

  write("word.ts", ['export const word = "second";']);
  utimesSync(join(folder, "src/word.ts"), 1, 1);

  expect(run(await bundle(folder))).toBe("second\n");
});

test.each([
  ["has no handler of SIGTERM yet", [], 0],
  ["has its own handler", ['process.on("SIGTERM", () => process.exit(7));'], 7],
])("SIGTERM ends a bundle whose program %s", async (_, handler, code) => {
  write("main.ts", [...handler, 'console.log("loaded");', "setInterval(() => undefined, 1000);"]);
  const child = spawn(process.execPath, [await bundle(folder)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  child.kill("SIGTERM");

  expect(await once(child, "exit")).toEqual([code, null]);
});

function mkdirs(name: string): string {
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  return path;
}
