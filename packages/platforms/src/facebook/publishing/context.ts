import { toGraphRequest, type GraphApi, type GraphCall } from "#src/graph/graph-call.ts";
import { callPlatform, type NoAnswer } from "#src/http/http.ts";
import { text, type PlatformAnswer } from "#src/http/platform-answer.ts";
import type {
  AccountAccess,
  Failure,
  Publication,
  PublicationMedia,
} from "#src/publishing/connector.ts";

/** What the calls of one step have in common. */
export interface FacebookContext {
  readonly api: GraphApi;
  readonly publication: Publication;
  readonly signal: AbortSignal;
}

/** A call that makes nothing visible, in the Page's name. */
export function callGraph(
  api: GraphApi,
  account: AccountAccess,
  call: GraphCall,
  signal: AbortSignal,
): Promise<PlatformAnswer | NoAnswer> {
  return callPlatform(toGraphRequest(api, account, call), signal);
}

/** An edge of the Page itself, for example `feed`. */
export function pagePath({ externalId }: AccountAccess, edge: string): string {
  return `${encodeURIComponent(externalId)}/${edge}`;
}

/** The id in an answer; undefined when it is no success. */
export function idIn(answer: PlatformAnswer | NoAnswer, name = "id"): string | undefined {
  return answer.kind === "answer" && answer.status === 200 ? text(answer.json, name) : undefined;
}

/** The post's one film. */
export function filmOf({ media: [film] }: Publication): PublicationMedia {
  if (film === undefined) throw new Error("the post has no film");
  return film;
}

export function unavailable(message: string): Failure {
  return { kind: "retryable", code: "platform_unavailable", message };
}
