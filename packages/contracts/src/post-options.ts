import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  PostOption as PostOptionMessage,
  PostOptionSchema,
} from "../gen/postrider/posts/v1/post_pb.ts";

/**
 * An option of a post as the API shows it and as it is stored. Its message tells an empty list of
 * tags from an absent one.
 */
interface PostOption {
  readonly content?: string;
  readonly title?: string;
  readonly privacy?: string;
  readonly tags?: readonly string[];
}

type OptionInits = Record<string, MessageInitShape<typeof PostOptionSchema>>;

export function toOptionMessages(options: Readonly<Record<string, PostOption>> = {}): OptionInits {
  return Object.fromEntries(
    Object.entries(options).map(([key, { tags, ...option }]) => [
      key,
      tags === undefined ? option : { ...option, tags: { values: [...tags] } },
    ]),
  );
}

export function fromOptionMessages(messages: Readonly<Record<string, PostOptionMessage>>) {
  return Object.fromEntries(
    Object.entries(messages).map(([key, { content, title, privacy, tags }]) => [
      key,
      {
        ...(content === undefined ? {} : { content }),
        ...(title === undefined ? {} : { title }),
        ...(privacy === undefined ? {} : { privacy }),
        ...(tags === undefined ? {} : { tags: tags.values }),
      },
    ]),
  );
}
