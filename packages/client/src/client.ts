import type { PostDetail, ReadyMedia } from "../gen/openapi.ts";
import { ITERATORS, type Iterators, OPERATIONS, type Operations } from "../gen/operations.ts";
import { PostriderError } from "./errors.ts";
import type { FileData } from "./file-source.ts";
import type { RequestOptions } from "./operation-types.ts";
import { type Call, type ClientOptions, MAX_RETRIES, send, withIdempotencyKey } from "./send.ts";
import { uploadFile, type UploadOptions } from "./upload-file.ts";
import { waitForPost, type WaitOptions } from "./wait-for-post.ts";

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
function createSender(options: ClientOptions): (call: Call) => Promise<unknown> {
  const addresses = new Map<string | undefined, string>();
  return async (given) => {
    const call = withIdempotencyKey(given);
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

export type * from "../gen/openapi.ts";
export {
  type ErrorDetail,
  PostriderConnectionError,
  PostriderError,
  PostWaitTimeoutError,
} from "./errors.ts";
export type { FileData } from "./file-source.ts";
export type { Answer, Body, Query, RequestOptions } from "./operation-types.ts";
export type { ClientOptions } from "./send.ts";
export type { UploadOptions, UploadProgress } from "./upload-file.ts";
export type { WaitOptions } from "./wait-for-post.ts";

/** A client of one Postrider installation, with one API key. */
export interface Client extends Operations, Iterators {
  /** A stream needs its length in the option `bytes`. The media returned are ready for posts. */
  uploadFile(data: FileData, options?: UploadOptions): Promise<ReadyMedia>;
  /** Waits until publishing has ended, whatever the result. */
  waitForPost(id: string, options?: WaitOptions): Promise<PostDetail>;
}

type Method = (...values: readonly unknown[]) => unknown;

function splitArguments(id: keyof Operations, values: readonly unknown[]) {
  const count = OPERATIONS[id].split("{").length - 1;
  const path = values.slice(0, count) as readonly string[];
  return { path, input: values[count], options: (values[count + 1] ?? {}) as RequestOptions };
}

type Send = ReturnType<typeof createSender>;

function toOperation(send: Send, id: keyof Operations): Method {
  return (...values) => send({ id, ...splitArguments(id, values) });
}

function toIterator(send: Send, id: keyof Operations, field: string): Method {
  return (...values) => {
    const { path, input, options } = splitArguments(id, values);
    const query = input ?? {};
    return iterate((cursor) => send({ id, path, options, input: { ...query, cursor } }), field);
  };
}

/** Creates a client. It opens no connection of its own and need not be closed. */
export function createClient(options: ClientOptions): Client {
  const send = createSender(options);
  const operations = Object.fromEntries(
    Object.keys(OPERATIONS).map((id) => [id, toOperation(send, id as keyof Operations)]),
  ) as unknown as Operations;
  const iterators = Object.fromEntries(
    Object.entries(ITERATORS).map(([name, [id, field]]) => [name, toIterator(send, id, field)]),
  ) as unknown as Iterators;
  const dependencies = {
    ...operations,
    fetch: options.fetch,
    maxRetries: options.maxRetries ?? MAX_RETRIES,
  };
  return {
    ...operations,
    ...iterators,
    uploadFile: (data, upload) => uploadFile(dependencies, data, upload),
    waitForPost: (id, wait) => waitForPost(operations.getPost, id, wait),
  };
}

type Page = Readonly<Record<string, unknown>> & { readonly nextCursor: string | null };

/** Reads the next page when all items of the page before have been used. */
async function* iterate(
  readPage: (cursor: string | undefined) => Promise<unknown>,
  field: string,
): AsyncGenerator<unknown, void> {
  let cursor: string | undefined;
  do {
    const page = (await readPage(cursor)) as Page;
    yield* page[field] as readonly unknown[];
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
}
