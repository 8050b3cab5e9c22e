import { execFile } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { loadSecrets } from "#src/secrets.ts";
import type { Stack } from "#src/stack.ts";

const CLI = fileURLToPath(new URL("../../cli/src/main.ts", import.meta.url));
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/**
 * Runs the operator's tool against a stack, as a process of its own with `--json`, and returns what it printed.
 *
 * @throws When the tool fails; the error's `stderr` holds its JSON.
 */
export async function operate(stack: Stack, ...args: readonly string[]): Promise<unknown> {
  return await operateNoting(stack, () => undefined, ...args);
}

/**
 * The same for commands that say something before they end.
 *
 * @param onNote Gets each note while the command runs.
 */
export async function operateNoting(
  stack: Stack,
  onNote: (note: unknown) => void,
  ...args: readonly string[]
): Promise<unknown> {
  return await run(stack, { onNote, input: "" }, args);
}

/** The same for commands that read a secret, from their standard input. */
export async function operateWith(
  stack: Stack,
  input: string,
  ...args: readonly string[]
): Promise<unknown> {
  return await run(stack, { onNote: () => undefined, input }, args);
}

async function run(
  stack: Stack,
  { onNote, input }: { readonly onNote: (note: unknown) => void; readonly input: string },
  args: readonly string[],
): Promise<unknown> {
  const { services } = stack.describe();
  const env = {
    PATH: process.env.PATH,
    INTERNAL_SECRET: loadSecrets(stack.layout.secretsFile).internalSecret,
    ACCOUNTS_URL: services.accounts[0]?.url,
    POSTS_URL: services.posts[0]?.url,
    MEDIA_SERVICE_URL: services.media[0]?.url,
    DELIVERY_URL: services.delivery[0]?.url,
  };
  const running = promisify(execFile)(process.execPath, [CLI, ...args, "--json"], {
    env,
    maxBuffer: MAX_OUTPUT_BYTES,
  });
  const { stderr: notes, stdin } = running.child;
  // A command that fails before it reads its input closes it.
  stdin?.on("error", () => undefined);
  stdin?.end(input);
  if (notes !== null) {
    const lines = createInterface({ input: notes });
    lines.on("line", (line) => onNote(JSON.parse(line)));
  }
  const { stdout } = await running;
  return JSON.parse(stdout) as unknown;
}

/** Makes fresh accounts on the simulator and connects them to the demo workspace. Returns their ids. */
export async function connectSimulated(
  stack: Stack,
  platform: string,
  count: number,
): Promise<readonly string[]> {
  const { workspaceId } = stack.describe();
  const made = await operate(
    stack,
    "account",
    "connect",
    platform,
    "--workspace",
    workspaceId,
    "--simulated",
    "--count",
    String(count),
  );
  const { accounts = [] } = made as { accounts?: readonly { readonly id: string }[] };
  return accounts.map(({ id }) => id);
}
