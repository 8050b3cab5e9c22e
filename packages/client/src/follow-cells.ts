import { PostriderError } from "./errors.ts";
import { type Call, type ClientOptions, send } from "./send.ts";

/** Undefined if the key may not be sent there. */
function otherCellOf({ followCells, baseUrl }: ClientOptions, error: unknown): string | undefined {
  const address = error instanceof PostriderError ? error.cellAddress : null;
  if (followCells !== true || address === null) return undefined;
  return address.startsWith("https:") || baseUrl.startsWith("http:") ? address : undefined;
}

/**
 * Sends calls to the cell of the workspace that they name, once an answer has named the cell: of a
 * key's several workspaces, some can have moved.
 */
export function createSender(options: ClientOptions): (call: Call) => Promise<unknown> {
  const addresses = new Map<string | undefined, string>();
  return async (call) => {
    const workspace = call.options.workspaceId ?? options.workspaceId;
    const client = { ...options, baseUrl: addresses.get(workspace) ?? options.baseUrl };
    try {
      return await send(client, call);
    } catch (error) {
      const baseUrl = otherCellOf(client, error);
      if (baseUrl === undefined) throw error;
      const answer = await send({ ...client, baseUrl }, call);
      addresses.set(workspace, baseUrl);
      return answer;
    }
  };
}
