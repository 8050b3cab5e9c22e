import type { EnvReader } from "@postrider/shared/config";
import { callPlatform, type NoAnswer } from "#src/http/call-platform.ts";
import type { PlatformAnswer } from "#src/http/platform-answer.ts";
import {
  bearer,
  type PlatformRequest,
  type Query,
  type RequestBody,
  toSearch,
} from "#src/http/platform-request.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";

export interface GraphApi {
  readonly baseUrl: string;
  readonly version: string;
  /** A token is never sent to an upload URL on another host. */
  readonly uploadBaseUrl: string;
}

export interface GraphCall {
  readonly method: PlatformRequest["method"];
  readonly path: string;
  readonly query?: Query;
  readonly body?: RequestBody;
  readonly maxAnswerBytes?: number;
}

/** Limit of Facebook; a comment on Instagram has at most 2,200 characters. */
export const MAX_COMMENT_LENGTH = 8_000;

export function toGraphRequest(
  { baseUrl, version }: GraphApi,
  { accessToken }: Pick<AccountAccess, "accessToken">,
  { method, path, query = {}, body, ...limits }: GraphCall,
): PlatformRequest {
  const call = {
    method,
    url: `${baseUrl}/${version}/${path}${toSearch(query)}`,
    headers: bearer(accessToken),
    ...limits,
  };
  return body === undefined ? call : { ...call, body };
}

export function callGraph(
  api: GraphApi,
  account: AccountAccess,
  call: GraphCall,
  signal: AbortSignal,
): Promise<PlatformAnswer | NoAnswer> {
  return callPlatform(toGraphRequest(api, account, call), signal);
}

export function readGraphVersion(read: EnvReader) {
  const version = read
    .about("Version of Meta's Graph API, for Facebook and Instagram.", { level: "advanced" })
    .string("GRAPH_API_VERSION", { default: "v25.0" });
  return { version, dialog: `/${version}/dialog/oauth` };
}
