import { parseStartOptions, usage } from "#src/commands/start-options.ts";
import { defaultDataDir, environment } from "#src/config.ts";
import { takers } from "#src/demo/demo-pieces.ts";
import { issueDashboardLink } from "#src/demo/demo-workspace.ts";
import { aborted, interruption } from "#src/processes/interruption.ts";
import type { LocalStack } from "#src/stack/local-file.ts";
import { loadSecrets, operatorIdentity } from "#src/stack/secrets.ts";
import { startStack } from "#src/stack/stack.ts";

function banner(stack: LocalStack, dashboardUrl: string, readyMs: number): string {
  const body = JSON.stringify({
    content: "Hello from Postrider",
    accountIds: takers(stack.accounts, "text"),
  });
  const accounts = stack.accounts.map(
    (account) => `             ${account.platform.padEnd(10)}${account.username}`,
  );
  return [
    "",
    `Postrider is ready (${(readyMs / 1000).toFixed(1)} s). Ctrl-C stops it.`,
    "",
    `  API        ${stack.baseUrl}/api/v1`,
    `  Docs       ${stack.docsUrl}`,
    `  API key    ${stack.apiKey}`,
    `  Dashboard  ${dashboardUrl} (works once, for 10 minutes)`,
    `  Workspace  ${stack.workspaceId}`,
    `  Bus        ${stack.bus}`,
    `  Simulator  ${stack.simulatorUrl}/_control/visible`,
    `  Logs       ${stack.logs}`,
    "  Accounts",
    ...accounts,
    "",
    "Publish something:",
    "",
    `  curl -X POST ${stack.baseUrl}/api/v1/posts \\`,
    `    -H 'Authorization: Bearer ${stack.apiKey}' \\`,
    "    -H 'Content-Type: application/json' \\",
    `    -d '${body}'`,
    "",
    "Receive webhooks on this machine (docs/webhooks.md):",
    "",
    "  OUTBOUND_ALLOW=127.0.0.1:9000 npm start",
    "",
    "",
  ].join("\n");
}

/** `npm start`: runs a local stack until it is interrupted. */
export async function runStart(args: readonly string[]): Promise<number> {
  const began = performance.now();
  const { help, port, ...options } = parseStartOptions(args);
  const { stdout } = process;
  if (help) {
    stdout.write(usage);
    return 0;
  }
  const signal = interruption();
  const bus = options.kafka ? "Kafka, " : "";
  stdout.write(`Starting Postgres, ${bus}the simulated platforms and five services …\n`);
  const stack = await startStack({
    ...options,
    ...(port === undefined ? {} : { port }),
    dataDir: defaultDataDir,
    env: environment,
    report: (line) => stdout.write(`${line}\n`),
    signal,
  });
  const local = stack.describe();
  const dashboardUrl = await issueDashboardLink({
    accountsUrl: local.services.accounts[0]?.url ?? "",
    identity: operatorIdentity(loadSecrets(stack.layout.secretsFile)),
    workspaceId: local.workspaceId,
  });
  stdout.write(banner(local, dashboardUrl, performance.now() - began));
  await aborted(signal);
  stdout.write("Stopping …\n");
  await stack[Symbol.asyncDispose]();
  stdout.write("Stopped. Nothing is left running.\n");
  return 0;
}
