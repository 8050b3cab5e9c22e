import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { disposeInOrder } from "@postrider/shared/process/lifecycle";
import type { TestDatabase } from "@postrider/shared/testing/database";
import { startSimulator } from "@postrider/simulator/simulator";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Settings } from "#src/config.ts";
import type { Finding } from "#src/doctor/findings.ts";
import { createServiceDatabase, identities, runTool, SEALING_KEYS, startService } from "./tool.ts";

const opened: AsyncDisposable[] = [];
let folder: string;
let settings: Settings;
let publicUrl: string;
let simulatorUrl: string;
let accountsDatabase: TestDatabase;

/**
 * Starts a server that answers at the public address and is not the gateway of the installation.
 */
async function startOtherServer(): Promise<string> {
  const server = createServer((_request, response) => void response.writeHead(404).end());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  opened.push({
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return `http://127.0.0.1:${address.port}`;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "postrider-doctor-test-"));
  const simulator = await startSimulator({ host: "127.0.0.1", port: 0 });
  simulatorUrl = simulator.url;
  publicUrl = await startOtherServer();
  const databases = [
    await createServiceDatabase("accounts"),
    await createServiceDatabase("media"),
    await createServiceDatabase("delivery"),
  ] as const;
  [accountsDatabase] = databases;
  const hosts = Object.fromEntries(
    ["instagram", "x", "facebook", "tiktok", "youtube", "telegram", "bluesky"].map((platform) => [
      `${platform.toUpperCase()}_BASE_URL`,
      `${simulator.url}/${platform}`,
    ]),
  );
  const [accounts, media] = await Promise.all([
    startService("accounts", databases[0], {
      ...hosts,
      CREDENTIAL_KEYS: SEALING_KEYS,
      SIMULATOR_URL: simulator.url,
      PUBLIC_URL: publicUrl,
      YOUTUBE_CLIENT_ID: "app",
      YOUTUBE_CLIENT_SECRET: "a secret of the app",
      X_CLIENT_ID: "app",
      FACEBOOK_CLIENT_ID: "app",
      FACEBOOK_CLIENT_SECRET: "another secret of the app",
    }),
    startService("media", databases[1], {
      MEDIA_DIR: join(folder, "objects"),
      MEDIA_KEY: "a media key that media needs to start and these tests do not use",
      MEDIA_TEMP_DIR: join(folder, "temp"),
    }),
  ]);
  const delivery = await startService("delivery", databases[2], {
    ...hosts,
    ACCOUNTS_URL: accounts.url,
    HANDLE_KEYS: SEALING_KEYS,
    MEDIA_KEY: "a media key that only the delivery service of these tests has",
    PUBLIC_URL: publicUrl,
    YOUTUBE_BASE_URL: "http://127.0.0.1:1",
  });
  opened.unshift(accounts, media, delivery, ...databases, simulator);
  settings = {
    urls: { accounts: accounts.url, posts: undefined, media: media.url, delivery: delivery.url },
    identity: identities.of("operator"),
  };
});
afterAll(async () => {
  await disposeInOrder(opened);
  await rm(folder, { recursive: true });
});

interface Report {
  readonly ok: boolean;
  readonly findings: readonly Finding[];
}

async function diagnose() {
  const { printed, exitCode } = await runTool(["doctor", "config", "--json"], settings);
  const report = JSON.parse(printed) as Report;
  const find = (at: string, name: string) =>
    report.findings.find((finding) => finding.at === at && finding.name === name);
  return { report, exitCode, find, printed };
}

test("`doctor config` says of each platform whether its settings are complete and which one is missing", async () => {
  const { find, exitCode, printed } = await diagnose();

  expect(exitCode).toBe(1);
  expect(find("accounts", "settings of youtube")).toMatchObject({ status: "ok" });
  expect(find("accounts", "settings of bluesky")).toMatchObject({ status: "ok" });
  expect(find("accounts", "settings of tiktok")).toMatchObject({
    status: "off",
    found:
      "TikTok is not set up: TIKTOK_CLIENT_KEY and TIKTOK_CLIENT_SECRET of the accounts service are not set",
    guide: "docs/platforms/tiktok.md",
  });
  expect(find("accounts", "settings of x")).toEqual({
    at: "accounts",
    name: "settings of x",
    status: "failed",
    found: "X_CLIENT_SECRET of the accounts service is not set, so X accounts cannot be connected",
    remedy: "set X_CLIENT_SECRET and restart the accounts service",
    guide: "docs/platforms/x.md",
  });
  expect(find("accounts", "redirect address of youtube")?.found).toBe(
    `the redirect address to register with YouTube is ${publicUrl}/connect/callback`,
  );
  expect(printed).not.toContain("a secret of the app");
});

test("`doctor config` checks databases, clocks, the bus and the object store, and names a service that does not answer", async () => {
  const { find } = await diagnose();

  for (const service of ["accounts", "media", "delivery"])
    for (const name of ["database", "clock and database", "bus", "owner of the data"])
      expect(find(service, name)).toMatchObject({ status: "ok" });
  expect(find("media", "object store")).toMatchObject({
    status: "ok",
    found: "a small object was written, read and deleted on disk",
  });
  expect(find("media", "owner of the object store")).toMatchObject({ status: "ok" });
  expect(find("posts", "answer")).toMatchObject({ status: "failed" });
});

test("`doctor config` warns about a service whose data is a copy, and says how to use the data in this deployment", async () => {
  const { sql } = accountsDatabase;
  await sql`update deployment set deployment_id = 'production'`;
  const { find } = await diagnose();
  await sql`update deployment set deployment_id = 'default'`;

  expect(find("accounts", "owner of the data")).toMatchObject({
    status: "warning",
    found: expect.stringMatching(/^held: the data belongs to another deployment;/) as string,
    remedy: expect.stringContaining("postrider recovery adopt") as string,
  });
});

test("`doctor config` reports a platform that delivery cannot reach, but not one that is not set up", async () => {
  const { find } = await diagnose();

  expect(find("delivery", "connection to youtube")).toMatchObject({ status: "failed" });
  expect(find("accounts", "connection to youtube")).toMatchObject({ status: "ok" });
  expect(find("delivery", "connection to tiktok")).toBeUndefined();
});

test("`doctor config` reports that a server at the public address is not the gateway of the installation", async () => {
  const { find } = await diagnose();

  expect(find("this computer", "gateway and media key")).toMatchObject({
    status: "failed",
    found: `what answers at ${publicUrl} is not the gateway of this installation, or its MEDIA_KEY differs from delivery's (HTTP 404)`,
  });
  expect(find("this computer", "PUBLIC_URL")).toMatchObject({ status: "warning" });
});

async function connectSimulated(platform: string): Promise<string> {
  const made = await runTool(
    ["workspace", "create", "--name", platform, "--verified", "--json"],
    settings,
  );
  const { id: workspace } = JSON.parse(made.printed) as { readonly id: string };
  const connect = ["account", "connect", platform, "--workspace", workspace, "--simulated"];
  const { printed, errors } = await runTool([...connect, "--json"], settings);
  if (printed === "") throw new Error(errors);
  return (JSON.parse(printed) as { readonly id: string }).id;
}

test("`doctor account` checks the connection, the permissions and what the platform allows, without a post", async () => {
  const id = await connectSimulated("facebook");
  const { printed, exitCode } = await runTool(["doctor", "account", id, "--json"], settings);

  expect(JSON.parse(printed)).toMatchObject({
    ok: true,
    account: { id, platform: "facebook" },
    findings: [
      { at: "facebook", name: "connection", status: "ok" },
      { at: "facebook", name: "permissions" },
      { status: "ok", found: expect.stringMatching(/^Facebook accepts the token/) as string },
    ],
  });
  expect(exitCode).toBe(0);
});

test("`doctor account --live` prints each step when it has ended, and says what is left on the platform", async () => {
  const id = await connectSimulated("facebook");
  const ended = await runTool(["doctor", "account", id, "--live"], settings, "yes");

  expect(ended.errors.split("\n").map((line) => line.split(":")[0])).toEqual([
    expect.stringMatching(
      /^The check makes, as .* on Facebook, one post that stays unpublished, so no reader sees it. It is deleted afterwards/,
    ),
    "ok       prepare",
    "ok       publish",
    "ok       find it as after a lost answer",
    "skipped  find it by its content",
    "skipped  open its permalink",
    "ok       delete it",
    "skipped  find it no longer",
    "ok       delete it again",
  ]);
  expect(ended.printed).toBe("\n8 steps: 0 failed, 0 warnings; nothing is left on facebook");
  expect(ended.exitCode).toBe(0);
});

/**
 * Makes the simulated Facebook answer calls of an operation with this HTTP status (a simulated
 * fault), until the result is disposed of.
 */
async function addFault(
  operation: string,
  status: number,
  times: number,
): Promise<AsyncDisposable> {
  const faults = `${simulatorUrl}/_control/faults`;
  const body = JSON.stringify({ platform: "facebook", operation, mode: "status", status, times });
  const headers = { "content-type": "application/json" };
  const answer = await fetch(faults, { method: "POST", headers, body });
  if (answer.status !== 201) throw new Error(await answer.text());
  return { [Symbol.asyncDispose]: async () => void (await fetch(faults, { method: "DELETE" })) };
}

test("`doctor account` ends with exit code 1 when a check fails, and says what to do", async () => {
  const id = await connectSimulated("facebook");
  await using _fault = await addFault("GET /*", 401, 10);
  const { printed, exitCode } = await runTool(["doctor", "account", id], settings);

  const lines = printed.split("\n");
  expect(lines.at(-1)).toBe("3 checks: 1 failed, 0 warnings");
  // Failed checks are printed last, with the remedy and the guide.
  expect(lines.at(-4)).toMatch(/^failed   facebook, token at Facebook: Facebook refused the call/);
  expect(lines.at(-3)).toMatch(
    /^ +what to do: connect the account again.*\(docs\/platforms\/facebook.md\)$/,
  );
  expect(exitCode).toBe(1);
});

test("`doctor account` ends with exit code 1 when the account must be connected again, and with 0 after warnings alone", async () => {
  const id = await connectSimulated("facebook");
  const run = async () => {
    const { printed, exitCode } = await runTool(["doctor", "account", id, "--json"], settings);
    return {
      ...(JSON.parse(printed) as { ok: boolean; failed: number; warnings: number }),
      exitCode,
    };
  };
  await accountsDatabase.migrationSql`update accounts set permissions = null where id = ${id}`;
  expect(await run()).toMatchObject({ ok: true, failed: 0, warnings: 1, exitCode: 0 });
  await accountsDatabase.migrationSql`update accounts set status = 'reconnect_required' where id = ${id}`;
  expect(await run()).toMatchObject({ ok: false, failed: 1, exitCode: 1 });
});

test("`doctor account --live` ends with exit code 1 and names the post when the platform does not delete it", async () => {
  const id = await connectSimulated("facebook");
  await using _fault = await addFault("delete", 403, 10);
  const ended = await runTool(["doctor", "account", id, "--live", "--yes"], settings);

  expect(ended.errors).toContain("failed   delete it: the platform did not delete the post");
  expect(ended.printed).toMatch(
    /^\n6 steps: 1 failed, 0 warnings; the post \d+_\d+ is left on facebook: delete it by hand$/,
  );
  expect(ended.exitCode).toBe(1);
});

test("`doctor config` says that a setting makes delivery call a simulator instead of the platform", async () => {
  const { find } = await diagnose();
  const { host } = new URL(simulatorUrl);
  expect(find("delivery", "connection to bluesky")).toMatchObject({
    status: "ok",
    found: `${host} answers in place of Bluesky, as BLUESKY_BASE_URL says`,
  });
});

test("`doctor config` explains in one error, not for each service, how to set the addresses of the services when none is set", async () => {
  const urls = { accounts: undefined, posts: undefined, media: undefined, delivery: undefined };
  const unknown = { urls, identity: settings.identity };
  const { printed, errors, exitCode } = await runTool(["doctor", "config"], unknown);
  expect({ printed, exitCode }).toEqual({ printed: "", exitCode: 1 });
  expect(errors).toMatch(
    /^error: the address of accounts is unknown; start Postrider \(npm start, or npm run serve\), set POSTRIDER_DATA_DIR/,
  );
});

test("`doctor account --live` publishes nothing without the confirmation of a person, and nothing that readers see without --public", async () => {
  const id = await connectSimulated("bluesky");
  const live = ["doctor", "account", id, "--live"];

  const unconfirmed = await runTool([...live, "--public"], settings, "no");
  expect(unconfirmed).toMatchObject({
    exitCode: 1,
    errors: expect.stringContaining("nothing was published") as string,
  });
  const refused = await runTool([...live, "--yes"], settings);
  expect(refused).toMatchObject({
    exitCode: 1,
    errors: expect.stringContaining("Repeat the command with --public") as string,
  });
  const misused = await runTool(["doctor", "account", id, "--public"], settings);
  expect(misused.exitCode).toBe(2);
});
