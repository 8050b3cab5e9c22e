import type { Client } from "@connectrpc/connect";
import type { MediaService } from "@postrider/contracts/media/v1/media_service_pb";
import type { PublicationMedia } from "@postrider/platforms/publishing/publication";
import { parseSettings } from "@postrider/platforms/settings/read-settings";
import { invalidRequest, notFound } from "@postrider/shared/errors";
import type { MediaSource } from "#src/publishing/clients/media.ts";
import type { CheckedAccount } from "./account-diagnosis.ts";
import { planRendition } from "./plan-rendition.ts";

export type FindLiveCheckFile = (
  checked: CheckedAccount,
  mediaId: string,
) => Promise<PublicationMedia>;

export function createLiveCheckFiles(
  service: Pick<Client<typeof MediaService>, "batchGetMedia">,
  source: Pick<MediaSource, "prepare">,
): FindLiveCheckFile {
  return async ({ platform, account }, mediaId) => {
    const { workspaceId } = account;
    const { media } = await service.batchGetMedia({ workspaceId, ids: [mediaId] });
    const found = media.find(({ status }) => status === "ready");
    if (found === undefined) throw notFound();
    const rendition = planRendition(found, platform, parseSettings(account.settings));
    const [file] = await source.prepare([{ media: found, rendition }]);
    if (file?.kind === "file") return file.media;
    throw invalidRequest([{ code: "media_rejected", path: "/mediaId" }]);
  };
}
