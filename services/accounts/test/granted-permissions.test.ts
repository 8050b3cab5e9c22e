import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import type { AccountsApp, AppOptions } from "./accounts-app.ts";
import { setUpAccounts } from "./accounts-fixture.ts";

const fixture = setUpAccounts();

/** Connects an account on the platform's page, on which the person declines these permissions. */
async function connect(
  app: AccountsApp,
  platform: string,
  { declined = [], username = "" }: { declined?: readonly string[]; username?: string } = {},
) {
  const { workspaceId } = fixture;
  const { id, url } = await app.authorizations.issueConnectLink({ workspaceId, platform });
  const browser = randomBytes(32).toString("base64url");
  const linkSecret = url.replace("https://postrider.example/connect/", "");
  const { authorizeUrl } = await app.authorizations.openConnectLink({ linkSecret, browser });
  const form = { decision: "approve", username, decline: declined.join(" ") };
  const answer = await fetch(authorizeUrl, {
    method: "POST",
    redirect: "manual",
    body: new URLSearchParams(form),
  });
  const { searchParams } = new URL(answer.headers.get("location") ?? "");
  const [state, code] = [searchParams.get("state") ?? "", searchParams.get("code") ?? ""];
  const ended = await app.authorizations.finishAuthorization({ state, code, browser });
  return { ...ended, progress: await app.authorizations.getAuthorization({ id }) };
}

/**
 * Returns an account with what its platform offers as an object, because the database orders the
 * names in it anew.
 */
const withParsedOffer = <T extends { readonly available: string }>(account: T) => ({
  ...account,
  available: JSON.parse(account.available === "" ? "null" : account.available) as unknown,
});

const ALL = ["comments", "messages", "metrics"] as const;
const YOUTUBE = "https://www.googleapis.com/auth/youtube";

test.each([
  ["facebook", "read_insights", "metrics", ["publishing", "comments", "messages"]],
  ["instagram", "instagram_manage_comments", "comments", ["publishing", "metrics"]],
  ["x", "tweet.moderate.write", "comments", ["publishing", "metrics"]],
  ["tiktok", "video.list", "metrics", ["publishing"]],
  ["youtube", `${YOUTUBE}.force-ssl`, "comments", ["publishing", "metrics"]],
])(
  "an account of %s whose owner declines the permission %s is connected, and lacks the feature %s",
  async (platform, declined, feature, granted) => {
    await using app = fixture.createReplica({ features: ALL });
    const { outcome, accounts } = await connect(app, platform, { declined: [declined] });
    expect(outcome).toBe("connected");
    expect(accounts[0]?.permissions).toMatchObject({ granted, missingScopes: [declined] });
    expect(accounts[0]?.permissions?.missing).toContain(feature);
    const { workspaceId } = fixture;
    const listed = await app.accounts.listAccounts({ workspaceId });
    expect(listed.accounts.map(withParsedOffer)).toEqual(accounts.map(withParsedOffer));
  },
);

test.each([
  ["facebook", "pages_manage_posts", {}],
  ["facebook", "pages_show_list", {}],
  ["instagram", "instagram_content_publish", {}],
  ["instagram", "instagram_business_content_publish", { instagramLogin: "instagram" }],
  ["x", "tweet.write", {}],
  ["tiktok", "video.publish", {}],
  ["youtube", `${YOUTUBE}.upload`, {}],
] as const)(
  "an account of %s whose owner declines the permission %s is not connected, and the response names the permission",
  async (platform, declined, options: AppOptions) => {
    await using app = fixture.createReplica(options);
    const { outcome, accounts, missingScopes, progress } = await connect(app, platform, {
      declined: [declined],
    });
    expect([outcome, accounts, missingScopes]).toEqual(["permission_missing", [], [declined]]);
    expect(progress).toMatchObject({ status: "failed", failure: "permission_missing" });
    const { workspaceId } = fixture;
    expect((await app.accounts.listAccounts({ workspaceId })).accounts).toEqual([]);
  },
);

test.each(["object", "list"] as const)(
  "an account is connected with Instagram Login when Instagram answers with its token in an %s",
  async (instagramTokenShape) => {
    await fixture.control.settings({ instagramTokenShape });
    await using app = fixture.createReplica({ instagramLogin: "instagram", features: ALL });
    const declined = ["instagram_business_manage_insights"];
    const { outcome, accounts } = await connect(app, "instagram", { declined });
    expect(outcome).toBe("connected");
    expect(accounts[0]?.permissions).toMatchObject({
      granted: ["publishing", "comments", "messages"],
      missing: ["metrics"],
      missingScopes: declined,
    });
  },
);

test("an account lacks a feature that is turned on later until the account is connected again", async () => {
  const { workspaceId } = fixture;
  const { accounts } = await connect(fixture.app, "facebook", { username: "alice" });
  expect(accounts[0]?.permissions).toMatchObject({ granted: ["publishing"], missing: [] });
  await using later = fixture.createReplica({ features: ["comments"] });
  const list = async () => (await later.accounts.listAccounts({ workspaceId })).accounts;
  expect((await list())[0]?.permissions).toMatchObject({
    granted: ["publishing"],
    missing: ["comments"],
    missingScopes: ["pages_read_user_content", "pages_manage_engagement"],
  });
  await connect(later, "facebook", { username: "alice" });
  expect((await list()).map(({ permissions }) => permissions)).toMatchObject([
    { granted: ["publishing", "comments"], missing: [], missingScopes: [] },
  ]);
});

test("an account whose platform always grants all permissions lacks none", async () => {
  await using app = fixture.createReplica({ features: ALL });
  const [bluesky] = await fixture.connectMany("bluesky", 1);
  const [telegram] = await fixture.connectMany("telegram", 1);
  const refs = [bluesky, telegram].filter((ref) => ref !== undefined);
  const { accounts } = await app.accounts.batchGetAccounts({ refs });
  const byPlatform = new Map(accounts.map(({ platform, permissions }) => [platform, permissions]));
  expect(byPlatform.get("bluesky")).toMatchObject({
    granted: ["publishing", "comments", "metrics"],
    missing: [],
  });
  expect(byPlatform.get("telegram")).toMatchObject({ granted: ["publishing"], missing: [] });
});

test("the response about an account whose platform did not say what it granted contains no permissions", async () => {
  const [ref] = await fixture.connectMany("x", 1);
  await fixture.database
    .migrationSql`update accounts set permissions = null where id = ${ref?.accountId ?? ""}`;
  const { accounts } = await fixture.app.accounts.batchGetAccounts({ refs: ref ? [ref] : [] });
  expect(accounts).toHaveLength(1);
  expect(accounts[0]?.permissions).toBeUndefined();
});

test.each([
  ["premium", "blue"],
  ["company", "business"],
  ["ministry", "government"],
  ["plain", "none"],
])(
  "the account %s of X has its verified type %s as a trait, and connecting the account again stores the newest type",
  async (username, verifiedType) => {
    const { workspaceId } = fixture;
    const read = async () => (await fixture.app.accounts.listAccounts({ workspaceId })).accounts[0];
    const { accounts } = await connect(fixture.app, "x", { username });
    expect(accounts[0]?.traits).toEqual({ verified_type: verifiedType });
    await fixture.database.migrationSql`update accounts set traits = '{"verified_type": "old"}'`;
    await connect(fixture.app, "x", { username });
    expect((await read())?.traits).toEqual({ verified_type: verifiedType });
  },
);
