import { toGraphRequest, type GraphApi } from "#src/graph/graph-call.ts";
import { callPlatform, type NoAnswer } from "#src/http/http.ts";
import { text, type PlatformAnswer } from "#src/http/platform-answer.ts";
import { formBody } from "#src/http/request-body.ts";
import type { AccountAccess, Publication, PublicationMedia } from "#src/publishing/connector.ts";

type Fields = Readonly<Record<string, string>>;

/** Images are fetched by Instagram, films are pushed to it. */
function describeMedia({ kind, url }: PublicationMedia): Fields {
  return kind === "image" ? { image_url: url } : { upload_type: "resumable" };
}

function describeSingle({ text: caption }: Publication, media: PublicationMedia): Fields {
  const type = media.kind === "video" ? { media_type: "REELS", share_to_feed: "true" } : {};
  return { ...type, ...describeMedia(media), caption };
}

function describePart(media: PublicationMedia): Fields {
  const type = media.kind === "video" ? { media_type: "VIDEO" } : {};
  return { ...type, ...describeMedia(media), is_carousel_item: "true" };
}

/** What the container of the file at this place is asked for with. */
export function describeFile(publication: Publication, media: PublicationMedia): Fields {
  return publication.media.length === 1 ? describeSingle(publication, media) : describePart(media);
}

export function describeCarousel(publication: Publication, children: readonly string[]): Fields {
  return { media_type: "CAROUSEL", children: children.join(","), caption: publication.text };
}

/** `POST /{account}/media` (platforms reference 1.1). */
export function createContainer(
  api: GraphApi,
  account: AccountAccess,
  fields: Fields,
  signal: AbortSignal,
): Promise<PlatformAnswer | NoAnswer> {
  const path = `${encodeURIComponent(account.externalId)}/media`;
  const call = { method: "POST", path, body: formBody(fields) } as const;
  return callPlatform(toGraphRequest(api, account, call), signal);
}

/** How far Instagram is with a container. */
export interface ContainerState {
  readonly kind: "state";
  readonly code: string;
  /** Of an error: its number, in words. */
  readonly status: string;
}

/** `GET /{container}`; the answer itself when it says something else. */
export async function readState(
  api: GraphApi,
  account: AccountAccess,
  id: string,
  signal: AbortSignal,
): Promise<ContainerState | PlatformAnswer | NoAnswer> {
  const path = encodeURIComponent(id);
  const query = { fields: "status_code,status" };
  const call = { method: "GET", path, query } as const;
  const answer = await callPlatform(toGraphRequest(api, account, call), signal);
  const code = answer.kind === "answer" ? text(answer.json, "status_code") : undefined;
  if (answer.kind === "no_answer" || answer.status !== 200 || code === undefined) return answer;
  return { kind: "state", code, status: text(answer.json, "status") ?? "" };
}
