import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { beforeEach, afterEach, expect, test } from "vitest";
import { openTenant } from "../support/requests/tenant.ts";
import { useSharedSystem } from "../support/system/system.ts";

/** Runs the commands and programs of the guide about generated clients unchanged. */

const ROOT = join(import.meta.dirname, "../..");
const PACKAGES = join(import.meta.dirname, "node_modules");
const PYTHON = join(PACKAGES, ".python/bin");
const GUIDE = join(ROOT, "docs/api/generated-clients.md");
const SECTION = /^## (\S+: \S+)\n\n```sh\n(.+)\n(.+)\n```\n\n```(?:ts|python)\n([\s\S]*?)```/gm;
const PLATFORMS = ["bluesky", "telegram", "x"];
const run = promisify(execFile);

/**
 * What a section of the guide about generated clients contains: how to install a generator, how to
 * use it, and a program with the client.
 */
interface Section {
  readonly install: string;
  readonly generate: string;
  readonly program: string;
}

const sections = new Map<string, Section>(
  [...readFileSync(GUIDE, "utf8").matchAll(SECTION)].map(
    ([, title = "", install = "", generate = "", program = ""]) => [
      title,
      { install, generate, program },
    ],
  ),
);

let folder: string;
const system = await useSharedSystem();
const tenant = await openTenant(system);
for (const platform of PLATFORMS) await tenant.connect(platform);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "postrider-generated-client-"));
  symlinkSync(PACKAGES, join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function sectionOf(title: string): Section {
  const section = sections.get(title);
  if (section === undefined) throw new Error(`the guide has no section "${title}"`);
  return section;
}

/**
 * Runs a command of the guide with the installed programs, and returns its output and error output.
 */
async function runCommand(command: string): Promise<string> {
  const env = {
    PATH: [join(PACKAGES, ".bin"), PYTHON, process.env.PATH].join(delimiter),
    HOME: folder,
    NO_COLOR: "1",
    URL: system.local().baseUrl,
    KEY: tenant.key,
  };
  // The test does not use npx, which would find the same installed program but warns about settings
  // of npm on some machines.
  const script = `npx() { "$@"; }\n${command}`;
  const failed = (error: { readonly stdout: string; readonly stderr: string }) => error;
  const { stdout, stderr } = await run("sh", ["-c", script], { cwd: folder, env }).catch(failed);
  return stdout + stderr;
}

/**
 * Compiles the folder to JavaScript with TypeScript's strictest options, and returns the errors.
 */
async function compile(more: Readonly<Record<string, boolean>>): Promise<string> {
  const compilerOptions = {
    strict: true,
    noUncheckedIndexedAccess: true,
    noPropertyAccessFromIndexSignature: true,
    noImplicitOverride: true,
    noImplicitReturns: true,
    noFallthroughCasesInSwitch: true,
    noUnusedLocals: true,
    noUnusedParameters: true,
    verbatimModuleSyntax: true,
    isolatedModules: true,
    ...more,
    target: "es2023",
    module: "nodenext",
    lib: ["es2023", "dom", "dom.iterable", "dom.asynciterable"],
    types: ["node"],
    typeRoots: [join(ROOT, "node_modules/@types")],
    rootDir: ".",
    outDir: "js",
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
  return await runCommand(`${join(ROOT, "node_modules/.bin/tsc")} -p .`);
}

/** The lines that each program of the guide about generated clients prints. */
const PUBLISHED = PLATFORMS.map((platform) =>
  expect.stringMatching(`^${platform} published https://\\S+$`),
);

function sortedLines(output: string): readonly string[] {
  return output.trimEnd().split("\n").toSorted();
}

test("the guide about generated clients installs the same generator versions as its test", () => {
  const manifest = readFileSync(join(import.meta.dirname, "package.json"), "utf8");
  const { dependencies } = JSON.parse(manifest) as { readonly dependencies: object };
  const packages = Object.entries(dependencies).map(([name, version]) => `${name}@${version}`);
  const requirements = readFileSync(join(import.meta.dirname, "requirements.txt"), "utf8");
  const known = [...packages, ...requirements.split("\n")];
  const words = [...sections.values()].flatMap(({ install }) => install.split(" ").slice(2));
  expect(words).toHaveLength(5);
  expect(words.filter((word) => !known.includes(word))).toEqual([]);
});

test("a strictly typed program publishes a post with the types that openapi-typescript generates", async () => {
  const { generate, program } = sectionOf("TypeScript: openapi-typescript");
  expect(await runCommand(generate)).not.toMatch(/warn|error/i);
  writeFileSync(join(folder, "program.ts"), program);
  expect(await compile({ exactOptionalPropertyTypes: true })).toBe("");
  expect(sortedLines(await runCommand("node js/program.js"))).toEqual(PUBLISHED);
});

test("a strictly typed program publishes a post with the client that hey-api generates", async () => {
  const { generate, program } = sectionOf("TypeScript: hey-api");
  expect(await runCommand(generate)).not.toMatch(/warn|error/i);
  writeFileSync(join(folder, "program.ts"), program);
  expect(await compile({})).toBe("");
  // With `exactOptionalPropertyTypes`, only the generator's own files have errors, as the guide
  // says.
  const errors = (await compile({ exactOptionalPropertyTypes: true })).match(/^\S+(?=\(\d)/gm);
  expect(errors?.filter((file) => !/^postrider\/(?:client|core)\//.test(file))).toEqual([]);
  expect(sortedLines(await runCommand("node js/program.js"))).toEqual(PUBLISHED);
});

/**
 * mypy does not check the generator's own file `client.py` for wrong arguments, because this file
 * contains wrong arguments.
 */
const TYPE_CHECKS = `
[mypy]
strict = True
[mypy-postrider.client]
disable_error_code = arg-type
`;

test("a strictly typed program publishes a post with the client that openapi-python-client generates", async () => {
  const { generate, program } = sectionOf("Python: openapi-python-client");
  const printed = await runCommand(generate);
  const warnings = [...printed.matchAll(/^(?:WARNING|Unable|Error)[^\n]*/gm)].map(([text]) => text);
  expect(warnings).toEqual([
    "WARNING parsing PUT /uploads/{uploadPath} within media. Endpoint will not be generated.",
  ]);
  writeFileSync(join(folder, "program.py"), program);
  writeFileSync(join(folder, "mypy.ini"), TYPE_CHECKS);
  expect(await runCommand("mypy program.py postrider")).toMatch(/^Success: no issues found/);
  expect(sortedLines(await runCommand("python program.py"))).toEqual(PUBLISHED);
});

test("a generated Python client sends the workspace in a header", async () => {
  await runCommand(sectionOf("Python: openapi-python-client").generate);
  const program = `
import os
from postrider import AuthenticatedClient
from postrider.api.quota import get_quota
headers = {"X-Workspace-Id": "${tenant.id}"}
client = AuthenticatedClient(os.environ["URL"], os.environ["KEY"], headers=headers)
print(get_quota.sync_detailed(client=client).status_code)
`;
  writeFileSync(join(folder, "program.py"), program);
  expect(await runCommand("python program.py")).toBe("200\n");
});
