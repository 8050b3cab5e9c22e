import { loadSecrets, operatorIdentity } from "#src/stack/secrets.ts";
import type { Stack } from "#src/stack/stack.ts";
import { runCommand } from "../../../cli/src/run.ts";

export type OperatedStack = Pick<Stack, "layout" | "describe">;

export class OperatorError extends Error {
  override name = "OperatorError";
  /** Its last line is a JSON object with the error code. */
  readonly stderr: string;

  constructor(words: readonly string[], stderr: string) {
    super(`postrider ${words.slice(0, 2).join(" ")}: ${stderr}`);
    this.stderr = stderr;
  }
}

/**
 * With `--json`, inside this process: a separate one would cost half a second of CPU time. Throws
 * OperatorError when the command fails.
 */
export async function operate(stack: OperatedStack, ...args: readonly string[]): Promise<unknown> {
  return await operateWith(stack, args);
}

/** For a command that prints notes before it ends (`io.onNote`) or reads a secret. */
export async function operateWith(
  stack: OperatedStack,
  args: readonly string[],
  { onNote, input = "" }: { onNote?: (note: unknown) => void; input?: string } = {},
): Promise<unknown> {
  const { services } = stack.describe();
  const settings = {
    urls: {
      accounts: services.accounts[0]?.url,
      posts: services.posts[0]?.url,
      media: services.media[0]?.url,
      delivery: services.delivery[0]?.url,
    },
    identity: operatorIdentity(loadSecrets(stack.layout.secretsFile)),
  };
  let printed = "";
  const errors: string[] = [];
  const exitCode = await runCommand([...args, "--json"], settings, {
    print: (text) => {
      printed += text;
    },
    printError: (text) => {
      errors.push(text);
      onNote?.(JSON.parse(text));
    },
    readLine: () => Promise.resolve(input.trim()),
  });
  if (exitCode !== 0) throw new OperatorError(args, errors.join("\n"));
  return JSON.parse(printed) as unknown;
}

/**
 * Creates accounts on the simulator, connects them to the workspace (default: the demo workspace)
 * and returns their ids.
 */
export async function connectSimulated(
  stack: OperatedStack,
  platform: string,
  count: number,
  workspaceId = stack.describe().workspaceId,
): Promise<readonly string[]> {
  const where = ["--workspace", workspaceId, "--simulated", "--count", String(count)];
  const made = await operateWith(stack, ["account", "connect", platform, ...where]);
  const { accounts = [] } = made as { accounts?: readonly { readonly id: string }[] };
  return accounts.map(({ id }) => id);
}
