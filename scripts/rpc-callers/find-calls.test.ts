import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findCalls } from "./find-calls.ts";

const ROOT = join(import.meta.dirname, "../..");
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "postrider-calls-"));
  mkdirSync(join(folder, "clients"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(file: string, ...lines: readonly string[]): void {
  writeFileSync(join(folder, file), lines.join("\n"));
}

test("findCalls lists the RPCs that a process's code calls, without those in tests and comments and those that it only serves", async () => {
  write(
    "app.ts",
    'import { PostService as Posts } from "@postrider/contracts/posts/v1/post_service_pb";',
    'import { QuotaService } from "@postrider/contracts/posts/v1/quota_service_pb";',
    "router.service(QuotaService, { getQuota: () => quota.getQuota() });",
    'start(services.client("posts", Posts));',
  );
  write("clients/posts.ts", "await posts.getPost({ id });", "// posts.deletePost({ id })");
  write("clients/posts.test.ts", "await posts.createPost({});");
  expect(await findCalls(ROOT, [folder])).toEqual(["postrider.posts.v1.PostService/GetPost"]);
});

test("findCalls fails for an RPC client whose service type is imported in another file, because the calls of this client would stay unknown", async () => {
  write("app.ts", "start(peer.client(PostService));");
  await expect(findCalls(ROOT, [folder])).rejects.toThrow(
    "a client of PostService is created in a file that does not import PostService",
  );
});
