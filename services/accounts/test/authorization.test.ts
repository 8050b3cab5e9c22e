import { createHash, randomBytes, randomUUID } from "node:crypto";
import { newId } from "@postrider/shared/ids";
import { hashApiKey } from "@postrider/shared/secrets/api-keys";
import { runInContext } from "@postrider/shared/telemetry/request-context";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { setAuthorizationFailed } from "#src/db/authorizations.ts";
import { createTenant } from "./accounts-app.ts";
import { setUpAccounts } from "./accounts-fixture.ts";

const CALLBACK = "https://postrider.example/connect/callback";
const PLATFORMS = ["x", "facebook", "instagram", "tiktok", "youtube"] as const;

const fixture = setUpAccounts();

const newBrowser = () => randomBytes(32).toString("base64url");

async function issue(platform: string) {
  const { workspaceId } = fixture;
  const { id, url } = await fixture.app.authorizations.issueConnectLink({ workspaceId, platform });
  return { id, linkSecret: url.replace("https://postrider.example/connect/", "") };
}

/**
 * Presses a button of the platform's authorization page, and returns the parameters with which the
 * platform sends the browser back.
 */
async function press(authorizeUrl: string, decision: string, username = "") {
  const answer = await fetch(authorizeUrl, {
    method: "POST",
    redirect: "manual",
    body: new URLSearchParams({ decision, username }),
  });
  const back = new URL(answer.headers.get("location") ?? "");
  expect(`${back.origin}${back.pathname}`).toBe(CALLBACK);
  const read = (name: string) => back.searchParams.get(name) ?? "";
  return { state: read("state"), code: read("code"), error: read("error") };
}

async function open(platform: string, browser = newBrowser()) {
  const { id, linkSecret } = await issue(platform);
  const { outcome, authorizeUrl } = await fixture.app.authorizations.openConnectLink({
    linkSecret,
    browser,
  });
  expect(outcome).toBe("opened");
  return { id, linkSecret, browser, authorizeUrl };
}

async function finish(back: Awaited<ReturnType<typeof press>>, browser: string) {
  return await fixture.app.authorizations.finishAuthorization({ ...back, browser });
}

async function progress(id: string) {
  const { status, failure, accounts } = await fixture.app.authorizations.getAuthorization({ id });
  return { status, failure, usernames: accounts.map(({ username }) => username) };
}

test.each(PLATFORMS)(
  "an account of %s is connected after the person approves on the platform's page",
  async (platform) => {
    const { workspaceId } = fixture;
    const { id, browser, authorizeUrl } = await open(platform);
    expect(await progress(id)).toEqual({ status: "waiting", failure: undefined, usernames: [] });
    const back = await press(authorizeUrl, "approve", "alice");
    const { outcome, accounts } = await finish(back, browser);
    expect(outcome).toBe("connected");
    const [account] = accounts;
    expect(account).toMatchObject({ platform, workspaceId, status: "active", username: "alice" });
    expect(await progress(id)).toMatchObject({
      status: "connected",
      usernames: [account?.username],
    });
    const ref = { workspaceId, accountId: account?.id ?? "" };
    const credential = await fixture.credentialOf(ref);
    expect(credential).toMatchObject({ accountStatus: "active" });
    expect(await fixture.control.secrets()).toContain(credential?.accessToken);
    // The process that lost the answer of its commit believes that it has failed.
    await setAuthorizationFailed(fixture.sql, id, "unavailable");
    expect(await progress(id)).toMatchObject({ status: "connected", failure: undefined });
  },
);

test.each(["facebook", "instagram"])(
  "one approval on %s connects all accounts that the person selected",
  async (platform) => {
    const { id, browser, authorizeUrl } = await open(platform);
    const back = await press(authorizeUrl, "approve", "one, two, three");
    const { accounts } = await finish(back, browser);
    expect(accounts.map(({ username }) => username)).toEqual(["one", "two", "three"]);
    expect((await progress(id)).usernames.toSorted()).toEqual(["one", "three", "two"]);
  },
);

test.each(PLATFORMS)(
  "the access token from an authorization on %s either does not expire or can be refreshed",
  async (platform) => {
    const { browser, authorizeUrl } = await open(platform);
    const back = await press(authorizeUrl, "approve");
    const { accounts } = await finish(back, browser);
    const ref = { workspaceId: fixture.workspaceId, accountId: accounts[0]?.id ?? "" };
    const before = await fixture.credentialOf(ref);
    const isExpiring = before?.expiresAt !== undefined;
    // The token of a Facebook Page or of an Instagram account works until the person withdraws the
    // permission.
    expect(isExpiring).toBe(platform !== "facebook" && platform !== "instagram");
    if (!isExpiring) return;
    const { credential } = await fixture.app.credentials.refreshCredential({
      ref,
      refusedVersion: 1n,
    });
    expect(credential).toMatchObject({ accountStatus: "active", version: 2n });
  },
);

test.each(PLATFORMS)(
  "when a person denies access on %s, no account is connected and the connect link cannot be used again",
  async (platform) => {
    const { id, linkSecret, browser, authorizeUrl } = await open(platform);
    const back = await press(authorizeUrl, "deny");
    const { outcome } = await finish(back, browser);
    expect(outcome).toBe("denied");
    expect(await progress(id)).toMatchObject({ status: "failed", failure: "denied" });
    expect((await fixture.app.authorizations.findConnectLink({ linkSecret })).outcome).toBe("used");
    expect(
      (await fixture.app.accounts.listAccounts({ workspaceId: fixture.workspaceId })).accounts,
    ).toEqual([]);
  },
);

test("a browser that finished an authorization is told the path of the dashboard that its connect link names, and only the workspace of the link can read its progress", async () => {
  const { workspaceId, app } = fixture;
  const returnTo = "/app/accounts?retry=1";
  const { id, url } = await app.authorizations.issueConnectLink({
    workspaceId,
    platform: "x",
    returnTo,
  });
  const browser = newBrowser();
  const linkSecret = url.replace("https://postrider.example/connect/", "");
  const { authorizeUrl } = await app.authorizations.openConnectLink({ linkSecret, browser });
  const back = await press(authorizeUrl, "approve", "returning");

  expect(await finish(back, browser)).toMatchObject({ outcome: "connected", returnTo });
  expect(await app.authorizations.getAuthorization({ id, workspaceId })).toMatchObject({
    status: "connected",
  });
  await expect(
    app.authorizations.getAuthorization({ id, workspaceId: randomUUID() }),
  ).rejects.toMatchObject({ reason: "not_found" });
});

test.each(["https://evil.example", "//evil.example", "/application", "/app/../x", "/app#a"])(
  "a connect link that would return to %s is refused",
  async (returnTo) => {
    const { workspaceId } = fixture;
    const issued = fixture.app.authorizations.issueConnectLink({
      workspaceId,
      platform: "x",
      returnTo,
    });
    await expect(issued).rejects.toMatchObject({ reason: "invalid_request" });
  },
);

test("FindConnectLink does not use up a connect link, and exactly one of eight concurrent OpenConnectLink calls with the link succeeds", async () => {
  const { linkSecret } = await issue("x");
  for (let look = 0; look < 3; look += 1)
    expect(await fixture.app.authorizations.findConnectLink({ linkSecret })).toMatchObject({
      outcome: "open",
      platform: "x",
      workspaceName: "Test",
      authorizeOrigin: fixture.simulatorUrl,
    });
  const answers = await Promise.all(
    Array.from({ length: 8 }, () =>
      fixture.app.authorizations.openConnectLink({ linkSecret, browser: newBrowser() }),
    ),
  );
  expect(answers.map(({ outcome }) => outcome).toSorted()).toEqual([
    "opened",
    ...Array.from({ length: 7 }, () => "used"),
  ]);
  expect((await fixture.app.authorizations.findConnectLink({ linkSecret })).outcome).toBe("used");
});

test("an unknown connect link is rejected, and an authorization expires after ten minutes whether or not its link was opened", async () => {
  const invented = newBrowser();
  expect((await fixture.app.authorizations.findConnectLink({ linkSecret: invented })).outcome).toBe(
    "unknown",
  );
  const fresh = await issue("x");
  const opened = await open("x");
  const back = await press(opened.authorizeUrl, "approve");
  await fixture.sql`
    update authorizations set expires_at = expires_at - interval '10 minutes'
    where workspace_id = ${fixture.workspaceId}`;
  const { linkSecret } = fresh;
  expect((await fixture.app.authorizations.findConnectLink({ linkSecret })).outcome).toBe(
    "expired",
  );
  const late = await fixture.app.authorizations.openConnectLink({ linkSecret, browser: invented });
  expect(late.outcome).toBe("expired");
  const { browser } = opened;
  const finished = await finish(back, browser);
  expect(finished.outcome).toBe("expired");
  expect(await progress(fresh.id)).toMatchObject({ status: "failed", failure: "expired" });
  expect(await progress(opened.id)).toMatchObject({ status: "failed", failure: "expired" });
});

/** An API key with a session, and a connect link that was issued in it. */
async function issueInSession() {
  const { apiKeys, authorizations, dashboard } = fixture.app;
  const { keyId, key, workspaceId } = await createTenant(fixture.app);
  const { session } = await dashboard.openDashboardSession({
    login: { case: "keyHash", value: hashApiKey(key) },
    userAgent: "Firefox on Linux",
  });
  const sessionId = session?.id ?? "";
  const context = { requestId: newId(), caller: "gateway", origin: { keyId, sessionId } };
  const { id, url } = await runInContext(context, () =>
    authorizations.issueConnectLink({ workspaceId, platform: "x" }),
  );
  return {
    id,
    workspaceId,
    linkSecret: url.replace("https://postrider.example/connect/", ""),
    endKey: async () => await apiKeys.revokeApiKey({ id: keyId }),
    endSession: async () => await dashboard.revokeDashboardSessions({ workspaceId, id: sessionId }),
  };
}

test.each([
  ["key is revoked", "endKey"],
  ["session is ended", "endSession"],
] as const)(
  "when the %s that issued a connect link, the link connects no account, whether or not it was opened",
  async (_, end) => {
    const { authorizations, accounts } = fixture.app;
    const [fresh, opened] = [await issueInSession(), await issueInSession()];
    const browser = newBrowser();
    const { authorizeUrl } = await authorizations.openConnectLink({ ...opened, browser });
    const back = await press(authorizeUrl, "approve", "lookalike");
    await fresh[end]();
    await opened[end]();
    expect((await authorizations.findConnectLink(fresh)).outcome).toBe("expired");
    expect((await authorizations.openConnectLink({ ...fresh, browser })).outcome).toBe("expired");
    expect((await finish(back, browser)).outcome).toBe("expired");
    expect(await progress(opened.id)).toMatchObject({ status: "failed", failure: "expired" });
    const { workspaceId } = opened;
    expect((await accounts.listAccounts({ workspaceId })).accounts).toEqual([]);
  },
);

test("an account is not stored when the key that issued its connect link ends while the code is exchanged", async () => {
  const { authorizations, accounts } = fixture.app;
  const { id, workspaceId, linkSecret } = await issueInSession();
  const browser = newBrowser();
  const { authorizeUrl } = await authorizations.openConnectLink({ linkSecret, browser });
  const back = await press(authorizeUrl, "approve", "lookalike");
  const { ownerSql } = fixture.database;
  await ownerSql.unsafe(`
    create function accounts.end_issuer() returns trigger language plpgsql
      as $$ begin update accounts.api_keys set revoked_at = now(); return new; end $$;
    create trigger end_issuer after insert on accounts.accounts
      for each row execute function accounts.end_issuer()`);
  expect((await finish(back, browser)).outcome).toBe("refused");
  await ownerSql`drop function accounts.end_issuer cascade`;
  expect((await accounts.listAccounts({ workspaceId })).accounts).toEqual([]);
  expect(await progress(id)).toMatchObject({ status: "failed", failure: "refused" });
});

test("a browser with a wrong cookie or a wrong state cannot finish or end the authorization of another browser", async () => {
  const { browser, authorizeUrl } = await open("x");
  const back = await press(authorizeUrl, "approve", "rightone");
  const outcomeOf = async (part: object) =>
    (await fixture.app.authorizations.finishAuthorization({ ...back, browser, ...part })).outcome;
  expect(await outcomeOf({ browser: newBrowser() })).toBe("other_browser");
  expect(await outcomeOf({ browser: "" })).toBe("other_browser");
  expect(await outcomeOf({ state: newBrowser() })).toBe("unknown_state");
  expect(await outcomeOf({ state: "" })).toBe("unknown_state");
  expect(await fixture.control.countCalls("x", "login")).toBe(1);
  expect(await outcomeOf({})).toBe("connected");
});

test("an authorization code is exchanged once when the browser returns with the code eight times at once", async () => {
  const { browser, authorizeUrl } = await open("x");
  const back = await press(authorizeUrl, "approve", "onceonly");
  const answers = await Promise.all(Array.from({ length: 8 }, () => finish(back, browser)));
  expect(answers.filter(({ outcome }) => outcome === "connected")).toHaveLength(1);
  expect(answers.filter(({ outcome }) => outcome === "used")).toHaveLength(7);
  const calls = await fixture.control.outcomes("x", "login");
  // Two `login` calls reach the platform: the button of the authorization page makes one, and the
  // exchange of the code makes the other.
  expect(calls).toEqual(["done", "done"]);
});

test.each([
  ["a wrong code", "refused", { code: "invented", error: "" }],
  ["no code", "denied", { code: "", error: "" }],
  ["the error server_error", "unavailable", { code: "", error: "server_error" }],
])(
  "an authorization fails as %s when the browser returns from the platform with %s",
  async (_name, failure, part) => {
    const { id, browser, authorizeUrl } = await open("x");
    const { state } = await press(authorizeUrl, "approve");
    const { outcome } = await finish({ state, ...part }, browser);
    expect(outcome).toBe(failure);
    expect(await progress(id)).toMatchObject({ status: "failed", failure });
  },
);

test("an authorization fails as unavailable when the token endpoint answers HTTP 503", async () => {
  const { id, browser, authorizeUrl } = await open("x");
  const back = await press(authorizeUrl, "approve");
  await fixture.control.fault({ platform: "x", operation: "login", mode: "status", status: 503 });
  const { outcome } = await finish(back, browser);
  expect(outcome).toBe("unavailable");
  expect(await progress(id)).toMatchObject({ status: "failed", failure: "unavailable" });
});

test("a disconnected account that is authorized again is active under the same id", async () => {
  const connect = async () => {
    const { browser, authorizeUrl } = await open("tiktok");
    const back = await press(authorizeUrl, "approve", "returning");
    const { accounts } = await finish(back, browser);
    return accounts[0]?.id ?? "";
  };
  const accountId = await connect();
  const ref = { workspaceId: fixture.workspaceId, accountId };
  await fixture.app.accounts.disconnectAccount({ ref });
  expect(await connect()).toBe(accountId);
  expect(await fixture.credentialOf(ref)).toMatchObject({ accountStatus: "active" });
});

test("the database contains only hashes of the secrets of an authorization, and no code verifier after the authorization has ended", async () => {
  const { linkSecret, browser, authorizeUrl } = await open("x");
  const state = new URL(authorizeUrl).searchParams.get("state") ?? "";
  const challenge = new URL(authorizeUrl).searchParams.get("code_challenge");
  const [row] = await fixture.sql<{ row: string; codeVerifier: string | null }[]>`
    select t::text as row, code_verifier from authorizations t where workspace_id = ${fixture.workspaceId}`;
  for (const secret of [linkSecret, browser, state]) expect(row?.row).not.toContain(secret);
  // The platform gets only the hash of the code verifier. A stored text with another hash is not
  // the verifier itself, so the verifier is stored encrypted.
  const hash = createHash("sha256")
    .update(row?.codeVerifier ?? "")
    .digest("base64url");
  expect(hash).not.toBe(challenge);
  expect(row?.codeVerifier).toMatch(/^v1\.k1\+bound\./);
  const back = await press(authorizeUrl, "approve");
  await finish(back, browser);
  const after = await fixture.sql`
    select code_verifier from authorizations where workspace_id = ${fixture.workspaceId}`;
  expect(after).toEqual([{ codeVerifier: null }]);
});

test.each([
  ["bluesky", "not_available"],
  ["telegram", "not_available"],
  ["myspace", "unknown_platform"],
])(
  "IssueConnectLink with the platform %s is rejected with the error code %s",
  async (platform, code) => {
    await expect(issue(platform)).rejects.toMatchObject({
      reason: "invalid_request",
      violations: [{ code }],
    });
  },
);

test("IssueConnectLink with an unknown workspace and GetAuthorization with an unknown id return `not_found`", async () => {
  const unknown = "0198a6a4-0000-7000-8000-000000000001";
  for (const id of [unknown, "x"]) {
    await expect(
      fixture.app.authorizations.issueConnectLink({ workspaceId: id, platform: "x" }),
    ).rejects.toMatchObject({ reason: "not_found" });
    await expect(fixture.app.authorizations.getAuthorization({ id })).rejects.toMatchObject({
      reason: "not_found",
    });
  }
});

test("authorizations that expired more than a day ago are deleted when a new authorization is issued", async () => {
  await issue("x");
  await fixture.sql`
    update authorizations set expires_at = now() - interval '25 hours'
    where workspace_id = ${fixture.workspaceId}`;
  await issue("x");
  await eventually(async () => {
    const rows = await fixture.sql`
      select 1 from authorizations where workspace_id = ${fixture.workspaceId}`;
    expect(rows).toHaveLength(1);
  });
});

test("a new authorization deletes at most 1,000 that ended, so that many of one workspace delay no other", async () => {
  await fixture.sql`
    insert into authorizations (id, workspace_id, platform, link_hash, status, expires_at)
    select gen_random_uuid(), ${fixture.workspaceId}, 'x', sha256(('ended' || n)::bytea), 'issued',
      now() - interval '25 hours'
    from generate_series(1, 1001) as n`;
  const countEnded = async () =>
    await fixture.sql`select from authorizations where expires_at < now() - interval '1 day'`;
  await issue("x");
  expect(await countEnded()).toHaveLength(1);
  await issue("x");
  expect(await countEnded()).toHaveLength(0);
});

test("a newly connected TikTok account is listed with the options that TikTok offers it, which validate its first post", async () => {
  const { id, browser, authorizeUrl } = await open("tiktok");
  await finish(await press(authorizeUrl, "approve", "offered"), browser);
  const { accounts } = await fixture.app.authorizations.getAuthorization({ id });
  const refs = accounts.map((account) => ({
    workspaceId: account.workspaceId,
    accountId: account.id,
  }));
  const batch = await fixture.app.accounts.batchGetAccounts({ refs });
  expect(batch.accounts.map(({ available }) => JSON.parse(available) as unknown)).toMatchObject([
    { audiences: ["public", "friends", "only_me"], maxVideoSeconds: 600 },
  ]);
});
