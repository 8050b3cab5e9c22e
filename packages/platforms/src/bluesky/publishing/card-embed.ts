import { callPlatform } from "#src/http/call-platform.ts";
import { isObject, object, type JsonObject } from "#src/http/platform-answer.ts";
import { bearer, bytesBody } from "#src/http/platform-request.ts";
import type { Handles } from "#src/publishing/handles.ts";
import type { Publication } from "#src/publishing/publication.ts";
import { isFresh, toBlobHandle } from "./blob-state.ts";
import { findFirstLink } from "./facets.ts";
import { fetchCard, fetchCardImage, type PageReader } from "./link-card.ts";
import { hostOf, isForeign } from "./xrpc.ts";

/** The link card of a post, and the uploaded picture in it. */
export interface CardEmbed {
  /** The `embed` of the record; empty when the post has no link card. */
  readonly embed: JsonObject;
  readonly handles: Handles;
}

const NONE: CardEmbed = { embed: {}, handles: {} };

/**
 * Creates the link card of a post without files: a preview of the first linked web page, if this page can be read, with
 * the page's picture, if Bluesky accepts the picture unchanged.
 */
export async function createCard(
  { baseUrl, pages }: { readonly baseUrl: string; readonly pages: PageReader },
  publication: Publication,
  signal: AbortSignal,
): Promise<CardEmbed> {
  const uri = findFirstLink(publication.text);
  if (uri === undefined || publication.media.length > 0) return NONE;
  const card = await fetchCard(pages, uri, signal);
  if (card === undefined) return NONE;
  const { imageUrl, ...external } = card;
  const thumb =
    imageUrl === undefined
      ? undefined
      : await uploadThumb({ baseUrl, pages }, publication, imageUrl, signal);
  if (thumb === undefined) return { embed: toEmbed(external), handles: {} };
  const handles = toBlobHandle("card", thumb, Date.now());
  return { embed: toEmbed({ ...external, thumb }), handles };
}

function toEmbed(external: JsonObject): JsonObject {
  return { embed: { $type: "app.bsky.embed.external", external } };
}

async function uploadThumb(
  { baseUrl, pages }: { readonly baseUrl: string; readonly pages: PageReader },
  publication: Publication,
  imageUrl: string,
  signal: AbortSignal,
): Promise<JsonObject | undefined> {
  const image = await fetchCardImage(pages, imageUrl, signal);
  if (image === undefined) return undefined;
  const url = `${hostOf(baseUrl, publication)}/xrpc/com.atproto.repo.uploadBlob`;
  const { contentType, bytes } = image;
  const body = bytesBody(contentType, {
    bytes: bytes.length,
    read: () => ReadableStream.from([bytes]),
  });
  const headers = bearer(publication.accessToken);
  const call = { method: "POST", url, headers, body, isForeign: isForeign(publication) } as const;
  const answer = await callPlatform(call, signal);
  return answer.kind === "answer" && answer.status === 200
    ? object(answer.json, "blob")
    : undefined;
}

function thumbOf(record: JsonObject): unknown {
  return object(object(record, "embed"), "external")?.thumb;
}

/** Whether the record's link card has a picture that Bluesky may have deleted, because no record references it yet. */
export function hasStaleThumb(record: JsonObject, handles: Handles): boolean {
  return thumbOf(record) !== undefined && !isFresh(handles, "card", Date.now());
}

/** Returns the record with its link card without a picture. */
export function withoutThumb(record: JsonObject): JsonObject {
  const { embed } = record;
  const external = object(embed, "external");
  if (!isObject(embed) || external === undefined) return record;
  const { thumb: _thumb, ...rest } = external;
  return { ...record, embed: { ...embed, external: rest } };
}
