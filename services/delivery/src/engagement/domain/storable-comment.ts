import type { PlatformComment } from "@postrider/platforms/comments/connector";

/** Replaces what Postgres cannot store: NUL and unpaired surrogates. */
function toStorable(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\u{FFFD}");
}

export function toStorableComment(comment: PlatformComment): PlatformComment {
  const { id, text, authorId, authorUsername } = comment;
  return {
    ...comment,
    id: toStorable(id),
    text: toStorable(text),
    authorId: authorId === null ? null : toStorable(authorId),
    authorUsername: authorUsername === null ? null : toStorable(authorUsername),
  };
}
