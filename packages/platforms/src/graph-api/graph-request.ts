import type { EnvReader } from "@postrider/shared/config";
import type { Caller, Site } from "#src/publishing/caller.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";

export interface GraphApi {
  readonly baseUrl: string;
  readonly version: string;
  /** A token is never sent to an upload URL on another host. */
  readonly uploadBaseUrl: string;
}

/** Calls the Graph API for an account. */
export interface GraphCaller extends Caller {
  readonly uploadBaseUrl: string;
}

/** Limit of Facebook; a comment on Instagram has at most 2,200 characters. */
export const MAX_COMMENT_LENGTH = 8_000;

export function toGraphSite({ baseUrl, version }: GraphApi, account: AccountAccess): Site {
  return { baseUrl: `${baseUrl}/${version}`, account };
}

export function openGraph(api: GraphApi, account: AccountAccess, signal: AbortSignal): GraphCaller {
  return { ...toGraphSite(api, account), uploadBaseUrl: api.uploadBaseUrl, signal };
}

export function edgeOf({ externalId }: AccountAccess, edge: string): string {
  return `${encodeURIComponent(externalId)}/${edge}`;
}

export function readGraphVersion(read: EnvReader) {
  const version = read
    .about("Version of Meta's Graph API, for Facebook and Instagram.", { level: "advanced" })
    .string("GRAPH_API_VERSION", { default: "v25.0" });
  return { version, dialog: `/${version}/dialog/oauth` };
}
