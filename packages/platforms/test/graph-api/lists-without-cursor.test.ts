import { expect, test } from "vitest";
import { createFacebookAuthorizationConnector, PERMISSIONS } from "#src/facebook/authorization.ts";
import { createFacebookCommentsConnector } from "#src/facebook/comments/connector.ts";
import { createInstagramCommentsConnector } from "#src/instagram/comments/connector.ts";
import type { Publication } from "#src/publishing/publication.ts";
import { facebookAt } from "../facebook/facebook-at.ts";
import { instagramAt } from "../instagram/instagram-at.ts";
import { startJsonServer } from "../json-server.ts";
import { signal } from "../test-platform.ts";
import { unknownCall } from "../unknown-call.ts";

const GRANTED = (PERMISSIONS.essential ?? []).map((permission) => ({
  permission,
  status: "granted",
}));

/**
 * A Graph API whose lists have a second page that is addressed by a time, as in the paging that
 * Meta calls time-based. It refuses to show or delete single posts as if they did not exist.
 */
const baseUrl = await startJsonServer(({ url = "" }) => {
  const { pathname } = new URL(url, "http://localhost");
  const isList = /\/(media|published_posts|comments|replies|businesses|accounts)$/.test(pathname);
  const next = `https://graph.facebook.com${pathname}?until=1790000000&__paging_token=enc`;
  const list = { data: [], paging: { previous: next, next } };
  const token = { access_token: "token", data: GRANTED };
  const missing = { error: { code: 100, error_subcode: 33, message: "does not exist" } };
  const isLogin = /\/(access_token|permissions)$/.test(pathname);
  if (isList) return { body: list };
  return isLogin ? { body: token } : { status: 400, body: missing };
});
const api = { baseUrl, loginBaseUrl: baseUrl, uploadBaseUrl: baseUrl, version: "v25.0" };
const account = { externalId: "17", username: "ships", accessToken: "token", attributes: {} };
const publication: Publication = {
  ...account,
  targetId: "01936a5e-0000-7000-8000-000000000000",
  text: "ships",
  title: undefined,
  privacy: undefined,
  tags: [],
  settings: {},
  media: [],
};
/** The last scheduled search was long ago: one more complete search would prove an absence. */
const call = unknownCall({ callUntil: new Date(Date.now() - 3_600_000), looks: 3, timeScale: 1 });

test.each([
  ["Facebook", facebookAt(baseUrl)],
  ["Instagram", instagramAt(baseUrl)],
])(
  "a post on %s never counts as absent when the list of posts has a next page without a cursor",
  async (_name, connector) => {
    expect(await connector.findMatchingPost?.(publication, {}, call, signal)).toMatchObject({
      kind: "look_again",
      isIncomplete: true,
    });
  },
);

test.each([
  ["Facebook", createFacebookCommentsConnector(api)],
  ["Instagram", createInstagramCommentsConnector(api)],
])(
  "a reply on %s never counts as absent when the list of replies has a next page without a cursor",
  async (_name, connector) => {
    const request = { mediaId: "1", commentId: "2", text: "thanks", requestId: "r" };
    expect(await connector.reconcileReply(account, request, call, signal)).toMatchObject({
      kind: "look_again",
      isIncomplete: true,
    });
  },
);

test("an Instagram post never counts as deleted when the list of posts has a next page without a cursor", async () => {
  expect(await instagramAt(baseUrl).delete?.(account, "1", signal)).toMatchObject({
    kind: "retryable",
    code: "platform_unavailable",
  });
});

test("Facebook Login reports Facebook as unavailable when the list of Pages has a next page without a cursor", async () => {
  const { codeFlow } = createFacebookAuthorizationConnector({
    ...api,
    authorizeUrl: `${baseUrl}/dialog/oauth`,
    clientId: "app",
    clientSecret: "secret",
  });
  const grant = { code: "code", redirectUri: "https://example.com/callback", codeVerifier: "v" };
  expect(await codeFlow?.exchange(grant, signal)).toMatchObject({ kind: "unavailable" });
});
