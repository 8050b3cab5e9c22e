import { randomBytes } from "node:crypto";
import { type Call, isRecord, jsonObject, type Reply } from "#src/http/call.ts";
import { chunkPlanOf } from "#src/tiktok/chunk-plan.ts";
import type { Endpoint, TiktokCall } from "#src/tiktok/endpoint.ts";
import { apiAnswer, refuseParameter } from "#src/tiktok/errors.ts";
import { complete, newPublishId, type TiktokNetwork } from "#src/tiktok/network.ts";
import { photoInfo, section, spendPost, videoInfo } from "#src/tiktok/post-info.ts";
import { type Upload, UPLOAD_LIFETIME_MS } from "#src/tiktok/publishes.ts";
import { checkMediaUrls, isVerified, checkFetchedMedia } from "#src/tiktok/pull.ts";

const MAX_PHOTOS = 35;

type Fields = Readonly<Record<string, unknown>>;

function sourceOf(body: Fields): unknown {
  const source = body["source_info"];
  return isRecord(source) ? source["source"] : undefined;
}

function initUpload(network: TiktokNetwork, { account, body, call, now }: TiktokCall): Reply {
  const info = videoInfo(network, body, account);
  const plan = chunkPlanOf(
    section(body, "source_info", ["source", "video_size", "chunk_size", "total_chunk_count"]),
    network.world.settings.values.tiktokWholeVideoBytes,
  );
  spendPost(network, account, now);
  const upload: Upload = {
    ...plan,
    id: randomBytes(9).readBigUInt64BE().toString(),
    token: network.world.secrets.issueToken(32),
    contentType: undefined,
    chunkTimes: [],
    expiresAt: now + UPLOAD_LIFETIME_MS,
  };
  const { id } = network.publishes.put({
    ...info,
    id: newPublishId("v_pub_file"),
    account: account.externalId,
    kind: "video",
    createdAt: now,
    upload,
    media: [],
  });
  const query = new URLSearchParams({ upload_id: upload.id, upload_token: upload.token });
  const uploadUrl = `${call.baseUrl}/open-upload/video/?${query.toString()}`;
  return apiAnswer({ publish_id: id, upload_url: uploadUrl });
}

function initPull(network: TiktokNetwork, { account, body, now, fetched }: TiktokCall): Reply {
  const info = videoInfo(network, body, account);
  const source = section(body, "source_info", ["source", "video_url"]);
  const urls = checkMediaUrls([source["video_url"]]);
  spendPost(network, account, now);
  const id = newPublishId("v_pub_url");
  const started = {
    ...info,
    id,
    account: account.externalId,
    kind: "video",
    createdAt: now,
  } as const;
  complete(
    network,
    { ...started, media: [] },
    { ...checkFetchedMedia("video", urls, fetched), now },
  );
  return apiAnswer({ publish_id: id });
}

function initVideo(network: TiktokNetwork, call: TiktokCall): Reply {
  switch (sourceOf(call.body)) {
    case "FILE_UPLOAD":
      return initUpload(network, call);
    case "PULL_FROM_URL":
      return initPull(network, call);
    default:
      return refuseParameter("source must be FILE_UPLOAD or PULL_FROM_URL.");
  }
}

function photosOf(body: Fields): readonly unknown[] {
  const source = section(body, "source_info", ["source", "photo_images", "photo_cover_index"]);
  const photos = source["photo_images"];
  if (source["source"] !== "PULL_FROM_URL") refuseParameter("source must be PULL_FROM_URL.");

  if (!Array.isArray(photos) || photos.length < 1 || photos.length > MAX_PHOTOS)
    return refuseParameter(`photo_images must be 1 to ${MAX_PHOTOS} URLs.`);

  const cover = source["photo_cover_index"] ?? 0;
  if (!Number.isInteger(cover) || Number(cover) < 0 || Number(cover) >= photos.length)
    refuseParameter("photo_cover_index must be the index of a photo.");

  return photos;
}

function initPhoto(network: TiktokNetwork, { account, body, now, fetched }: TiktokCall): Reply {
  if (body["media_type"] !== "PHOTO" || body["post_mode"] !== "DIRECT_POST")
    refuseParameter("media_type must be PHOTO and post_mode DIRECT_POST.");

  const info = photoInfo(network, body, account);
  const urls = checkMediaUrls(photosOf(body));
  spendPost(network, account, now);
  const id = newPublishId("p_pub_url");
  const started = {
    ...info,
    id,
    account: account.externalId,
    kind: "photo",
    createdAt: now,
  } as const;
  complete(
    network,
    { ...started, media: [] },
    { ...checkFetchedMedia("photo", urls, fetched), now },
  );
  return apiAnswer({ publish_id: id });
}

function mediaUrlsOf(call: Call): readonly string[] {
  const source = jsonObject(call)?.["source_info"];
  if (!isRecord(source) || source["source"] !== "PULL_FROM_URL") return [];

  const photos = source["photo_images"];
  const named: readonly unknown[] = Array.isArray(photos) ? photos : [source["video_url"]];
  return named.filter(isVerified).slice(0, MAX_PHOTOS);
}

function isPull(call: Call): boolean {
  return sourceOf(jsonObject(call) ?? {}) === "PULL_FROM_URL";
}

const SHARED = { method: "POST", scope: "video.publish", bucket: "init", perMinute: 6 } as const;

export function initEndpoints(network: TiktokNetwork): readonly Endpoint[] {
  return [
    {
      ...SHARED,
      path: "/v2/post/publish/video/init/",
      operations: (call) => (isPull(call) ? ["publish", "create"] : ["create"]),
      fetches: mediaUrlsOf,
      handle: (call) => initVideo(network, call),
    },
    {
      ...SHARED,
      path: "/v2/post/publish/content/init/",
      operations: () => ["publish", "create"],
      fetches: mediaUrlsOf,
      handle: (call) => initPhoto(network, call),
    },
  ];
}
