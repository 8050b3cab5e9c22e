import { createHash } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Answer, TestSimulator, textOf } from "#src/testing.ts";

const REDIRECT = "https://app.example/connect/callback";
const STATE = "s".repeat(32);
const VERIFIER = "v".repeat(43);
const PKCE = {
  code_challenge: createHash("sha256").update(VERIFIER).digest("base64url"),
  code_challenge_method: "S256",
};

interface Flow {
  readonly platform: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly codeLifetimeMs: number;
  readonly exchange: (code: string, redirectUri?: string, verifier?: string) => Promise<Answer>;
}

let simulator: TestSimulator;
beforeAll(async () => {
  simulator = await TestSimulator.start();
});
beforeEach(async () => {
  await simulator.control("/reset", {});
});
afterAll(async () => simulator[Symbol.asyncDispose]());

const graph = (platform: string, scope: string): Flow => ({
  platform,
  path: `/${platform}/v25.0/dialog/oauth`,
  query: { client_id: "app", scope },
  codeLifetimeMs: 600_000,
  exchange: (code, redirectUri = REDIRECT) => {
    const query = new URLSearchParams({
      client_id: "app",
      client_secret: "secret",
      redirect_uri: redirectUri,
      code,
    });
    return simulator.call("GET", `/${platform}/v25.0/oauth/access_token?${query.toString()}`);
  },
});

const FLOWS: readonly Flow[] = [
  {
    platform: "x",
    path: "/x/i/oauth2/authorize",
    query: { client_id: "app", scope: "tweet.read offline.access", ...PKCE },
    codeLifetimeMs: 30_000,
    exchange: (code, redirectUri = REDIRECT, verifier = VERIFIER) =>
      simulator.call("POST", "/x/2/oauth2/token", {
        form: {
          grant_type: "authorization_code",
          client_id: "app",
          code,
          redirect_uri: redirectUri,
          code_verifier: verifier,
        },
      }),
  },
  {
    platform: "tiktok",
    path: "/tiktok/v2/auth/authorize/",
    query: { client_key: "app", scope: "user.info.basic,video.publish" },
    codeLifetimeMs: 600_000,
    exchange: (code, redirectUri = REDIRECT) =>
      simulator.call("POST", "/tiktok/v2/oauth/token/", {
        form: {
          grant_type: "authorization_code",
          client_key: "app",
          client_secret: "secret",
          code,
          redirect_uri: redirectUri,
        },
      }),
  },
  {
    platform: "youtube",
    path: "/youtube/o/oauth2/v2/auth",
    query: {
      client_id: "app",
      scope: "https://www.googleapis.com/auth/youtube.upload",
      ...PKCE,
    },
    codeLifetimeMs: 600_000,
    exchange: (code, redirectUri = REDIRECT, verifier = VERIFIER) =>
      simulator.call("POST", "/youtube/token", {
        form: {
          grant_type: "authorization_code",
          client_id: "app",
          client_secret: "secret",
          code,
          redirect_uri: redirectUri,
          code_verifier: verifier,
        },
      }),
  },
  graph("facebook", "pages_show_list,pages_manage_posts"),
  graph("instagram", "pages_show_list,instagram_content_publish"),
];

function addressOf({ path, query }: Flow, more: Readonly<Record<string, string>> = {}): string {
  const all = { response_type: "code", redirect_uri: REDIRECT, state: STATE, ...query, ...more };
  return `${simulator.url}${path}?${new URLSearchParams(all).toString()}`;
}

async function press(flow: Flow, decision: string, username = ""): Promise<URL> {
  const answer = await fetch(addressOf(flow), {
    method: "POST",
    redirect: "manual",
    body: new URLSearchParams({ decision, username }),
  });
  expect(answer.status).toBe(302);
  return new URL(answer.headers.get("location") ?? "");
}

async function approved(flow: Flow, username?: string): Promise<string> {
  return (await press(flow, "approve", username)).searchParams.get("code") ?? "";
}

/**
 * The access token in a token response. The status is not checked, because TikTok refuses token
 * requests with status 200.
 */
const tokenIn = ({ body }: Answer): unknown => body["access_token"];

describe.each(FLOWS)("OAuth of the simulated $platform", (flow) => {
  test(`the simulated ${flow.platform} asks the user to approve and redirects with an authorization code that can be exchanged for a token once`, async () => {
    const page = await fetch(addressOf(flow));
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(await page.text()).toContain('value="approve"');
    const back = await press(flow, "approve", "harbour");
    expect(`${back.origin}${back.pathname}`).toBe(REDIRECT);
    expect(back.searchParams.get("state")).toBe(STATE);
    const code = back.searchParams.get("code") ?? "";
    expect(await simulator.control("/secrets")).toContain(code);
    expect(tokenIn(await flow.exchange(code))).toBeTypeOf("string");
    expect(tokenIn(await flow.exchange(code))).toBeUndefined();
  });

  test(`the simulated ${flow.platform} redirects without a code when the user denies the authorization`, async () => {
    const back = await press(flow, "deny");
    expect(back.searchParams.get("error")).toBe("access_denied");
    expect(back.searchParams.get("state")).toBe(STATE);
    expect(back.searchParams.has("code")).toBe(false);
  });

  test.each(["approve", "deny"])(
    `with the setting authorize = %s, the simulated ${flow.platform} redirects an OAuth request without showing an approval page`,
    async (authorize) => {
      await simulator.control("/settings", { authorize });
      const answer = await fetch(addressOf(flow), { redirect: "manual" });
      const back = new URL(answer.headers.get("location") ?? "");
      expect(back.searchParams.has("code")).toBe(authorize === "approve");
    },
  );

  test(`the simulated ${flow.platform} refuses an authorization code that is unknown, expired, or sent with another redirect URI`, async () => {
    expect(tokenIn(await flow.exchange(await approved(flow), `${REDIRECT}/`))).toBeUndefined();
    const late = await approved(flow);
    await simulator.control("/clock", { advanceMs: flow.codeLifetimeMs });
    expect(tokenIn(await flow.exchange(late))).toBeUndefined();
    expect(tokenIn(await flow.exchange("invented"))).toBeUndefined();
  });

  test.each([
    ["state", ""],
    ["redirect_uri", "javascript:alert(1)"],
    ["response_type", "token"],
    ["scope", "everything"],
    ["code_challenge", "short"],
  ])(
    `the simulated ${flow.platform} does not redirect an authorization request with an invalid %s`,
    async (name, value) => {
      const answer = await fetch(addressOf(flow, { [name]: value }), { redirect: "manual" });
      expect([answer.status, answer.headers.get("location")]).toEqual([400, null]);
    },
  );
});

test.each(["x", "youtube"])(
  "the simulated %s refuses an authorization code that is sent with a wrong code verifier",
  async (platform) => {
    const flow = FLOWS.find((each) => each.platform === platform);
    if (flow === undefined) throw new Error(`no OAuth flow of ${platform} is defined in this test`);
    const wrong = await flow.exchange(await approved(flow), REDIRECT, "w".repeat(43));
    expect(tokenIn(wrong)).toBeUndefined();
  },
);

test("one authorization on the simulated Facebook gives the app a token for every Page that the user selected", async () => {
  const flow = graph("facebook", "pages_show_list,pages_manage_posts");
  const short = textOf(tokenIn(await flow.exchange(await approved(flow, "first.page, second"))));
  const query = new URLSearchParams({
    grant_type: "fb_exchange_token",
    client_id: "app",
    client_secret: "secret",
    fb_exchange_token: short,
  });
  const long = await simulator.call(
    "GET",
    `/facebook/v25.0/oauth/access_token?${query.toString()}`,
  );
  expect(long.body["expires_in"]).toBe(60 * 86_400);
  const pages = await simulator.call("GET", "/facebook/v25.0/me/accounts?fields=username", {
    token: textOf(tokenIn(long)),
  });
  expect(pages.body["data"]).toMatchObject([{ username: "first.page" }, { username: "second" }]);
});
