import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { PostRecord } from "./support/api.ts";
import { joinSharedSystem, type SharedSystem } from "./support/system.ts";
import { openTenant, type Tenant } from "./support/tenant.ts";

/**
 * Follows the platform guides: runs the commands of the guides and of the quick start unchanged, except that the names and
 * secrets in them are those of the simulator.
 */

let system: SharedSystem;
let tenant: Tenant;
beforeAll(async () => {
  system = await joinSharedSystem();
  tenant = await openTenant(system);
});
afterAll(() => system[Symbol.asyncDispose]());

const readDoc = (path: string) => readFileSync(new URL(`../docs/${path}`, import.meta.url), "utf8");

/**
 * Returns the commands of a document that begin with the given word. A command that continues over several lines is returned
 * as one line.
 */
function commandsOf(path: string, word: string): readonly string[] {
  const blocks = [...readDoc(path).matchAll(/```sh\n([\s\S]*?)```/g)].map(([, text = ""]) => text);
  return blocks
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

/** Sends the request that a `curl` command of the quick start shows. */
async function curl(command: string, values: Readonly<Record<string, string>>) {
  const filled = Object.entries(values).reduce(
    (text, [name, value]) => text.replaceAll(name, value),
    command,
  );
  const words = wordsOf(filled).slice(1);
  const headers = new Headers();
  const request: { method?: string; body?: string; headers: Headers } = { headers };
  let url = "";
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? "";
    const next = words[at + 1] ?? "";
    if (word === "-X") request.method = next;
    else if (word === "-d") request.body = next;
    else if (word === "-H") headers.set(...(next.split(/: (.*)/, 2) as [string, string]));
    else url = word;
    if (/^-[XdH]$/.test(word)) at += 1;
  }
  const answer = await fetch(url, request);
  return { status: answer.status, body: (await answer.json()) as PostRecord };
}

/** A simulated account or channel: its name and the credentials that its owner would enter to connect it. */
interface Issued {
  readonly username: string;
  readonly credentials: Readonly<Record<string, string>>;
}

async function issue(platform: string): Promise<Issued> {
  const answer = await fetch(`${system.local().simulatorUrl}/_control/accounts`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ platform }),
  });
  const { accounts } = (await answer.json()) as { accounts: Issued[] };
  return accounts[0] ?? { username: "", credentials: {} };
}

const PLATFORMS = [
  { platform: "telegram", example: "mychannel", secret: "botToken" },
  { platform: "bluesky", example: "alice.bsky.social", secret: "appPassword" },
] as const;

test.each(PLATFORMS)(
  "a new user who follows the guide of $platform and the quick start publishes a post",
  async ({ platform, example, secret }) => {
    const { username, credentials } = await issue(platform);
    const [command = ""] = commandsOf(`platforms/${platform}.md`, "postrider");
    expect(command).toContain(example);
    const words = wordsOf(command)
      .slice(1)
      .map((word) => (word === "WORKSPACE_ID" ? tenant.id : word.replace(example, username)));
    const account = await system.operateWith<{ id: string }>(`${credentials[secret]}\n`, ...words);

    const values = {
      $URL: system.local().baseUrl,
      $KEY: tenant.key,
      "01a18f2e-5b1c-7d3e-8a4f-6b7c8d9e0f1a": account.id,
      "open-on-sunday-1": `open-on-sunday-${platform}`,
    };
    const [list = "", check = "", publish = "", read = ""] = commandsOf(
      "api/quick-start.md",
      "curl",
    );
    expect(JSON.stringify((await curl(list, values)).body)).toContain(account.id);
    expect((await curl(check, values)).status).toBe(200);
    const accepted = await curl(publish, values);
    expect(accepted.status).toBe(202);
    const final = await curl(read, { ...values, $POST_ID: accepted.body.id });
    expect(final.body.status).toBe("published");
    expect(
      (await tenant.listVisible()).filter((entry) => entry.platform === platform),
    ).toHaveLength(1);
  },
);
