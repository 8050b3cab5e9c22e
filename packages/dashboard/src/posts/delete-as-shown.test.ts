import type { PostStatus, TargetStatus } from "@postrider/client";
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type * as DeleteAsShown from "./delete-as-shown.ts";
import type * as PublishNow from "./publish-now.ts";

let deletion: typeof DeleteAsShown;
let isChangedMeanwhile: (typeof PublishNow)["isChangedMeanwhile"];

beforeAll(async () => {
  vi.stubGlobal("location", { origin: "http://localhost" });
  deletion = await import("./delete-as-shown.ts");
  ({ isChangedMeanwhile } = await import("./publish-now.ts"));
});

const postOf = (status: PostStatus, target: TargetStatus) =>
  ({ id: "p", status, targets: [{ platform: "x", status: target }] }) as const;

let read: ReturnType<typeof postOf>;
let deleted: (string | null)[] = [];

beforeEach(() => {
  deleted = [];
  vi.stubGlobal("fetch", (_url: URL, { method, headers }: RequestInit) => {
    if (method === "DELETE") deleted.push(new Headers(headers).get("if-match"));
    return Promise.resolve(new Response(JSON.stringify(read), { headers: { etag: '"2"' } }));
  });
});
afterEach(() => vi.unstubAllGlobals());

const remove = async (shown: ReturnType<typeof postOf>) =>
  await deletion.deleteAsShown(shown, () => true).catch((caught: unknown) => caught);

test("a post is deleted as the version of which the effect was shown", async () => {
  read = postOf("published", "published");
  expect(await remove(read)).toBeUndefined();
  expect(deleted).toEqual(['"2"']);
});

test("the deletion of a post that is being published says which accounts are not sent to any more, and which perhaps", () => {
  const targets = (["published", "pending", "publishing", "failed"] as const).map((status) => ({
    platform: status === "published" ? ("x" as const) : ("bluesky" as const),
    status,
  }));
  expect(deletion.effectOf({ id: "p", status: "publishing", targets }, () => true)).toEqual({
    isPlanned: false,
    deleted: ["x"],
    kept: [],
    unknown: [],
    stopped: ["bluesky"],
    sending: ["bluesky"],
    neverSent: ["bluesky"],
  });
});

test.each([
  ["a draft that was published meanwhile", postOf("draft", "pending"), "published"],
  ["a post that failed and was retried meanwhile", postOf("failed", "failed"), "published"],
] as const)("%s is not deleted from its platforms", async (_case, shown, status) => {
  read = postOf(status, status);
  expect(isChangedMeanwhile(await remove(shown))).toBe(true);
  expect(deleted).toEqual([]);
});

test("a publication whose outcome is not known is not said to have never been published", () => {
  const post = postOf("partial", "failed");
  const [target] = post.targets;
  const unknown = { deleted: [], kept: [], neverSent: [], unknown: ["x"] };
  const error = { code: "outcome_unknown", message: "any", retryable: false } as const;
  for (const known of [{ errorCode: error.code }, { error }]) {
    const shown = { ...post, targets: [{ ...target, ...known }] };
    expect(deletion.effectOf(shown, () => true)).toMatchObject(unknown);
  }
  expect(deletion.effectOf(post, () => true)).toMatchObject({ neverSent: ["x"], unknown: [] });
});
