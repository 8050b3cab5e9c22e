import { expect, test } from "vitest";
import { blocksIn, EXAMPLE_ACCOUNT, runShell } from "./support/observers/guides.ts";
import type { PostRecord } from "./support/requests/api.ts";
import { openTenant } from "./support/requests/tenant.ts";
import { useSharedSystem } from "./support/system/system.ts";

/**
 * Follows the platform guides: runs the commands of the guides and of the quick start unchanged,
 * except that the names and secrets in them are those of the simulator.
 */

const system = await useSharedSystem();
const tenant = await openTenant(system);

/**
 * Returns the commands of a document that begin with the given word. A command that continues over
 * several lines is returned as one line.
 */
function commandsOf(path: string, word: string): readonly string[] {
  return blocksIn(path, "sh")
    .flatMap((block) => block.replaceAll(/\\\n\s*/g, "").split("\n"))
    .map((line) => line.trim())
    .filter((line) => line.startsWith(`${word} `));
}

/** Splits a command into words like a shell, without substitutions. */
function wordsOf(command: string): readonly string[] {
  return [...command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, plain]) => single ?? double ?? plain ?? "",
  );
}

/** Sends the request of a `curl` command of the quick start, and returns the answer. */
async function curl(command: string, variables: Readonly<Record<string, string>>) {
  const printed = await runShell(`${command} --write-out '\\n%{http_code}'`, variables);
  const [, body = "", status] = /^(.*)\n(\d+)$/s.exec(printed) ?? [];
  return { status: Number(status), body: JSON.parse(body) as PostRecord };
}

const PLATFORMS = [
  { platform: "telegram", example: "mychannel", secret: "botToken" },
  { platform: "bluesky", example: "alice.bsky.social", secret: "appPassword" },
] as const;

test.each(PLATFORMS)(
  "a new user who follows the guide of $platform and the quick start publishes a post",
  async ({ platform, example, secret }) => {
    const { username, credentials } = await system.simulator.issueAccount(platform);
    const [command = ""] = commandsOf(`platforms/${platform}.md`, "postrider");
    expect(command).toContain(example);
    const words = wordsOf(command)
      .slice(1)
      .map((word) => (word === "WORKSPACE_ID" ? tenant.id : word.replace(example, username)));
    const account = await system.operateWith<{ id: string }>(`${credentials[secret]}\n`, ...words);

    const [list = "", check = "", publish = "", read = ""] = commandsOf(
      "api/quick-start.md",
      "curl",
    ).map((each) =>
      each
        .replaceAll(EXAMPLE_ACCOUNT, account.id)
        .replaceAll("open-on-sunday-1", `open-on-sunday-${platform}`),
    );
    const variables = { URL: system.local().baseUrl, KEY: tenant.key };
    expect(JSON.stringify((await curl(list, variables)).body)).toContain(account.id);
    expect((await curl(check, variables)).status).toBe(200);
    const accepted = await curl(publish, variables);
    expect(accepted.status).toBe(202);
    const final = await curl(read, { ...variables, POST_ID: accepted.body.id });
    expect(final.body.status).toBe("published");
    expect(
      (await tenant.listVisible()).filter((entry) => entry.platform === platform),
    ).toHaveLength(1);
  },
);
