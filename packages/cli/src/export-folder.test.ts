import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkFolder } from "./export-folder.ts";

const ID = "01a1ff6c-075a-743f-b478-fcf2e7c7655a";
const OTHER = "01a1ff6c-075a-743f-b478-fcf2e7c7655b";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "export-"));
  await mkdir(join(folder, "media"));
});
afterEach(() => rm(folder, { recursive: true }));

interface Given {
  readonly files: Readonly<Record<string, string>>;
  readonly manifest?: object;
  readonly described?: Readonly<Record<string, object>>;
}

/** An export whose manifest is right, except for what the test changes. */
async function write({ files, manifest = {}, described = {} }: Given): Promise<void> {
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const entries = Object.entries(files).map(([name, text]) => {
    const sha256 = createHash("sha256").update(text).digest("hex");
    const rows = name.endsWith(".jsonl") ? text.split("\n").length - 1 : 0;
    return [name, { rows, bytes: text.length, sha256, ...described[name] }];
  });
  const all = { ...Object.fromEntries(entries), ...described } as object;
  const whole = {
    version: 1,
    workspaceId: ID,
    isStopped: true,
    handoverHash: "",
    files: { ...all },
  };
  await writeFile(join(folder, "manifest.json"), JSON.stringify({ ...whole, ...manifest }));
}

const POSTS = "posts.posts.jsonl";
const ROW = `${JSON.stringify({ id: OTHER, workspace_id: ID })}\n`;
const MEDIA = `media/${OTHER}`;

test("a complete export is accepted, and its manifest identifies it", async () => {
  await write({ files: { [POSTS]: ROW, [MEDIA]: "picture" } });
  const { manifest, sha256 } = await checkFolder(folder);
  expect(Object.keys(manifest.files)).toEqual([POSTS, MEDIA]);
  expect(sha256).toMatch(/^[\da-f]{64}$/);
});

const entry = (text: string, change: object = {}) => ({
  rows: 1,
  bytes: text.length,
  sha256: createHash("sha256").update(text).digest("hex"),
  ...change,
});

test.each<[string, Given, RegExp]>([
  ["of another version", { files: {}, manifest: { version: 2 } }, /not one of this version/],
  ["without the id of a workspace", { files: {}, manifest: { workspaceId: "../x" } }, /not one/],
  [
    "that names a file outside of the folder",
    { files: {}, described: { "../../etc/passwd": entry("") } },
    /not one/,
  ],
  ["without one of its files", { files: {}, described: { [POSTS]: entry(ROW) } }, /is missing/],
  [
    "with a changed file",
    { files: { [POSTS]: ROW }, described: { [POSTS]: entry(ROW, { sha256: "0" }) } },
    /another SHA-256/,
  ],
  [
    "with another number of rows",
    { files: { [POSTS]: ROW }, described: { [POSTS]: entry(ROW, { rows: 2 }) } },
    /another number of rows/,
  ],
  [
    "with a row of another workspace",
    { files: { [POSTS]: ROW + ROW.replaceAll(ID, OTHER) } },
    /line 2 of posts.posts.jsonl is of another workspace/,
  ],
  ["with a line that is not JSON", { files: { [POSTS]: "{\n" } }, /line 1 .* is not JSON/],
])("an export %s is refused before anything is imported", async (_title, given, message) => {
  await write(given);
  await expect(checkFolder(folder)).rejects.toThrow(message);
});

test("a link to a file of the operator's computer is not uploaded", async () => {
  await write({ files: { [POSTS]: ROW }, described: { [MEDIA]: entry(ROW, { rows: 0 }) } });
  await symlink(join(folder, POSTS), join(folder, MEDIA));
  await expect(checkFolder(folder)).rejects.toThrow("is missing");
});

test("a folder without a manifest is an export that was not finished", async () => {
  await expect(checkFolder(folder)).rejects.toThrow("finish the export");
});
