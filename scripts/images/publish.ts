import { createClient } from "../../packages/client/src/client.ts";
import { isVisible } from "../../packages/local/src/demo/demo-command.ts";
import { demoPieces } from "../../packages/local/src/demo/demo-pieces.ts";
import { ensureDemoWorkspace } from "../../packages/local/src/demo/demo-workspace.ts";
import type { OwnIdentity } from "../../packages/shared/src/identity/settings.ts";

const PUBLISH_MS = 60_000;

interface Addresses {
  readonly accountsUrl?: string;
  readonly gatewayUrl?: string;
  readonly simulatorUrl?: string;
}

/** Returns how many publications readers see; throws with a target whose they do not. */
export async function publishEverywhere(
  identity: OwnIdentity,
  timeoutMs = PUBLISH_MS,
  {
    accountsUrl = "http://127.0.0.1:8081",
    gatewayUrl = "http://127.0.0.1:8080",
    simulatorUrl = "http://127.0.0.1:4100",
  }: Addresses = {},
): Promise<number> {
  const workspace = await ensureDemoWorkspace({ accountsUrl, identity, known: undefined });
  const { accounts, apiKey } = workspace;
  const simulated = { accounts, simulatorUrl };
  const client = createClient({ baseUrl: gatewayUrl, apiKey });
  let visible = 0;
  for (const piece of demoPieces(accounts, new Date())) {
    const { content, accountIds, file, options } = piece;
    const media = file === undefined ? [] : [await client.uploadFile(file.data, file)];
    const mediaIds = media.map(({ id }) => id);
    const { id } = await client.createPost({ content, accountIds, mediaIds, options });
    const { targets } = await client.waitForPost(id, { timeoutMs });
    for (const target of targets) {
      if (!(await isVisible(simulated, target, piece)))
        throw new Error(`the ${piece.kind} is not visible: ${JSON.stringify(target)}`);
      visible += 1;
    }
  }
  return visible;
}
