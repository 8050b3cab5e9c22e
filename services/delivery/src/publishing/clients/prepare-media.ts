import type { Client } from "@connectrpc/connect";
import type { Media } from "@postrider/contracts/media/v1/media_pb";
import type { MediaService, PreparedMedia } from "@postrider/contracts/media/v1/media_service_pb";
import type { Rendition } from "@postrider/platforms/renditions/image-plan";
import { LongCalls } from "#src/clients/long-calls.ts";

export type MediaServiceClient = Pick<Client<typeof MediaService>, "prepareMedia">;

/** A media item and its conversion; without `rendition`, it is sent as uploaded. */
export interface MediaPreparation {
  readonly media: Media;
  readonly rendition: Rendition | undefined;
  /** The post with which the platform receives the file; undefined for a live check. */
  readonly postId?: string;
}

const MAX_ITEMS = 500;
/** Deadline of a call of PrepareMedia that makes no renditions, in milliseconds. */
const LOOKUP_TIMEOUT_MS = 5_000;
/**
 * Deadline of a call of PrepareMedia with renditions. The media service itself gives up after 60 s.
 */
const RENDITION_TIMEOUT_MS = 65_000;
const RENDERINGS = new LongCalls();

export async function callPrepareMedia(
  service: MediaServiceClient,
  items: readonly MediaPreparation[],
): Promise<readonly PreparedMedia[]> {
  const prepared: PreparedMedia[] = [];
  for (let from = 0; from < items.length; from += MAX_ITEMS)
    prepared.push(...(await callOnce(service, items.slice(from, from + MAX_ITEMS))));

  return prepared;
}

async function callOnce(
  service: MediaServiceClient,
  items: readonly MediaPreparation[],
): Promise<readonly PreparedMedia[]> {
  const request = {
    items: items.map(({ media: { workspaceId, id: mediaId }, rendition, postId = "" }) => ({
      workspaceId,
      mediaId,
      postId,
      ...(rendition === undefined
        ? {}
        : { rendition: { ...rendition, maxBytes: BigInt(rendition.maxBytes) } }),
    })),
  };
  const converted = items.find(({ rendition }) => rendition !== undefined);
  const { files } = await (converted === undefined
    ? service.prepareMedia(request, { timeoutMs: LOOKUP_TIMEOUT_MS })
    : RENDERINGS.run(converted.media.workspaceId, () =>
        service.prepareMedia(request, { timeoutMs: RENDITION_TIMEOUT_MS }),
      ));
  if (files.length !== items.length)
    throw new Error("the media service did not return exactly one file per item");
  return files;
}
