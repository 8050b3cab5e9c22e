import { PostriderError } from "./errors.ts";
import { type Call, type ClientOptions, send } from "./send.ts";

/** Undefined if the key may not be sent there. */
function otherCellOf({ followCells, baseUrl }: ClientOptions, error: unknown): string | undefined {
  const address = error instanceof PostriderError ? error.cellAddress : null;
  if (followCells !== true || address === null) return undefined;
  return address.startsWith("https:") || baseUrl.startsWith("http:") ? address : undefined;
}

/** Sends calls to the cell of the API key, once an answer has named it. */
export function createSender(options: ClientOptions): (call: Call) => Promise<unknown> {
  let client = options;
  return async (call) => {
    try {
      return await send(client, call);
    } catch (error) {
      const baseUrl = otherCellOf(client, error);
      if (baseUrl === undefined) throw error;
      const answer = await send({ ...client, baseUrl }, call);
      client = { ...client, baseUrl };
      return answer;
    }
  };
}
