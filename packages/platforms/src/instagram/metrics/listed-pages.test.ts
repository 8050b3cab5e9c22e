import { beforeEach, expect, test } from "vitest";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { startJsonServer } from "../../../test/json-server.ts";
import { createInstagramMetricsConnector } from "./connector.ts";

const NOT_FOUND = { error: { code: 100, error_subcode: 33, message: "does not exist" } };
const PAGE = {
  data: [{ id: "new", like_count: 1 }],
  paging: { cursors: { after: "more" }, next: "https://graph.facebook.com/next" },
};
let pages = 0;
let isListBroken = false;

beforeEach(() => {
  [pages, isListBroken] = [0, false];
});

/**
 * Serves a list of posts that has no end, or that fails after its first page, and refuses to show
 * single posts.
 */
const baseUrl = await startJsonServer(({ url = "" }) => {
  if (!url.includes("/media?")) return { status: 400, body: NOT_FOUND };
  pages += 1;
  return { status: isListBroken && pages > 1 ? 500 : 200, body: PAGE };
});
const hosts = { baseUrl, loginBaseUrl: baseUrl, uploadBaseUrl: baseUrl };
const connector = createInstagramMetricsConnector({ ...hosts, version: "v25.0" });
const account: AccountAccess = {
  externalId: "17",
  username: "ships",
  accessToken: "token",
  attributes: {},
};
const read = (ids: readonly string[]) =>
  connector.readMetrics(account, ids, AbortSignal.timeout(10_000));

test("Instagram posts missing from the account's newest posts are refused one by one, and do not pause the metrics of the account", async () => {
  const message = expect.stringContaining("not among the newest posts") as string;
  expect(await read(["old"])).toEqual(
    new Map([["old", { kind: "refused", code: "content_rejected", message }]]),
  );
});

test("the metrics of the Instagram posts that were read are kept when a later page of the account's posts cannot be read", async () => {
  isListBroken = true;
  const readings = await read(["new", "old"]);
  expect(readings).toEqual(
    new Map<string, unknown>([
      ["new", { kind: "metrics", metrics: expect.objectContaining({ likes: 1 }) as unknown }],
      ["old", { kind: "failed", message: expect.any(String) as string }],
    ]),
  );
});
