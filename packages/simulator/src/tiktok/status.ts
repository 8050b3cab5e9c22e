import type { Reply } from "#src/http/call.ts";
import type { Endpoint, TiktokCall } from "#src/tiktok/endpoint.ts";
import { apiAnswer, refuse, refuseParameter } from "#src/tiktok/errors.ts";
import type { TiktokNetwork } from "#src/tiktok/network.ts";
import { bytesAt, isIdKnownAt, type Publish, statusAt } from "#src/tiktok/publishes.ts";

/** TikTok's post ids are JSON numbers that are too large for a JavaScript number. */
function rawNumber(digits: string): unknown {
  return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(digits);
}

function findOwn({ publishes }: TiktokNetwork, { account, body }: TiktokCall): Publish {
  const id = body["publish_id"];
  if (typeof id !== "string") return refuseParameter("publish_id must be a string.");

  const publish = publishes.get(id) ?? refuse("invalid_publish_id");
  return publish.account === account.externalId
    ? publish
    : refuse("token_not_authorized_for_specified_publish_id");
}

/** The field's name depends on whether the client uploads the media or TikTok downloads them. */
function progressOf({ upload, media, receivedAt }: Publish, asOf: number) {
  if (upload !== undefined) return { uploaded_bytes: bytesAt(upload, asOf) };

  const bytes = media.reduce((sum, file) => sum + file.bytes, 0);
  return { downloaded_bytes: (receivedAt ?? Infinity) <= asOf ? bytes : 0 };
}

function fetchStatus(network: TiktokNetwork, call: TiktokCall): Reply {
  const publish = findOwn(network, call);
  const { asOf } = call;
  const status = statusAt(publish, asOf);
  const { failReason, postId } = publish;
  const isIdReturned = status === "PUBLISH_COMPLETE" && isIdKnownAt(publish, asOf);
  return apiAnswer({
    status,
    ...(status === "FAILED" ? { fail_reason: failReason } : {}),
    ...(isIdReturned && postId !== undefined
      ? // TikTok's API misspells this name.
        { publicaly_available_post_id: [rawNumber(postId)] }
      : { publicaly_available_post_id: [] }),
    ...progressOf(publish, asOf),
  });
}

function cancel(network: TiktokNetwork, call: TiktokCall): Reply {
  const publish = findOwn(network, call);
  if (publish.receivedAt !== undefined) return refuse("publish_not_cancellable");

  const failReason = "publish_cancelled";
  const { upload } = publish;
  const closed = upload === undefined ? {} : { upload: { ...upload, expiresAt: call.now } };
  network.publishes.put({ ...publish, ...closed, receivedAt: call.now, failReason });
  return apiAnswer({});
}

export function statusEndpoints(network: TiktokNetwork): readonly Endpoint[] {
  return [
    {
      method: "POST",
      path: "/v2/post/publish/status/fetch/",
      operations: () => ["status"],
      reads: true,
      scope: "video.publish",
      bucket: "status",
      perMinute: 30,
      handle: (call) => fetchStatus(network, call),
    },
    {
      method: "POST",
      path: "/v2/post/publish/cancel/",
      operations: () => ["other"],
      scope: "video.publish",
      bucket: "cancel",
      perMinute: 20,
      handle: (call) => cancel(network, call),
    },
  ];
}
