import type { Reply } from "#src/http/call.ts";
import type { Endpoint, XCall } from "#src/x/endpoint.ts";
import { refuseParameter } from "#src/x/errors.ts";
import { mediaView } from "#src/x/media-view.ts";
import type { XNetwork } from "#src/x/network.ts";
import { checkParameters } from "#src/x/query.ts";

function status(network: XNetwork, { account, call, now }: XCall): Reply {
  checkParameters(call.query, ["command", "media_id"]);
  const command = call.query.get("command");
  if (command !== null && command !== "STATUS")
    refuseParameter("command", command, "The `command` is STATUS");

  const id = call.query.get("media_id") ?? "";
  const media = network.media.find(account.externalId, id, now);
  if (media?.completedAt === undefined)
    return refuseParameter("media_id", id, "The media id is not known or has expired");

  return { status: 200, body: { data: mediaView(media, now) } };
}

export function mediaStatus(network: XNetwork): Endpoint {
  return {
    method: "GET",
    path: "/2/media/upload",
    operations: () => ["status"],
    bucket: "upload_status",
    perUser: 1000,
    handle: (call) => status(network, call),
  };
}
