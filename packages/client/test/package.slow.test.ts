import { execFile, execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, expect, test } from "vitest";
import { installClient, listNodes } from "../../../scripts/client-package/list-runtimes.ts";

const ROOT = join(import.meta.dirname, "../../..");
const MAX_GZIPPED_BYTES = 12_000;
const run = promisify(execFile);

let folder: string;
let server: Server;
let baseUrl: string;

beforeAll(async () => {
  folder = installClient();
  server = createServer((request, response) => {
    const accounts = [{ id: "1", username: request.headers.authorization }];
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ accounts }));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

test("the packed client has no dependencies", () => {
  const manifest = join(folder, "node_modules/@postrider/client/package.json");
  const published = JSON.parse(readFileSync(manifest, "utf8")) as Readonly<Record<string, unknown>>;
  expect(Object.keys(published)).not.toContain("dependencies");
  expect(published["exports"]).toEqual({
    ".": { types: "./src/client.d.ts", default: "./src/client.js" },
    "./webhooks": { types: "./src/webhooks.d.ts", default: "./src/webhooks.js" },
  });
});

test.each(listNodes())(
  "a program in an empty folder uses the installed client with Node $version",
  async ({ path }) => {
    const program = `
      import { createClient } from "@postrider/client";
      import { verifyWebhook } from "@postrider/client/webhooks";
      const client = createClient({ baseUrl: "${baseUrl}", apiKey: "the-key" });
      const { accounts } = await client.listAccounts();
      console.log(accounts[0].username);
      await verifyWebhook("", {}, "").catch((error) => console.log(error.code));
    `;
    const file = join(folder, "program.mjs");
    writeFileSync(file, program);
    const { stdout } = await run(path, [file]);
    expect(stdout).toBe("Bearer the-key\nmissing_header\n");
  },
);

test("the types of the installed client describe the answers to a strict TypeScript program, and refuse arguments that the API does not accept", () => {
  const program = `
    import { createClient, type PostDetail, PostriderError } from "@postrider/client";
    import { verifyWebhook, type WebhookEventOf } from "@postrider/client/webhooks";

    const client = createClient({ baseUrl: "http://127.0.0.1", apiKey: "" });
    const post: PostDetail = await client.createPost({ content: "a", accountIds: ["b"] as const });
    const nothing: undefined = await client.deleteQueueSlotRule(post.id);
    const statuses = new Set<"draft" | "scheduled" | "publishing" | "published" | "partial" | "failed" | "cancelled">();
    for await (const { status } of client.iteratePosts({ status: "failed" }, { signal: AbortSignal.timeout(1) })) statuses.add(status);
    // @ts-expect-error -- the content is missing
    await client.createPost({ accountIds: [] });
    // @ts-expect-error -- this field is unknown
    await client.createPost({ content: "a", accountIds: [], later: true });
    // @ts-expect-error -- a path needs its id
    await client.getPost();
    const event = await verifyWebhook("", new Headers(), []);
    if (event.type === "target.failed") event.data.postId satisfies string;
    if (event.type === "post.deleted") event.data satisfies WebhookEventOf<"post.deleted">["data"];
    const error: unknown = nothing;
    if (error instanceof PostriderError && error.code === "quota_exceeded") error.details.map(({ path }) => path);
  `;
  writeFileSync(join(folder, "program.ts"), program);
  expect(compile(["program.ts"], { types: [] })).toBe("");
  const preserve = { types: [], module: "preserve" };
  expect(compile(["program.ts"], preserve)).toBe("");
});

test("the examples of the README compile as strict TypeScript", () => {
  const readme = readFileSync(join(ROOT, "packages/client/README.md"), "utf8");
  const examples = [...readme.matchAll(/```js\n([\s\S]*?)```/g)].map(([, code = ""]) => code);
  expect(examples).toHaveLength(5);
  const types = { types: ["node"], typeRoots: [join(ROOT, "node_modules/@types")] };
  const files = examples.map((code, index) => {
    writeFileSync(join(folder, `example-${index}.ts`), code);
    return `example-${index}.ts`;
  });
  expect(compile(files, types)).toBe("");
});

/**
 * Compiles files in the folder with the compiler's strictest options; returns what the compiler
 * prints.
 */
function compile(files: readonly string[], options: Readonly<Record<string, unknown>>): string {
  const compiler = join(ROOT, "node_modules/typescript/bin/tsc");
  const compilerOptions = {
    strict: true,
    noEmit: true,
    exactOptionalPropertyTypes: true,
    target: "es2022",
    module: "nodenext",
    lib: ["es2023", "dom", "dom.asynciterable"],
    ...options,
  };
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  try {
    return execFileSync(process.execPath, [compiler, "-p", folder], { encoding: "utf8" });
  } catch (error) {
    return String((error as { readonly stdout?: unknown }).stdout);
  }
}

test("the whole client has less than 12 kB when it is minified and compressed, and needs nothing of Node", async () => {
  const modules = join(folder, "node_modules/@postrider/client/src");
  const input = join(folder, "everything.mjs");
  writeFileSync(
    input,
    `export * from "${modules}/client.js";\nexport * from "${modules}/webhooks.js";\n`,
  );
  const warnings: string[] = [];
  const bundle = await rolldown({
    input,
    platform: "browser",
    onLog: (_level, { message }) => void warnings.push(message),
  });
  const { output } = await bundle.generate({ minify: true });
  await bundle.close();
  expect(warnings).toEqual([]);
  const bytes = gzipSync(output[0].code).length;
  expect(bytes).toBeGreaterThan(2_000);
  expect(bytes).toBeLessThan(MAX_GZIPPED_BYTES);
});
