import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, expect, test } from "vitest";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { createInstagramMetricsConnector } from "./connector.ts";

const NOT_FOUND = { error: { code: 100, error_subcode: 33, message: "does not exist" } };
const PAGE = {
  data: [{ id: "1", like_count: 1 }],
  paging: { cursors: { after: "more" }, next: "https://graph.facebook.com/next" },
};

/** Lists posts without an end, and refuses to show single ones. */
const server = createServer(({ url = "" }, response) => {
  const isList = url.includes("/media?");
  response.writeHead(isList ? 200 : 400, { "content-type": "application/json" });
  response.end(JSON.stringify(isList ? PAGE : NOT_FOUND));
});
await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
afterAll(() => void server.close());

test("Instagram posts that are too old to be found in the list are refused one by one, so that the account is not paused for a missing permission", async () => {
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const hosts = { baseUrl, loginBaseUrl: baseUrl, uploadBaseUrl: baseUrl };
  const { readMetrics } = createInstagramMetricsConnector({ ...hosts, version: "v25.0" });
  const account: AccountAccess = {
    externalId: "17",
    username: "ships",
    accessToken: "token",
    attributes: {},
  };
  const readings = await readMetrics(account, ["old"], AbortSignal.timeout(10_000));
  const message = expect.stringContaining("not among the newest posts") as string;
  expect(readings).toEqual(
    new Map([["old", { kind: "refused", code: "content_rejected", message }]]),
  );
});
