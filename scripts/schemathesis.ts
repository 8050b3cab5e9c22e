import { rmSync } from "node:fs";
import { join } from "node:path";
import { operate } from "../packages/local/src/stack/operator.ts";
import { startStack, type Stack } from "../packages/local/src/stack/stack.ts";
import { makeTestFolder } from "../packages/local/src/stack/test-folder.ts";
import { root, runInForeground, runScript } from "./check/run-command.ts";
import { installProject, pythonProject } from "./separate-project.ts";

const PATH = "scripts/schemathesis";
/** Where the tested Postrider may send webhooks. No server has to listen there. */
const RECEIVER = "127.0.0.1:9";
/** For each operation and phase. */
const DEFAULT_ARGUMENTS = ["--max-examples", "50"];

/** Returns their ids by the names of variables in the configuration of Schemathesis. */
async function createResources(stack: Stack): Promise<Readonly<Record<string, string>>> {
  const { baseUrl, apiKey, workspaceId, accounts } = stack.describe();
  const accountId = accounts.find(({ platform }) => platform === "x")?.id ?? "";
  const create = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
    const options = { method: "POST", headers, body: JSON.stringify(body) };
    const answer = await fetch(`${baseUrl}/api/v1${path}`, options);
    if (!answer.ok) throw new Error(`POST ${path} answered ${answer.status}`);
    return ((await answer.json()) as { readonly id: string }).id;
  };
  const draft = { content: "A draft", accountIds: [accountId], isDraft: true };
  const slots = { name: "Noon", weekdays: ["mon"], times: ["12:00"], timezone: "UTC" };
  return {
    WORKSPACE_ID: workspaceId,
    ACCOUNT_ID: accountId,
    POST_ID: await create("/posts", draft),
    QUEUE_SLOT_RULE_ID: await create("/queue-slots", slots),
    WEBHOOK_ID: await create("/webhooks", { url: `http://${RECEIVER}/`, events: ["media.ready"] }),
  };
}

async function test(stack: Stack, args: readonly string[]): Promise<boolean> {
  const { baseUrl, apiKey, workspaceId } = stack.describe();
  await operate(stack, "workspace", "set-limits", workspaceId, "--requests-per-minute", "600000");
  const program = join(root, PATH, "node_modules/.python/bin/schemathesis");
  const file = join(root, PATH, "schemathesis.toml");
  const key = ["--header", `Authorization: Bearer ${apiKey}`];
  const words = ["--config-file", file, "run", `${baseUrl}/api/v1/openapi.json`, ...key, ...args];
  return await runInForeground(program, words, await createResources(stack));
}

/**
 * Runs Schemathesis against a newly started Postrider, as a second, independent check of the API
 * description.
 */
async function main(): Promise<boolean> {
  if (!(await installProject(pythonProject(PATH))))
    throw new Error("Schemathesis could not be installed");
  const dataDir = makeTestFolder("schemathesis-stack");
  const stopping = new AbortController();
  process.once("SIGTERM", () => stopping.abort());
  try {
    await using stack = await startStack({
      dataDir,
      port: 0,
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        TRUSTED_PROXIES: "loopback",
        OUTBOUND_ALLOW: RECEIVER,
      },
      signal: stopping.signal,
    });
    const given = process.argv.slice(2);
    return await test(stack, given.length === 0 ? DEFAULT_ARGUMENTS : given);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

await runScript("schemathesis", main);
