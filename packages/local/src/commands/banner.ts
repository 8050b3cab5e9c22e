import { takers } from "#src/demo/demo-pieces.ts";
import type { LocalStack } from "#src/stack/local-file.ts";

/** The text that `npm start` prints when every process of the local stack is ready. */
export function banner(stack: LocalStack, readyMs: number): string {
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
