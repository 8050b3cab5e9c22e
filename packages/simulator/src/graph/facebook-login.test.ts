import { afterEach, beforeEach, expect, test } from "vitest";
import { PUBLISHING_SCOPES, SCOPES } from "#src/facebook/facebook.ts";
import { type Body, itemsOf, TestSimulator, textOf } from "#src/testing.ts";

let simulator: TestSimulator;

beforeEach(async () => {
  simulator = await TestSimulator.start();
});
afterEach(() => simulator[Symbol.asyncDispose]());

const CLIENT = { client_id: "app", redirect_uri: "https://app.example/callback" };

function dialog(platform: string, scopes: readonly string[]): string {
  const query = new URLSearchParams({
    ...CLIENT,
    response_type: "code",
    state: "s".repeat(16),
    scope: scopes.join(","),
  });
  return `${simulator.url}/${platform}/v25.0/dialog/oauth?${query.toString()}`;
}

/** Lets a user grant the app these permissions for these Pages, and returns the user's token. */
async function userToken(
  platform: string,
  scopes: readonly string[],
  usernames: readonly string[],
): Promise<string> {
  const body = new URLSearchParams({ decision: "approve", username: usernames.join(",") });
  const approved = await fetch(dialog(platform, scopes), {
    method: "POST",
    redirect: "manual",
    body,
  });
  const code = new URL(approved.headers.get("location") ?? "").searchParams.get("code") ?? "";
  const query = new URLSearchParams({ ...CLIENT, client_secret: "secret", code });
  const path = `/${platform}/v25.0/oauth/access_token?${query.toString()}`;
  return textOf((await simulator.call("GET", path)).body["access_token"]);
}

test("the simulated Facebook Login dialog refuses the whole request when the request contains a permission for which the app may not ask", async () => {
  const statusOf = async (scopes: readonly string[]) =>
    (await fetch(dialog("facebook", scopes))).status;
  expect(await statusOf(SCOPES)).toBe(200);
  await simulator.control("/settings", { facebookApp: "publishing" });
  expect(await statusOf(PUBLISHING_SCOPES)).toBe(200);
  const others = SCOPES.filter((scope) => !PUBLISHING_SCOPES.includes(scope));
  expect(others).toHaveLength(5);
  for (const scope of others)
    expect(await statusOf([...PUBLISHING_SCOPES, scope]), scope).toBe(400);
});

test.each(["facebook", "instagram"])(
  "on the simulated %s, a Page that a user manages through a Business portfolio is in the portfolio's lists of Pages and not in /me/accounts",
  async (platform) => {
    const scopes = ["pages_show_list", "pages_read_engagement"];
    const pages = ["own.page", "portfolio.page", "client.page"];
    const lists = async (token: string) => {
      const namesOf = (body: Body) =>
        itemsOf(body["data"]).map((page) => typeof page["access_token"]);
      const read = async (path: string) =>
        await simulator.call("GET", `/${platform}/v25.0/${path}`, { token });
      const business = textOf(
        itemsOf((await read("me/businesses")).body["data"])[0]?.["id"] ?? "none",
      );
      return {
        own: namesOf((await read("me/accounts?fields=access_token")).body),
        owned: namesOf((await read(`${business}/owned_pages?fields=access_token`)).body),
        client: namesOf((await read(`${business}/client_pages?fields=access_token`)).body),
      };
    };
    const all = await userToken(platform, [...scopes, "business_management"], pages);
    expect(await lists(all)).toEqual({ own: ["string"], owned: ["string"], client: ["string"] });
    const without = await userToken(platform, scopes, pages);
    expect(await lists(without)).toEqual({ own: ["string"], owned: [], client: [] });
    const refused = await simulator.call("GET", `/${platform}/v25.0/me/businesses`, {
      token: without,
    });
    expect([refused.status, refused.body["error"]?.["code"]]).toEqual([403, 200]);
  },
);
