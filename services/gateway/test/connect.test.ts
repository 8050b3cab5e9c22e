import { notFound, unavailable } from "@postrider/shared/errors";
import { createLogger } from "@postrider/shared/telemetry/logger";
import type { FastifyInstance } from "fastify";
import { afterAll, expect, test } from "vitest";
import type { AdmissionResult } from "#src/admission/admission-result.ts";
import { browserCookieOf } from "#src/routes/connect/routes.ts";
import {
  ACCOUNT_ID,
  admitted,
  createSharedServer,
  createTestServer,
  PUBLIC_URL,
  WORKSPACE_ID,
  type Peers,
} from "./fixture.ts";

const LINK_SECRET = "t".repeat(43);
const BROWSER = "b".repeat(43);
/** Returns the cookies of a browser that stored its secret for a connect link or an OAuth state. */
const cookieOf = (subject: string, browser = BROWSER) =>
  `other=1; ${browserCookieOf(subject, PUBLIC_URL).write(browser, 600).split(";")[0]}`;
const OPEN = {
  outcome: "open",
  platform: "x",
  workspaceName: '<Cats & "Co">',
  authorizeOrigin: "https://x.example",
};

const lines: string[] = [];
const destination = { write: (line: string) => void lines.push(line) };
const shared = await createSharedServer(
  createLogger({ service: "test", level: "trace", destination }),
);
afterAll(() => shared.app.close());

type Authorizations = NonNullable<Peers["authorizations"]>;

function serve(authorizations: Authorizations, admit?: () => AdmissionResult): FastifyInstance {
  shared.use({ authorizations }, admit);
  return shared.app;
}

test("opening a connect link shows an escaped page, does not use up the link, needs no API key and is not limited by the rate limit of a workspace", async () => {
  const asked: string[] = [];
  const server = serve(
    {
      findConnectLink: ({ linkSecret }) => {
        asked.push(linkSecret);
        return OPEN;
      },
    },
    () => {
      throw new Error("a key was asked for");
    },
  );
  const answer = await server.inject({ url: `/connect/${LINK_SECRET}` });
  expect(answer.statusCode).toBe(200);
  expect(asked).toEqual([LINK_SECRET]);
  expect(answer.body).toContain("Connect X");
  expect(answer.body).toContain("“&lt;Cats &amp; &quot;Co&quot;&gt;”");
  expect(answer.body).not.toContain("<Cats");
  expect(answer.body).not.toContain("<script");
  expect(answer.body).not.toContain(LINK_SECRET);
});

test("the page of a connect link allows only its own style and form", async () => {
  const server = serve({ findConnectLink: () => OPEN });
  const { headers } = await server.inject({ url: `/connect/${LINK_SECRET}` });
  expect(headers["content-security-policy"]).toMatch(
    /^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; form-action 'self' https: https:\/\/x\.example; base-uri 'none'; frame-ancestors 'none'$/,
  );
  expect(headers).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
  });
  expect(headers["set-cookie"]).toMatch(
    /^postrider-connect-[0-9a-f]{16}=[A-Za-z0-9_-]{43}; Path=\/connect; Max-Age=600; HttpOnly; SameSite=Lax$/,
  );
});

test("the page of a connect link is in Korean for a browser that prefers Korean", async () => {
  const server = serve({ findConnectLink: () => OPEN });
  const answer = await server.inject({
    url: `/connect/${LINK_SECRET}`,
    headers: { "accept-language": "ko-KR,ko;q=0.9" },
  });
  expect(answer.body).toContain('<html lang="ko">');
  expect(answer.body).toContain("X 연결");
});

test.each([
  ["unknown", 404],
  ["used", 410],
  ["expired", 410],
])(
  "opening a connect link that is %s answers with a page with the HTTP status %i",
  async (outcome, status) => {
    const server = serve({ findConnectLink: () => ({ outcome }) });
    const answer = await server.inject({ url: `/connect/${LINK_SECRET}` });
    expect(answer.statusCode).toBe(status);
    expect(answer.body).toContain(`data-page="${outcome}"`);
    expect(answer.headers["content-security-policy"]).toContain("form-action 'none'");
    expect(answer.headers["set-cookie"]).toBeUndefined();
  },
);

test("a malformed connect link is answered with 404, like an unknown one, without a call to the accounts service", async () => {
  const server = serve({});
  for (const url of [`/connect/${"t".repeat(42)}`, `/connect/${"é".repeat(43)}`]) {
    expect((await server.inject({ url })).statusCode).toBe(404);
    expect((await server.inject({ method: "POST", url })).statusCode).toBe(404);
  }
});

test("submitting the form of a connect link redirects the browser that was shown the page to the platform", async () => {
  const opened: unknown[] = [];
  const server = serve({
    openConnectLink: ({ linkSecret, browser }) => {
      opened.push({ linkSecret, browser });
      return { outcome: "opened", authorizeUrl: "https://x.example/authorize?state=s" };
    },
  });
  const answer = await server.inject({
    method: "POST",
    url: `/connect/${LINK_SECRET}`,
    headers: { cookie: cookieOf(LINK_SECRET), "content-type": "application/x-www-form-urlencoded" },
  });
  expect(answer.statusCode).toBe(303);
  expect(answer.headers.location).toBe("https://x.example/authorize?state=s");
  expect(opened).toEqual([{ linkSecret: LINK_SECRET, browser: BROWSER }]);
});

test("the browser's secret moves from the cookie of the connect link to the cookie of the OAuth state", async () => {
  const server = serve({
    openConnectLink: () => ({
      outcome: "opened",
      authorizeUrl: "https://x.example/authorize?state=s",
    }),
  });
  const answer = await server.inject({
    method: "POST",
    url: `/connect/${LINK_SECRET}`,
    headers: { cookie: cookieOf(LINK_SECRET) },
  });
  expect(answer.headers["set-cookie"]).toEqual([
    expect.stringMatching(/^postrider-connect-[0-9a-f]{16}=; Path=\/connect; Max-Age=0;/),
    browserCookieOf("s", PUBLIC_URL).write(BROWSER, 600),
  ]);
});

test("each time a connect link is opened, its page gives the browser a new secret, even if the browser already has one", async () => {
  const server = serve({ findConnectLink: () => OPEN });
  const show = async (linkSecret: string) => {
    const headers = { cookie: cookieOf(linkSecret) };
    const answer = await server.inject({ url: `/connect/${linkSecret}`, headers });
    return String(answer.headers["set-cookie"]).split(";")[0]?.split("=") ?? [];
  };
  const [one, again, other] = [
    await show(LINK_SECRET),
    await show(LINK_SECRET),
    await show("u".repeat(43)),
  ];
  expect(again[0]).toBe(one[0]);
  expect(other[0]).not.toBe(one[0]);
  expect(new Set([BROWSER, one[1], again[1], other[1]]).size).toBe(4);
});

test("the cookie with the browser's secret for one connect link does not open another connect link", async () => {
  const server = serve({});
  const answer = await server.inject({
    method: "POST",
    url: `/connect/${LINK_SECRET}`,
    headers: { cookie: cookieOf("u".repeat(43)) },
  });
  expect(answer.statusCode).toBe(403);
});

test("when the public URL is https, the cookies of connect links have the prefix __Host-, which browsers accept only from this host", async () => {
  const server = await createTestServer({
    publicUrl: "https://social.example.com/postrider",
    authorizations: {
      findConnectLink: () => OPEN,
      openConnectLink: () => ({ outcome: "opened", authorizeUrl: "https://x.example/?state=s" }),
    },
  });
  const shown = await server.inject({ url: `/connect/${LINK_SECRET}` });
  const form =
    /^__Host-postrider-connect-[0-9a-f]{16}=[A-Za-z0-9_-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/;
  expect(shown.headers["set-cookie"]).toMatch(form);
  const cookie = String(shown.headers["set-cookie"]).split(";")[0] ?? "";
  const open = async (sent: string) =>
    await server.inject({
      method: "POST",
      url: `/connect/${LINK_SECRET}`,
      headers: { cookie: sent },
    });
  const opened = await open(cookie);
  expect(opened.statusCode).toBe(303);
  expect(opened.headers["set-cookie"]).toEqual([
    expect.stringMatching(/^__Host-[^=]+=; Path=\/; Max-Age=0; HttpOnly; SameSite=Lax; Secure$/),
    expect.stringMatching(form),
  ]);
  expect((await open(cookie.replace("__Host-", ""))).statusCode).toBe(403);
  await server.close();
});

test("the form of a connect link is refused without the cookie, as when another site submits the form", async () => {
  const server = serve({});
  const answer = await server.inject({ method: "POST", url: `/connect/${LINK_SECRET}` });
  expect(answer.statusCode).toBe(403);
  expect(answer.body).toContain('data-page="other_browser"');
});

const back = (server: FastifyInstance, query: string) => {
  const state = new URLSearchParams(query).get("state") ?? "";
  return server.inject({
    url: `/connect/callback?${query}`,
    headers: { cookie: cookieOf(state) },
  });
};

test("the OAuth callback forwards the platform's parameters to the accounts service and lists the connected accounts", async () => {
  const finished: unknown[] = [];
  const server = serve({
    finishAuthorization: ({ state, code, error, browser }) => {
      finished.push({ state, code, error, browser });
      return { outcome: "connected", platform: "x", accounts: [{ username: "<i>cat</i>" }] };
    },
  });
  const answer = await back(server, "state=s&code=c&scope=more");
  expect(finished).toEqual([{ state: "s", code: "c", error: "", browser: BROWSER }]);
  expect(answer.statusCode).toBe(200);
  expect(answer.body).toContain("<li>&lt;i&gt;cat&lt;/i&gt;</li>");
});

test.each([
  ["denied", 403],
  ["other_browser", 403],
  ["unknown_state", 404],
  ["used", 410],
  ["expired", 410],
  ["refused", 400],
  ["permission_missing", 403],
  ["no_account", 400],
  ["unavailable", 503],
  ["a word of a later release", 503],
])(
  "when the accounts service ends an authorization with '%s', the OAuth callback answers with a page with the HTTP status %i",
  async (outcome, status) => {
    const server = serve({ finishAuthorization: () => ({ outcome, platform: "x" }) });
    const answer = await back(server, "state=s&error=access_denied");
    expect(answer.statusCode).toBe(status);
    expect(answer.headers["content-type"]).toBe("text/html; charset=utf-8");
  },
);

test("the page of the OAuth callback names the permissions that a person must not decline, and the features that an account lacks", async () => {
  const declined = serve({
    finishAuthorization: () => ({
      outcome: "permission_missing",
      platform: "facebook",
      missingScopes: ["pages_manage_posts"],
    }),
  });
  expect((await back(declined, "state=s&code=c")).body).toContain("<li>pages_manage_posts</li>");
  const permissions = { granted: ["publishing"], missing: ["comments", "messages"] };
  const accounts = [
    { username: "cat", permissions },
    { username: "dog", permissions },
  ];
  const connected = serve({
    finishAuthorization: () => ({ outcome: "connected", platform: "facebook", accounts }),
  });
  expect((await back(connected, "state=s&code=c")).body).toContain(
    "<ul><li>cat</li><li>dog</li></ul>\n<p>Permission is missing for: comments, private replies.",
  );
});

test.each([
  ["denied", "docs/platforms/youtube.md"],
  ["refused", "docs/platforms/youtube.md"],
  ["no_account", "docs/platforms/youtube.md"],
  ["expired", undefined],
])(
  "when the accounts service ends an authorization with '%s', the page of the OAuth callback names the guide %s",
  async (outcome, guide) => {
    const server = serve({ finishAuthorization: () => ({ outcome, platform: "youtube" }) });
    const { body } = await back(server, "state=s&code=c");
    expect(/docs\/[\w/]+\.md/.exec(body)?.[0]).toBe(guide);
  },
);

test("a browser that connected accounts for the dashboard returns to the dashboard's page with their ids, and after a failure it is shown a link to this page", async () => {
  const returnTo = "/app/accounts?retry=1";
  const accounts = [{ id: ACCOUNT_ID }, { id: WORKSPACE_ID }];
  const connected = serve({
    finishAuthorization: () => ({ outcome: "connected", platform: "x", accounts, returnTo }),
  });
  const { statusCode, headers } = await back(connected, "state=s&code=c");
  expect([statusCode, headers.location]).toEqual([
    303,
    `${PUBLIC_URL}/app/accounts?retry=1&connected=${ACCOUNT_ID}%2C${WORKSPACE_ID}`,
  ]);
  const denied = serve({
    finishAuthorization: () => ({ outcome: "denied", platform: "x", returnTo }),
  });
  const page = await back(denied, "state=s&error=access_denied");
  expect(page.statusCode).toBe(403);
  expect(page.body).toContain(`<a href="${PUBLIC_URL}${returnTo}">Back to Postrider</a>`);
});

test("repeated parameters of the OAuth callback count as missing", async () => {
  const finished: unknown[] = [];
  const server = serve({
    finishAuthorization: ({ state, code }) => {
      finished.push({ state, code });
      return { outcome: "unknown_state" };
    },
  });
  await back(server, "state=a&state=b&code=c");
  expect(finished).toEqual([{ state: "", code: "c" }]);
});

test.each(["state=%", "state=%ff", "state=s%00", "code=%F0%9F"])(
  "the OAuth callback with the malformed query %j answers with the page for an unknown authorization, without a call to the accounts service",
  async (query) => {
    const answer = await serve({}).inject({ url: `/connect/callback?${query}` });
    expect(answer.statusCode).toBe(404);
    expect(answer.body).toContain('data-page="unknown"');
  },
);

test("the OAuth callback answers with a page when the accounts service does not answer", async () => {
  const server = serve({
    finishAuthorization: () => {
      throw unavailable();
    },
  });
  const answer = await back(server, "state=s&code=c");
  expect(answer.statusCode).toBe(503);
  expect(answer.body).toContain('data-page="unavailable"');
});

test("the token of a connect link, the OAuth state and code, and the browser secret are not logged", async () => {
  const server = serve({
    findConnectLink: () => OPEN,
    finishAuthorization: () => {
      throw unavailable();
    },
  });
  lines.length = 0;
  await server.inject({ url: `/connect/${LINK_SECRET}` });
  await back(server, "state=secret-state&code=secret-code");
  const log = lines.join("");
  expect(log).toContain("/connect/callback");
  for (const secret of [LINK_SECRET, BROWSER, "secret-state", "secret-code"])
    expect(log).not.toContain(secret);
});

const remove = (id = ACCOUNT_ID) =>
  shared.app.inject({ method: "DELETE", url: `/api/v1/accounts/${id}` });

test("DELETE /accounts/{id} answers 204 and says whether the platform was asked to revoke the permission", async () => {
  const refs: unknown[] = [];
  shared.use({
    accounts: {
      disconnectAccount: ({ ref }) => {
        refs.push([ref?.workspaceId, ref?.accountId]);
        return refs.length === 1
          ? { revocation: "unconfirmed" }
          : { revocation: "not_attempted", reason: "already_disconnected" };
      },
    },
  });
  const [first, second] = [await remove(), await remove()];
  expect([first.statusCode, first.body]).toEqual([204, ""]);
  expect(first.headers["x-provider-revocation"]).toBe("unconfirmed");
  expect(first.headers["x-provider-revocation-reason"]).toBeUndefined();
  expect(second.statusCode).toBe(204);
  expect(second.headers["x-provider-revocation"]).toBe("not_attempted");
  expect(second.headers["x-provider-revocation-reason"]).toBe("already_disconnected");
  expect(refs).toEqual([
    [WORKSPACE_ID, ACCOUNT_ID],
    [WORKSPACE_ID, ACCOUNT_ID],
  ]);
});

test("DELETE /accounts/{id} answers 404 for an unknown account, and 403 without accounts:write", async () => {
  shared.use({
    accounts: {
      disconnectAccount: () => {
        throw notFound();
      },
    },
  });
  expect((await remove()).statusCode).toBe(404);
  expect((await remove("no-id")).statusCode).toBe(404);
  shared.use({}, () => admitted({ scopes: new Set(["accounts:read"]) }));
  expect((await remove()).json()).toMatchObject({ error: { code: "insufficient_scope" } });
});
