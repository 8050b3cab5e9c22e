import { callPlatform } from "#src/http/call-platform.ts";
import { isObject, object, type JsonObject } from "#src/http/platform-answer.ts";
import { bearer, bytesBody } from "#src/http/platform-request.ts";
import type { Handles } from "#src/publishing/handles.ts";
import type { Publication } from "#src/publishing/publication.ts";
import { isFresh, toBlobHandle } from "./blob-state.ts";
import { findFirstLink } from "./facets.ts";
import { fetchCard, fetchCardImage, type PageReader } from "./link-card.ts";
import { hostOf, isForeign } from "./xrpc.ts";

export interface CardEmbed {
  readonly embed: JsonObject;
  readonly handles: Handles;
}

const NONE: CardEmbed = { embed: {}, handles: {} };

/** Only if the page can be read; with its picture only if Bluesky accepts the picture unchanged. */
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

export function hasStaleThumb(record: JsonObject, handles: Handles): boolean {
  return thumbOf(record) !== undefined && !isFresh(handles, "card", Date.now());
}

export function withoutThumb(record: JsonObject): JsonObject {
  const { embed } = record;
  const external = object(embed, "external");
  if (!isObject(embed) || external === undefined) return record;
  const { thumb: _thumb, ...rest } = external;
  return { ...record, embed: { ...embed, external: rest } };
}
