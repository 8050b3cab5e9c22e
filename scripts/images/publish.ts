import { createPost, getPost, isVisible, uploadFile } from "../../packages/local/src/demo-api.ts";
import { demoPieces } from "../../packages/local/src/demo-pieces.ts";
import type { LocalAccount } from "../../packages/local/src/local-file.ts";
import { poll } from "../../packages/local/src/poll.ts";
import { PLATFORM_IDS } from "../../packages/platforms/src/registry.ts";

const PUBLISH_MS = 60_000;
/** What is busy says so and did nothing: on a machine with other work this is no failure. */
const BUSY = /"code":\s*"unavailable"|answered 503/;
const OPEN = new Set(["pending", "publishing"]);

/** A system with simulated platforms, as a client and its operator know it. */
export interface RunningSystem {
  readonly baseUrl: string;
  readonly simulatorUrl: string;
  readonly operate: (...words: readonly string[]) => Promise<unknown>;
}

async function whenNotBusy<T>(work: () => Promise<T>): Promise<T> {
  let last: unknown;
  const done = await poll(
    async () => {
      try {
        return { result: await work() };
      } catch (error) {
        if (!BUSY.test(String(error))) throw error;
        last = error;
        return undefined;
      }
    },
    { everyMs: 1_000, timeoutMs: PUBLISH_MS },
  );
  if (done === undefined)
    throw new Error(`busy for ${PUBLISH_MS / 1000} s: ${String(last)}`, { cause: last });
  return done.result;
}

/** Makes a workspace with a key and an account on every platform, as an operator does. */
async function makeClient({ baseUrl, simulatorUrl, ...system }: RunningSystem) {
  const operate = (...words: readonly string[]) => whenNotBusy(() => system.operate(...words));
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
    const mediaIds = file === undefined ? [] : [await whenNotBusy(() => uploadFile(client, file))];
    const request = { content, accountIds, mediaIds, options };
    const { id } = await whenNotBusy(() => createPost(client, request));
    const settled = await poll(
      async () => {
        const post = await whenNotBusy(() => getPost(client, id));
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
