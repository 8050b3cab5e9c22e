import { createPost, getPost, isVisible, uploadFile } from "../../packages/local/src/demo-api.ts";
import { demoPieces } from "../../packages/local/src/demo-pieces.ts";
import { ensureDemoWorkspace } from "../../packages/local/src/demo-workspace.ts";
import { poll } from "../../packages/local/src/poll.ts";
import type { OwnIdentity } from "../../packages/shared/src/identity/settings.ts";

const PUBLISH_MS = 60_000;
const OPEN = new Set(["pending", "publishing"]);

/**
 * Publishes a text, an image and a video through the gateway, to every simulated platform that accepts them.
 *
 * @returns The number of publications that readers of the simulated platforms see.
 * @throws Error that names a publishing target whose publication they do not see.
 */
export async function publishEverywhere(identity: OwnIdentity): Promise<number> {
  const accountsUrl = "http://127.0.0.1:8081";
  const workspace = await ensureDemoWorkspace({ accountsUrl, identity, known: undefined });
  const client = {
    ...workspace,
    baseUrl: "http://127.0.0.1:8080",
    simulatorUrl: "http://127.0.0.1:4100",
  };
  let visible = 0;
  for (const piece of demoPieces(client.accounts, new Date())) {
    const { content, accountIds, file, options } = piece;
    const mediaIds = file === undefined ? [] : [await uploadFile(client, file)];
    const { id } = await createPost(client, { content, accountIds, mediaIds, options });
    const post = await poll(
      async () => {
        const latest = await getPost(client, id);
        return latest.targets.some(({ status }) => OPEN.has(status)) ? undefined : latest;
      },
      { everyMs: 200, timeoutMs: PUBLISH_MS },
    );
    for (const target of post?.targets ?? (await getPost(client, id)).targets) {
      if (!(await isVisible(client, target, piece)))
        throw new Error(`the ${piece.kind} is not visible: ${JSON.stringify(target)}`);
      visible += 1;
    }
  }
  return visible;
}
