import type { Credential } from "@postrider/contracts/accounts/v1/credential_service_pb";
import type { TargetContent } from "@postrider/contracts/posts/v1/target_service_pb";
import type { Publication, PublicationMedia } from "@postrider/platforms/publishing/publication";
import { parseSettings } from "@postrider/platforms/settings/read-settings";

interface PublicationParts {
  readonly targetId: string;
  readonly content: TargetContent;
  readonly media: readonly PublicationMedia[];
  readonly credential: Credential;
}

export function toPublication({
  targetId,
  content,
  media,
  credential,
}: PublicationParts): Publication {
  return {
    targetId,
    text: content.text,
    title: content.title,
    privacy: content.privacy,
    tags: content.tags,
    externalId: credential.externalId,
    username: credential.username,
    accessToken: credential.accessToken,
    attributes: credential.attributes,
    media,
    settings: parseSettings(content.settings),
  };
}
