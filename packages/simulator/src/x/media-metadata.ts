import { isRecord, jsonObject, type Reply } from "#src/http/call.ts";
import type { Endpoint, XCall } from "#src/x/endpoint.ts";
import { refuseParameter } from "#src/x/errors.ts";
import type { XNetwork } from "#src/x/network.ts";

const MAX_ALT_TEXT_LENGTH = 1000;
const PER_USER = 500;

function altTextOf(metadata: unknown): string {
  const altText = isRecord(metadata) ? metadata["alt_text"] : undefined;
  const text = isRecord(altText) ? altText["text"] : undefined;
  if (typeof text !== "string" || text === "" || text.length > MAX_ALT_TEXT_LENGTH)
    return refuseParameter(
      "metadata.alt_text.text",
      "",
      `A description has 1 to ${MAX_ALT_TEXT_LENGTH} characters.`,
    );

  return text;
}

function describe(network: XNetwork, { account, call, now }: XCall): Reply {
  const { id, metadata } = jsonObject(call) ?? {};
  const media =
    typeof id === "string" ? network.media.find(account.externalId, id, now) : undefined;
  if (media === undefined || media.category === "tweet_video")
    return refuseParameter("id", id, "The media id is not known, or is not an image or a GIF");

  const altText = altTextOf(metadata);
  network.media.put({ ...media, altText });
  const described = { id: media.id, associated_metadata: { alt_text: { text: altText } } };
  return { status: 200, body: { data: described } };
}

export function mediaMetadata(network: XNetwork): Endpoint {
  return {
    method: "POST",
    path: "/2/media/metadata",
    operations: () => ["upload"],
    bucket: "metadata",
    perUser: PER_USER,
    handle: (call) => describe(network, call),
  };
}
