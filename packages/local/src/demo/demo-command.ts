import { createHash } from "node:crypto";
import { type PostTarget, type Client, createClient } from "@postrider/client";
import { parseStartOptions } from "#src/commands/start-options.ts";
import { defaultDataDir, environment } from "#src/config.ts";
import { type DemoFile, type DemoPiece, demoPieces } from "#src/demo/demo-pieces.ts";
import { watchPost, resultTable, type VerifiedTarget } from "#src/demo/demo-view.ts";
import { probePort } from "#src/processes/free-port.ts";
import { interruption } from "#src/processes/interruption.ts";
import { findLauncher } from "#src/processes/leftovers.ts";
import { layoutOf } from "#src/stack/layout.ts";
import { type LocalStack, readLocalStack } from "#src/stack/local-file.ts";
import { startStack } from "#src/stack/stack.ts";

const { stdout } = process;

/**
 * Publishes a text, an image and a video to every platform that accepts them, on the running stack
 * or its own. Exit code 0: all are published and visible on their platforms.
 */
export async function runDemo(args: readonly string[]): Promise<number> {
  const signal = interruption();
  const running = runningStack();
  if (running !== undefined) return await publishEverywhere(running, signal);

  const { help: _, port, ...options } = parseStartOptions(args);
  stdout.write("No stack is running: starting one for the demo …\n");
  await using stack = await startStack({
    ...options,
    // The demo is the only client of the stack that it starts, so the stack may use any port when
    // port 8080 is taken.
    port: port ?? (await probePort(8080)) ?? 0,
    dataDir: defaultDataDir,
    env: environment,
    signal,
  });
  return await publishEverywhere(stack.describe(), signal);
}

function runningStack(): LocalStack | undefined {
  const layout = layoutOf(defaultDataDir);
  return findLauncher(layout) === undefined ? undefined : readLocalStack(layout.localFile);
}

async function publishEverywhere(stack: LocalStack, signal: AbortSignal): Promise<number> {
  const client = createClient(stack);
  const rows: VerifiedTarget[] = [];
  for (const piece of demoPieces(stack.accounts, new Date()))
    rows.push(...(await publishPiece(stack, client, piece, signal)));

  stdout.write(`\n${resultTable(rows)}\n`);
  const good = rows.filter(({ target, visible }) => target.status === "published" && visible);
  stdout.write(`${good.length} of ${rows.length} published and visible\n`);
  return good.length === rows.length && rows.length > 0 ? 0 : 1;
}

async function publishPiece(
  stack: LocalStack,
  client: Client,
  piece: DemoPiece,
  signal: AbortSignal,
): Promise<VerifiedTarget[]> {
  const { kind, content, accountIds, file, options } = piece;
  stdout.write(`\nPublishing "${content}" (${kind}) to ${accountIds.length} accounts:\n\n`);
  const media = file === undefined ? [] : [await client.uploadFile(file.data, { ...file, signal })];
  const mediaIds = media.map(({ id }) => id);
  const body = { content, accountIds, mediaIds, options };
  const post = await client.createPost(body, { signal });
  const { targets } = await watchPost(client, post, signal);
  return await Promise.all(
    targets.map(async (target) => ({
      kind,
      target,
      visible: await isVisible(stack, target, piece),
    })),
  );
}

interface Entry {
  readonly id: string;
  readonly text: string;
  readonly media: readonly { readonly sha256: string }[];
}

/** With its file byte for byte. TikTok assigns the id later; until then the text finds the post. */
export async function isVisible(
  stack: Pick<LocalStack, "simulatorUrl" | "accounts">,
  target: PostTarget,
  { content, file }: { readonly content: string; readonly file?: DemoFile },
): Promise<boolean> {
  const account = stack.accounts.find((each) => each.id === target.accountId);
  const url = new URL("/_control/visible", stack.simulatorUrl);
  url.searchParams.set("platform", target.platform);
  url.searchParams.set("account", account?.externalId ?? "");
  const seen = (await (await fetch(url)).json()) as readonly Entry[];
  const entry = seen.find(({ id, text }) =>
    target.externalId === null ? text === content : id === target.externalId,
  );
  if (file === undefined) return entry !== undefined;

  const sha256 = createHash("sha256").update(file.data).digest("hex");
  return entry?.media.some((media) => media.sha256 === sha256) ?? false;
}
