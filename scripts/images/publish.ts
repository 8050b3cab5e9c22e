import { createPost, getPost, isVisible, uploadFile } from "../../packages/local/src/demo-api.ts";
import { demoPieces } from "../../packages/local/src/demo-pieces.ts";
import type { LocalAccount } from "../../packages/local/src/local-file.ts";
import { poll } from "../../packages/local/src/poll.ts";
import { PLATFORM_IDS } from "../../packages/shared/src/platforms/registry.ts";

const PUBLISH_MS = 60_000;
const OPEN = new Set(["pending", "publishing"]);

/** A system with simulated platforms, as a client and its operator know it. */
export interface RunningSystem {
  readonly baseUrl: string;
  readonly simulatorUrl: string;
  readonly operate: (...words: readonly string[]) => Promise<unknown>;
}

/** Makes a workspace with a key and an account on every platform, as an operator does. */
async function makeClient({ baseUrl, simulatorUrl, operate }: RunningSystem) {
  const name = ["--name", "Check of the images"];
  const workspace = (await operate("workspace", "create", "--verified", ...name)) as { id: string };
  const of = ["--workspace", workspace.id];
  const { key } = (await operate("key", "create", ...name, ...of, "--scopes", "all")) as {
    key: string;
  };
  const accounts: LocalAccount[] = [];
  for (const platform of PLATFORM_IDS) {
    const made = await operate("account", "connect", platform, ...of, "--simulated");
    const account = made as Omit<LocalAccount, "externalId">;
    // The simulator knows its accounts by their names too.
    accounts.push({ ...account, externalId: account.username });
  }
  return { baseUrl, simulatorUrl, apiKey: key, accounts };
}

/**
 * Publishes a text, an image and a video on every platform that takes them.
 *
 * @returns How many targets its readers see.
 * @throws Error that names the targets which nobody sees.
 */
export async function publishEverywhere(system: RunningSystem): Promise<number> {
  const client = await makeClient(system);
  let seen = 0;
  for (const piece of demoPieces(client.accounts, new Date())) {
    const { content, accountIds, file, options } = piece;
    const mediaIds = file === undefined ? [] : [await uploadFile(client, file)];
    const { id } = await createPost(client, { content, accountIds, mediaIds, options });
    const settled = await poll(
      async () => {
        const post = await getPost(client, id);
        return post.targets.some(({ status }) => OPEN.has(status)) ? undefined : post;
      },
      { everyMs: 100, timeoutMs: PUBLISH_MS },
    );
    const { targets } = settled ?? (await getPost(client, id));
    for (const target of targets) {
      if (target.status !== "published" || !(await isVisible(client, target, piece)))
        throw new Error(`nobody sees the ${piece.kind}: ${JSON.stringify(target)}`);
      seen += 1;
    }
  }
  return seen;
}
